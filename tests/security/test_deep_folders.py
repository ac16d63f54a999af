"""Whoever leaves thousands of nested folders behind ends nothing but their own run."""

from cogworks.codebase.places import scratch_folder
from cogworks.services.python.workroom import workroom
from tests.test_removal import nest

DEPTH = 1500
"""With this many `shutil.rmtree` ends in a RecursionError, also where it is to ignore errors."""


def test_a_room_of_tools_goes_with_all_that_they_left() -> None:
    with workroom() as room:
        nest(room.folder, DEPTH)

    assert not room.folder.exists()


def test_a_scratch_folder_goes_with_all_that_is_in_it() -> None:
    with scratch_folder("cogworks-deep-") as folder:
        nest(folder, DEPTH)

    assert not folder.exists()

"""Folders of foreign code are removed whatever was made in them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.removal import remove_tree, temporary_folder

DEEP = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.mkdir(sys.argv[3])
    os.chdir(sys.argv[3])
open("file", "w").close()
"""


def nest(folder: Path, depth: int, *, name: str = "deeper") -> None:
    """Folders in folders, by a process of its own: their paths are longer than the system takes."""
    subprocess.run([sys.executable, "-c", DEEP, folder, str(depth), name], check=True, timeout=60)


def test_three_thousand_nested_folders_are_removed(tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    nest(deep, 3000)

    remove_tree(deep)

    assert not deep.exists()


def test_nothing_behind_a_link_is_removed(tmp_path: Path) -> None:
    kept, room = tmp_path / "kept", tmp_path / "room"
    (kept / "inner").mkdir(parents=True)
    (kept / "inner" / "file").write_text("stays")
    (room / "a" / "b").mkdir(parents=True)
    for place in (room, room / "a", room / "a" / "b"):
        (place / "link").symlink_to(kept)
    top = tmp_path / "link"
    top.symlink_to(kept)

    remove_tree(room)
    remove_tree(top)

    assert (kept / "inner" / "file").read_text() == "stays"
    assert not room.exists()
    assert not top.is_symlink()


def test_folders_that_nobody_may_enter_are_removed(tmp_path: Path) -> None:
    room = tmp_path / "room"
    inner = room / "closed" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for place in (inner, inner.parent, room):
        place.chmod(0)

    remove_tree(room)

    assert not room.exists()


def test_what_is_not_there_is_fine_and_a_file_goes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    remove_tree(file)
    remove_tree(tmp_path / "absent")

    assert not any(tmp_path.iterdir())


def test_what_cannot_be_removed_is_an_error_unless_that_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "room"
    (room / "inner").mkdir(parents=True)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "not yours")

    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(PermissionError):
        remove_tree(room)
    remove_tree(room, ignore_errors=True)
    assert room.exists()


def test_a_temporary_folder_is_gone_after_its_block_however_deep_it_is() -> None:
    with temporary_folder("cogworks-test-") as folder:
        nest(folder, 1500)

    assert not folder.exists()


def test_a_temporary_folder_is_gone_after_an_error() -> None:
    places: list[Path] = []

    def fail() -> None:
        with temporary_folder("cogworks-test-") as folder:
            places.append(folder)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert not places[0].exists()


PATHS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=20)


@given(PATHS)
def test_any_tree_is_removed(paths: list[list[str]]) -> None:
    with temporary_folder("cogworks-test-") as folder:
        room = folder / "room"
        for path in paths:
            room.joinpath(*path).mkdir(parents=True, exist_ok=True)

        remove_tree(room)

        assert not any(folder.iterdir())

"""Whoever leaves thousands of nested folders behind ends nothing but their own run."""

import pytest

from cogworks.codebase.places import scratch_folder
from cogworks.removal import temporary_folder
from cogworks.repair.instance import Instance
from cogworks.services.python.workroom import workroom
from cogworks.settings.config import read_environment
from cogworks.wiring.fix import open_repair
from cogworks.wiring.fix_order import Order
from tests.codebase.repositories import git
from tests.fakes import ScriptedModel
from tests.fixing import FILES, GOOD, PATIENT, TARGET, diffs, landmark, make_shop, pattern, plan
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


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_bug_is_repaired_beside_them() -> None:
    # Not in a folder of pytest, which could not remove them.
    with temporary_folder("cogworks-test-") as folder:
        shop = make_shop(folder, {**FILES, "pytest.ini": "[pytest]\ntestpaths = tests\n"})
        # Short, so that git takes the path.
        nest(shop, DEPTH, name="d")
        git(shop, "add", "--all")
        git(shop, "commit", "--quiet", "--message", "deep")
        model = ScriptedModel(pattern(), plan(landmark()), diffs(GOOD))
        order = Order(shop, Instance(instance_id="deep", failing_tests=(TARGET,)), PATIENT)

        with open_repair(order, read_environment({}), say=print, provider=model) as repair:
            result = repair.run()

    assert result.success, result.error

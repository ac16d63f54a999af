"""A runner that dies while a node works: the next one brings the item to where it would be anyway."""

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.killing import Moment, killed_step
from tests.end_to_end.scene import copy_of, open_scene

STEPS = 12
CODERS = (4, 7, 9)
"""The visits of Code Generation."""
# While a node works; tests/chaos/test_crashes.py has every request, and test_killed_actions.py every action of a coder.
MOMENTS = [Moment("line", number) for number in range(2, 5)]

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Undisturbed:
    """An item before its steps, with what people saw after each."""

    befores: list[Path]
    """The n-th: when n visits are recorded and no gate is left."""
    seen: dict[int, dict[str, Any]]
    """What people saw when so many visits were recorded."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    home = tmp_path_factory.mktemp("any-moment")
    found = Undisturbed([], {})
    with open_scene(home / "scene") as scene:
        scene.person.set_trigger()
        for step in range(STEPS):
            found.befores.append(copy_of(home / "scene", home / f"before-{step}"))
            report = scene.cogworks("process", "--json").told
            found.seen[step + 1] = scene.seen()
            scene.merge_what_is_waited_for(report)
    return found


@pytest.mark.parametrize("step", [step for step in range(STEPS) if step not in CODERS])
@pytest.mark.timeout(600)
def test_a_runner_killed_while_its_node_works_changes_nothing(
    undisturbed: Undisturbed, step: int, tmp_path: Path
) -> None:
    wrong: list[str] = []
    for moment in MOMENTS:
        with open_scene(copy_of(undisturbed.befores[step], tmp_path / str(moment))) as scene:
            if not killed_step(scene, moment):
                continue
            # Before it died it may have recorded its visit; then the next runner makes the next visit.
            report = scene.cogworks("process", "--take-over", "--json")
            done = len(scene.visits())
            expected, found = _lines(undisturbed.seen[done]), _lines(scene.seen())
            wrong += [f"{moment}: {line}" for line in difflib.unified_diff(expected, found, n=0, lineterm="")]
            assert (report.code, done - step) in ((0, 1), (0, 2)), (moment, report)

    assert wrong == []


def _lines(seen: dict[str, Any]) -> list[str]:
    return json.dumps(seen, indent=1).replace("\\n", "\n").splitlines()

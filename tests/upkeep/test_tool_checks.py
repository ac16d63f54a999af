"""`fsck` and the audits of governed calls: edited, removed and moved records are found by their line."""

from collections.abc import Callable

import pytest

from cogworks.tools.records import line_of
from cogworks.tools.registry import ToolRegistry
from cogworks.upkeep.checking import check_tool_audits
from tests.tools.tooling import PROFILE, World, allowing, reading

PATH = "visits/0005-code_generation@2/tools-1.ndjson"
OUTPUT = "visits/0005-code_generation@2/output.json"


def lines() -> list[str]:
    registry = ToolRegistry()
    reading(registry, "lint")
    world = World(registry, [allowing("lint")])
    world.controller.run("lint", PROFILE)
    return [f"{line_of(record)}\n" for record in world.trail.records]


LINES = lines()


def problems(text: str | None, *, has_output: bool = True) -> list[str]:
    files = {PATH: text, "visits/0001-intake/visit.json": "{}"}
    found = list(check_tool_audits({**files, OUTPUT: "{}"} if has_output else files))
    assert [(each.rule, each.object) for each in found] == [("tools", PATH)] * len(found)
    return [each.problem for each in found]


def test_an_audit_as_it_was_written_is_fine() -> None:
    assert problems("".join(LINES)) == []


def test_an_audit_that_is_still_being_written_is_fine() -> None:
    assert problems("".join(LINES[:3]), has_output=False) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda lines: [*lines[:2], lines[2].replace("lint", "tint", 1), *lines[3:]], "line 3 of the audit was edited: its hash is another"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3 of the audit does not follow the line before it (it is record 3): one was taken away, added or moved"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "line 1 of the audit does not follow the line before it (it is record 1): one was taken away, added or moved"),
        (lambda lines: lines[:-1], "has no end, though the visit has an output: its last lines were taken away"),
        (lambda lines: [], "has no end, though the visit has an output: its last lines were taken away"),
    ],
    ids=["edited", "removed", "moved", "end-removed", "emptied"],
)  # fmt: skip
def test_what_was_done_to_an_audit_is_a_finding(
    change: Callable[[list[str]], list[str]], problem: str
) -> None:
    assert problems("".join(change(LINES))) == [problem]


def test_an_audit_too_large_to_be_read_is_a_finding() -> None:
    assert problems(None) == ["is not given as text by GitHub"]

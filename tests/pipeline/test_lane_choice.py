"""The rule that chooses a lane."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.nodes.replies import Classification
from cogworks.pipeline.lane_choice import MOST_FILES, suits_large, suits_small

BUG: Mapping[str, Any] = Classification.model_validate(
    {
        "type": "bug_fix",
        "affected_modules": ["src/a.py"],
        "language": "python",
        "estimated_scope": {"files": MOST_FILES, "interfaces": 0, "complexity": "low"},
        "safety_affecting": False,
        "rationale": "A wrong bound.",
        "says_what_is_right": "the last line has to be read as well",
    }
).model_dump(mode="json")


def test_a_simple_bug_suits() -> None:
    assert suits_small(BUG)


def test_a_bug_with_tests_for_two_entries_and_a_change_log_suits() -> None:
    # As a reader classified a byte order mark that became part of a key: parser, two test files, change log.
    scope = {"files": 4, "interfaces": 0, "complexity": "low"}

    assert suits_small({**BUG, "estimated_scope": scope})


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "new_feature"},
        {"type": "refactor"},
        {"type": "documentation"},
        {"safety_affecting": True},
        {"questions": ["Which bound?"]},
        {"says_what_is_right": ""},
        {"affected_modules": ["a.py", "b.py", "c.py"]},
        {"affected_modules": []},
        {"affected_modules": "a.py"},
        {"estimated_scope": {"files": MOST_FILES + 1, "interfaces": 0, "complexity": "low"}},
        {"estimated_scope": {"files": 2, "interfaces": 1, "complexity": "low"}},
        {"estimated_scope": {"files": 2, "interfaces": 0, "complexity": "medium"}},
        {"estimated_scope": {"files": True, "interfaces": 0, "complexity": "low"}},
        {"estimated_scope": {"files": "2", "interfaces": 0, "complexity": "low"}},
        {"estimated_scope": "small"},
    ],
)
def test_anything_else_takes_the_whole_way(changed: Mapping[str, Any]) -> None:
    assert not suits_small({**BUG, **changed})


@pytest.mark.parametrize(
    "missing", ["type", "affected_modules", "estimated_scope", "safety_affecting", "says_what_is_right"]
)
def test_what_is_not_said_takes_the_whole_way(missing: str) -> None:
    assert not suits_small({key: value for key, value in BUG.items() if key != missing})


@pytest.mark.parametrize("odd", [None, "bug_fix", [], 3])
def test_what_is_no_classification_takes_the_whole_way(odd: object) -> None:
    assert not suits_small(odd)


def huge(files: Any = 41, interfaces: Any = 0, **changes: Any) -> Mapping[str, Any]:
    scope = {"files": files, "interfaces": interfaces, "complexity": "high"}
    return {**BUG, "type": "new_feature", "estimated_scope": scope, **changes}


def test_what_no_other_way_would_take_on_is_divided() -> None:
    assert suits_large(huge())
    assert suits_large(huge(files=3, interfaces=26))
    assert not suits_small(huge())


@pytest.mark.parametrize(
    "found",
    [
        huge(files=40, interfaces=25),
        huge(files="41"),
        huge(safety_affecting=True),
        huge(safety_affecting=None),
        {**huge(), "estimated_scope": "large"},
        None,
        "large",
    ],
)
def test_whatever_does_not_say_so_plainly_is_not_divided(found: object) -> None:
    assert not suits_large(found)

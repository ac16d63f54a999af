"""A proof in three lines, with the names of what failed before and the table folded."""

from typing import Any

import pytest

from cogworks.repair.brief import MAX_ROWS, ONLY_READING, in_brief
from cogworks.repair.proof import ProvenTest, Summary, Tree
from cogworks.repair.weakening import Weakened
from cogworks.vocabulary import CommitOid

BASE = Tree(commit=CommitOid("a" * 40), tree="1" * 40)
HEAD = Tree(commit=CommitOid("b" * 40), tree="2" * 40)


def summary(*names: str, **changes: Any) -> Summary:
    tests = tuple(ProvenTest(id=name, base="failed", head="passed", verdict="fail_to_pass") for name in names)
    fields = {
        "base": BASE,
        "head": HEAD,
        "counts": {"fail_to_pass": len(names)},
        "tests": tests,
        "is_proven": bool(names),
    }
    return Summary(**{**fields, **changes})


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "**Nothing is worse**: no test failed before this change and passes now."),
        (("t::a",), "**Proven**: `t::a` failed before this change and passes now."),
        (("t::a", "t::b"), "**Proven**: `t::a` and `t::b` failed before this change and pass now."),
        (
            ("t::a", "t::b", "t::c", "t::d", "t::e"),
            "**Proven**: `t::a`, `t::b`, `t::c` and 2 more failed before this change and pass now.",
        ),
    ],
    ids=["none", "one", "two", "five"],
)
def test_the_first_line_names_the_tests_that_failed_before(names: tuple[str, ...], said: str) -> None:
    shown = in_brief(summary(*names), "7 tests pass.", whole="`proof.json`").splitlines()

    assert shown[:3] == [
        f"- {said}",
        "- 7 tests pass.",
        f"- Run on the trees 111111111111 and 222222222222. Every test is in `proof.json`. {ONLY_READING}",
    ]


def test_the_third_line_says_how_they_were_run() -> None:
    ran = summary(
        "t::a", commands=("pytest -q", "pytest t.py"), versions={"python": "3.12.1", "pytest": "8.4"}
    )

    said = in_brief(ran, "", whole="the file").splitlines()[2]

    assert said == (
        "- Run with `pytest -q`, then `pytest t.py` (pytest 8.4, python 3.12.1) on the trees 111111111111 and 222222222222. "
        f"Every test is in the file. {ONLY_READING}"
    )


def test_the_table_is_folded_and_short() -> None:
    names = [f"t::{number:02}" for number in range(50)]

    shown = in_brief(summary(*names), "", whole="the file")

    assert shown.count("| fail to pass |") == MAX_ROWS == 12
    folded = shown[shown.index("<details>") :]
    assert folded.startswith("<details><summary>Tests that changed: 12 of 50</summary>\n\n| test | before |")
    assert folded.endswith("Not listed: 38 fail to pass.\n\n</details>")


def test_what_speaks_against_a_change_is_never_folded() -> None:
    bad = summary(
        "t::a", weakened=(Weakened("t.py", "assert a"),), uncollected=("u.py: no module",), is_proven=False
    )

    shown = in_brief(bad, "", whole="the file")

    before, _, _ = shown.partition("<details>")
    assert "**Not proven**" in before
    assert "- weakened in `t.py`: `assert a`" in before
    assert "- could not be collected: `u.py: no module`" in before


def test_without_a_test_that_changed_there_is_no_table() -> None:
    assert "<details>" not in in_brief(summary(), "", whole="the file")

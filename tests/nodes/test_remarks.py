"""Which remarks of a review stand at their lines, and what can be committed with one click."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codegen.mending import MENDED
from cogworks.forge.effects import LineRemark
from cogworks.nodes.remarks import MOST_AT_LINES, Remarks, placed
from cogworks.vocabulary import Severity
from tests.fakes import MemoryWorkspace
from tests.nodes.examples import REVIEW, finding

BEFORE = "".join(f"line {number}\n" for number in range(1, 41))
AFTER = BEFORE.replace("line 10\n", "line ten\nand more\n").replace("line 30\n", "line thirty\n")
"""Shown are lines 7 to 14 (10 and 11 are new) and 28 to 34 (31 is new)."""
FILES = {"a.py": BEFORE, "gone.py": "x = 1\n", "old.py": "y = 1\n"}


def where(
    *findings: Mapping[str, Any],
    changed: Mapping[str, str] | None = None,
    review: Mapping[str, Any] | None = None,
) -> Remarks:
    files = {**FILES, "a.py": AFTER, **(changed or {})}
    files = {path: text for path, text in files.items() if text}
    diff = parse_diff(MemoryWorkspace(files, base=FILES).diff("main")).diff
    return placed({**REVIEW, "findings": list(findings), **(review or {})}, diff)


def found(line: int, *, first: int = 0, last: int = 0, replacement: str = "", **more: Any) -> dict[str, Any]:
    suggestion = {"first_line": first, "last_line": last, "replacement": replacement}
    asked = finding(Severity.WARNING, **{"file": "a.py", "line": line, "suggestion": suggestion, **more})
    return {"pass": "quality", **asked.model_dump(mode="json")}


def only(remarks: Remarks) -> LineRemark:
    [remark] = remarks.at_lines
    return remark


@pytest.mark.parametrize("line", [7, 10, 14, 28, 31, 34])
def test_a_remark_stands_at_any_line_that_the_diff_shows(line: int) -> None:
    remark = only(where(found(line)))

    assert (remark.path, remark.first_line, remark.last_line) == ("a.py", line, line)
    assert remark.body == "**Warning** (correctness): Wrong for negative numbers."


@pytest.mark.parametrize(
    "asked",
    [found(0), found(6), found(15), found(27), found(35), found(1, file="b.py"), found(1, file="gone.py")],
    ids=["whole-file", "above", "below-first", "above-second", "below", "untouched-file", "deleted-file"],
)
def test_any_other_stands_in_the_body(asked: Mapping[str, Any]) -> None:
    remarks = where(asked, changed={"gone.py": ""})

    assert remarks == Remarks((), (asked,))


def test_a_new_file_is_shown_whole_unless_it_may_be_an_old_one_with_another_name() -> None:
    asked = found(1, file="new.py")

    assert only(where(asked, changed={"new.py": "x = 1\n"})).path == "new.py"
    assert where(asked, changed={"new.py": "x = 1\n", "gone.py": ""}) == Remarks((), (asked,))


@pytest.mark.parametrize(
    ("replacement", "fence"),
    [
        ("line 11", "```suggestion\nline 11\n```"),
        ("line 11\n", "```suggestion\nline 11\n```"),
        ("", "```suggestion\n```"),
        ("\n", "```suggestion\n\n```"),
        ("a\n\n", "```suggestion\na\n\n```"),
        ('"""\n```\nx\n```\n"""', '````suggestion\n"""\n```\nx\n```\n"""\n````'),
        ("`````", "``````suggestion\n`````\n``````"),
        (
            "x = '@octo-org' # Fixes #1 <!-- ![](x)",
            "```suggestion\nx = '@octo-org' # Fixes #1 <!-- ![](x)\n```",
        ),
    ],
    ids=["line", "ended", "nothing", "empty-line", "empty-end", "fence", "longer-fence", "as-it-is"],
)
def test_a_suggestion_is_what_github_puts_into_the_place_of_the_lines(replacement: str, fence: str) -> None:
    remark = only(where(found(10, first=10, last=11, replacement=replacement)))

    assert (remark.first_line, remark.last_line) == (10, 11)
    assert remark.body == f"**Warning** (correctness): Wrong for negative numbers.\n\n{fence}"


@pytest.mark.parametrize(
    ("asked", "review"),
    [
        (found(10, first=13, last=15, replacement="x"), {}),
        (found(10, first=10, last=31, replacement="x"), {}),
        (found(10, first=10, last=10, replacement="x = '\u202e'"), {}),
        (found(10, first=10, last=10, replacement="x = '\x1b[2J'"), {}),
        (found(10, first=10, last=10, replacement=f"x = 'ghp_{'a' * 36}'"), {}),
        (found(10, first=10, last=10, replacement="a\r\nb"), {}),
        (found(10, first=10, last=10, replacement="x"), {MENDED: {"applied": [], "why_not": "breaks t"}}),
    ],
    ids=["leaves-the-diff", "two-stretches", "bidi", "terminal", "secret", "line-ends", "tried-and-not-kept"],
)
def test_what_could_not_be_committed_as_it_is_is_no_suggestion(
    asked: Mapping[str, Any], review: Mapping[str, Any]
) -> None:
    remark = only(where(asked, review=review))

    assert (remark.first_line, remark.last_line) == (10, 10)
    assert remark.body == "**Warning** (correctness): Wrong for negative numbers."


def test_a_suggestion_beside_others_that_were_applied_can_still_be_committed() -> None:
    asked = found(10, first=10, last=10, replacement="x")

    review = {MENDED: {"applied": [found(31)], "why_not": "changed by another"}}
    remark = only(where(asked, review=review))

    assert "```suggestion\nx\n```" in remark.body


def test_the_words_of_a_remark_do_nothing() -> None:
    spoken = "Fixes #1 for @octo-org/team ![](https://evil.example/x.png) <!-- \u202e"

    body = only(where(found(10, explanation=spoken, criterion=spoken))).body

    assert "evil.example" in body
    for acting in ("Fixes #1", "@octo-org", "![", "<!--", "\u202e"):
        assert acting not in body


def test_what_two_passes_say_alike_is_said_once() -> None:
    remarks = where(found(10), {**found(10), "pass": "security"}, found(10, explanation="Something else."))

    assert [each.body.rpartition(": ")[2] for each in remarks.at_lines] == [
        "Wrong for negative numbers.",
        "Something else.",
    ]
    assert len({each.key for each in remarks.at_lines}) == 2


def test_a_finding_keeps_its_key_when_its_line_moves_or_it_is_worded_otherwise() -> None:
    before = only(where(found(10)))
    moved = only(where(found(11, explanation="It fails below zero."), changed={"a.py": f"first\n{AFTER}"}))
    other = only(where(found(11)))

    assert moved.key == before.key
    assert other.key != before.key


def test_more_than_a_reader_bears_stands_in_the_body() -> None:
    asked = [found(10, explanation=f"Remark {number}.") for number in range(MOST_AT_LINES + 2)]

    remarks = where(*asked)

    assert (len(remarks.at_lines), remarks.elsewhere) == (MOST_AT_LINES, tuple(asked[MOST_AT_LINES:]))

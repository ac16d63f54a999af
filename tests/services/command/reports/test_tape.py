"""What our listener tells of tape."""

import json
from typing import Any

from cogworks.services.command.reports.cases import Case
from cogworks.services.command.reports.tape import parse


def told(*names: str, test: int = 0, process: int = 1, outcome: str = "passed", **more: Any) -> str:
    event = {"process": process, "test": test, "names": names, "file": "/r/a.js", "outcome": outcome}
    return json.dumps({**event, "message": "", "isOuter": False, **more})


def cases(*lines: str) -> list[tuple[str, str, str]]:
    found = parse("\n".join(lines).encode())
    assert not found.is_cut
    return [(case.name, case.outcome, case.message) for case in found.cases]


def test_the_last_word_on_a_test_counts_and_one_without_is_an_error() -> None:
    lines = (
        told("adds", outcome="begun"),
        told("adds", outcome="failed", message="no"),
        told("hangs", test=1, outcome="begun"),
    )

    assert cases(*lines) == [
        ("adds", "failed", "no"),
        ("hangs", "error", "its process did not come to its end"),
    ]
    assert parse(lines[0].encode()).cases[0].file == "/r/a.js"


def test_a_test_that_only_holds_others_is_none_unless_it_fails_itself() -> None:
    assert cases(told("cart", isOuter=True), told("cart", "adds", test=1)) == [("cart > adds", "passed", "")]
    assert cases(told("cart", isOuter=True, outcome="failed", message="late")) == [("cart", "failed", "late")]


def test_a_suite_that_runs_in_two_processes_is_one_and_fails_where_either_does() -> None:
    lines = (told("adds"), told("adds", test=1), told("adds", process=2, outcome="failed", message="no"))

    assert cases(*lines) == [("adds", "failed", "no"), ("adds", "passed", "")]


def test_what_stands_between_is_passed_over() -> None:
    assert cases("TAP version 13", '{"names": 3}', told("adds")) == [
        ("", "error", "its process did not come to its end"),
        ("adds", "passed", ""),
    ]
    assert parse(b'{"test": 1').cases == ()
    assert parse(told("adds").encode()).cases == (Case("adds", "passed", file="/r/a.js"),)

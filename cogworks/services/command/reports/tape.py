"""What our listener writes of tape: tests that begin and end, one JSON object a line, of one process or several."""

from collections import Counter
from typing import Any, NamedTuple, get_args

from cogworks.services.command.reports.cases import (
    Case,
    Outcome,
    Parsed,
    bounded,
    json_lines,
    listing,
    word,
)

_WORST_FIRST: tuple[Outcome, ...] = ("error", "failed", "passed", "skipped")
_CUT_OFF = "its process did not come to its end"


class _Test(NamedTuple):
    file: str
    names: tuple[str, ...]
    outcome: Outcome
    message: str
    is_outer: bool
    """Whether it only holds others."""


def parse(data: bytes) -> Parsed:
    """The tests that hold assertions of their own, each named with what it stands in.

    A test that runs in several processes, as where a script runs a suite twice, is one: the worst outcome counts.
    """
    tests: dict[tuple[str, str], _Test] = {}
    for line in json_lines(data):
        if isinstance(line, dict) and "names" in line:
            tests[(str(line.get("process")), str(line.get("test")))] = _read(line)
    times: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    cases: dict[tuple[str, tuple[str, ...], int], Case] = {}
    for (process, _), each in tests.items():
        if each.is_outer and each.outcome == "passed":
            continue
        times[(process, each.file, each.names)] += 1
        key = (each.file, each.names, times[(process, each.file, each.names)])
        case = Case(" > ".join(each.names), each.outcome, each.message, file=each.file)
        cases[key] = _worse(cases.get(key, case), case)
    return bounded([*cases.values()], [])


def _read(line: dict[str, Any]) -> _Test:
    outcome, message = word(line.get("outcome")), word(line.get("message"))
    if outcome not in get_args(Outcome):
        outcome, message = "error", message or _CUT_OFF
    names = tuple(word(name) for name in listing(line.get("names")))
    valid: Outcome = next(each for each in _WORST_FIRST if each == outcome)
    return _Test(word(line.get("file")), names, valid, message, bool(line.get("isOuter")))


def _worse(first: Case, second: Case) -> Case:
    return min(first, second, key=lambda case: _WORST_FIRST.index(case.outcome))

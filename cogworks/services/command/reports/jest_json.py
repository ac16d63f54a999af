"""The JSON of Jest and of Vitest, which is the same but for details."""

import re
from typing import Any

from cogworks.services.command.reports.cases import (
    Case,
    Outcome,
    Parsed,
    Problem,
    bounded,
    listing,
    mapping,
    read_json,
    word,
)

_OUTCOMES: dict[str, Outcome] = {
    "passed": "passed",
    "failed": "failed",
    "pending": "skipped",
    "skipped": "skipped",
    "todo": "skipped",
    "disabled": "skipped",
}
_PLACE = re.compile(r"[:(](\d{1,7}):\d{1,7}\)?")


def parse(data: bytes) -> Parsed:
    """The cases of every file; a file without any that failed could not be loaded."""
    report = read_json(data)
    if not isinstance(report, dict) or not isinstance(report.get("testResults"), list):
        return Parsed(is_cut=True)
    cases: list[Case] = []
    problems: list[Problem] = []
    for each in listing(report["testResults"]):
        file = mapping(each)
        name = word(file.get("name")) or word(file.get("testFilePath"))
        own_cases = [_case(mapping(test), name) for test in listing(file.get("assertionResults"))]
        cases += _unprepared(own_cases, file) if file.get("status") == "failed" else own_cases
        # Vitest before 1.0 says of a file that it cannot load that it passed, and why it did not.
        if not own_cases and (file.get("status") == "failed" or word(file.get("message"))):
            message = word(file.get("message")) or "the file could not be loaded"
            line = _PLACE.search(message[:4000])
            problems.append(Problem(message, file=name, line=int(line[1]) if line else None))
    return bounded(cases, problems)


def _unprepared(cases: list[Case], file: dict[str, Any]) -> list[Case]:
    """The cases of a file that failed: where none of them did, what stands before them did, and Vitest calls them skipped."""
    if any(case.outcome in ("failed", "error") for case in cases):
        return cases
    reason = word(file.get("message")) or "what prepares the tests of this file failed"
    statuses = [mapping(test).get("status") for test in listing(file.get("assertionResults"))]
    return [
        case._replace(outcome="error", message=reason) if status in ("skipped", "pending") else case
        for case, status in zip(cases, statuses, strict=True)
    ]


def _case(test: dict[str, Any], file: str) -> Case:
    suites = [word(each) for each in listing(test.get("ancestorTitles")) if word(each)]
    title = word(test.get("title")) or word(test.get("fullName"))
    messages = [word(each) for each in listing(test.get("failureMessages"))]
    outcome = _OUTCOMES.get(word(test.get("status")), "error")
    return Case(" > ".join([*suites, title]), outcome, "\n".join(messages), file=file)

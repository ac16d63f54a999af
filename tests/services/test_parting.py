"""What is said of a run that had no time for all of its tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cogworks.domain_services.messages import TestReport
from cogworks.services.python.parting import parted

PLANNED: Mapping[str, Any] = {
    "kind": "planned",
    "tests": ["tests/test_a.py::test_one", "tests/test_b.py::test_two"],
}


def started(test: str) -> Mapping[str, Any]:
    return {"kind": "start", "id": test}


def finished(test: str) -> Mapping[str, Any]:
    return {"kind": "finish", "id": test}


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "no test was even found and begun"),
        ([PLANNED, started("tests/test_a.py::test_one")], "`tests/test_a.py` did not come to its end"),
        (
            [PLANNED, *(each(test) for test in PLANNED["tests"] for each in (started, finished))],
            "Every test ended, but the run itself did not within 9 s",
        ),
    ],
    ids=["nothing began", "the first is slow", "all ended"],
)
def test_a_run_without_time_says_how_far_it_came(records: Sequence[Mapping[str, Any]], said: str) -> None:
    report = parted(TestReport(cases=(), timed_out=True), records, (), runner="pytest", limit_s=9)

    assert report.timed_out
    [remedy] = report.remedies
    assert said in remedy

"""What is done while the tests run: whoever runs them waits for it, and they end where it fails."""

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.process import ServiceProcess
from cogworks.errors import UsageError
from cogworks.wiring.meanwhile import ChecksMeanwhile, Meanwhile
from tests.limits import ENDS_WITHIN_S

SCRIPT = Path(__file__).parents[1] / "domain_services" / "broken" / "service.py"
REPORT = TestReport(cases=())


class Runs:
    """A run of the tests that comes to its end when it may."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def run(self, tests: Sequence[str], *, timeout_s: float) -> TestReport:
        assert (tests, timeout_s) == (("a",), 1.0)
        assert self.may_end.wait(ENDS_WITHIN_S)
        return REPORT


def started(meanwhile: Meanwhile[str], folder: Path) -> ServiceProcess:
    (folder / "good").touch()
    words = [sys.executable, "-S", "-E", str(SCRIPT), "good", str(folder / "good")]
    return meanwhile(words, environment=os.environ, start_s=ENDS_WITHIN_S)


def test_a_run_of_tests_ends_no_sooner_than_what_is_done_meanwhile() -> None:
    meanwhile: Meanwhile[str] = Meanwhile(ServiceProcess)
    runs, may_end = Runs(), threading.Event()
    runs.may_end.set()
    done: list[str] = []

    def work() -> str:
        assert may_end.wait(ENDS_WITHIN_S)
        done.append("opened")
        return "found"

    meanwhile.begin(work)
    threading.Timer(0.05, may_end.set).start()

    assert ChecksMeanwhile(runs, meanwhile).run(("a",), timeout_s=1.0) == REPORT
    assert (done, meanwhile.result()) == (["opened"], "found")


def test_where_it_fails_the_services_end_and_no_other_is_started(tmp_path: Path) -> None:
    meanwhile: Meanwhile[str] = Meanwhile(ServiceProcess)
    process = started(meanwhile, tmp_path)

    def work() -> str:
        raise UsageError("there is no such provider")

    try:
        meanwhile.begin(work)

        assert process.has_ended(within_s=ENDS_WITHIN_S)
        with pytest.raises(UsageError, match="no such provider"):
            started(meanwhile, tmp_path)
        with pytest.raises(UsageError, match="no such provider"):
            meanwhile.result()
    finally:
        process.close()


def test_after_it_succeeded_services_are_started_as_ever(tmp_path: Path) -> None:
    meanwhile: Meanwhile[str] = Meanwhile(ServiceProcess)
    meanwhile.begin(lambda: "found")
    assert meanwhile.result() == "found"

    process = started(meanwhile, tmp_path)

    try:
        assert not process.has_ended(within_s=0.05)
    finally:
        process.close()


def test_why_it_failed_is_told_instead_of_how_the_tests_ended() -> None:
    meanwhile: Meanwhile[str] = Meanwhile(ServiceProcess)
    runs = Runs()

    def work() -> str:
        runs.may_end.set()
        raise UsageError("there is no such provider")

    meanwhile.begin(work)

    with pytest.raises(UsageError, match="no such provider"):
        ChecksMeanwhile(runs, meanwhile).run(("a",), timeout_s=1.0)

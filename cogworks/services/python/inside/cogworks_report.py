"""A pytest plugin that writes one JSON line per event of the run; imports nothing of cogworks."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import pytest
from _pytest.reports import CollectReport, TestReport
from cogworks_records import Records, Seal, capped, taken_early, written

_SHOWN = {"truncation_limit_lines": "40", "truncation_limit_chars": "2400"}
_EARLY = taken_early()
# pytest looks for garbage at its end, among all that it has loaded: what stays until then is none. Hardly anything of the
# repository is loaded yet, and what its tests leave behind is found as ever.
gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-report-fd",
        metavar="NUMBER",
        type=int,
        help="an open file for one JSON line per event of the run",
    )
    parser.addoption(
        "--cogworks-report-file",
        metavar="PATH",
        help="the same by its name, where whatever starts pytest hands on no open file",
    )


def pytest_configure(config: pytest.Config) -> None:
    _let_comparisons_be_shown(config)
    # Workers of pytest-xdist load the plugin too, and have no such file; only the process that collects their reports writes.
    if hasattr(config, "workerinput"):
        return
    descriptor = config.getoption("--cogworks-report-fd")
    if (path := config.getoption("--cogworks-report-file")) is not None:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        # What stands on the command line comes after us: one failure more or less must not hide the others.
        config.option.maxfail = 0
    if descriptor is not None:
        # Code under test finds no seal here.
        reporter = Reporter(descriptor, _EARLY.pop(descriptor, None))
        config.pluginmanager.register(reporter, "cogworks-reporter")
        config.pluginmanager.register(Avoidance(reporter.deadly), "cogworks-avoidance")


def _let_comparisons_be_shown(config: pytest.Config) -> None:
    """By default pytest keeps eight lines of what differs; whoever repairs the code has nothing else to go by.

    A limit in the project's own configuration goes before. What tests start of pytest in their process is left alone.
    """
    for name, value in _SHOWN.items():
        # Before 8.4 there are no such settings, and where their values are kept is no part of what pytest promises.
        with suppress(ValueError, KeyError):
            if config.getini(name) is None:
                vars(config)["_inicache"][name] = value


class Reporter(Records):
    """Tells what pytest says of each test."""

    def __init__(self, descriptor: int, seal: Seal | None) -> None:
        super().__init__(descriptor, seal)
        python = ".".join(map(str, sys.version_info[:3]))
        self.write(kind="tools", versions={"python": python, "pytest": pytest.__version__})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if self.run_before:
            left_out = [item for item in items if written(item.nodeid) in self.run_before]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if written(item.nodeid) not in self.run_before]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        self.write(kind="start", id=nodeid)

    def pytest_runtest_logreport(self, report: TestReport) -> None:
        # A subtest speaks under its test's id; the test has a word of its own where no subtest fails.
        if type(report) is not TestReport and not report.failed:
            return
        # Of a preparation that went well nobody wants to know, and a suite may have a hundred thousand tests.
        if report.passed and report.when != "call":
            return
        self.write(
            kind="phase", id=report.nodeid, when=report.when, outcome=report.outcome, text=_text(report)
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(kind="finish", id=nodeid)
        self.test = ""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, None]:
        self.write(kind="load", id=collector.nodeid)
        outcome = yield
        error = outcome.excinfo
        if error is not None and issubclass(error[0], SystemExit):
            # A module that ends the program would end the run, and with it the tests of all other files.
            shown = pytest.ExceptionInfo.from_exc_info(error).getrepr(style="short")
            outcome.force_result(CollectReport(collector.nodeid, "failed", str(shown), []))
        self.write(kind="loaded", id=collector.nodeid)

    def pytest_collectreport(self, report: CollectReport) -> None:
        # How the process ended is known to those who saw it end.
        if report.failed and written(report.nodeid) not in self.deadly:
            self.write(kind="collection", id=report.nodeid, text=_text(report))
        elif report.skipped and report.nodeid:
            # Nothing else would ever report the tests in it.
            self.write(kind="passed-over", id=report.nodeid, text=_text(report))

    def pytest_internalerror(self, excrepr: object) -> None:
        self.write(kind="internal", text=str(excrepr))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.write(kind="end", code=int(exitstatus))


class Avoidance:
    """What an earlier process did not survive loading cannot be loaded."""

    def __init__(self, deadly: frozenset[str]) -> None:
        self._deadly = deadly

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> CollectReport | None:
        if written(collector.nodeid) not in self._deadly:
            return None
        return CollectReport(collector.nodeid, "failed", "the test process ended while this was loaded", [])


def _text(report: TestReport | CollectReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return "" if report.passed else capped(report.longreprtext)

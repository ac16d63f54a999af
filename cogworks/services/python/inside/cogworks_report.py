"""A pytest plugin that writes one JSON line per event of the run; imports nothing of cogworks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

_MAX_CHARS = 100_000


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
    descriptor = config.getoption("--cogworks-report-fd")
    if (path := config.getoption("--cogworks-report-file")) is not None:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        # What stands on the command line comes after us: one failure more or less must not hide the others.
        config.option.maxfail = 0
    if descriptor is not None:
        # What the tests start is no business of this file.
        os.set_inheritable(descriptor, False)
    # Workers of pytest-xdist load the plugin too; only the process that collects their reports writes.
    if descriptor is not None and not hasattr(config, "workerinput"):
        reporter = Reporter(descriptor)
        config.pluginmanager.register(reporter, "cogworks-reporter")
        config.pluginmanager.register(Avoidance(reporter.deadly), "cogworks-avoidance")


class Reporter:
    """Each line is written at once: a process that is killed leaves behind what it knew.

    What the file holds already was written by a process that died: its tests are not run again, and what it died of while it
    was loaded is not loaded again.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._process = os.getpid()
        told = _told_before(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
        self._run_before = frozenset(record["id"] for record in told if record["kind"] == "start")
        self.deadly = _deadly(told)
        """The files and folders that an earlier process did not survive loading."""
        self.test = ""
        """The one that runs, empty between two."""
        python = ".".join(map(str, sys.version_info[:3]))
        self.write(kind="tools", versions={"python": python, "pytest": pytest.__version__})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if self._run_before:
            left_out = [item for item in items if _written(item.nodeid) in self._run_before]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if _written(item.nodeid) not in self._run_before]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        self.write(kind="start", id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # A subtest speaks under its test's id; the test has a word of its own where no subtest fails.
        if type(report) is not pytest.TestReport and not report.failed:
            return
        self.write(
            kind="phase", id=report.nodeid, when=report.when, outcome=report.outcome, text=_text(report)
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(kind="finish", id=nodeid)
        self.test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        self.write(kind="load", id=collector.nodeid)
        try:
            return (yield)
        except SystemExit as ending:
            # A module that ends the program would end the run, and with it the tests of all other files.
            told = pytest.ExceptionInfo.from_exception(ending).getrepr(style="short")
            return pytest.CollectReport(collector.nodeid, "failed", str(told), [])
        finally:
            self.write(kind="loaded", id=collector.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # How the process ended is known to those who saw it end.
        if report.failed and _written(report.nodeid) not in self.deadly:
            self.write(kind="collection", id=report.nodeid, text=_text(report))
        elif report.skipped and report.nodeid:
            # Nobody else would ever tell of the tests in it.
            self.write(kind="passed-over", id=report.nodeid, text=_text(report))

    def pytest_internalerror(self, excrepr: object) -> None:
        self.write(kind="internal", text=str(excrepr))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.write(kind="end", code=int(exitstatus))

    def write(self, **record: Any) -> None:
        if os.getpid() != self._process:
            # A test forked, and its child came out of the test as well.
            return
        # A lone surrogate is text to Python and to nobody else.
        line = (json.dumps(record, ensure_ascii=False) + "\n").encode(errors="replace")
        while line:
            line = line[os.write(self._descriptor, line) :]


class Avoidance:
    """What an earlier process did not survive loading cannot be loaded."""

    def __init__(self, deadly: frozenset[str]) -> None:
        self._deadly = deadly

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        if _written(collector.nodeid) not in self._deadly:
            return None
        return pytest.CollectReport(
            collector.nodeid, "failed", "the test process ended while this was loaded", []
        )


def _written(nodeid: str) -> str:
    return nodeid.encode(errors="replace").decode()


def _told_before(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def _deadly(told: list[dict[str, Any]]) -> frozenset[str]:
    found: set[str] = set()
    loading: list[str] = []
    for record in told:
        if record["kind"] == "load":
            loading.append(record["id"])
        elif record["kind"] == "loaded":
            loading.remove(record["id"])
        elif record["kind"] == "next":
            # The session itself has no name.
            found.update(filter(None, loading[-1:]))
            loading = []
    return frozenset(found)


def _text(report: pytest.TestReport | pytest.CollectReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return "" if report.passed else _capped(report.longreprtext)


def _capped(text: str) -> str:
    # Whoever reads the report shortens it further; this keeps a test from filling the disk with its message.
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS // 2]}\n…\n{text[-_MAX_CHARS // 2 :]}"

"""A pytest plugin that writes one JSON line per event of the run; imports nothing of cogworks."""

import json
import os
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


def pytest_configure(config: pytest.Config) -> None:
    descriptor = config.getoption("--cogworks-report-fd")
    if descriptor is not None:
        # What the tests start is no business of this file.
        os.set_inheritable(descriptor, False)
    # Workers of pytest-xdist load the plugin too; only the process that collects their reports writes.
    if descriptor is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(descriptor), "cogworks-reporter")


class Reporter:
    """Each line is written at once: a process that is killed leaves behind what it knew."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.test = ""
        """The one that runs, empty between two."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.test = nodeid
        self.write(kind="start", id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.write(
            kind="phase", id=report.nodeid, when=report.when, outcome=report.outcome, text=_text(report)
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(kind="finish", id=nodeid)
        self.test = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(kind="collection", id=report.nodeid, text=_text(report))

    def pytest_internalerror(self, excrepr: object) -> None:
        self.write(kind="internal", text=str(excrepr))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.write(kind="end", code=int(exitstatus))

    def write(self, **record: Any) -> None:
        # Escapes keep lone surrogates and line separators of test names on one valid line.
        line = (json.dumps(record) + "\n").encode()
        while line:
            line = line[os.write(self._descriptor, line) :]


def _text(report: pytest.TestReport | pytest.CollectReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return "" if report.passed else _capped(report.longreprtext)


def _capped(text: str) -> str:
    # Whoever reads the report shortens it further; this keeps a test from filling the disk with its message.
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS // 2]}\n…\n{text[-_MAX_CHARS // 2 :]}"

"""A pytest plugin that writes one JSON line per event of the run; imports nothing of cogworks."""

import json
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-report", metavar="PATH", help="write one JSON line per event of the run")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--cogworks-report")
    # Workers of pytest-xdist load the plugin too; only the process that collects their reports writes.
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(Path(path)), "cogworks-reporter")


class Reporter:
    """Each line is flushed: a process that is killed leaves behind what it knew."""

    def __init__(self, path: Path) -> None:
        self._target = path.open("w", encoding="utf-8")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(kind="start", id=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._write(
            kind="phase", id=report.nodeid, when=report.when, outcome=report.outcome, text=_text(report)
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write(kind="finish", id=nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(kind="collection", id=report.nodeid, text=_text(report))

    def pytest_internalerror(self, excrepr: object) -> None:
        self._write(kind="internal", text=str(excrepr))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write(kind="end", code=int(exitstatus))

    def pytest_unconfigure(self) -> None:
        self._target.close()

    def _write(self, **record: Any) -> None:
        # Escapes keep lone surrogates and line separators of test names on one valid line.
        self._target.write(json.dumps(record) + "\n")
        self._target.flush()


def _text(report: pytest.TestReport | pytest.CollectReport) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return "" if report.passed else report.longreprtext

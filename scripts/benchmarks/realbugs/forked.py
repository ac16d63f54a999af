"""Runs tests by plain pytest, each time in a fork of a process that has pytest loaded; run by a package's own interpreter.

A line of JSON in: `{"folder", "tests", "report", "limit_s"}`. A line out when the run has ended; what came of it is in the report.
"""

import json
import os
import resource
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest


class Outcomes:
    """A pytest plugin that keeps what became of each test, and the files whose tests could not be loaded."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.unloaded: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.unloaded.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "context") and not report.failed:
            # Of a subtest; what it says is about a part of the test.
            return
        if report.failed:
            kind = "failed" if report.when == "call" else "error"
            self.found[report.nodeid] = kind if self.found.get(report.nodeid) != "failed" else "failed"
        elif report.skipped:
            self.found.setdefault(report.nodeid, "skipped")
        elif report.when == "call":
            self.found.setdefault(report.nodeid, "passed")


def run(wanted: dict[str, Any]) -> None:
    """One run, in this process; what the tests print goes nowhere."""
    # A loop without an end must not outlive whoever waits for it.
    resource.setrlimit(resource.RLIMIT_CPU, (wanted["limit_s"], wanted["limit_s"]))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.chdir(wanted["folder"])
    sources = Path(wanted["folder"], "src")
    sys.path[:0] = [str(sources if sources.is_dir() else sources.parent)]
    outcomes = Outcomes()
    options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--maxfail=0"]
    pytest.main([*options, *wanted["tests"]], plugins=[outcomes])
    told = json.dumps({"outcomes": outcomes.found, "unloaded": outcomes.unloaded})
    Path(wanted["report"]).write_text(told, encoding="utf-8")


def main() -> None:
    for plugin in entry_points(group="pytest11"):
        # Loaded once here, and not in every fork.
        plugin.load()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                run(json.loads(line))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

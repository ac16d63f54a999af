"""A pytest plugin that writes the outcome of every test; knows nothing of cogworks."""

import json
import os
from pathlib import Path

import pytest

outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if hasattr(report, "context") and not report.failed:
        # Of a subtest; what it says is about a part of the test.
        return
    if report.failed:
        kind = "failed" if report.when == "call" else "error"
        outcomes[report.nodeid] = kind if outcomes.get(report.nodeid) != "failed" else "failed"
    elif report.skipped:
        outcomes.setdefault(report.nodeid, "skipped")
    elif report.when == "call":
        outcomes.setdefault(report.nodeid, "passed")


def pytest_sessionfinish() -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        Path(os.environ["PLAIN_REPORT"]).write_text(json.dumps(outcomes), encoding="utf-8")

"""A pytest plugin that writes the outcome of every test down: one JSON object a line in the file of `ZOO_OUTCOMES`."""

import json
import os

_FILE = os.environ["ZOO_OUTCOMES"]


def pytest_runtest_logreport(report):  # type: ignore[no-untyped-def]  # runs under any pytest of a package
    """Told for each phase of each test."""
    outcome = report.outcome
    if report.when != "call" and outcome == "passed":
        return
    # Marked by its maintainers as one that fails now and then: a failure here would say nothing of cogworks.
    if outcome == "passed" and (hasattr(report, "wasxfail") or "flaky" in report.keywords):
        outcome = "unsure"
    with open(_FILE, "a", encoding="utf-8") as file:  # noqa: PTH123 - runs under any Python of a package
        file.write(json.dumps([report.nodeid, outcome]) + "\n")


def pytest_collectreport(report):  # type: ignore[no-untyped-def]  # as above
    """Told for each file."""
    if report.outcome == "failed":
        with open(_FILE, "a", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write(json.dumps([report.nodeid, "unloaded"]) + "\n")

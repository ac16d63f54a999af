"""A pytest plugin that ends a test, or the loading of a file, at its time limit; imports nothing of cogworks."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager

import pytest
from cogworks_limit import IS_THERE, exit_within, limited


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-test-timeout", metavar="SECONDS", type=float, help="how long one test may take"
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, None, None]:
    limit_s = item.config.getoption("--cogworks-test-timeout")
    if not (limit_s and IS_THERE):
        yield
        return
    with _failing(limit_s, f"over the time limit of one test, {limit_s:g} seconds"):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, None, None]:
    limit_s = collector.config.getoption("--cogworks-test-timeout")
    # The session's own takes in those of all files.
    if not (limit_s and IS_THERE) or isinstance(collector, pytest.Session):
        yield
        return
    with _failing(limit_s, f"not loaded within the time limit of one test, {limit_s:g} seconds"):
        yield


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        exit_within(config.getoption("--cogworks-test-timeout"))


def _failing(limit_s: float, reason: str) -> AbstractContextManager[None]:
    return limited(limit_s, pytest.fail.Exception(reason))

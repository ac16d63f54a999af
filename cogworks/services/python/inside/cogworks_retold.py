"""A pytest plugin that runs one test once more beside the others and notes what it executes; imports nothing of cogworks.

It does so in a fork from before the first test, when all have run: as if the test had been run by itself, without a pytest of its own,
and without the outcomes and measurements of the others knowing of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from cogworks_records import written
from cogworks_steps import steps_noted

_MOST_FILES = 5_000
_OF_THE_RUN = ("cogworks-reporter", "cogworks-line-keeper", "cogworks-retelling")
"""Plugins that report the run of all tests, which this one is no part of."""
_LEAST_S, _TIMES = 10.0, 20
"""How long it may take: with its steps noted a test takes many times as long."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-retold", metavar="JSON", help="whose steps are noted, what of them, and how much"
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("cogworks-reporter")
    wish = config.getoption("--cogworks-retold")
    if reporter is not None and wish is not None:
        config.pluginmanager.register(Retelling(reporter, **json.loads(wish)), "cogworks-retelling")


class Retelling:
    """Of one test; reported only where it fails by itself as it does among the others, in the same files."""

    def __init__(self, reporter: Any, *, test: str, **wish: Any) -> None:
        self._reporter = reporter
        self._test = test
        self._wish = wish
        self._took_s = 0.0
        self._failure = ""
        """What distinguishes it from others; empty: the test did not fail, or not in the test itself."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and written(report.nodeid) == self._test:
            self._failure = _fingerprint(report) if report.when == "call" else ""
            self._took_s = report.duration

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, None, None]:
        item = next((each for each in session.items if written(each.nodeid) == self._test), None)
        twin = None
        # A fork has none of the threads that a module has begun, and all of the locks that they hold.
        if item is not None and threading.active_count() == 1:
            with suppress(OSError):
                twin = _Twin(str(session.config.rootpath), partial(self._retell, item))
        yield
        if twin is not None:
            twin.go_on(self._failure, within_s=_LEAST_S + _TIMES * self._took_s)

    def _retell(self, item: pytest.Item, failure: str) -> None:
        self._reporter.go_on_in_fork()
        # What it tries beyond its isolation is tried by this test.
        self._reporter.test = item.nodeid
        self._reporter.write(kind="steps-begin", id=item.nodeid)
        plugins = item.config.pluginmanager
        for name in _OF_THE_RUN:
            plugins.unregister(name=name)
        noting = _Noting(self._reporter, self._wish)
        plugins.register(noting, "cogworks-noting")
        # With all that pytest and others put around a test, to which comparisons owe their words.
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        self._reporter.write(kind="steps-told", id=item.nodeid, is_same=noting.failures == [failure])


class _Noting:
    def __init__(self, reporter: Any, wish: Any) -> None:
        self._reporter = reporter
        self._wish = wish
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(_fingerprint(report))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        with steps_noted(self._reporter, item, self._wish):
            yield


class _Twin:
    """A fork that waits, then works. It is no child of this process, which may wait for all that it has."""

    def __init__(self, root: str, work: Callable[[str], None]) -> None:
        """Args:
        root: whose files have to be the same when it begins to work.
        """
        self._pid = 0
        failures, self._failures = os.pipe()
        self._ended, ends = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if os.fork() == 0:
                    os.close(self._failures)
                    os.close(self._ended)
                    os.write(ends, b"%d\n" % os.getpid())
                    _wait_and_work(failures, root, work)
            finally:
                os._exit(0)
        os.close(failures)
        os.close(ends)
        os.waitpid(child, 0)
        # Without a number there was no room for it.
        self._pid = int(os.read(self._ended, 100) or 0)

    def go_on(self, failure: str, *, within_s: float) -> None:
        """Have it work on a failure, or end where there is none, and wait for that."""
        with suppress(OSError):
            os.write(self._failures, f"{failure}\n".encode())
            os.close(self._failures)
            if self._pid and not select.select([self._ended], [], [], within_s)[0]:
                os.kill(self._pid, signal.SIGKILL)
            os.close(self._ended)


def _wait_and_work(failures: int, root: str, work: Callable[[str], None]) -> None:
    before = _state(root)
    failure = os.read(failures, 1000).decode().strip()
    if failure and before is not None and _state(root) == before:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        work(failure)


def _state(root: str) -> list[tuple[str, str, int, int]] | None:
    """Differs where any file does; None where there are too many to look at, or folders too deep."""
    files: list[tuple[str, str, int, int]] = []
    # Before Python 3.12 `os.walk` calls itself for each level.
    with suppress(RecursionError):
        for folder, _, names in os.walk(root):  # noqa: TID251 - nothing of cogworks is here
            if len(files) + len(names) > _MOST_FILES:
                return None
            for name in names:
                with suppress(OSError):
                    about = os.lstat(os.path.join(folder, name))
                    files.append((folder, name, about.st_mtime_ns, about.st_size))
        return sorted(files)
    return None


def _fingerprint(report: Any) -> str:
    """What distinguishes a failure from others."""
    return hashlib.sha256(f"{report.when} {report.longreprtext}".encode(errors="replace")).hexdigest()

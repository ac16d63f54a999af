"""A pytest plugin that begins no file for which there is no time any more; imports nothing of cogworks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from cogworks_clock import Clock


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cogworks-until",
        metavar="SECONDS",
        type=float,
        help="by when, on the system's monotonic clock, no further file shall be running",
    )


def pytest_configure(config: pytest.Config) -> None:
    until_s = config.getoption("--cogworks-until")
    # Workers of pytest-xdist see a part of the tests. The process that collects their reports says which files they did not
    # come to.
    if until_s is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Parts(config, until_s), "cogworks-parting")


class Parts:
    """Files whose tests are mixed with those of others are run with them or not at all."""

    def __init__(self, config: pytest.Config, until_s: float) -> None:
        self._config = config
        self._until_s = until_s
        self._clock = Clock([], until_s)
        self._numbers: dict[str, int] = {}
        self._is_planned = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        names = [item.nodeid for item in session.items]
        self._write(kind="planned", tests=names)
        self._clock = Clock([name.split("::", 1)[0] for name in names], self._until_s)
        self._numbers = {name: number for number, name in enumerate(names)}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self._is_planned:
            self._is_planned = True
            self._write(kind="planned", tests=list(ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        was_over = self._clock.is_over
        number = self._numbers.get(item.nodeid)
        if number is None or self._clock.may_begin(number):
            return None
        if not was_over:
            self._write(kind="over")
        return True

    def _write(self, **record: Any) -> None:
        reporter = self._config.pluginmanager.get_plugin("cogworks-reporter")
        if reporter is not None:
            reporter.write(**record)

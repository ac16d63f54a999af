"""A pytest plugin that notes which lines each test executes; imports nothing of cogworks.

Only this process is measured: not what a test starts, and not the workers of pytest-xdist, which are therefore not used.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from cogworks_linekeeping import LineRecorder, line_keeper


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-lines", metavar="FOLDER", help="where the package `coverage` lies")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("cogworks-reporter")
    folder = config.getoption("--cogworks-lines")
    if reporter is None or folder is None:
        return
    keeper = line_keeper(folder, str(config.rootpath))
    if isinstance(keeper, str):
        reporter.write(kind="unmeasured", text=keeper)
    else:
        config.pluginmanager.register(Measuring(reporter, keeper), "cogworks-line-keeper")


class Measuring:
    """Each test by itself."""

    def __init__(self, reporter: Any, keeper: LineRecorder) -> None:
        self._reporter = reporter
        self._keeper = keeper

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        def report(lines: object) -> None:
            self._reporter.write(kind="lines", id=item.nodeid, lines=lines)

        with self._keeper.measured(report):
            yield

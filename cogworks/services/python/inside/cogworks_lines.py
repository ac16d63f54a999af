"""A pytest plugin that notes which lines each test executes; imports nothing of cogworks.

Only this process is measured: not what a test starts, and not the workers of pytest-xdist, which are therefore not used.
"""

import os
import sys
from collections.abc import Generator, Iterable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_CORE = "COVERAGE_CORE"
_ANYTHING_BUT_LINES = ["trace-changed", "no-data-collected", "no-ctracer", "no-sysmon", "couldnt-parse"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cogworks-lines", metavar="FOLDER", help="where the package `coverage` lies")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("cogworks-reporter")
    folder = config.getoption("--cogworks-lines")
    if reporter is None or folder is None:
        return
    try:
        keeper = LineKeeper(reporter, _coverage(folder), config.rootpath)
    except (ImportError, AttributeError, TypeError) as error:
        # Another interpreter than the service's, or a project's own coverage of long ago.
        reporter.write(kind="unmeasured", text=f"{type(error).__name__}: {error}")
    else:
        config.pluginmanager.register(keeper, "cogworks-line-keeper")


class LineKeeper:
    """Measures each test by itself, so that one that takes the tracing for itself loses no lines but its own."""

    def __init__(self, reporter: Any, coverage: ModuleType, root: Path) -> None:
        self._reporter = reporter
        self._root = f"{root}{os.sep}"
        self._measurement = coverage.Coverage(data_file=None, config_file=False, include=[f"{self._root}*"])
        self._measurement.set_option("run:disable_warnings", _ANYTHING_BUT_LINES)
        self._count = 0
        before = os.environ.get(_CORE)
        # Where Python offers several ways of tracing, only this one tells the tests apart; chosen at the first start.
        os.environ[_CORE] = "ctrace"
        self._measurement.start()
        self._measurement.stop()
        if before is None:
            del os.environ[_CORE]
        else:
            os.environ[_CORE] = before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        self._count += 1
        self._measurement.start()
        self._measurement.switch_context(str(self._count))
        try:
            return (yield)
        finally:
            self._measurement.stop()
            self._reporter.write(kind="lines", id=item.nodeid, lines=self._found())

    def _found(self) -> dict[str, list[tuple[int, int]]]:
        data = self._measurement.get_data()
        data.set_query_context(str(self._count))
        lines = {path: data.lines(path) for path in data.measured_files() if path.startswith(self._root)}
        return {path.removeprefix(self._root): _stretches(found) for path, found in lines.items() if found}


def _coverage(folder: str) -> ModuleType:
    if "coverage" in sys.modules:
        return sys.modules["coverage"]
    spec = PathFinder.find_spec("coverage", [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package coverage in {folder}")
    module = sys.modules["coverage"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _stretches(lines: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return found

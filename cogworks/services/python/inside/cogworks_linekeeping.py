"""Measures which lines a stretch of code executes; imports nothing of cogworks, and nothing of pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

_CORE = "COVERAGE_CORE"
_ANYTHING_BUT_LINES = ["trace-changed", "no-data-collected", "no-ctracer", "no-sysmon", "couldnt-parse"]


def line_keeper(folder: str, root: str = "") -> LineRecorder | str:
    """What measures, or why nothing can be measured.

    Args:
        folder: where the package `coverage` lies.
        root: only files below it count; empty: the current directory.
    """
    try:
        return LineRecorder(_coverage(folder), root or os.getcwd())
    except (ImportError, AttributeError, TypeError) as error:
        # Another interpreter than the service's, or a project's own coverage of long ago.
        return f"{type(error).__name__}: {error}"


class LineRecorder:
    """Measures each stretch by itself, so that one that takes the tracing for itself loses no lines but its own."""

    def __init__(self, coverage: ModuleType, root: str) -> None:
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

    @contextmanager
    def measured(self, report: Callable[[dict[str, list[tuple[int, int]]]], object]) -> Iterator[None]:
        """`report` gets the stretches of lines of each file, named from the root."""
        self._count += 1
        self._measurement.start()
        self._measurement.switch_context(str(self._count))
        try:
            yield
        finally:
            self._measurement.stop()
            report(self._lines_by_file())

    def _lines_by_file(self) -> dict[str, list[tuple[int, int]]]:
        data = self._measurement.get_data()
        data.set_query_context(str(self._count))
        lines = {path: data.lines(path) for path in data.measured_files() if path.startswith(self._root)}
        return {path[len(self._root) :]: _stretches(numbers) for path, numbers in lines.items() if numbers}


def _coverage(folder: str) -> ModuleType:
    if "coverage" in sys.modules:
        return sys.modules["coverage"]
    spec = PathFinder.find_spec("coverage", [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package coverage in {folder}")
    module = sys.modules["coverage"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    _ask_for_no_origin()
    return module


def _ask_for_no_origin() -> None:
    """Have no collector note who made it: that reads the sources of all that is loaded, for a text that we never show."""
    collector = vars(sys.modules.get("coverage.collector", ModuleType("")))
    if "short_stack" in collector:
        collector["short_stack"] = lambda *_, **__: ""


def _stretches(lines: Iterable[int]) -> list[tuple[int, int]]:
    stretches: list[tuple[int, int]] = []
    for line in sorted(lines):
        if stretches and line == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], line)
        else:
            stretches.append((line, line))
    return stretches

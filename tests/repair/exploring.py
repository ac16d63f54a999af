"""What a service would know of the small shop; obeys `cogworks.repair.localise.localising.Explorer`."""

from collections.abc import Mapping, Sequence

from cogworks.domain_services.exploring import (
    CallGraph,
    CallNode,
    Coverage,
    Symbol,
    SymbolIndex,
    TestCoverage,
)
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from tests.fakes import MemoryWorkspace
from tests.repair.examples import node, symbol

SHOP = "def total(prices):\n    return sum(prices) - 1\n\n\ndef count(prices):\n    return len(prices)\n"
TARGET = "tests/test_shop.py::test_total"
FAILING = TestReport(
    cases=(
        TestCase(
            id=TARGET,
            outcome="failed",
            message="tests/test_shop.py:2: in test_total\n    assert total([1]) == 1\nE   assert 0 == 1",
        ),
        TestCase(id="tests/test_shop.py::test_count", outcome="passed"),
    )
)
NODES = (
    node("tests.test_shop.test_total", (1, 2), hop=0, artifact="tests/test_shop.py"),
    node("tests.test_shop.helper", (4, 5), hop=1, artifact="tests/test_shop.py").model_copy(
        update={
            "symbol": symbol("tests.test_shop.helper", (4, 5), artifact="tests/test_shop.py").model_copy(
                update={"is_test": False}
            )
        }
    ),
    node("shop.count", (5, 6), hop=1),
    node("shop.total", (1, 2), hop=1),
)
COVERAGE = Coverage(
    report=FAILING,
    tests=(
        TestCoverage(test=TARGET, lines={"shop.py": ((1, 2),), "tests/test_shop.py": ((1, 2),)}),
        TestCoverage(test="tests/test_shop.py::test_count", lines={"shop.py": ((5, 6),)}),
    ),
)


class ScriptedExplorer:
    """Knows what it was told, and remembers how it was asked."""

    def __init__(
        self,
        texts: Mapping[str, str],
        *,
        nodes: Sequence[CallNode] | None = None,
        coverage: Coverage | None = None,
        symbols: Sequence[Symbol] | None = None,
        is_indexed: bool = False,
    ) -> None:
        self._texts = texts
        self._is_indexed = is_indexed
        self._nodes, self._coverage, self._symbols = nodes, coverage, symbols
        self.asked: list[object] = []

    def text(self, path: str) -> str | None:
        return self._texts.get(path)

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        return self._coverage

    def call_graph(self, seeds: Sequence[str], *, hops: int, most: int) -> CallGraph | None:
        self.asked.append((tuple(seeds), hops, most))
        return None if self._nodes is None else CallGraph(nodes=tuple(self._nodes), edges=())

    def index(self, artifacts: Sequence[str]) -> SymbolIndex | None:
        self.asked.append(tuple(artifacts))
        return None if self._symbols is None else SymbolIndex(symbols=tuple(self._symbols))

    def words(self) -> Index | None:
        if not self._is_indexed:
            return None
        return Index(MemoryWorkspace(self._texts), Store())

import pytest

from cogworks.domain_services.exploring import Coverage
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.localise.localising import Reach, localise
from tests.repair.examples import symbol
from tests.repair.exploring import COVERAGE, FAILING, NODES, SHOP, TARGET, ScriptedExplorer

TEXTS = {"shop.py": SHOP, "tests/test_shop.py": "def test_total():\n    assert total([1]) == 1\n"}


def test_all_signals_together_put_the_fault_first() -> None:
    explorer = ScriptedExplorer(TEXTS, nodes=NODES, coverage=COVERAGE)

    found = localise(FAILING, explorer, reach=Reach(padding_lines=0))

    assert [each.symbol.id for each in found.suspects] == ["shop.total", "shop.count"]
    assert found.suspects[0].signals["coverage"] == 1.0
    assert found.ranking.missing == ()
    assert [each.lines for each in found.slices] == [(1, 2), (5, 6)]
    assert found.covering is not None
    assert found.covering["shop.py"] == ("tests/test_shop.py::test_count", TARGET)
    assert explorer.asked == [(("tests/test_shop.py:2",), 2, 40), ("shop.py",)]


def test_what_a_failing_test_executes_is_a_suspect_where_no_call_in_the_code_leads_to_it() -> None:
    symbols = [symbol("shop.total", (1, 2)), symbol("shop.count", (5, 6))]
    explorer = ScriptedExplorer(TEXTS, nodes=[*NODES[:1], NODES[2]], coverage=COVERAGE, symbols=symbols)

    found = localise(FAILING, explorer)

    assert [each.symbol.id for each in found.suspects] == ["shop.total", "shop.count"]
    assert found.suspects[0].signals["hop"] == 0.25
    assert found.ranking.missing == ()


def test_what_no_failing_test_executes_is_no_further_suspect() -> None:
    symbols = [symbol("shop.total", (1, 2)), symbol("shop.count", (5, 6))]
    explorer = ScriptedExplorer(TEXTS, nodes=[NODES[0], NODES[3]], coverage=COVERAGE, symbols=symbols)

    found = localise(FAILING, explorer)

    assert [each.symbol.id for each in found.ranking.suspects] == ["shop.total"]


def test_what_stands_in_a_test_file_is_no_suspect_whatever_it_is() -> None:
    found = localise(FAILING, ScriptedExplorer(TEXTS, nodes=NODES, coverage=COVERAGE))

    assert found.nodes == 4
    assert {each.symbol.artifact for each in found.ranking.suspects} == {"shop.py"}


@pytest.mark.parametrize(
    ("coverage", "missing"),
    [
        (None, ("coverage",)),
        (Coverage(report=FAILING, tests=COVERAGE.tests[1:]), ("coverage",)),
    ],
    ids=["nobody measures it", "the failing test left no trace"],
)
def test_without_coverage_it_still_ranks_and_says_so(
    coverage: Coverage | None, missing: tuple[str, ...]
) -> None:
    found = localise(FAILING, ScriptedExplorer(TEXTS, nodes=NODES, coverage=coverage))

    assert found.ranking.missing == missing
    assert sum(found.ranking.weights.values()) == pytest.approx(1)
    assert found.suspects


def test_without_a_call_graph_the_definitions_of_the_traced_files_are_ranked_and_hops_are_not_known() -> None:
    symbols = [symbol("shop.total", (1, 2)), symbol("shop.count", (5, 6))]
    explorer = ScriptedExplorer(TEXTS, coverage=COVERAGE, symbols=symbols)

    found = localise(FAILING, explorer)

    assert found.ranking.missing == ("hop",)
    assert found.suspects[0].symbol.id == "shop.total"
    assert explorer.asked[1] == ("shop.py", "tests/test_shop.py")


def test_a_language_that_no_service_knows_is_read_by_its_grammar() -> None:
    source = "fn total(prices: &[i32]) -> i32 {\n    0\n}\n"
    report = TestReport(cases=(TestCase(id="t", outcome="error", message="src/shop.rs:2: in total\n  0"),))

    found = localise(report, ScriptedExplorer({"src/shop.rs": source}))

    assert [each.symbol.id for each in found.suspects] == ["src.shop.total"]
    assert found.ranking.missing == ("coverage", "hop")


def test_a_file_that_cannot_be_loaded_points_at_its_cause() -> None:
    report = TestReport(
        cases=(),
        collection_errors=("tests/test_shop.py: cannot\nshop.py:2: in <module>\n    import nothing",),
    )
    explorer = ScriptedExplorer(TEXTS, nodes=NODES)

    found = localise(report, explorer)

    assert explorer.asked == [(("shop.py:2",), 2, 40)]
    assert found.suspects[0].symbol.id == "shop.total"


def test_a_failure_that_points_nowhere_has_no_suspect() -> None:
    report = TestReport(cases=(TestCase(id="t", outcome="error", message="killed"),))

    found = localise(report, ScriptedExplorer({}))

    assert (found.suspects, found.slices, found.ranking.missing) == ((), (), ("coverage", "stack", "hop"))

import pytest

from cogworks.domain_services.exploring import CallNode, Coverage
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.localise.localising import Reach, localise
from cogworks.repair.violations import TestRules
from tests.repair.examples import node, symbol
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


GO = {
    "shop.go": "package shop\n\nfunc Total(prices []int) int {\n\treturn sum(prices) - 1\n}\n\nfunc sum(prices []int) int {\n\treturn 0\n}\n",
    "paint.go": "package shop\n\nfunc Paint(colour string) string {\n\treturn colour\n}\n",
    "shop_test.go": (
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif Total([]int{1}) != 1 {\n\t\tt.Errorf("wrong")\n\t}\n}\n'
    ),
}
IN_GO = TestReport(
    cases=(TestCase(id="shop_test.go::TestTotal", outcome="failed", message="shop_test.go:7: wrong total"),)
)


def test_where_no_stack_leads_into_the_code_it_begins_at_what_the_failing_test_calls() -> None:
    nodes = [
        node("shop_test.TestTotal", (5, 9), hop=0, artifact="shop_test.go"),
        node("shop.Total", (3, 5), hop=1, artifact="shop.go"),
    ]
    explorer = ScriptedExplorer(GO, nodes=nodes, is_indexed=True)

    found = localise(IN_GO, explorer, rules=TestRules(files=("*_test.go",)))

    assert explorer.asked == [(("shop_test.go:5",), 2, 40)]
    assert [each.symbol.id for each in found.suspects] == ["shop.Total"]
    assert found.ranking.missing == ("coverage", "stack")


@pytest.mark.parametrize(
    "nodes", [None, [node("shop_test.TestTotal", (5, 9), hop=0, artifact="shop_test.go")]]
)
def test_where_no_call_leads_into_the_code_either_the_words_of_the_failure_do(
    nodes: list[CallNode] | None,
) -> None:
    found = localise(
        IN_GO, ScriptedExplorer(GO, nodes=nodes, is_indexed=True), rules=TestRules(files=("*_test.go",))
    )

    assert found.suspects[0].symbol.id == "shop.Total"
    assert {each.symbol.artifact for each in found.suspects} <= {"shop.go", "paint.go"}
    assert found.ranking.missing == ("coverage", "stack", "hop")


def test_settings_of_tools_are_no_suspects_where_the_words_lead_to_code_as_well() -> None:
    settings = {"go.config.js": "export function total() { return 'shop_test total wrong' }\n"}
    explorer = ScriptedExplorer({**GO, **settings}, is_indexed=True)

    found = localise(IN_GO, explorer, rules=TestRules(files=("*_test.go",)))

    assert {each.symbol.artifact for each in found.suspects} <= {"shop.go", "paint.go"}


def test_a_test_with_a_title_leads_to_what_it_calls() -> None:
    texts = {
        "shop.ts": "export function total(prices: number[]) {\n  return 1\n}\n",
        "shop.test.ts": "describe('total', () => {\n  it('adds [all]', () => {\n    expect(total([1])).toBe(1)\n  })\n})\n",
    }
    nodes = [node("shop.total", (1, 3), hop=1, artifact="shop.ts")]
    explorer = ScriptedExplorer(texts, nodes=nodes, is_indexed=True)
    case = TestCase(id="shop.test.ts::total > adds [all]", outcome="failed", message="expected 2 to be 1")

    found = localise(TestReport(cases=(case,)), explorer, rules=TestRules(files=("*.test.ts",)))

    assert found.suspects[0].symbol.id == "shop.total"
    assert explorer.asked[0] == (("shop.ts:1",), 2, 40)


def test_where_nobody_knows_the_words_of_the_files_there_are_no_suspects() -> None:
    assert localise(IN_GO, ScriptedExplorer(GO), rules=TestRules(files=("*_test.go",))).suspects == ()

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.exploring import CallNode, CallSite
from cogworks.repair.localise.suspects import WEIGHTS, Evidence, Frame, Ranking, own_lines, rank, select
from tests.repair.examples import node, suspect, symbol

TEXT = """\
def total(prices):
    return sum(prices) - rebate(prices)


def rebate(prices):
    return max(prices) * 10


def unrelated():
    return None
"""
NODES = [
    node("tests.test_shop.test_total", (1, 5), hop=0, artifact="tests/test_shop.py"),
    node("shop.total", (1, 2), hop=1),
    node("shop.rebate", (5, 6), hop=2),
    node("shop.unrelated", (9, 10), hop=2),
]
EVIDENCE = Evidence(
    spectrum={"shop.py": {1: 0.5, 2: 0.5, 6: 1.0}},
    traces=((Frame(artifact="shop.py", line=6), Frame(artifact="shop.py", line=2)),),
    text="assert total(prices) == 3 where rebate",
)


def test_the_function_that_all_signals_point_at_comes_first() -> None:
    found = rank(NODES, EVIDENCE, texts={"shop.py": TEXT})

    assert [each.symbol.id for each in found.suspects] == ["shop.rebate", "shop.total", "shop.unrelated"]
    assert found.missing == ()
    assert found.weights == WEIGHTS


def test_every_suspect_tells_the_value_of_every_signal() -> None:
    found = rank(NODES, EVIDENCE, texts={"shop.py": TEXT})

    first = found.suspects[0]
    assert first.signals["coverage"] == 1.0
    assert first.signals["stack"] == 1.0
    assert first.signals["hop"] == pytest.approx(1 / 3)
    # Of its words `def` and `return` stand everywhere and say nothing; `rebate` and `prices` are what the failure says.
    assert 0.3 < first.signals["token"] < 0.32
    assert first.suspicion == pytest.approx(0.45 + 0.25 + 0.15 * first.signals["token"] + 0.15 / 3)


def test_who_calls_what_only_failing_tests_execute_is_suspected_half_as_much() -> None:
    common = {1: 0.2, 2: 0.2, 6: 1.0}
    call = CallSite(name="rebate", caller="shop.total", artifact="shop.py", line=2)
    elsewhere = CallSite(name="rebate", caller="shop.unrelated", artifact="shop.py", line=10)

    def coverage(*calls: CallSite) -> dict[str, float]:
        evidence = EVIDENCE.model_copy(update={"spectrum": {"shop.py": common}, "calls": calls})
        found = rank(NODES, evidence, texts={"shop.py": TEXT})
        return {each.symbol.id: each.signals["coverage"] for each in found.suspects}

    assert coverage() == {"shop.rebate": 1.0, "shop.total": 0.2, "shop.unrelated": 0.0}
    # The second call is one that no failing test comes to.
    assert coverage(call, elsewhere) == {"shop.rebate": 1.0, "shop.total": 0.5, "shop.unrelated": 0.0}


def test_a_call_by_a_name_that_several_have_counts_for_each_of_them_less() -> None:
    nodes = (*NODES, node("shop.Other.rebate", (13, 14), hop=2))
    call = CallSite(name="rebate", caller="shop.total", artifact="shop.py", line=2)
    evidence = EVIDENCE.model_copy(update={"spectrum": {"shop.py": {2: 0.2, 6: 1.0}}, "calls": (call,)})

    found = rank(nodes, evidence, texts={"shop.py": TEXT})

    (total,) = (each for each in found.suspects if each.symbol.id == "shop.total")
    assert total.signals["coverage"] == 0.25


def test_a_test_is_no_suspect() -> None:
    found = rank(NODES, EVIDENCE, texts={"shop.py": TEXT})

    assert not any(each.symbol.is_test for each in found.suspects)


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ({"spectrum": None}, ("coverage",)),
        ({"traces": None}, ("stack",)),
        ({"text": ""}, ("token",)),
        ({"spectrum": None, "traces": None, "text": ""}, ("coverage", "stack", "token")),
    ],
    ids=["no-coverage", "no-stack", "no-text", "distance-alone"],
)
def test_a_missing_signal_is_named_and_the_others_weigh_more(
    gone: dict[str, object], missing: tuple[str, ...]
) -> None:
    evidence = EVIDENCE.model_copy(update=gone)

    found = rank(NODES, evidence, texts={"shop.py": TEXT})

    assert found.missing == missing
    assert sum(found.weights.values()) == pytest.approx(1)
    assert set(found.weights) == set(WEIGHTS) - set(missing)
    assert all(set(each.signals) == set(found.weights) for each in found.suspects)
    assert all(0 <= each.suspicion <= 1 for each in found.suspects)


@given(st.permutations(NODES))
def test_the_order_of_the_nodes_does_not_matter(nodes: list[CallNode]) -> None:
    texts = {"shop.py": TEXT}

    assert rank(nodes, EVIDENCE, texts=texts) == rank(NODES, EVIDENCE, texts=texts)


def test_a_fault_in_an_inner_function_does_not_make_the_outer_one_suspicious() -> None:
    nodes = [node("shop.outer", (1, 9)), node("shop.outer.inner", (3, 5))]
    evidence = Evidence(spectrum={"shop.py": {4: 1.0}})

    found = rank(nodes, evidence, texts={})

    assert [each.symbol.id for each in found.suspects] == ["shop.outer.inner", "shop.outer"]
    assert found.suspects[1].signals["coverage"] == 0


@pytest.mark.parametrize(
    ("suspicions", "expected"),
    [
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2], 7),
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.2, 0.2], 5),
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.25, 0.2], 7),
        ([0.9, 0.8, 0.7], 3),
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 6),
        ([], 0),
    ],
    ids=["seven", "a-gap", "just-no-gap", "few", "six", "none"],
)
def test_five_to_seven_are_chosen(suspicions: list[float], expected: int) -> None:
    suspects = tuple(
        suspect(f"shop.f{place}", (place, place), value) for place, value in enumerate(suspicions, 1)
    )

    chosen = select(Ranking(suspects=suspects, weights={}, missing=()))

    assert chosen == suspects[:expected]


OUTER = symbol("shop.Cart", (10, 30), kind="class")


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ([], ((10, 30),)),
        ([(12, 15), (20, 25)], ((10, 11), (16, 19), (26, 30))),
        ([(10, 12)], ((13, 30),)),
        ([(25, 30)], ((10, 24),)),
        ([(12, 20), (13, 14)], ((10, 11), (21, 30))),
        ([(40, 50)], ((10, 30),)),
    ],
    ids=["alone", "two", "at-the-start", "at-the-end", "nested-twice", "elsewhere"],
)
def test_own_lines_are_those_of_nothing_inside(
    inner: list[tuple[int, int]], expected: tuple[tuple[int, int], ...]
) -> None:
    others = [symbol(f"shop.Cart.m{place}", lines) for place, lines in enumerate(inner)]

    assert own_lines(OUTER, [OUTER, *others]) == expected


def test_a_definition_with_the_same_lines_is_inside_only_if_it_says_so() -> None:
    module = symbol("shop", (1, 4), kind="module")
    only = symbol("shop.only", (1, 4))

    assert own_lines(module, [module, only]) == ()
    assert own_lines(only, [module, only]) == ((1, 4),)


def test_lines_are_counted_as_compilers_count_them() -> None:
    text = "def first():\r\n    return 'a\x0cb'\rdef second():\n    return zebra\n"
    nodes = [node("shop.second", (3, 4)), node("shop.first", (1, 2))]

    found = rank(nodes, Evidence(text="zebra"), texts={"shop.py": text})

    assert found.suspects[0].symbol.id == "shop.second"
    assert found.suspects[1].signals["token"] == 0

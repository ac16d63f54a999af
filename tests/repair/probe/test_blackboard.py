from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.probe.probes import Blackboard, Fact, ProbeReport, facts_of

FACTS = [
    Fact(kind="grep", suspect="shop.total", content={"hits": 2}),
    Fact(kind="ast", suspect="shop.total", content={"callers": ["shop.pay"]}),
    Fact(kind="ast", suspect="shop.rebate", content={"callers": []}),
    Fact(kind="ast", suspect="shop.rebate", content={"callers": ["shop.total"]}),
]


@given(st.permutations([*FACTS, FACTS[0], FACTS[2]]), st.integers(0, 6))
def test_merging_in_any_order_gives_the_same_text(facts: list[Fact], cut: int) -> None:
    merged = Blackboard().with_facts(facts[:cut]).with_facts(facts[cut:])

    assert merged.model_dump_json() == Blackboard().with_facts(FACTS).model_dump_json()


def test_the_order_of_the_fields_of_a_fact_does_not_matter() -> None:
    one = Fact(kind="trace", suspect="f", content={"a": 1, "b": 2})
    other = Fact(kind="trace", suspect="f", content={"b": 2, "a": 1})

    assert len(Blackboard().with_facts([one, other]).facts) == 1


def test_what_is_known_of_one_suspect_is_found_again() -> None:
    board = Blackboard().with_facts(FACTS)

    assert board.about("shop.rebate") == tuple(fact for fact in board.facts if fact.suspect == "shop.rebate")
    assert len(board.about("shop.rebate")) == 2
    assert board.about("nobody") == ()


def report(number: str, **changes: object) -> ProbeReport:
    known = {
        "id": number,
        "kind": "assert",
        "suspect": "shop.rebate",
        "result": "informative",
        "information_gain": 0.5,
        "recommendation": "likely_cause",
        "observations": {"fired": True},
    }
    return ProbeReport.model_validate({**known, **changes})


def test_the_same_observation_of_two_probes_is_one_fact() -> None:
    board = Blackboard().with_facts([*facts_of(report("p1")), *facts_of(report("p2"))])

    assert [fact.content for fact in board.facts] == [{"recommendation": "likely_cause", "fired": True}]


def test_a_probe_that_broke_says_why() -> None:
    broken = report(
        "p1", result="uninformative", recommendation="unknown", observations={}, error="timed out"
    )

    assert facts_of(broken)[0].content == {"recommendation": "unknown", "error": "timed out"}

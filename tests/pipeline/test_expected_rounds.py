"""Whether another round of rework can be paid for, before there was one and afterwards."""

from cogworks.pipeline.expected import dearest_round, short_of_a_round
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.spend import Expected, Spend, Sum
from cogworks.pipeline.state import RunState
from tests.pipeline.runs import facts, lease, new_run, visit
from tests.pipeline.test_limits import fan, spending

SMALL = built_in_pipelines().pipelines["small"]


def expecting(whole: Sum, round_: Sum) -> RunState:
    """A run that was claimed and has paid nothing."""
    estimate = Expected(pipeline="small", whole=whole, round=round_)
    other = Expected(pipeline="default", whole=Sum(usd=9.0), round=Sum(usd=9.0))
    return new_run(SMALL).model_copy(update={"expected": (other, estimate)})


def test_another_round_is_expected_to_cost_what_the_dearest_one_did() -> None:
    roomy = spending(SMALL, intake=0.1, code_generation=0.5, review=0.25)
    tight = spending(SMALL, intake=0.5, code_generation=0.75, review=0.25)

    assert short_of_a_round(roomy, facts(lane="small"), SMALL) is None
    short = short_of_a_round(tight, facts(lane="small"), SMALL)
    assert short is not None
    assert (short.round.usd, short.left.usd, short.is_expected) == (1.0, 0.5, False)


def test_a_pipeline_without_rework_needs_no_room_for_a_round() -> None:
    graph = fan({"id": "a"})

    assert short_of_a_round(spending(graph, start=9.0), facts(max_cost_usd=10), graph) is None


def test_tokens_may_run_short_where_money_does_not() -> None:
    state = new_run(SMALL)
    for name in ("intake", "code_generation"):
        state = state.recorded(visit(state, name, spend=Spend(input_tokens=180_000, output_tokens=20_000)))

    short = short_of_a_round(state, facts(max_tokens=500_000), SMALL)

    assert short is not None
    assert (short.round.tokens, short.left.tokens) == (200_000, 100_000)


def test_before_anything_was_paid_for_the_estimate_of_the_runs_own_pipeline_counts() -> None:
    roomy = expecting(Sum(usd=1.0, tokens=100_000), Sum(usd=0.5, tokens=50_000))
    tight = expecting(Sum(usd=1.0, tokens=100_000), Sum(usd=1.5, tokens=50_000))

    assert short_of_a_round(roomy, facts(lane="small"), SMALL) is None
    short = short_of_a_round(tight, facts(lane="small"), SMALL)
    assert short is not None
    assert (short.round.usd, short.left.usd, short.is_expected) == (1.5, 1.0, True)


def test_what_a_visit_has_set_aside_is_part_of_what_is_expected() -> None:
    state = expecting(Sum(usd=1.0), Sum(usd=0.9))
    held = state.with_lease(lease(state, "intake", reserved_usd=0.5), identity=1)

    assert short_of_a_round(held, facts(lane="small"), SMALL) is None


def test_what_was_paid_for_counts_more_than_what_was_expected() -> None:
    state = expecting(Sum(usd=1.0), Sum(usd=1.5))
    paid = state.recorded(visit(state, "code_generation", spend=Spend(cost_usd=0.2)))

    assert short_of_a_round(paid, facts(lane="small"), SMALL) is None


def test_the_dearest_round_is_that_of_any_part() -> None:
    assert dearest_round(spending(SMALL, intake=5.0, code_generation=0.5, review=0.25), SMALL).usd == 0.75
    assert dearest_round(new_run(SMALL), SMALL) == Sum()

"""What a record says the run waits for, when nothing else of it can go on."""

import pytest

from cogworks.pipeline.limits import limits_mark
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import Held
from cogworks.pipeline.position import Standing
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.visits import NextCall
from tests.pipeline.runs import GRAPH, MERGED_SPEC, facts, finished, lease, new_run, pull, visit

HEAD = "a" * 40
SPECIFIED = finished(new_run(), "spec")
PLANNED = finished(new_run(), "spec", "plan")


def failed(state: RunState, name: str) -> RunState:
    return settle(state, GRAPH, visit(state, name, status="failed", summary="no"), {})


def test_a_gate_is_named_with_the_head_that_was_seen() -> None:
    assert rest_line(Standing(SPECIFIED, facts(pull(31)), GRAPH)) == f"merge 31@{HEAD}"


def test_a_rejected_pull_request_waits_to_be_reopened() -> None:
    assert rest_line(Standing(SPECIFIED, facts(pull(31, "closed")), GRAPH)) == f"reopen 31@{HEAD}"


def test_a_failure_that_stops_everything_waits_to_be_retried() -> None:
    assert rest_line(Standing(failed(new_run(), "spec"), facts(), GRAPH)) == "retry"


def test_a_finished_run_waits_for_nothing_any_more() -> None:
    assert (
        rest_line(Standing(PLANNED.model_copy(update={"status": "done"}), facts(MERGED_SPEC), GRAPH))
        == "done"
    )


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(PLANNED, id="a-node-is-ready"),
        pytest.param(
            PLANNED.model_copy(update={"leases": (lease(PLANNED, "code@A"),)}), id="a-runner-is-at-work"
        ),
    ],
)
def test_a_run_that_can_go_on_by_itself_names_nobody(state: RunState) -> None:
    assert rest_line(Standing(state, facts(MERGED_SPEC), GRAPH)) == ""


def test_a_run_that_people_stopped_waits_for_nothing_else() -> None:
    held = PLANNED.model_copy(update={"held": Held(by="ann")})

    assert rest_line(Standing(SPECIFIED, facts(pull(31), is_held=True), GRAPH)) == "label"
    assert rest_line(Standing(held, facts(MERGED_SPEC), GRAPH)) == "resume"


def test_everybody_who_is_waited_for_is_named() -> None:
    state = finished(new_run(), "spec", "plan", "code@A", "ship@A", "code@B", "ship@B")
    gated = facts(MERGED_SPEC, pull(41), pull(42), is_safety_critical=True)

    assert rest_line(Standing(state, gated, GRAPH)) == f"merge 41@{HEAD}; merge 42@{HEAD}"


def test_a_pull_request_that_is_not_known_now_is_not_named() -> None:
    assert rest_line(Standing(SPECIFIED, facts(), GRAPH)) == ""


def test_a_run_that_stopped_at_its_budget_names_the_limits_it_stopped_at() -> None:
    held = lease(SPECIFIED, "plan")
    state = SPECIFIED.released(held, Spend(), short_of=NextCall(cost_usd=1.0, tokens=10))

    short = rest_line(Standing(state, facts(MERGED_SPEC, max_cost_usd=0.5), GRAPH))

    assert short == f"budget @{limits_mark(0.5, facts().small_max_cost_usd, facts().max_tokens)}"
    assert rest_line(Standing(state, facts(MERGED_SPEC, max_cost_usd=5.0), GRAPH)) == ""

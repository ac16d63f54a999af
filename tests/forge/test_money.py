"""What people read of money: what is expected and on what that rests, and that a round of rework has no room."""

from typing import Any

import pytest

from cogworks.forge.notices import budget_lines, expected_lines
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.spend import Expected, Sum
from cogworks.pipeline.state import RunState
from tests.pipeline.runs import facts, new_run

SMALL = built_in_pipelines().pipelines["small"]
DEFAULT = built_in_pipelines().pipelines["default"]


def small(**changes: Any) -> Expected:
    about = {"whole": Sum(usd=0.42, tokens=56_000), "round": Sum(usd=0.2, tokens=20_000)}
    return Expected(**{"pipeline": "small", **about, **changes})


def run(*expected: Expected, **changes: Any) -> RunState:
    return new_run(SMALL).model_copy(update={"expected": expected, **changes})


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (
            small(items=6, lowest_usd=0.2, highest_usd=0.9),
            "about $0.42 and 56,000 tokens, the median of the last 6 items that ended on `small` here ($0.20 to $0.90).",
        ),
        (
            small(items=1),
            "about $0.42 and 56,000 tokens, as the one item that has ended on `small` here.",
        ),
        (
            small(questions=4, shown_tokens=2_500),
            (
                "about $0.42 and 56,000 tokens where nothing is sent back. No item has ended on `small` here yet: this rests on 4 questions "
                "that show up to 2,500 tokens of the repository each, and what a model asks to see besides comes on top."
            ),
        ),
    ],
    ids=["history", "one-item", "no-history"],
)
def test_an_estimate_says_on_what_it_rests_and_the_most_it_can_cost(expected: Expected, told: str) -> None:
    (line,) = expected_lines(run(expected), facts(lane="small"), SMALL)

    assert line == f"**Expected cost:** {told} It can cost $2.00 and 500,000 tokens at most."


def test_each_sub_work_item_after_the_first_comes_on_top() -> None:
    whole = small(pipeline="default", part=Sum(usd=0.3, tokens=30_000), questions=9)
    state = new_run(DEFAULT).model_copy(update={"expected": (whole,)})

    (line,) = expected_lines(state, facts(), DEFAULT)

    assert "nothing is sent back, and $0.30 and 30,000 tokens for each sub-work-item after the first." in line


def test_until_intake_has_chosen_the_lane_both_are_told() -> None:
    both = (
        small(pipeline="default", items=1, whole=Sum(usd=3.0, tokens=300_000)),
        small(items=1),
        small(pipeline="large"),
    )
    state = new_run(DEFAULT).model_copy(update={"expected": both})
    known = facts(lane="auto")

    assert (
        "Should Intake choose `small`: about $0.42 and 56,000 tokens."
        in expected_lines(state, known, DEFAULT)[0]
    )
    assert "`large`" not in expected_lines(state, known, DEFAULT)[0]
    chosen = state.model_copy(update={"kind": "feature"})
    assert "Should Intake" not in expected_lines(chosen, known, DEFAULT)[0]


def test_nothing_is_expected_of_a_run_that_ended_or_began_without_an_estimate() -> None:
    assert expected_lines(run(small(), status="done"), facts(), SMALL) == []
    assert expected_lines(run(), facts(), SMALL) == []


@pytest.mark.parametrize(
    ("round_", "said"),
    [
        (
            Sum(usd=1.75, tokens=20_000),
            (
                "a round of rework may cost $1.75, and $1.58 is left beside what the item is expected to cost; raise "
                "`budgets.small_max_cost_dollars` in `.cogworks/config.toml`, or a rework may stop half-way"
            ),
        ),
        (
            Sum(usd=0.1, tokens=450_000),
            (
                "a round of rework may cost 450,000 tokens, and 444,000 are left beside what the item is expected to cost; raise "
                "`budgets.pipeline_max_tokens` in `.cogworks/config.toml`, or a rework may stop half-way"
            ),
        ),
        (
            Sum(usd=1.75, tokens=450_000),
            (
                "a round of rework may cost $1.75, and $1.58 is left; 450,000 tokens, and 444,000 are left beside what the item is expected "
                "to cost; raise `budgets.small_max_cost_dollars` in `.cogworks/config.toml` and `budgets.pipeline_max_tokens` in "
                "`.cogworks/config.toml`, or a rework may stop half-way"
            ),
        ),
    ],
    ids=["money", "tokens", "both"],
)
def test_a_round_that_may_not_be_affordable_is_told_before_there_is_one(round_: Sum, said: str) -> None:
    assert budget_lines(run(small(round=round_)), facts(lane="small"), SMALL) == [
        f"**Budget** ($2.00): {said}."
    ]

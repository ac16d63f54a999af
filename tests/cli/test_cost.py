"""What `cogworks cost` says below its tables."""

from cogworks.cli.cost import closing_lines
from cogworks.pipeline.state import EarlierRuns
from tests.pipeline.runs import lease, new_run

TOLD = {
    "earlier_usd": 0.5,
    "reserved_usd": 0.5,
    "budget": {"cost_usd": 10.0, "tokens": 500_000},
    "remaining": {"cost_usd": 8.5, "tokens": 400_000},
}


def test_what_a_dead_runner_had_reserved_is_told_as_not_confirmed() -> None:
    state = new_run()
    dead = lease(state, "spec")
    state = state.with_lease(dead, identity=1).with_lease(dead, identity=2)
    state = state.model_copy(update={"earlier": EarlierRuns(spend=dead.reserved)})

    assert list(closing_lines(state, TOLD)) == [
        (
            "of the total: $0.5000 reserved, not confirmed. Runners died before they reported what their last calls "
            "cost. The provider's bill has the exact amount."
        ),
        "before this run of the item: $0.5000 ($0.5000 reserved, not confirmed)",
        "left: $8.5000 of $10.00 ($0.5000 reserved by a running node), 400,000 of 500,000 tokens",
    ]


def test_nothing_is_said_of_reservations_where_every_runner_told_what_it_spent() -> None:
    state = new_run()

    (line,) = closing_lines(state.with_lease(lease(state, "spec"), identity=1), {**TOLD, "earlier_usd": 0.0})

    assert line.startswith("left: ")

"""Whether another round of rework can be paid for: what one comes to, and what is left for it."""

from collections.abc import Iterator

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import max_cost_usd, tokens_of
from cogworks.pipeline.spend import Expected, Sum, sum_of
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import Value


class ShortOfARound(Value):
    """A round of rework that costs more than is left for it."""

    round: Sum
    left: Sum
    is_expected: bool
    """No round was paid for yet: it is what the estimate says, and what is left when the item has cost what is expected."""


def dearest_round(state: RunState, pipeline: Pipeline) -> Sum:
    """What the dearest repetition of what a rework edge repeats would cost, if it cost what the last one did."""
    known = list(_rounds(state, pipeline))
    return Sum(
        usd=max((each.usd for each in known), default=0.0),
        tokens=max((each.tokens for each in known), default=0),
    )


def expected_here(state: RunState) -> Expected | None:
    """What the run is expected to cost on the pipeline that it is on; None where nobody said so."""
    return next((each for each in state.expected if each.pipeline == state.pipeline), None)


def short_of_a_round(state: RunState, facts: Facts, pipeline: Pipeline) -> ShortOfARound | None:
    """The round that may not be affordable, with what is left for it; None: there is room, or nothing can be sent back.

    Before anything that can be sent back was paid for, the estimate is compared; afterwards what the dearest round so far did cost.
    """
    limit = Sum(usd=max_cost_usd(facts, pipeline), tokens=facts.max_tokens)
    gone = Sum(
        usd=state.spent.cost_usd + state.reserved_usd, tokens=tokens_of(state.spent) + state.reserved_tokens
    )
    paid, expected = dearest_round(state, pipeline), expected_here(state)
    is_expected = not paid.tokens and not paid.usd and expected is not None
    if is_expected and expected is not None:
        paid = expected.round
        # What is reserved is part of what is expected, so the larger of the two is gone by then.
        gone = Sum(usd=max(gone.usd, expected.whole.usd), tokens=max(gone.tokens, expected.whole.tokens))
    left = Sum(usd=max(0.0, limit.usd - gone.usd), tokens=max(0, limit.tokens - gone.tokens))
    if paid.usd <= left.usd and paid.tokens <= left.tokens:
        return None
    return ShortOfARound(round=paid, left=left, is_expected=is_expected)


def _rounds(state: RunState, pipeline: Pipeline) -> Iterator[Sum]:
    keys = [None, *(item.key for item in state.sub_items or ())]
    for edge in pipeline.edges:
        if edge.rework is not None:
            for key in keys:
                each = [_latest(state, Instance(node, key)) for node in pipeline.span_of(edge)]
                yield Sum(usd=sum(one.usd for one in each), tokens=sum(one.tokens for one in each))


def _latest(state: RunState, at: Instance) -> Sum:
    visit = next((each for each in reversed(state.visits) if each.instance == at), None)
    return sum_of(visit.spend) if visit is not None else Sum()

"""What an item is expected to cost, said before its first model call, and what that rests on.

It rests on what finished items of the repository came to on the same pipeline; where none is known, on the questions that the
pipeline asks and on how much of the repository the first of them shows. What a round of rework comes to follows from what the last ones came to, and
whether one can still be paid for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from cogworks.pipeline.elements import Node
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import calls_model, max_cost_usd, tokens_of
from cogworks.pipeline.spend import Expected, ItemCost, Sum, sum_of
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import NodeId, Value

MOST_ITEMS = 20
"""The finished items that an estimate rests on: those that ended last."""
# Bounded, for others can push a ledger, and `int` raises for thousands of digits.
_AMOUNT = r"(?P<{0}_usd>\d{{1,9}}\.\d{{1,9}}) USD (?P<{0}_tokens>\d{{1,12}}) tokens"
_COST = re.compile(
    r"Cogworks-Cost: (?P<pipeline>\S{1,80}) "
    + _AMOUNT.format("whole")
    + r", a round "
    + _AMOUNT.format("round"),
    re.MULTILINE,
)
_QUESTIONS: Mapping[str, int] = {"code_generation": 2, "review": 3}
"""Of a built-in node where nothing goes wrong; any other node asks one. Code Generation has the tests written before the code."""


def came_to(state: RunState, pipeline: Pipeline) -> ItemCost:
    """What a run that has ended came to, and the dearest round of rework that it made or would have made."""
    return ItemCost(pipeline=pipeline.name, whole=sum_of(state.spent), round=dearest_round(state, pipeline))


def cost_line(cost: ItemCost) -> str:
    """The trailer of a ledger commit that later items learn from."""
    # In a message, for one request reads those of many ledgers and none of their files.
    return (
        f"{cost.pipeline} {cost.whole.usd:.6f} USD {cost.whole.tokens} tokens, "
        f"a round {cost.round.usd:.6f} USD {cost.round.tokens} tokens"
    )


def cost_in(message: str) -> ItemCost | None:
    """What the message of a ledger's newest commit says that its item came to; None where it says nothing of the kind."""
    match = _COST.search(message)
    if match is None:
        return None
    whole, round_ = (
        Sum(usd=float(match[f"{name}_usd"]), tokens=int(match[f"{name}_tokens"]))
        for name in ("whole", "round")
    )
    return ItemCost(pipeline=match["pipeline"], whole=whole, round=round_)


def from_history(pipeline: Pipeline, costs: Sequence[ItemCost]) -> Expected | None:
    """What the items of a pipeline that ended last say about the next one; None where none ended on it.

    Args:
        costs: of finished items, the one that ended last first.
    """
    known = [cost for cost in costs if cost.pipeline == pipeline.name][:MOST_ITEMS]
    if not known:
        return None
    # The median: one item that went astray says little about the next.
    dollars = [cost.whole.usd for cost in known]
    return Expected(
        pipeline=pipeline.name,
        whole=Sum(usd=round(median(dollars), 6), tokens=round(median(cost.whole.tokens for cost in known))),
        round=_most(cost.round for cost in known),
        items=len(known),
        lowest_usd=min(dollars),
        highest_usd=max(dollars),
    )


def from_questions(
    pipeline: Pipeline, prices: Mapping[NodeId, Sum], *, shown_tokens: int, writes_tests: bool
) -> Expected:
    """What the questions of a pipeline come to where each is asked once, with a plan of one part.

    Args:
        prices: of one question of each node that asks a model.
        shown_tokens: of the repository, that a question shows at most.
        writes_tests: whether tests are written before the code.
    """
    counts = {
        node.id: questions(node, writes_tests=writes_tests) for node in pipeline.nodes if node.id in prices
    }

    def worth(nodes: Iterable[NodeId]) -> Sum:
        each = [prices[node].times(counts[node]) for node in nodes if node in counts]
        return Sum(usd=round(sum(one.usd for one in each), 6), tokens=sum(one.tokens for one in each))

    parts = [node.id for node in pipeline.nodes if node.scope == "sub-item"]
    rounds = (worth(pipeline.span_of(edge)) for edge in pipeline.edges if edge.rework is not None)
    return Expected(
        pipeline=pipeline.name,
        whole=worth(node.id for node in pipeline.nodes),
        round=_most(rounds),
        part=worth(parts),
        questions=sum(counts.values()),
        shown_tokens=shown_tokens,
    )


def asking_nodes(pipeline: Pipeline) -> tuple[Node, ...]:
    """The nodes that ask a model."""
    return tuple(node for node in pipeline.nodes if calls_model(Instance(node.id, None), pipeline))


def questions(node: Node, *, writes_tests: bool) -> int:
    """How many questions a visit asks where nothing goes wrong."""
    if node.prompt is not None or (node.id == "review" and node.combined):
        return 1
    if node.id == "code_generation" and not writes_tests:
        return 1
    return _QUESTIONS.get(node.id, 1)


def _most(sums: Iterable[Sum]) -> Sum:
    # The most of each: the round that costs most need not be the one with most tokens.
    known = list(sums)
    return Sum(
        usd=max((each.usd for each in known), default=0.0),
        tokens=max((each.tokens for each in known), default=0),
    )


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
    # Discarded ones count: what a round costs is seen best where one was made.
    visit = next((each for each in reversed(state.visits) if each.instance == at), None)
    return sum_of(visit.spend) if visit is not None else Sum()

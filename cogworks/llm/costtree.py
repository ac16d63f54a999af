"""What did each call cost, and everything above it: turn, question, visit, sub-work-item, item? Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from cogworks.llm.budget import PriceList
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import Usage

_TURN = re.compile(r"((?:-(?:look|repair|more)\d+)+)$")
WHOLE_ITEM = "the whole item"


@dataclass(frozen=True)
class Costs:
    """What some calls have cost together."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal = Decimal(0)
    uncached_usd: Decimal | None = Decimal(0)
    """What the same would have cost had nothing been read from a cache or written to one; None: a model has no price."""

    def __add__(self, other: "Costs") -> "Costs":
        ours, theirs = self.uncached_usd, other.uncached_usd
        return Costs(
            calls=self.calls + other.calls,
            usage=self.usage + other.usage,
            cost_usd=self.cost_usd + other.cost_usd,
            uncached_usd=None if ours is None or theirs is None else ours + theirs,
        )

    @property
    def cached_share(self) -> float:
        """The part of the input that was read from a cache, 0.0 to 1.0."""
        return self.usage.cache_read_input_tokens / max(1, self.usage.total_input)


@dataclass(frozen=True)
class Branch:
    """Something that cost money, and what it consists of."""

    name: str
    costs: Costs
    below: tuple["Branch", ...] = ()


@dataclass(frozen=True)
class PaidVisit:
    """A visit and the replies it paid for, in their order."""

    sub_item: str
    """As people know it; empty: the visit is for the whole item."""
    name: str
    replies: Sequence[ReplyRecord]


def cost_tree(name: str, visits: Sequence[PaidVisit], prices: PriceList) -> Branch:
    """The item, its sub-work-items, their visits, the questions of each, and the turns of each question.

    A branch without calls is left out; the sums are exact.
    """
    paid = [visit for visit in visits if visit.replies]
    items = dict.fromkeys(visit.sub_item for visit in paid)
    return _branch(
        name,
        (
            _branch(
                item or WHOLE_ITEM,
                (_visit_branch(visit, prices) for visit in paid if visit.sub_item == item),
            )
            for item in items
        ),
    )


def _visit_branch(visit: PaidVisit, prices: PriceList) -> Branch:
    questions: dict[str, list[ReplyRecord]] = {}
    for record in visit.replies:
        questions.setdefault(_TURN.sub("", record.purpose), []).append(record)
    return _branch(
        visit.name,
        (
            _branch(question, (_call(record, question, prices) for record in records))
            for question, records in questions.items()
        ),
    )


def _call(record: ReplyRecord, question: str, prices: PriceList) -> Branch:
    reply = record.reply
    turn = record.purpose.removeprefix(question).removeprefix("-") or "first turn"
    name = f"{turn}, {reply.model}" + ("" if reply.stop_reason == "end_turn" else f" ({reply.stop_reason})")
    price = prices.models.get(reply.model)
    plain = Usage(input_tokens=reply.usage.total_input, output_tokens=reply.usage.output_tokens)
    uncached = price.cost_of(plain) if price else None
    return Branch(name, Costs(1, reply.usage, record.cost_usd, uncached))


def _branch(name: str, below: Iterable[Branch]) -> Branch:
    parts = tuple(below)
    return Branch(name, sum((part.costs for part in parts), Costs()), parts)


def walked(branch: Branch, seen: Callable[[Branch, int], None], depth: int = 0) -> None:
    """Show every branch, each before those below it, with its depth."""
    seen(branch, depth)
    for part in branch.below:
        walked(part, seen, depth + 1)

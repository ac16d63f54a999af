"""Which one of many things that could be done is done next: a rule without clock, memory or chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_PROPOSALS = 20
HINT_ABOVE = 80_000
"""An urgency or surprise of more than 0.8 is named as the reason; it does not change who wins."""
UNIT = 100_000
"""Scores are counted in whole steps of 1/100 000, so that their order never depends on a rounding error."""


class SelectionReason(StrEnum):
    """Why the winner won."""

    FORCED_OVERRIDE = "FORCED_OVERRIDE"
    URGENCY = "URGENCY"
    SURPRISE = "SURPRISE"
    COMPETITION = "COMPETITION"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that somebody proposes to do.

    Raises:
        ValueError: saliency, urgency or surprise is not a number from 0 to 1.
    """

    slot_id: str
    """Unique among the proposals of one choice."""
    source: str
    action: str
    saliency: float
    urgency: float = 0.0
    surprise: float = 0.0
    payload_hash: str = ""
    """Equal for equal content: two proposals of one source with the same action and content are one."""
    priority: int = 0
    """Decides between equal scores and urgencies; the smaller wins."""

    def __post_init__(self) -> None:
        for name in ("saliency", "urgency", "surprise"):
            value = getattr(self, name)
            # Written so that NaN, which compares false with everything, is refused as well.
            if not 0.0 <= value <= 1.0:
                raise ValueError(
                    f"proposal {self.slot_id!r} has {name} {value!r}; wanted is a number from 0 to 1."
                )

    @property
    def score(self) -> int:
        """0.5 · saliency + 0.3 · urgency + 0.2 · surprise, in millionths."""
        return 5 * _units(self.saliency) + 3 * _units(self.urgency) + 2 * _units(self.surprise)


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that has to be done next, whatever anybody proposes."""

    slot_id: str
    source: str
    action: str
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The one winner, and what became of everything else."""

    winner: Proposal | Signal
    reason: SelectionReason
    losers: tuple[str, ...]
    """Slot ids of the proposals that took part and lost, best first."""
    dropped: tuple[str, ...]
    """Slot ids of those that did not take part: below the best `MAX_PROPOSALS`, or the same as a better one."""
    forced_queue_size: int
    """Signals that still wait."""

    @property
    def is_forced(self) -> bool:
        return isinstance(self.winner, Signal)

    @property
    def score(self) -> int | None:
        """In millionths; a signal has none."""
        return self.winner.score if isinstance(self.winner, Proposal) else None


def choose(forced: Sequence[Signal], proposals: Iterable[Proposal]) -> Choice | None:
    """The oldest signal; without one the best proposal; None when there is neither.

    The order is score, urgency, priority, source, slot id. In which order proposals are handed over changes nothing.

    Args:
        forced: oldest first.
    """
    ranked, dropped = _ranked(proposals)
    if forced:
        return Choice(
            winner=forced[0],
            reason=SelectionReason.FORCED_OVERRIDE,
            losers=tuple(each.slot_id for each in ranked),
            dropped=dropped,
            forced_queue_size=len(forced) - 1,
        )
    if not ranked:
        return None
    return Choice(
        winner=ranked[0],
        reason=_reason(ranked[0]),
        losers=tuple(each.slot_id for each in ranked[1:]),
        dropped=dropped,
        forced_queue_size=0,
    )


def _ranked(proposals: Iterable[Proposal]) -> tuple[list[Proposal], tuple[str, ...]]:
    ordered = sorted(proposals, key=_rank)
    kept: list[Proposal] = []
    dropped: list[str] = []
    seen: set[tuple[str, str, str]] = set()
    for each in ordered:
        content = (each.source, each.action, each.payload_hash)
        # Best first, so what is cut off is never better than what stays, and of equal content the best stays.
        if content in seen or len(kept) == MAX_PROPOSALS:
            dropped.append(each.slot_id)
        else:
            kept.append(each)
        seen.add(content)
    return kept, tuple(dropped)


def _rank(each: Proposal) -> tuple[int | float | str, ...]:
    return (
        -each.score,
        -_units(each.urgency),
        each.priority,
        each.source,
        each.slot_id,
        # The rest only matters to a caller that gave two proposals the same slot id.
        each.action,
        each.payload_hash,
        each.saliency,
        each.urgency,
        each.surprise,
    )


def _reason(winner: Proposal) -> SelectionReason:
    if _units(winner.urgency) > HINT_ABOVE:
        return SelectionReason.URGENCY
    if _units(winner.surprise) > HINT_ABOVE:
        return SelectionReason.SURPRISE
    return SelectionReason.COMPETITION


def _units(value: float) -> int:
    return round(value * UNIT)

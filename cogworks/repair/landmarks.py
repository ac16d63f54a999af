"""What is believed to be wrong, and the one to three changes that shall mend it, in an order that works."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import Field

from cogworks.domain_services.exploring import Lines
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.suspects import Suspect
from cogworks.vocabulary import Value

MOST_LANDMARKS = 4
RollbackReason = Literal["static", "landmark", "targeted", "regression", "mu", "timeout"]
Join = Literal["each", "all"]
"""`all`: lands together with the others of the plan that say so, or not at all."""


class Span(Value):
    """A stretch of a file that a change may touch."""

    artifact: str
    lines: Lines
    symbol: str = ""


class Alternative(Value):
    """Another place where the fault may be."""

    span: Span
    why: str


class FailurePattern(Value):
    """What is believed to be wrong, and where."""

    summary: str
    primary_location: Span
    alternatives: tuple[Alternative, ...] = ()
    invariants: tuple[str, ...] = ()
    confidence: float = Field(ge=0, le=1)
    assumptions_to_check: tuple[str, ...] = ()


class RepairTarget(Value):
    """One small change of the plan, and how to tell that it is done."""

    id: str
    intent: str
    target_spans: tuple[Span, ...] = Field(min_length=1)
    constraints: tuple[str, ...] = ()
    """E.g. `allow_api:shop.cart.Cart.add`."""
    landmark_test: str = ""
    """A test's id; empty: whatever fails must become less."""
    rollback_on: tuple[RollbackReason, ...] = ()
    risk: float = Field(default=0.5, ge=0, le=1)
    confidence: float = Field(default=0.5, ge=0, le=1)
    try_after: tuple[str, ...] = ()
    """RepairTargets that have to be reached before."""
    join: Join = "each"


def pattern_problems(pattern: FailurePattern, slices: Sequence[Slice]) -> tuple[str, ...]:
    """Why a pattern cannot be used, in words for its author: places nobody has seen."""
    spans = (pattern.primary_location, *(each.span for each in pattern.alternatives))
    return tuple(_unseen("the pattern", span) for span in spans if not is_seen(span, slices))


def fallback_pattern(suspects: Sequence[Suspect]) -> FailurePattern:
    """Without a model: the first suspect is the place, as sure as what is believed of it, else as its share of all suspicion.

    Raises:
        ValueError: there is no suspect.
    """
    if not suspects:
        raise ValueError("a failure pattern needs at least one suspect")
    total = sum(each.suspicion for each in suspects)
    first, *others = suspects
    return FailurePattern(
        summary=f"{first.symbol.id} is the most suspicious place; no model was asked",
        primary_location=_span(first),
        alternatives=tuple(Alternative(span=_span(each), why="next in the ranking") for each in others),
        confidence=_confidence(first, total),
    )


def _confidence(first: Suspect, total: float) -> float:
    if first.belief is not None:
        return min(1.0, first.belief)
    return first.suspicion / total if total else 0.0


def landmark_problems(
    landmarks: Sequence[RepairTarget],
    slices: Sequence[Slice],
    *,
    tests: Collection[str],
    most: int = MOST_LANDMARKS,
) -> tuple[str, ...]:
    """Every reason why a plan cannot be carried out, in words for its author.

    Args:
        tests: the ids that a landmark may name as its test.
    """
    problems = (
        [] if 1 <= len(landmarks) <= most else [f"a plan has 1 to {most} landmarks, not {len(landmarks)}"]
    )
    ids = [landmark.id for landmark in landmarks]
    problems += [
        f"landmark {each!r} is there {ids.count(each)} times"
        for each in sorted({*ids})
        if ids.count(each) > 1
    ]
    for landmark in landmarks:
        problems += [
            _unseen(f"landmark {landmark.id!r}", span)
            for span in landmark.target_spans
            if not is_seen(span, slices)
        ]
        problems += [
            f"landmark {landmark.id!r} comes after {other!r}, which is none of {', '.join(ids)}"
            for other in landmark.try_after
            if other not in ids
        ]
        if landmark.landmark_test and landmark.landmark_test not in tests:
            problems.append(
                f"landmark {landmark.id!r} names the test {landmark.landmark_test!r}, which is none of those that ran"
            )
    if not problems and ordered(landmarks) is None:
        problems.append("the landmarks wait for each other in a circle; take one `try_after` away")
    return tuple(problems)


def ordered(landmarks: Sequence[RepairTarget]) -> tuple[RepairTarget, ...] | None:
    """The landmarks, each after those it waits for and those that land together side by side, else in the order given.

    None when they wait in a circle.
    """
    units = units_of(landmarks)
    return None if units is None else tuple(each for unit in units for each in unit)


def units_of(landmarks: Sequence[RepairTarget]) -> tuple[tuple[RepairTarget, ...], ...] | None:
    """What is kept or undone as one: the joined landmarks together, every other by itself, in an order that works.

    None when they wait in a circle.
    """
    together = tuple(each for each in landmarks if each.join == "all")
    groups: list[tuple[RepairTarget, ...]] = [(each,) for each in landmarks if each.join == "each"]
    if together:
        groups.insert([each.join for each in landmarks].index("all"), together)
    units, inside = _in_turn(groups), _in_turn([(each,) for each in together], within=together)
    if units is None or inside is None:
        return None
    turned = tuple(each for group in inside for each in group)
    return tuple(turned if unit == together else unit for unit in units)


def _in_turn(
    groups: Sequence[tuple[RepairTarget, ...]], *, within: Sequence[RepairTarget] | None = None
) -> list[tuple[RepairTarget, ...]] | None:
    """The groups, each after those that its landmarks wait for; None when they wait in a circle.

    Args:
        within: only these are waited for; None: all.
    """
    counted = None if within is None else {each.id for each in within}
    left, reached, done = list(groups), set[str](), list[tuple[RepairTarget, ...]]()
    while left:
        ready = next((each for each in left if _waits_for(each, counted) <= reached), None)
        if ready is None:
            return None
        left.remove(ready)
        reached |= {each.id for each in ready}
        done.append(ready)
    return done


def _waits_for(group: Sequence[RepairTarget], counted: Collection[str] | None) -> set[str]:
    """What stands outside of a group and has to come before it; one alone may wait for itself in vain."""
    own = {each.id for each in group} if len(group) > 1 else set[str]()
    wanted = {name for each in group for name in each.try_after} - own
    return wanted if counted is None else wanted & set(counted)


def dependants(landmarks: Sequence[RepairTarget], failed: str) -> tuple[str, ...]:
    """The landmarks that cannot be reached when one has failed, directly or through others, in the order given."""
    lost = {failed}
    waits: Mapping[str, Collection[str]] = {each.id: each.try_after for each in landmarks}
    for _ in landmarks:
        lost |= {each for each, before in waits.items() if lost.intersection(before)}
    return tuple(each.id for each in landmarks if each.id in lost and each.id != failed)


def is_seen(span: Span, slices: Sequence[Slice]) -> bool:
    """Whether the whole span was shown."""
    first, last = span.lines
    return any(
        each.artifact == span.artifact and each.lines[0] <= first <= last <= each.lines[1] for each in slices
    )


def _span(suspect: Suspect) -> Span:
    symbol = suspect.symbol
    return Span(artifact=symbol.artifact, lines=symbol.lines, symbol=symbol.id)


def _unseen(who: str, span: Span) -> str:
    first, last = span.lines
    return f"{who} names {span.artifact}:{first}-{last}, which was not shown; look at it first, or name another place"

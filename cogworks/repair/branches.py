"""Which of several explanations is tried first, and what a try says about the others.

Which branches a plan, a failure pattern and a ranking open.
"""

from collections.abc import Collection, Sequence

from pydantic import Field

from cogworks.repair.landmarks import FailurePattern, RepairTarget, Span, dependants, units_of
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.planning import fallback_landmarks
from cogworks.vocabulary import Value

TOKENS_PER_UNIT = 100_000
MINUTES_PER_UNIT = 10.0
_COMMITTED = 1.0
_ROLLED_BACK = 0.2
"""How much of a belief is left when the change that follows from it did not stand."""


class Branch(Value):
    """One explanation and the change that follows from it."""

    id: str
    probability: float = Field(ge=0, le=1)
    value: float = Field(default=1.0, ge=0)
    """What mending this is worth, 1 for the failure at hand."""
    tokens: int = Field(default=0, ge=0)
    minutes: float = Field(default=0.0, ge=0)
    landmarks: tuple[RepairTarget, ...] = ()
    """What follows from it, in an order that works."""
    is_whole: bool = False
    """Whether its last landmark is the end of the repair, so that every failing test has to pass then."""

    @property
    def expected_utility(self) -> float:
        """Probability times value, less what trying costs in tokens and time."""
        cost = self.tokens / TOKENS_PER_UNIT + self.minutes / MINUTES_PER_UNIT
        return self.probability * self.value - cost


def in_order(branches: Sequence[Branch]) -> tuple[Branch, ...]:
    """Most useful first; equal ones by id."""
    return tuple(sorted(branches, key=lambda each: (-each.expected_utility, each.id)))


def after(branches: Sequence[Branch], tried: str, *, committed: bool) -> tuple[Branch, ...]:
    """The branches with the probabilities they have once one was tried; they sum to 1 again."""
    left = _COMMITTED if committed else _ROLLED_BACK
    others = 0.0 if committed else 1.0
    weighed = {each.id: each.probability * (left if each.id == tried else others) for each in branches}
    total = sum(weighed.values())
    if total <= 0:
        return tuple(branches)
    return tuple(each.model_copy(update={"probability": weighed[each.id] / total}) for each in branches)


class Course(Value):
    """The one branch that is followed, what of it is left, and the branches that could be followed instead."""

    branches: tuple[Branch, ...]
    """All of them with what is believed of each by now."""
    current: str
    failed: tuple[str, ...] = ()
    """Branches that were followed in vain."""
    units: tuple[tuple[RepairTarget, ...], ...]
    """Of the current branch: what lands together, the first being worked on."""
    landed: tuple[str, ...] = ()
    """RepairTargets of the first unit that were kept while others of it are missing."""
    lost: tuple[str, ...] = ()
    """RepairTargets of the current branch that failed, or could not be reached because of one that did."""
    is_settled: bool = False
    """Whether a change of the current branch was kept: the other branches are out of the question."""

    @property
    def landmarks(self) -> tuple[RepairTarget, ...]:
        """What is left to do, in its order."""
        return tuple(each for unit in self.units for each in unit if each.id not in self.landed)

    @property
    def ways_left(self) -> int:
        """How many ways are open when the first unit fails."""
        others = 0 if self.is_settled else len(self._open_branches())
        return len(self._reachable()) + others

    @property
    def unit(self) -> tuple[RepairTarget, ...]:
        """What has to land together now; nothing when all is done."""
        return self.units[0] if self.units else ()

    @property
    def ends_here(self) -> bool:
        """Whether the landmark at hand is the last of a branch that was kept so far as a whole."""
        branch = next(each for each in self.branches if each.id == self.current)
        return branch.is_whole and not self.lost and len(self.landmarks) == 1

    def after_kept(self) -> "Course":
        """When a change for the landmark at hand was kept."""
        landed = (*self.landed, self.landmarks[0].id)
        if len(landed) < len(self.unit):
            return self.model_copy(update={"landed": landed})
        branches = after(self.branches, self.current, committed=True)
        update = {"branches": branches, "units": self.units[1:], "landed": (), "is_settled": True}
        return self.model_copy(update=update)

    def after_failure(self) -> "Course | None":
        """When no change for the landmark at hand was kept: its unit is lost, and all that waits for it.

        What is left of the branch comes first, then the most useful other branch; None when no way is left.
        """
        reachable = self._reachable()
        if reachable:
            gone = {each.id for each in self.landmarks} - {each.id for unit in reachable for each in unit}
            lost = (*self.lost, *sorted({*gone, *self.landed}))
            return self.model_copy(update={"units": reachable, "landed": (), "lost": lost})
        if self.is_settled:
            return None
        failed = (*self.failed, self.current)
        branches = after(self.branches, self.current, committed=False)
        return _followed(branches, failed)

    def _reachable(self) -> tuple[tuple[RepairTarget, ...], ...]:
        """The units that do not wait for the first one."""
        known = [each for unit in self.units for each in unit]
        gone = {name for each in self.unit for name in (each.id, *dependants(known, each.id))}
        return tuple(unit for unit in self.units if not gone.intersection(each.id for each in unit))

    def _open_branches(self) -> tuple[Branch, ...]:
        return tuple(each for each in self.branches if each.id not in (*self.failed, self.current))


def course_of(branches: Sequence[Branch]) -> Course | None:
    """The most useful branch is followed first; None where there is no branch with a landmark."""
    return _followed(tuple(each for each in branches if each.landmarks), ())


def _followed(branches: tuple[Branch, ...], failed: tuple[str, ...]) -> Course | None:
    open_ones = in_order([each for each in branches if each.id not in failed])
    if not open_ones:
        return None
    first = open_ones[0]
    # A plan that cannot be put in order was sent back before it became a branch.
    return Course(branches=branches, current=first.id, failed=failed, units=units_of(first.landmarks) or ())


PLAN = "plan"
MOST_BRANCHES = 3
_CHARS_PER_TOKEN = 4
_REQUEST_TOKENS = 1_500
"""Of a request for diffs and its answer besides the windows."""


def followed(landmarks: Sequence[RepairTarget], *, most: int) -> tuple[RepairTarget, ...]:
    """As many landmarks of a plan as may be followed; what lands together is followed together or not at all."""
    chosen: tuple[RepairTarget, ...] = ()
    for unit in units_of(landmarks) or ():
        if len(chosen) + len(unit) > most:
            break
        chosen += unit
    return chosen


def planned_branches(
    landmarks: Sequence[RepairTarget], pattern: FailurePattern, slices: Sequence[Slice]
) -> tuple[Branch, ...]:
    """The plan, and the pattern's other places that it does not touch; what is believed of all sums to 1."""
    spans = [span for each in landmarks for span in each.target_spans]
    others = [
        each.span for each in pattern.alternatives if not any(_touch(each.span, span) for span in spans)
    ]
    others = others[: MOST_BRANCHES - 1]
    sure = pattern.confidence if others else 1.0
    plan = Branch(
        id=PLAN,
        probability=sure,
        tokens=_tokens(landmarks, slices),
        landmarks=tuple(landmarks),
        is_whole=True,
    )
    rest = (1 - sure) / len(others) if others else 0.0
    places = [_elsewhere(number, span) for number, span in enumerate(others, 1)]
    return (
        plan,
        *(
            Branch(id=each.id, probability=rest, tokens=_tokens([each], slices), landmarks=(each,))
            for each in places
        ),
    )


def suspected_branches(
    suspects: Sequence[Suspect], slices: Sequence[Slice], *, given_up: Collection[str] = ()
) -> tuple[Branch, ...]:
    """Without a plan each of the next suspects is a branch, believed in by its share of their suspicion.

    Args:
        given_up: symbols that were tried in vain.
    """
    left = [
        (suspect, landmark)
        for suspect, landmark in zip(suspects, fallback_landmarks(suspects), strict=True)
        if suspect.symbol.id not in given_up
    ][:MOST_BRANCHES]
    total = sum(suspect.suspicion for suspect, _ in left)
    return tuple(
        Branch(
            id=landmark.id,
            probability=suspect.suspicion / total if total else 1 / len(left),
            tokens=_tokens([landmark], slices),
            landmarks=(landmark,),
        )
        for suspect, landmark in left
    )


def _elsewhere(number: int, span: Span) -> RepairTarget:
    where = span.symbol or f"{span.artifact}:{span.lines[0]}-{span.lines[1]}"
    return RepairTarget(
        id=f"elsewhere-{number}", intent=f"Repair {where}, so that less fails.", target_spans=(span,)
    )


def _touch(one: Span, other: Span) -> bool:
    return (
        one.artifact == other.artifact and one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]
    )


def _tokens(landmarks: Sequence[RepairTarget], slices: Sequence[Slice]) -> int:
    """About what one request for each landmark costs: the windows that show its places, and all around them."""
    shown = [
        window
        for landmark in landmarks
        for window in slices
        if any(span.artifact == window.artifact for span in landmark.target_spans)
    ]
    return len(landmarks) * _REQUEST_TOKENS + sum(len(each.text) for each in shown) // _CHARS_PER_TOKEN

"""Which branches a plan, a failure pattern and a ranking open."""

from collections.abc import Collection, Sequence

from cogworks.repair.branches import Branch
from cogworks.repair.landmarks import FailurePattern, Landmark, Span, units_of
from cogworks.repair.planning import fallback_landmarks
from cogworks.repair.slices import Slice
from cogworks.repair.suspects import Suspect

PLAN = "plan"
MOST_BRANCHES = 3
_CHARS_PER_TOKEN = 4
_REQUEST_TOKENS = 1_500
"""Of a request for diffs and its answer besides the windows."""


def followed(landmarks: Sequence[Landmark], *, most: int) -> tuple[Landmark, ...]:
    """As many landmarks of a plan as may be followed; what lands together is followed together or not at all."""
    found: tuple[Landmark, ...] = ()
    for unit in units_of(landmarks) or ():
        if len(found) + len(unit) > most:
            break
        found += unit
    return found


def planned_branches(
    landmarks: Sequence[Landmark], pattern: FailurePattern, slices: Sequence[Slice]
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


def _elsewhere(number: int, span: Span) -> Landmark:
    where = span.symbol or f"{span.artifact}:{span.lines[0]}-{span.lines[1]}"
    return Landmark(
        id=f"elsewhere-{number}", intent=f"Repair {where}, so that less fails.", target_spans=(span,)
    )


def _touch(one: Span, other: Span) -> bool:
    return (
        one.artifact == other.artifact and one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]
    )


def _tokens(landmarks: Sequence[Landmark], slices: Sequence[Slice]) -> int:
    """About what one request for each landmark costs: the windows that show its places, and all around them."""
    shown = [
        window
        for landmark in landmarks
        for window in slices
        if any(span.artifact == window.artifact for span in landmark.target_spans)
    ]
    return len(landmarks) * _REQUEST_TOKENS + sum(len(each.text) for each in shown) // _CHARS_PER_TOKEN

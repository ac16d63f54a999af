"""What is believed to be wrong and which small changes shall mend it: by a model, or from the ranking alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from cogworks.domain_services.failing import alike, causes, listed
from cogworks.domain_services.messages import TestReport
from cogworks.errors import InvalidReply
from cogworks.repair.landmarks import (
    Alternative,
    FailurePattern,
    RepairTarget,
    Span,
    fallback_pattern,
    landmark_problems,
    ordered,
    pattern_problems,
)
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.replies import LandmarksReply, PatternReply, Place
from cogworks.vocabulary import Value

Reply = TypeVar("Reply", bound=BaseModel)
MOST_PLANNED = 3
ROUNDS = 2
"""The question, and once more with what was wrong with the answer."""
MAX_FAILURES = 10
_BAD = ("failed", "error")


class Model(Protocol):
    """Asks a model one question; `cogworks.llm.gateway.Gateway`.

    Raises: InvalidReply when no answer fits; BudgetReached before a call that could cost too much.
    """

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply: ...


class Caps(Value):
    """How large one diff may be."""

    changed_lines: int = 12
    files: int = 2


class Situation(Value):
    """What a plan is made from."""

    failing: TestReport
    suspects: tuple[Suspect, ...]
    slices: tuple[Slice, ...]
    targets: tuple[str, ...]
    """Tests that shall pass in the end."""
    reasons: tuple[str, ...] = ()
    """Why earlier changes were not kept."""
    kept: tuple[str, ...] = ()
    """Which changes are in the repository since, and which were taken back, in their order."""
    tests: tuple[Slice, ...] = ()
    """What stands in the failing tests."""
    evidence: tuple[str, ...] = ()
    """What probes found out, one fact a line."""

    def failures(self) -> list[dict[str, str]]:
        """What the failing tests say, those that fail alike once, and some of the cases of one test that differ only in values."""
        bad = ((case.id, case.message) for case in self.failing.cases if case.outcome in _BAD)
        unloaded = (("while loading the tests", text) for text in self.failing.collection_errors)
        entries = [
            {"test": listed(each.ids), "text": f"{group.summary}\n{each.text}" if is_first else each.text}
            for group in alike(causes((*bad, *unloaded)))
            for each, is_first in zip(group.shown, (bool(group.summary), False, False), strict=False)
        ]
        return entries[:MAX_FAILURES]

    def sources(self) -> list[dict[str, Any]]:
        """The failing tests as they stand in their files, for a prompt."""
        return [
            {"path": path, "first": first, "text": "…\n".join(each.numbered() for each in slices)}
            for path, first, slices in _by_file(self.tests)
        ]


class Planned(Value):
    """A pattern or a plan, and where it comes from."""

    pattern: FailurePattern
    landmarks: tuple[RepairTarget, ...] = ()
    """In an order that works."""
    problems: tuple[str, ...] = ()
    """Why the model's own answer was not taken; empty when it was."""


Looked = Callable[[], Sequence[Slice]]
"""What the model was shown besides the windows: by its own looks, up to now."""


def combined(situation: Situation, model: Model, *, purpose: str, looked: Looked = tuple) -> Planned:
    """The failure pattern by the model; by the ranking where its answers cannot be used.

    Raises:
        ValueError: there is no suspect.
    """
    problems: tuple[str, ...] = ()
    for number in range(1, ROUNDS + 1):
        variables = {**shown(situation), "problems": problems}
        try:
            reply = model.ask("combine", variables, PatternReply, purpose=_numbered(purpose, number))
        except InvalidReply as error:
            problems = (str(error),)
            break
        pattern, problems = _pattern(reply, situation, looked())
        if pattern is not None:
            return Planned(pattern=pattern)
    return Planned(pattern=fallback_pattern(situation.suspects), problems=problems)


def planned(
    situation: Situation,
    pattern: FailurePattern,
    model: Model,
    *,
    caps: Caps,
    purpose: str,
    looked: Looked = tuple,
) -> Planned:
    """RepairTargets by the model, in an order that works; none where its answers cannot be used.

    Args:
        caps: of each change; a plan that does not know them promises more than fits.
    """
    problems: tuple[str, ...] = ()
    for number in range(1, ROUNDS + 1):
        variables = {
            **shown(situation),
            "pattern": pattern.model_dump(mode="json"),
            "most": MOST_PLANNED,
            "caps": {"changed_lines": caps.changed_lines, "files": caps.files},
            "problems": problems,
        }
        try:
            reply = model.ask("landmarks", variables, LandmarksReply, purpose=_numbered(purpose, number))
        except InvalidReply as error:
            return Planned(pattern=pattern, problems=(str(error),))
        landmarks, problems = _landmarks(reply, situation, looked())
        if not problems:
            return Planned(pattern=pattern, landmarks=ordered(landmarks) or ())
    return Planned(pattern=pattern, problems=problems)


def fallback_landmarks(suspects: Sequence[Suspect]) -> tuple[RepairTarget, ...]:
    """One landmark for each suspect, best first: alternatives, each of which has to improve something by itself."""
    return tuple(
        RepairTarget(
            id=f"suspect-{number}",
            intent=f"Repair {suspect.symbol.id}, so that less fails.",
            target_spans=(
                Span(artifact=suspect.symbol.artifact, lines=suspect.symbol.lines, symbol=suspect.symbol.id),
            ),
            confidence=suspect.likelihood,
        )
        for number, suspect in enumerate(suspects, 1)
    )


def shown(situation: Situation) -> dict[str, Any]:
    """What every question about a failure tells a model of it."""
    return {
        "failures": situation.failures(),
        "targets": list(situation.targets),
        "suspects": [
            f"{each.symbol.artifact}:{each.symbol.lines[0]}-{each.symbol.lines[1]} {each.symbol.id}"
            for each in situation.suspects
        ],
        "windows": [
            {"path": each.artifact, "first": each.lines[0], "last": each.lines[1], "text": each.numbered()}
            for each in situation.slices
        ],
        "kept": list(situation.kept),
        "reasons": list(situation.reasons),
        "evidence": list(situation.evidence),
        "tests": situation.sources(),
    }


def _by_file(slices: Sequence[Slice]) -> Iterator[tuple[str, int, list[Slice]]]:
    """Each file with its first line that is shown; what lies between the parts is left out."""
    for path, group in groupby(slices, lambda each: each.artifact):
        parts = list(group)
        yield path, parts[0].lines[0], parts


def _numbered(purpose: str, number: int) -> str:
    return purpose if number == 1 else f"{purpose}-again"


def _pattern(
    reply: PatternReply, situation: Situation, looked: Sequence[Slice]
) -> tuple[FailurePattern | None, tuple[str, ...]]:
    places = (reply.primary, *(each.place for each in reply.alternatives))
    if backwards := tuple(_backwards(place) for place in places if place.last_line < place.first_line):
        return None, backwards
    pattern = FailurePattern(
        summary=reply.summary,
        primary_location=_span(reply.primary, situation.suspects),
        alternatives=tuple(
            Alternative(span=_span(each.place, situation.suspects), why=each.why)
            for each in reply.alternatives
        ),
        invariants=reply.invariants,
        confidence=reply.confidence,
        assumptions_to_check=reply.assumptions_to_check,
    )
    problems = pattern_problems(pattern, (*situation.slices, *looked))
    return (None, problems) if problems else (pattern, ())


def _landmarks(
    reply: LandmarksReply, situation: Situation, looked: Sequence[Slice]
) -> tuple[list[RepairTarget], tuple[str, ...]]:
    places = [place for each in reply.landmarks for place in each.places]
    if backwards := tuple(_backwards(place) for place in places if place.last_line < place.first_line):
        return [], backwards
    landmarks = [
        RepairTarget(
            id=each.id,
            intent=each.intent,
            target_spans=tuple(_span(place, situation.suspects) for place in each.places),
            constraints=tuple(f"allow_api:{name}" for name in each.allow_api),
            landmark_test=each.test,
            try_after=each.after,
            join=each.join,
        )
        for each in reply.landmarks
    ]
    slices = (*situation.slices, *looked)
    problems = landmark_problems(landmarks, slices, tests=situation.targets, most=MOST_PLANNED)
    return landmarks, problems


def _span(place: Place, suspects: Sequence[Suspect]) -> Span:
    lines = (place.first_line, place.last_line)
    symbols = [
        each.symbol.id
        for each in suspects
        if each.symbol.artifact == place.path
        and each.symbol.lines[0] <= lines[0] <= lines[1] <= each.symbol.lines[1]
    ]
    return Span(artifact=place.path, lines=lines, symbol=symbols[0] if symbols else "")


def _backwards(place: Place) -> str:
    return f"{place.path}:{place.first_line}-{place.last_line} ends before it begins"

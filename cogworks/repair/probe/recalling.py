"""What is suspected before anything is probed, and changes a model wants to see tried: only ever to find something out.

What the prompts of the investigation want back from the model, as types; nothing in a reply may be null.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from cogworks.codebase.diffmodel import render
from cogworks.codebase.diffplacing import Replacement, normalised_replacements
from cogworks.errors import BudgetReached, InvalidReply
from cogworks.llm.schemas import Part
from cogworks.repair.landmarks import Span, is_seen
from cogworks.repair.localise.suspects import Suspect
from cogworks.repair.planning import Model, Situation, shown
from cogworks.repair.probe.probes import ProbePatch
from cogworks.repair.replies import Edit, Place
from cogworks.repair.transact.diffrules import fingerprint
from cogworks.vocabulary import Value


class CandidatePart(Part):
    """A place where the fault may be."""

    hypothesis: str = Field(min_length=1, max_length=300)
    """What may be wrong there, in at most 20 words."""
    place: Place


class RecallReply(Part):
    """Where the fault may be, the most likely place first."""

    candidates: tuple[CandidatePart, ...]


class ProbePart(Part):
    """A change that shows something when the failing test runs with it; it is thrown away afterwards."""

    suspect: str = Field(min_length=1)
    """The id of the suspect it is about, as shown."""
    purpose: Literal["instrument", "assert", "reduce"]
    edits: tuple[Edit, ...] = Field(min_length=1)
    rationale: str = Field(max_length=400)
    """What its result would tell, in at most 40 words."""


class ProbePatchesReply(Part):
    """Changes to find something out with, the most telling first."""

    probes: tuple[ProbePart, ...]


PROBE_REPLIES: dict[str, type[BaseModel]] = {"recall": RecallReply, "probe_patches": ProbePatchesReply}
"""Stem of a prompt -> type of its reply."""


MAX_HYPOTHESIS_WORDS = 20
MAX_RATIONALE_WORDS = 40
MAX_CHANGED_LINES = 12
_SAYS = {
    "coverage": "failing tests execute it more than passing ones",
    "stack": "it stands on the stack of the failure",
    "token": "it shares words with the failure",
    "hop": "it is near the failure",
}


class Recalled(Value):
    """A place where the fault may be, and what speaks for it."""

    id: str
    hypothesis: str
    """At most 20 words."""
    spans: tuple[Span, ...]
    evidence: dict[str, Any]


class Proposed(NamedTuple):
    """What a model wants looked at."""

    candidates: tuple[Recalled, ...] = ()
    patches: tuple[ProbePatch, ...] = ()
    problems: tuple[str, ...] = ()
    """Why something of it is not."""


def recalled(suspects: Sequence[Suspect]) -> tuple[Recalled, ...]:
    """The suspects of the ranking, each with its strongest signal as the hypothesis; no model is asked."""
    return tuple(
        Recalled(
            id=each.symbol.id,
            hypothesis=_shortened(_reason(each), MAX_HYPOTHESIS_WORDS),
            spans=(Span(artifact=each.symbol.artifact, lines=each.symbol.lines, symbol=each.symbol.id),),
            evidence={
                **{str(name): value for name, value in each.signals.items()},
                "suspicion": each.suspicion,
            },
        )
        for each in suspects
    )


def proposed(
    situation: Situation, model: Model, text_of: Callable[[str], str | None], *, most: int, purpose: str
) -> Proposed:
    """What a model believes, and at most `most` changes it wants tried; what makes no sense is left out and reported.

    Investigating goes on without it: an answer that cannot be used, or a budget that is used up, is a problem among others.

    Args:
        text_of: a file of the worktree that is repaired.
    """
    variables = shown(situation)
    recalled = Proposed()
    try:
        recall = model.ask("recall", variables, RecallReply, purpose=f"{purpose}-recall")
        recalled = _candidates(recall.candidates, situation)
        probe_variables = {
            **variables,
            "ids": [each.symbol.id for each in situation.suspects],
            "candidates": [f"{each.id}: {each.hypothesis}" for each in recalled.candidates],
            "most": most,
            "changed_lines": MAX_CHANGED_LINES,
        }
        reply = model.ask("probe_patches", probe_variables, ProbePatchesReply, purpose=f"{purpose}-probes")
    except (InvalidReply, BudgetReached) as error:
        return recalled._replace(problems=(*recalled.problems, str(error)))
    outcomes = [_patch(part, situation, text_of) for part in reply.probes[:most]]
    patches = {each.id: each for each in outcomes if isinstance(each, ProbePatch)}
    problems = [f"probe {number}: {each}" for number, each in enumerate(outcomes, 1) if isinstance(each, str)]
    return recalled._replace(patches=tuple(patches.values()), problems=(*recalled.problems, *problems))


def _candidates(parts: Sequence[CandidatePart], situation: Situation) -> Proposed:
    candidates, problems = list[Recalled](), list[str]()
    for number, part in enumerate(parts, 1):
        lines = (part.place.first_line, part.place.last_line)
        span = Span(artifact=part.place.path, lines=lines, symbol=_symbol_at(part, situation.suspects))
        if lines[0] > lines[1] or not is_seen(span, situation.slices):
            problems.append(
                f"candidate {number}: {span.artifact}:{lines[0]}-{lines[1]} is in none of the windows"
            )
            continue
        hypothesis = _shortened(part.hypothesis, MAX_HYPOTHESIS_WORDS)
        candidates.append(Recalled(id=f"model-{number}", hypothesis=hypothesis, spans=(span,), evidence={}))
    return Proposed(candidates=tuple(candidates), problems=tuple(problems))


def _patch(part: ProbePart, situation: Situation, text_of: Callable[[str], str | None]) -> ProbePatch | str:
    """The change in git's form, or why it is not tried."""
    if part.suspect not in {each.symbol.id for each in situation.suspects}:
        return f"{part.suspect!r} is no suspect"
    files = {each.artifact for each in situation.slices}
    if part.purpose == "reduce":
        files = {test.split("::")[0] for test in situation.targets}
    if strange := sorted({edit.path for edit in part.edits} - files):
        return f"{strange[0]!r} is not among {', '.join(sorted(files))}"
    edits = [Replacement(path=edit.path, search=edit.search, replace=edit.replace) for edit in part.edits]
    normalised = normalised_replacements(
        edits, {path: text for path in files if (text := text_of(path)) is not None}
    )
    if normalised.diff is None:
        return "; ".join(normalised.problems)
    changed = sum(file.added + file.removed for file in normalised.diff.files)
    if changed > MAX_CHANGED_LINES:
        return f"changes {changed} lines, at most {MAX_CHANGED_LINES} are allowed"
    return ProbePatch(
        id=fingerprint(normalised.diff),
        suspect=part.suspect,
        diff=render(normalised.diff),
        purpose=part.purpose,
        loc_changed=changed,
        rationale=_shortened(part.rationale, MAX_RATIONALE_WORDS),
    )


def _symbol_at(part: CandidatePart, suspects: Sequence[Suspect]) -> str:
    first, last = part.place.first_line, part.place.last_line
    around = [
        each.symbol.id
        for each in suspects
        if each.symbol.artifact == part.place.path
        and each.symbol.lines[0] <= first
        and last <= each.symbol.lines[1]
    ]
    return next(iter(around), "")


def _reason(suspect: Suspect) -> str:
    positive = {signal: value for signal, value in suspect.signals.items() if value > 0}
    if not positive:
        return "it stands among the definitions around the failure"
    return _SAYS[max(positive, key=lambda signal: (positive[signal], signal))]


def _shortened(text: str, words: int) -> str:
    return " ".join(text.split()[:words])

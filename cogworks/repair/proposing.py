"""Small diffs for one landmark: asked for, brought into git's form, judged by every rule, and put in order."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from cogworks.codebase.changes import matching
from cogworks.codebase.diffmodel import render
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import (
    Normalised,
    Replacement,
    normalised_diff,
    normalised_replacements,
    recounted,
)
from cogworks.codebase.patchtree import TreeView
from cogworks.repair.landmarks import FailurePattern, RepairTarget
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.sources import lines_of
from cogworks.repair.overfitting import known_data
from cogworks.repair.planning import Caps, Model, Situation
from cogworks.repair.replies import DiffReply, DiffsReply, Edit
from cogworks.repair.reranking import Traits, in_order, score, similarity
from cogworks.repair.transact.diffrules import fingerprint
from cogworks.repair.transact.transaction import Ruled, TransactionPorts, ruled
from cogworks.repair.transact.validators import images
from cogworks.repair.violations import Span as StepSpan
from cogworks.repair.violations import Step, TestRules
from cogworks.sight.seen import Seen
from cogworks.vocabulary import Value

DIFFS = 3
MAX_REASONS = 12
MAX_REASON_CHARS = 2_000
MAX_RATIONALE_WORDS = 40
_API = "allow_api:"
_DOUBT = (
    "holds values of the failing tests; repair the cause for every input. Give the same diff again if the cause is that these "
    "values are missing"
)
_MOST_READ = 3
"""So many times K diffs of one answer are judged to find K that break no rule."""


class Request(Value):
    """What is asked of a proposer."""

    landmark: RepairTarget
    pattern: FailurePattern
    situation: Situation
    windows: tuple[Slice, ...]
    """Of the tree as it is now, around the landmark's spans."""
    step: Step
    most: int = DIFFS
    purpose: str
    """Unique within the run."""
    doubted: frozenset[str] = frozenset()
    """Fingerprints of the diffs that were sent back for the data of the tests in them; once is enough."""


class Proposer(Protocol):
    """Who proposes diffs.

    Raises: InvalidReply when nothing usable comes; BudgetReached before a call that could cost too much.
    """

    def propose(self, request: Request) -> Sequence[DiffReply]: ...


class Proposal(Value):
    """One diff that breaks no rule."""

    id: str
    """Its fingerprint."""
    diff: str
    """As git writes it."""
    rationale: str
    score: float


class Proposals(Value):
    """What is worth a transaction, best first, and why the others are not."""

    kept: tuple[Proposal, ...]
    refused: tuple[str, ...] = ()
    """In words for the next proposal."""
    refused_diffs: int = 0
    """How many diffs these words are about."""
    unread: int = 0
    """How many diffs of the answer were not judged, since enough before them broke no rule."""
    doubted: frozenset[str] = frozenset()
    """Those that hold data of the tests and are sent back for the first time."""


class ModelProposer:
    """Asks the model; obeys `Proposer`."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def propose(self, request: Request) -> Sequence[DiffReply]:
        step, landmark = request.step, request.landmark
        variables = {
            "failures": request.situation.failures(),
            "tests": request.situation.sources(),
            "evidence": list(request.situation.evidence),
            "kept": list(request.situation.kept),
            "pattern": request.pattern.summary,
            "invariants": list(request.pattern.invariants),
            "landmark": landmark.intent,
            "test": landmark.landmark_test,
            "spans": [f"{span.artifact}:{span.lines[0]}-{span.lines[1]}" for span in landmark.target_spans],
            "allow_api": list(step.allow_api),
            "caps": {"changed_lines": step.max_changed_lines, "files": step.max_files},
            "most": request.most,
            "windows": [
                {"path": each.artifact, "text": each.numbered(), "first": each.lines[0]}
                for each in request.windows
            ],
            "reasons": [reason[-MAX_REASON_CHARS:] for reason in request.situation.reasons[-MAX_REASONS:]],
        }
        return self._model.ask("propose_diffs", variables, DiffsReply, purpose=request.purpose).diffs


def step_of(
    landmark: RepairTarget,
    caps: Caps,
    seen: Seen,
    *,
    handed_over: Sequence[str] = (),
    rules: TestRules | None = None,
) -> Step:
    """What a change for this landmark may touch: whatever was shown, as it is now."""
    rules = rules or TestRules()
    files = [path for path in seen.paths if matching(path, rules.files) is None]
    return Step(
        id=landmark.id,
        files=tuple(files),
        spans=tuple(StepSpan(path, *lines) for path in files for lines in seen.stretches(path)),
        padding_lines=0,
        max_files=caps.files,
        max_changed_lines=caps.changed_lines,
        allow_api=tuple(each.removeprefix(_API) for each in landmark.constraints if each.startswith(_API)),
        handed_over=tuple(handed_over),
        tests=rules,
    )


def windows_of(
    landmark: RepairTarget, texts: Mapping[str, str], seen: Seen, *, padding: int
) -> tuple[Slice, ...]:
    """What stands around the spans of a landmark and was not shown yet as it is now; from here on it was."""
    windows = []
    for span in landmark.target_spans:
        lines = lines_of(texts.get(span.artifact, ""))
        if not lines:
            continue
        first = max(1, min(span.lines[0], len(lines)) - padding)
        last = min(len(lines), span.lines[1] + padding)
        for stretch in seen.unseen(span.artifact, first, last):
            text = "".join(lines[stretch[0] - 1 : stretch[1]])
            windows.append(Slice(artifact=span.artifact, lines=stretch, text=text))
            seen.note(span.artifact, *stretch)
    return tuple(windows)


def judged(
    replies: Sequence[DiffReply],
    request: Request,
    ports: TransactionPorts,
    *,
    tried: Collection[str] = (),
    rejected: Sequence[str] = (),
) -> Proposals:
    """The first K replies that break no rule, most promising first; nothing is written.

    Args:
        tried: fingerprints of diffs that failed on this tree before.
        rejected: diffs that were taken back before; what is like them is less promising. One that broke a rule was never tried,
            and the same without the fault may be the repair.
    """
    kept: dict[str, tuple[Proposal, Traits]] = {}
    refused, doubted = list[str](), set[str]()
    read = 0
    most_bytes = request.step.max_diff_bytes
    small = [reply for reply in replies if _bytes_of(reply) <= most_bytes]
    views: dict[frozenset[str], TreeView] = {}

    def view_of(paths: Sequence[str]) -> TreeView:
        # Nothing is written between one reply and the next, and most of them are about the same files.
        key = frozenset(paths)
        if key not in views:
            views[key] = ports.tree.view_of(paths)
        return views[key]

    sources = view_of([*request.step.files, *_named(small)]).sources
    for number, reply in enumerate(replies[: _MOST_READ * request.most], 1):
        if len(kept) == request.most:
            break
        read = number
        if (size := _bytes_of(reply)) > most_bytes:
            # Nobody reads it: parsing and placing would take minutes.
            refused.append(f"diff {number}: size: has {size} bytes; at most {most_bytes} are allowed")
            continue
        normalised = _normalised(reply, sources)
        if normalised.diff is None:
            refused += [f"diff {number}: {problem}" for problem in normalised.problems]
            continue
        text, name = render(normalised.diff), fingerprint(normalised.diff)
        if name in kept:
            refused.append(f"diff {number}: is the same as an earlier one")
            continue
        verdict = ruled(text, request.step, ports, tried=frozenset(tried), view_of=view_of)
        if verdict.violations:
            refused += [f"diff {number}: {each.code}: {each.text}" for each in verdict.violations]
            continue
        traits = _traits(verdict, text, request, rejected, place=number)
        if traits.knows_tests and name not in request.doubted:
            doubted.add(name)
            refused.append(f"diff {number}: {_DOUBT}")
            continue
        points = score(traits, most_lines=request.step.max_changed_lines, most_files=request.step.max_files)
        rationale = " ".join(reply.rationale.split()[:MAX_RATIONALE_WORDS])
        kept[name] = (Proposal(id=name, diff=text, rationale=rationale, score=points), traits)
    order = in_order(
        [traits for _, traits in kept.values()],
        most_lines=request.step.max_changed_lines,
        most_files=request.step.max_files,
    )
    return Proposals(
        kept=tuple(kept[traits.id][0] for traits in order),
        refused=tuple(refused),
        refused_diffs=read - len(kept),
        unread=len(replies) - read,
        doubted=frozenset(doubted),
    )


def replacements(edits: Sequence[Edit]) -> list[Replacement]:
    """The edits of an answer, ready to be placed."""
    return [Replacement(path=each.path, search=each.search, replace=each.replace) for each in edits]


def _named(replies: Sequence[DiffReply]) -> list[str]:
    """Every file the replies name: one that is not theirs to change is refused by its rule, not as unknown."""
    edited = [edit.path for reply in replies for edit in reply.edits]
    return edited + [
        path for reply in replies for path in parse_diff(recounted(reply.unified_diff)).diff.paths
    ]


def _bytes_of(reply: DiffReply) -> int:
    texts = [reply.unified_diff, *(text for each in reply.edits for text in (each.search, each.replace))]
    return sum(len(text.encode(errors="surrogateescape")) for text in texts)


def _normalised(reply: DiffReply, sources: Mapping[str, str]) -> Normalised:
    if reply.edits and reply.unified_diff.strip():
        return Normalised(None, ("has edits and a unified diff; give one of them",))
    if reply.edits:
        return normalised_replacements(replacements(reply.edits), sources)
    return normalised_diff(reply.unified_diff, sources)


def _traits(verdict: Ruled, text: str, request: Request, rejected: Sequence[str], *, place: int) -> Traits:
    primary, diff = request.pattern.primary_location, verdict.diff
    near = [
        _distance(hunk.old_start, primary.lines)
        for file in diff.files
        if file.path == primary.artifact
        for hunk in file.hunks
    ]
    written = images(diff, verdict.ground)
    tests = [each.text for each in request.situation.tests]
    return Traits(
        id=fingerprint(diff),
        place=place,
        distance_lines=min(near, default=None),
        changed_lines=sum(file.added + file.removed for file in diff.files),
        files=len(diff.files),
        is_lint_clean=verdict.is_lint_clean,
        similarity=max((similarity(text, each) for each in rejected), default=0.0),
        knows_tests=bool(known_data(diff, tests, written.get, request.step.tests)),
    )


def _distance(line: int, lines: tuple[int, int]) -> int:
    return max(0, lines[0] - line, line - lines[1])

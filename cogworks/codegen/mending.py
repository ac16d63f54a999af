"""What a review proposes word for word is applied without asking anybody, and kept where no test speaks against it.

It stands in for the coder in a visit that the review began with `mending`: its first answer is the change, its second the
end. So the change passes the same gates as any other, and where it does not pass, the branch is as it was.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from cogworks.codegen.handoff import stored_handoff
from cogworks.cycle.context import CycleContext
from cogworks.nodes.artifacts import key_of, planned_item
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import CodeChange, ProposedFile, Suggestion
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import CommitOid, Severity

MENDED = "mended"
"""In the output of the code: what became of the suggestions of the review before."""
MENDING = "mending"
"""In the output of a review: whether all that it sends back is what it proposes word for word."""
SUBJECT, SUBJECTS = "Apply a suggestion of the review", "Apply suggestions of the review"
"""Of the commit."""
MAX_SUGGESTED_LINES = 20
MAX_SUGGESTED_CHARS = 4_000


class AreTestsDue(Protocol):
    """The tests of a visit; `cogworks.codegen.test_writing.TestWriting`."""

    @property
    def is_due(self) -> bool: ...


class Mended(NamedTuple):
    """What became of a review's suggestions."""

    applied: tuple[int, ...]
    """Which of its findings, by their place in its list."""
    why_not: str = ""
    """Why others are not, in words; empty where all are."""

    def as_json(self) -> dict[str, Any]:
        return {"applied": list(self.applied), "why_not": self.why_not}


def suggested(finding: Mapping[str, Any]) -> Suggestion | None:
    """The suggestion of a finding that may be merged as it is; None where it has none, or somebody has to look at it."""
    suggestion = Suggestion.model_validate(finding.get("suggestion") or {})
    return suggestion if suggestion.first_line and finding["severity"] == Severity.WARNING else None


def left_after(findings: Sequence[Mapping[str, Any]], applied: Collection[int]) -> list[Mapping[str, Any]]:
    """The findings that were not applied, at the lines where they stand now that the others were."""
    done = [(findings[number]["file"], suggested(findings[number])) for number in sorted(applied)]
    return [
        _moved(finding, [each for path, each in done if path == finding["file"] and each])
        for number, finding in enumerate(findings)
        if number not in applied
    ]


def _moved(finding: Mapping[str, Any], applied: Sequence[Suggestion]) -> Mapping[str, Any]:
    own = Suggestion.model_validate(finding.get("suggestion") or {})
    moved = {name: value for name, value in finding.items() if name != "suggestion"}
    moved["line"] = _line_after(finding["line"], applied)
    if own.first_line and not any(set(_span(own)) & set(_span(each)) for each in applied):
        shift = _line_after(own.first_line, applied) - own.first_line
        lines = {"first_line": own.first_line + shift, "last_line": own.last_line + shift}
        moved["suggestion"] = {**finding["suggestion"], **lines}
    return moved


def _line_after(line: int, applied: Sequence[Suggestion]) -> int:
    """Where a line is afterwards; of one that was replaced itself, where its replacement begins."""
    inside = next((each.first_line for each in applied if line in _span(each)), line)
    above = (each for each in applied if each.last_line < inside)
    return inside + sum(_count(each.replacement) - len(_span(each)) for each in above)


def _span(suggestion: Suggestion) -> range:
    return range(suggestion.first_line, suggestion.last_line + 1)


def _count(replacement: str) -> int:
    return len(replacement.replace("\r\n", "\n").removesuffix("\n").split("\n")) if replacement else 0


def mender_of(task: NodeTask, workspace: Workspace, tests: AreTestsDue | None) -> "Mender | None":
    """Who carries out a visit that is there only for what its review proposes; None where somebody wants anything besides.

    Args:
        tests: that are handed over; None where they come with the code.
    """
    review = task.inputs.get("review") or {}
    is_ours = review.get("sub_item") == key_of(task) and bool(task.earlier.get("code"))
    if not (is_ours and review.get(MENDING)) or task.asked_changes or (tests is not None and tests.is_due):
        return None
    return Mender(task, workspace)


class Mender:
    """In a coder's place."""

    def __init__(self, task: NodeTask, workspace: Workspace) -> None:
        self._task = task
        self._workspace = workspace
        self._findings: Sequence[Mapping[str, Any]] = task.inputs["review"]["findings"]
        self._is_asked = False
        self._applied: tuple[int, ...] = ()
        self._problems: list[str] = []
        self.requests = 0
        """Nobody is asked."""
        self.suspects: Sequence[str] = ()
        self.evidence: Sequence[str] = ()
        self.ruling = ""

    def ask(self, context: CycleContext) -> CodeChange | Failed:
        """The suggestions as one change; the second time, why it was not kept."""
        if self._is_asked:
            tried = context.attempts[-1].trial.problems if context.attempts else context.reasons
            return self._refused(tried)
        self._is_asked = True
        texts, applied = self._texts()
        self._applied = applied
        if not applied:
            return self._refused(())
        earlier = self._task.earlier["code"]
        return CodeChange(
            summary=SUBJECT if len(applied) == 1 else SUBJECTS,
            files=tuple(
                ProposedFile(path=path, action="modify", content=text) for path, text in texts.items()
            ),
            tests=tuple(earlier["test_files"]),
            notes=f"As the review proposes: {_places(self._findings, applied)}.",
        )

    def kept(self, done: Succeeded) -> Succeeded:
        """The end of a visit in which they were kept: what the change does has not become something else by them."""
        earlier = self._task.earlier["code"]
        count, all_of_them = len(self._applied), self._count
        mended = Mended(self._applied, " ".join(self._problems))
        same = {name: earlier[name] for name in ("summary", "notes", "attempts") if name in earlier}
        return done.model_copy(
            update={
                "output": {**done.output, **same, MENDED: mended.as_json()},
                "summary": f"{count} of {all_of_them} suggestion(s) of the review applied, {done.output['tests']['passed']} tests pass",
            }
        )

    def left(self, why: str, *, start: CommitOid) -> Succeeded:
        """The end of a visit in which none was kept: the branch is where it was."""
        self._workspace.settle(start)
        item = planned_item(self._task)
        output = {
            name: value
            for name, value in self._task.earlier["code"].items()
            if name not in ("cycle", "attempts", MENDED)
        }
        return Succeeded(
            output={**output, "attempts": 0, MENDED: Mended((), why).as_json()},
            summary=f"{item.key}: no suggestion of the review was applied: {why.splitlines()[0]}",
        )

    @property
    def _count(self) -> int:
        return sum(suggested(each) is not None for each in self._findings)

    def _refused(self, reasons: Sequence[str]) -> Failed:
        return Failed(
            reason="\n".join([*self._problems, *reasons]) or "nothing was there to apply",
            category="escalated",
        )

    def _texts(self) -> tuple[dict[str, str], tuple[int, ...]]:
        """Path -> its text with the suggestions in it, and whose they are; from the last line to the first, so that lines keep
        their numbers."""
        handoff = stored_handoff(self._task)
        handed_over = handoff.paths if handoff else ()
        lines: dict[str, list[str]] = {}
        taken: dict[str, set[int]] = {}
        applied = []
        wanted = [
            (number, each, suggested_change)
            for number, each in enumerate(self._findings)
            if (suggested_change := suggested(each))
        ]
        for number, finding, suggestion in sorted(wanted, key=lambda each: -each[2].first_line):
            path, first, last = finding["file"], suggestion.first_line, suggestion.last_line
            if path in handed_over:
                self._problems.append(f"{path}:{first} is one of the tests that were there before the code.")
                continue
            text = self._workspace.read(path)
            there = lines.setdefault(path, (text or "").splitlines(keepends=True))
            span = set(range(first, last + 1))
            if text is None or span & taken.setdefault(path, set()):
                self._problems.append(f"{path}:{first} was changed by another suggestion, or is gone.")
                continue
            taken[path] |= span
            there[first - 1 : last] = _as_lines(suggestion.replacement, "".join(there[first - 1 : last]))
            applied.append(number)
        changed = {self._findings[number]["file"] for number in applied}
        return {path: "".join(lines[path]) for path in sorted(changed)}, tuple(sorted(applied))


def misplaced(path: str, suggestion: Suggestion, text: str | None, touched: frozenset[int]) -> str:
    """Why nobody can try a suggestion as it is; empty where somebody can, or where there is none.

    Args:
        text: of the file as it is now; None: there is none.
        touched: its lines that the change adds or changes.
    """
    first, last, replacement = suggestion.first_line, suggestion.last_line, suggestion.replacement
    if not first:
        return f"a suggestion for {path} has no `first_line`" if last or replacement else ""
    if text is None:
        return f"a suggestion is for {path}, which is not there any more"
    lines = text.splitlines(keepends=True)
    where = f"the suggestion for {path} lines {first} to {last}"
    if not first <= last <= len(lines):
        return f"{where} names lines that are not there; the file has {len(lines)}"
    if last - first >= MAX_SUGGESTED_LINES or len(replacement) > MAX_SUGGESTED_CHARS:
        return (
            f"{where} is too long: at most {MAX_SUGGESTED_LINES} lines and {MAX_SUGGESTED_CHARS} characters"
        )
    if not touched & set(range(first, last + 1)):
        return f"{where} is about lines that the change does not touch"
    if "".join(lines[first - 1 : last]) == "".join(_as_lines(replacement, "".join(lines[first - 1 : last]))):
        return f"{where} changes nothing"
    return ""


def _as_lines(replacement: str, replaced: str) -> list[str]:
    """The replacement with the line ends of what it replaces; none where the lines only go."""
    if not replacement:
        return []
    end = "\r\n" if "\r\n" in replaced else "\n"
    text = replacement.replace("\r\n", "\n").removesuffix("\n").replace("\n", end)
    return [text + (end if replaced.endswith("\n") else "")]


def _places(findings: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> str:
    return ", ".join(f"{findings[each]['file']}:{findings[each]['line'] or 1}" for each in numbers)

"""Whoever is asked for the code of a sub-work-item: for handed-over tests, or with tests of its own.

What a coder's answer does to files, whole files, edits or a diff: one form for all of them, or why it has none.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from cogworks.codebase.changes import normalised
from cogworks.codebase.diffmodel import FileDiff, post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import Normalised, normalised_diff, normalised_replacements, recounted
from cogworks.codegen.prompt import coding_opening, implementation_opening
from cogworks.codegen.test_writing import TestWriting
from cogworks.cycle.context import CycleContext
from cogworks.cycle.feedback import fingerprint
from cogworks.nodes.asking import Question, conversation_about, purpose_of, reason_for_a_person
from cogworks.nodes.contract import Failed, NodePorts, NodeTask, Talk, Workspace
from cogworks.nodes.replies import CodeChange, DisputedTest, Implementation, PlannedItem, ProposedFile
from cogworks.repair.proposing import replacements

_USUAL_MODE = "100644"
MAX_SHOWN_CHARS = 20_000
"""Of a file that was changed and is shown again; of a longer one the reader knows what was edited."""
Answer = TypeVar("Answer", CodeChange, Implementation)


class InOneForm(NamedTuple):
    """An answer as whole files; `problems` say what of it cannot be placed, and then no file is there."""

    files: tuple[ProposedFile, ...]
    problems: tuple[str, ...] = ()


def paths_of(reply: CodeChange | Implementation) -> tuple[str, ...]:
    """Every path that an answer names, whether or not it can be placed."""
    return tuple(dict.fromkeys(path for paths in _by_form(reply).values() for path in paths))


def fingerprint_of(reply: CodeChange) -> str:
    """Equal for equal changes."""
    parts: list[tuple[str, str, str]] = [(file.path, file.action, file.content) for file in reply.files]
    parts += [(edit.path, f"replace {edit.search}", edit.replace) for edit in reply.edits]
    parts += [("", "diff", reply.unified_diff)] if reply.unified_diff else []
    return fingerprint([*parts, *((path, "test", "") for path in reply.tests)])


def in_one_form(reply: CodeChange, workspace: Workspace) -> InOneForm:
    """The answer as whole files, each edit and hunk where it stands in the working copy as it is; nothing is guessed."""
    named = _by_form(reply)
    if not (named["edits"] or reply.unified_diff.strip()):
        return InOneForm(reply.files)
    problems = [*_named_twice(named), *_no_text({*named["edits"], *named["unified_diff"]}, workspace)]
    edited = _edited(reply, workspace)
    patched = _patched(reply, workspace)
    problems += [*edited.problems, *patched.problems]
    if problems:
        return InOneForm((), tuple(problems))
    return InOneForm((*reply.files, *edited.files, *patched.files))


def _by_form(reply: CodeChange | Implementation) -> Mapping[str, tuple[str, ...]]:
    """Field -> the paths in it, each once."""
    diff = parse_diff(recounted(reply.unified_diff)).diff if reply.unified_diff.strip() else None
    return {
        "files": tuple(dict.fromkeys(normalised(file.path) for file in reply.files)),
        "edits": tuple(dict.fromkeys(normalised(edit.path) for edit in reply.edits)),
        "unified_diff": tuple(dict.fromkeys(normalised(path) for path in diff.paths)) if diff else (),
    }


def _named_twice(named: Mapping[str, Collection[str]]) -> Iterator[str]:
    counts = Counter(path for paths in named.values() for path in paths)
    for path, count in counts.items():
        if count > 1:
            forms = " and ".join(f"`{form}`" for form, paths in named.items() if path in paths)
            yield f"{path!r} is in {forms}; change each file in one of them"


def _no_text(paths: Collection[str], workspace: Workspace) -> Iterator[str]:
    there = frozenset(workspace.files())
    for path in sorted(paths):
        if path in there and workspace.read(path) is None:
            yield f"{path!r} is no text in UTF-8; no part of it can be replaced"


def _edited(reply: CodeChange, workspace: Workspace) -> InOneForm:
    if not reply.edits:
        return InOneForm(())
    edits = [each.model_copy(update={"path": normalised(each.path)}) for each in replacements(reply.edits)]
    sources = _texts({each.path for each in edits}, workspace)
    return _spelled_out(normalised_replacements(edits, sources), sources)


def _patched(reply: CodeChange, workspace: Workspace) -> InOneForm:
    text = reply.unified_diff
    if not text.strip():
        return InOneForm(())
    parsed = parse_diff(recounted(text)).diff
    sources = _texts(parsed.paths, workspace)
    return _spelled_out(normalised_diff(text, sources), sources)


def _spelled_out(found: Normalised, sources: Mapping[str, str]) -> InOneForm:
    if found.diff is None:
        return InOneForm((), found.problems)
    if problems := tuple(problem for file in found.diff.files if (problem := _more_than_text(file))):
        return InOneForm((), problems)
    return InOneForm(tuple(_whole(file, sources.get(file.path)) for file in found.diff.files))


def _more_than_text(file: FileDiff) -> str | None:
    """Why a change is not one of texts alone; V3 refuses it in every other answer."""
    if file.kind in ("rename", "copy"):
        return f"{file.old_path!r} is to be renamed or copied; delete the old file and create the new one"
    if file.binary is not None:
        return f"{file.path!r} is changed as binary data; only text can be changed"
    if file.kind == "create" and file.new_mode not in (None, _USUAL_MODE):
        return f"{file.path!r} is to get the mode {file.new_mode}; files are created with {_USUAL_MODE}"
    if file.kind == "modify" and (file.old_mode or file.new_mode):
        return f"the mode of {file.path!r} is changed; only its text can be"
    return None


def _whole(file: FileDiff, source: str | None) -> ProposedFile:
    after = post_image(file, source)
    if after is None:
        return ProposedFile(path=file.path, action="delete", content="")
    return ProposedFile(path=file.path, action="create" if file.kind == "create" else "modify", content=after)


def _texts(paths: Collection[str], workspace: Workspace) -> dict[str, str]:
    return {path: text for path in paths if (text := workspace.read(path)) is not None}


class Coder:
    """One visit's questions for code."""

    def __init__(
        self,
        task: NodeTask,
        ports: NodePorts,
        *,
        workspace: Workspace,
        item: PlannedItem,
        tests: TestWriting | None,
    ) -> None:
        self._task = task
        self._ports = ports
        self._workspace = workspace
        self._item = item
        self._tests = tests
        self._talk: Talk[CodeChange] | Talk[Implementation] | None = None
        self._handed_over: str | None = None
        """The tests that the conversation is about."""
        self._last_paths: tuple[str, ...] = ()
        """The files of the last answer."""
        self.requests = 0
        self.suspects: Sequence[str] = ()
        """The places that the failing tests lead to; told to whoever tries again."""
        self.evidence: Sequence[str] = ()
        """What probes of these places showed; told with them."""
        self.ruling = ""
        """Why a test that the last answer disputes stays; told with the next question, and then empty."""

    def ask(self, context: CycleContext) -> CodeChange | DisputedTest | Failed:
        """A change to try, a test that cannot be right, or what a person has to decide; the answer is in the ledger before anything runs on it."""
        self.requests += 1
        what = "the code" if self._tests else "code and tests"
        self._ports.say(f"{self._item.key}: writing {what} (attempt {self.requests})")
        if self._tests is None:
            reply = self._answer(CodeChange, "code_generation", context)
            return self._refused(reply) or reply
        found = self._answer(Implementation, "implementation", context)
        if found.test_dispute.test_id or found.test_dispute.reason:
            return found.test_dispute
        return self._refused(found) or CodeChange(
            summary=found.summary,
            files=found.files,
            edits=found.edits,
            unified_diff=found.unified_diff,
            tests=self._tests.announced,
            notes=found.notes,
        )

    def _answer(self, reply_type: type[Answer], prompt: str, context: CycleContext) -> Answer:
        talk = self._conversation(reply_type, prompt)
        if self.ruling:
            talk.tell("_test_stands", {"ruling": self.ruling})
            self.ruling = ""
        elif self._last_paths and (told := self._since(context)):
            talk.tell("_tried", told)
        reply = talk.answer(purpose=purpose_of(prompt, self._task.visit, self.requests))
        self._last_paths = paths_of(reply) or (self._item.key,)
        self._ports.checkpoint()
        return reply

    def _conversation(self, reply_type: type[Answer], prompt: str) -> Talk[Answer]:
        """The visit's own; another one where other tests were handed over meanwhile."""
        handoff = self._tests.handoff if self._tests else None
        about = handoff.sha256 if handoff else ""
        if self._talk is None or self._handed_over != about:
            self._handed_over, self._last_paths = about, ()
            opening = (
                implementation_opening(self._task, self._ports, self._item, self._tests.handed_over())
                if self._tests
                else coding_opening(self._task, self._ports, self._item)
            )
            question = Question(
                prompt=prompt,
                variables=opening.variables,
                reply_type=reply_type,
                check=lambda _: (),
                view=opening.view,
                hidden=opening.hidden,
            )
            self._talk = conversation_about(self._ports, self._task, question)
        return self._talk  # type: ignore[return-value]  # One of the two, always the same.

    def _refused(self, reply: CodeChange | Implementation) -> Failed | None:
        return reason_for_a_person(
            "code_generation",
            paths_of(reply),
            missing_capability=reply.missing_capability,
            bounds="specification and interfaces do",
            manifests=self._task.conventions.manifests,
        )

    def _since(self, context: CycleContext) -> Mapping[str, Any] | None:
        """What became of the last answer; None where nothing is wrong with it."""
        # After a change that was kept only what was found since is wrong with it, e.g. by the validators.
        problems = context.attempts[-1].trial.problems if context.attempts else context.reasons
        if not problems:
            return None
        is_kept = context.commits > 0 and not context.attempts
        return {
            "problems": list(problems),
            "is_kept": is_kept,
            "now": self._as_it_is() if is_kept else [],
            "suspects": list(self.suspects),
            "evidence": list(self.evidence),
        }

    def _as_it_is(self) -> list[dict[str, str]]:
        """The files of a change that was kept, which the formatter may have altered."""
        texts = ((path, self._workspace.read(path)) for path in self._last_paths)
        return [{"path": path, "text": text} for path, text in texts if text and len(text) <= MAX_SHOWN_CHARS]

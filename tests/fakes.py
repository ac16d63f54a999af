"""Fakes that obey the Protocols of cogworks; each is also run through its contract in `tests/contracts/`."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any, Generic

from pydantic import BaseModel

from cogworks.canonical import canonical, sha256
from cogworks.codebase.changes import FileChange, refusal
from cogworks.codebase.diffmodel import mismatches, post_image
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.merging import Joined
from cogworks.codebase.patchtree import StagedFile, TreeState, TreeView
from cogworks.codebase.scripts import ScriptRun
from cogworks.codebase.treefacts import PastCommit
from cogworks.codebase.unwritable import secret_refusal
from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.checking import InterfaceMap, Parts
from cogworks.domain_services.messages import Diagnostic, Message, Metadata, TestReport
from cogworks.domain_services.operations import Operation
from cogworks.errors import VisitStopped
from cogworks.llm.conversation import Looks
from cogworks.llm.gateway import NO_LOOKS, LookLimits
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.nodes.contract import Params, Reply, Result, Workspace
from cogworks.repair.consulting import HasPath
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.sight.index import Index
from cogworks.sight.seen import Stretch
from cogworks.sight.store import Store
from cogworks.vocabulary import BranchName, CommitOid
from tests.shipped import prompts


class ScriptedModel:
    """A provider that gives the replies it was told, in their order, and remembers what it was asked.

    A plain text stands for a finished reply of 100 input and 50 output tokens; an exception is raised.
    """

    def __init__(self, *script: str | ModelReply | Exception) -> None:
        self._script = list(script)
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        assert self._script, f"asked once more than scripted: {request.purpose}"
        said = self._script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, ModelReply) else finished(said, model=request.model)


def finished(text: str, *, model: str = "claude-sonnet-5-5", stop_reason: str = "end_turn") -> ModelReply:
    """A reply of 100 input and 50 output tokens."""
    return ModelReply(
        text=text, stop_reason=stop_reason, usage=Usage(input_tokens=100, output_tokens=50), model=model
    )


class MemoryWorkspace:
    """A working copy that is only a mapping; obeys `cogworks.nodes.contract.Workspace`."""

    def __init__(self, files: Mapping[str, str], *, base: Mapping[str, str] | None = None) -> None:
        """Args:
        base: what `diff` compares with, whatever the name; the files themselves where it is not given.
        """
        self.tree = dict(files)
        self.rules: dict[str, str] = {}
        """What git ignores: path -> the rule in words."""
        self.history: list[PastCommit] = []
        self.newest: dict[str, str] = {}
        """What was changed on other branches since the work left them."""
        self.forks: dict[CommitOid, CommitOid] = {}
        """Commits of somebody else -> where the work left their history."""
        self._joined: set[tuple[CommitOid, CommitOid]] = set()
        """Merge commits with the commit that each of them joined."""
        self.commits: list[tuple[str, dict[str, str]]] = []
        self.head = CommitOid(f"{0:040x}")
        self._heads = {self.head: dict(files)}
        self._base = dict(files if base is None else base)

    @property
    def path(self) -> Path:
        return Path("/nowhere")

    def files(self) -> Sequence[str]:
        return sorted(self.tree)

    def read(self, path: str) -> str | None:
        return self.tree.get(path)

    def contents(self) -> Mapping[str, str]:
        return {path: sha256(text) for path, text in self.tree.items()}

    def attributes(self) -> Mapping[str, Collection[str]]:
        return {}

    def past(self, limit: int) -> Sequence[PastCommit]:
        return self.history[:limit]

    def unwritable(self, paths: Sequence[str]) -> Mapping[str, str]:
        there = self.at(self.head)
        return {path: rule for path, rule in self.rules.items() if path in paths and path not in there}

    def read_newest(self, path: str, branch: BranchName) -> str | None:
        return self.newest.get(path, self.read(path))

    def read_at(self, oid: CommitOid, path: str) -> str | None:
        return self._heads[oid].get(path)

    def files_at(self, oid: CommitOid, folder: str) -> Sequence[str]:
        # A commit that nobody made here is one of the real repository's, of which this tree knows no file.
        return sorted(path for path in self._heads.get(oid, {}) if path.startswith(f"{folder}/"))

    def approve(self, oid: CommitOid, files: Mapping[str, str]) -> None:
        """A commit of somebody else's with these files."""
        self._heads[oid] = dict(files)

    def apply(self, changes: Sequence[FileChange]) -> str | None:
        reason = refusal(changes, self.files())
        written = [change.path for change in changes if change.action != "delete"]
        reason = (
            reason
            or secret_refusal(changes, self.read)
            or "\n".join(self.unwritable(written).values())
            or None
        )
        if reason is None:
            for change in changes:
                if change.action == "delete":
                    del self.tree[change.path]
                else:
                    self.tree[change.path] = change.content
        return reason

    def roll_back(self) -> None:
        self.tree = dict(self._heads[self.head])

    def settle(self, oid: CommitOid) -> None:
        self.head = oid
        self.roll_back()

    def changed_since(self, oid: CommitOid) -> Sequence[str] | None:
        if oid not in self._heads:
            return None
        before, after = self.at(oid), self.at(self.head)
        return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))

    def diff(self, base: str) -> str:
        before = self._heads[self.head] if base == "HEAD" else self._base
        return "".join(_file_diff(path, before, self.tree) for path in sorted({*before, *self.tree}))

    def commit(self, message: str) -> CommitOid:
        self.commits.append((message, dict(self.tree)))
        self.head = CommitOid(f"{len(self.commits):040x}")
        self._heads[self.head] = dict(self.tree)
        return self.head

    def fork(self, oid: CommitOid) -> CommitOid | None:
        return oid if (self.head, oid) in self._joined else self.forks.get(oid)

    def join(self, oid: CommitOid) -> Joined:
        """File by file: where both sides changed one, both texts stand in it."""
        ours, theirs, base = self.at(self.head), self.at(oid), self.at(self.forks[oid])
        conflicts = []
        for path in sorted({*ours, *theirs, *base}):
            mine, other, before = ours.get(path), theirs.get(path), base.get(path)
            text = other if mine == before else mine
            if mine not in (before, other) and other != before:
                conflicts.append(path)
                text = (
                    f"<<<<<<< HEAD\n{mine}||||||| {self.forks[oid]}\n{before}=======\n{other}>>>>>>> {oid}\n"
                )
            if text is None:
                self.tree.pop(path, None)
            else:
                self.tree[path] = text
        return Joined(conflicts=tuple(conflicts), subjects=("Change it on the base",) if conflicts else ())

    def commit_joined(self, oid: CommitOid, message: str) -> CommitOid:
        made = self.commit(message)
        self._joined.add((made, oid))
        return made

    def transactions(self) -> "MemoryTree":
        self.roll_back()
        return MemoryTree(self)

    def at(self, oid: CommitOid) -> dict[str, str]:
        """The files of a commit."""
        return dict(self._heads[oid])

    def tree_name(self) -> str:
        return sha256(canonical(self.tree))


class MemoryTree:
    """The files of a `MemoryWorkspace` as transactions see them; obeys `cogworks.repair.transact.transaction.Tree`."""

    def __init__(self, workspace: MemoryWorkspace) -> None:
        self._workspace = workspace
        self._staged: dict[str, str] | None = None

    def hold(self) -> AbstractContextManager[bool]:
        return nullcontext(True)

    def recover(self) -> bool:
        return False

    def dirt(self) -> tuple[str, ...]:
        there, head = self._workspace.tree, self._workspace.at(self._workspace.head)
        staged = head if self._staged is None else self._staged
        marks = {
            path: f"{_mark(head, staged, path)}{_mark(staged, there, path)}"
            for path in {*head, *staged, *there}
        }
        return tuple(f"{marks[path]} {path}" for path in sorted(marks) if marks[path] != "  ")

    def checkpoint(self) -> TreeState:
        return TreeState(
            head=self._workspace.head, tree=self._workspace.tree_name(), manifest="", untracked=()
        )

    def view_of(self, paths: Sequence[str]) -> TreeView:
        files = self._workspace.at(self._workspace.head)
        sources = {path: files[path] for path in paths if path in files}
        return TreeView(sources=sources, existing=frozenset(files), links=frozenset())

    def apply(self, diff: str) -> str | None:
        parsed, files = parse_diff(diff).diff, self._workspace.tree
        if problems := [text for file in parsed.files for text in mismatches(file, files.get(file.old_path))]:
            return "\n".join(problems)
        for file in parsed.files:
            text = post_image(file, files.get(file.old_path))
            if text is None:
                del files[file.path]
            else:
                files[file.path] = text
        self._staged = dict(files)
        return None

    def staged(self) -> tuple[StagedFile, ...]:
        before, after = self._workspace.at(self._workspace.head), self._staged or {}
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        return tuple(
            StagedFile(path, _mode(path in before), _mode(path in after), after.get(path)) for path in changed
        )

    def settle(self, state: TreeState) -> None:
        self._workspace.tree = (
            self._workspace.at(self._workspace.head) if self._staged is None else dict(self._staged)
        )

    def diff_from(self, base: CommitOid) -> str:
        before, after = self._workspace.at(base), self._staged or {}
        return "".join(_file_diff(path, before, after) for path in sorted({*before, *after}))

    def commit(self, message: str, state: TreeState) -> CommitOid:
        self.settle(state)
        return self._workspace.commit(message)

    def roll_back(self, state: TreeState) -> None:
        self._workspace.settle(state.head)

    def finish(self) -> None:
        self._staged = None


def _mark(before: Mapping[str, str], after: Mapping[str, str], path: str) -> str:
    return " " if before.get(path) == after.get(path) else "M"


def _mode(is_there: bool) -> str | None:
    return "100644" if is_there else None


def _file_diff(path: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    if before.get(path) == after.get(path):
        return ""
    old = before.get(path, "").splitlines(keepends=True)
    new = after.get(path, "").splitlines(keepends=True)
    names = (f"a/{path}" if path in before else "/dev/null", f"b/{path}" if path in after else "/dev/null")
    lines = unified_diff(old, new, *names)
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    mode = (
        ""
        if path in before and path in after
        else f"{'new' if path in after else 'deleted'} file mode 100644\n"
    )
    return f"diff --git a/{path} b/{path}\n{mode}index 1111111..2222222 100644\n{text}"


def _only(report: TestReport, tests: Sequence[str]) -> TestReport:
    """What a run of these files and ids alone would have said; none: all of it."""
    if not tests:
        return report
    cases = [case for case in report.cases if case.id in tests or case.id.split("::")[0] in tests]
    files = {test.split("::")[0] for test in tests}
    errors = [error for error in report.collection_errors if error.split(":")[0] in files]
    return report.model_copy(update={"cases": tuple(cases), "collection_errors": tuple(errors)})


class ScriptedService:
    """A domain service whose verdicts depend on the files; obeys `cogworks.nodes.contract.DomainService`."""

    def __init__(
        self,
        run_tests: Callable[[Workspace], TestReport],
        check: Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]] = lambda *_: (),
        *,
        layout: Callable[[str], str] = lambda text: text,
        rules: Callable[[Workspace, Sequence[str]], Sequence[Diagnostic]] = lambda *_: (),
    ) -> None:
        """Args:
        layout: a text in the project's formatting.
        """
        self.warnings: tuple[str, ...] = ()
        self.offered: InterfaceMap | NotOffered = InterfaceMap(status="complete", interfaces=())
        """What every file offers, whichever are asked about."""
        self.asked_for_interfaces: list[Sequence[str]] = []
        self.known: dict[str, Message] = {}
        """What it answers to the operations that not every service offers, by method."""
        self._run_tests = run_tests
        self._check = check
        self._layout = layout
        self._rules = rules
        self.simulating: Callable[[Workspace, Sequence[str]], TestReport] = self._simulated
        """How tests are run; whoever wants to see or change it puts something around it."""
        self.ran: list[tuple[str, ...]] = []
        """What was run, in order; nothing named: the whole suite."""
        self.files_at_once: int | None = None
        """So many files there is time for in one run of tests; None: for all."""
        self.parts: list[Parts] = []
        """How each part of a suite was asked for."""
        self.called: list[str] = []
        """The methods of all other operations that were asked for."""

    @property
    def runs(self) -> int:
        return len(self.ran)

    def validate(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return self._check(workspace, paths)

    def simulate(self, workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        return self.simulating(workspace, tests)

    def _simulated(self, workspace: Workspace, tests: Sequence[str]) -> TestReport:
        self.ran.append(tuple(tests))
        return _only(self._run_tests(workspace), tests)

    def simulate_part(self, workspace: Workspace, tests: Sequence[str], parts: Parts) -> TestReport:
        self.parts.append(parts)
        report = self.simulate(workspace, tests)
        files = list(dict.fromkeys(case.id.split("::")[0] for case in report.cases))
        if self.files_at_once is None:
            return report
        left = files[self.files_at_once :]
        cases = tuple(case for case in report.cases if case.id.split("::")[0] not in left)
        return report.model_copy(update={"cases": cases, "left": tuple(left)})

    def call(
        self, operation: Operation[Params, Result], workspace: HasPath, params: Params
    ) -> tuple[Answer[Result], ...] | NotOffered:
        self.called.append(operation.method)
        known = self.known.get(operation.method)
        if not isinstance(known, operation.result):
            return NotOffered(service="fake", method=operation.method, offered=tuple(self.known))
        return (Answer("fake", "success", known, (), (), Metadata()),)

    def interfaces(self, workspace: Workspace, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        self.asked_for_interfaces.append(paths)
        if isinstance(self.offered, NotOffered):
            return self.offered
        kept = tuple(each for each in self.offered.interfaces if each.artifact in paths)
        return self.offered.model_copy(update={"interfaces": kept})

    def normalised(self, workspace: Workspace, paths: Sequence[str]) -> Mapping[str, str]:
        texts = {path: workspace.read(path) or "" for path in paths}
        return {path: self._layout(text) for path, text in texts.items() if self._layout(text) != text}

    def review(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return self._rules(workspace, paths)

    def dependencies(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return self._check(workspace, paths)


class ScriptedAnswers:
    """Gives typed replies in their order; renders the real prompt for each, so that a missing variable shows."""

    def __init__(self, *script: BaseModel) -> None:
        self._script = list(script)
        self._prompts = prompts()
        self.purposes: list[str] = []
        self.asked: list[str] = []
        """The user section of every prompt; of a conversation all that was said before the answer."""

    def digest(self, prompt: str) -> str:
        return self._prompts.digest(prompt)

    def converse(
        self,
        prompt: str,
        variables: Mapping[str, Any],
        reply_type: type[Reply],
        *,
        looks: Looks | None = None,
        limits: LookLimits = NO_LOOKS,
        shown: Sequence[Mapping[str, Any]] = (),
    ) -> "ScriptedTalk[Reply]":
        return ScriptedTalk(self, reply_type, self._prompts.render(prompt, variables).user)

    def render_part(self, part: str, variables: Mapping[str, Any]) -> str:
        return self._prompts.render_part(part, variables)

    def reply(self, reply_type: type[Reply], text: str, purpose: str) -> Reply:
        """The next of the script, after a question with these words."""
        self.purposes.append(purpose)
        self.asked.append(text)
        assert self._script, f"asked once more than scripted: {purpose}"
        reply = self._script.pop(0)
        assert isinstance(reply, reply_type), (
            f"{purpose} wants {reply_type.__name__}, not {type(reply).__name__}"
        )
        return reply

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        return self.reply(reply_type, self._prompts.render(prompt, variables).user, purpose)


class ScriptedTalk(Generic[Reply]):
    """A conversation of `ScriptedAnswers`; what is asked is all that was said so far, answers included."""

    def __init__(self, model: ScriptedAnswers, reply_type: type[Reply], text: str) -> None:
        self._model = model
        self._type = reply_type
        self._text = text

    def answer(self, *, purpose: str) -> Reply:
        reply = self._model.reply(self._type, self._text, purpose)
        self._text += f"\n\n{reply.model_dump_json(indent=2)}\n\n"
        return reply

    def tell(self, part: str, variables: Mapping[str, Any]) -> None:
        self._text += self._model.render_part(part, variables)

    def fork(self) -> "ScriptedTalk[Reply]":
        return ScriptedTalk(self._model, self._type, self._text)


@dataclass
class FakePorts:
    """What a node may use; obeys `cogworks.nodes.contract.NodePorts`."""

    model: ScriptedAnswers
    service: ScriptedService
    copy: MemoryWorkspace
    said: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    seconds: Callable[[], float] = lambda: 0.0
    limit: Callable[[float], AbstractContextManager[None]] = lambda _: nullcontext()
    stop: str = ""
    """Why a person wants the visit to stop, from now on."""
    saved: list[dict[str, str]] = field(default_factory=list)
    """What was kept at each checkpoint."""
    looked_at: Mapping[str, Sequence[Stretch]] = field(default_factory=dict)
    sandboxes: SandboxPool | None = None
    """Where probes work; None: nobody may send any."""

    def say_once(self, line: str) -> None:
        if line not in self.said:
            self.say(line)

    def say(self, line: str) -> None:
        self.check()
        self.said.append(line)

    def check(self) -> None:
        if self.stop:
            raise VisitStopped(self.stop)

    def checkpoint(self) -> None:
        self.saved.append(dict(self.kept))
        self.check()

    def within(self, limit_s: float) -> AbstractContextManager[None]:
        return self.limit(limit_s)

    def now(self) -> float:
        return self.seconds()

    def keep(self, name: str, text: str) -> None:
        self.kept[name] = text

    def workspace(self) -> Workspace:
        return self.copy

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        return None

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        return self.looked_at

    def index(self) -> Index:
        return Index(self.workspace(), Store())

    def script(self, name: str, stdin: str) -> ScriptRun:
        raise AssertionError(f"no script is wanted here, and {name!r} was run with {stdin!r}")

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        assert self.sandboxes is not None, "no probe is wanted here"
        return nullcontext(self.sandboxes)

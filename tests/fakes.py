"""Fakes that obey the Protocols of cogworks; each is also run through its contract in `tests/contracts/`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cogworks.canonical import canonical, sha256
from cogworks.codebase.changes import FileChange, refusal
from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import InterfaceMap
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.errors import VisitStopped
from cogworks.llm.package_data import shipped_prompts
from cogworks.llm.provider import ModelReply, ModelRequest, Usage
from cogworks.nodes.contract import Reply, Workspace
from cogworks.vocabulary import CommitOid


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

    def apply(self, changes: Sequence[FileChange]) -> str | None:
        reason = refusal(changes, self.files())
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

    def diff(self, base: str) -> str:
        before = self._heads[self.head] if base == "HEAD" else self._base
        return "".join(_file_diff(path, before, self.tree) for path in sorted({*before, *self.tree}))

    def commit(self, message: str) -> CommitOid:
        self.commits.append((message, dict(self.tree)))
        self.head = CommitOid(f"{len(self.commits):040x}")
        self._heads[self.head] = dict(self.tree)
        return self.head

    def tree_name(self) -> str:
        return sha256(canonical(self.tree))


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
        self._run_tests = run_tests
        self._check = check
        self._layout = layout
        self._rules = rules
        self.runs = 0

    def validate(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        return self._check(workspace, paths)

    def simulate(self, workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        self.runs += 1
        return self._run_tests(workspace)

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
        self._prompts = shipped_prompts()
        self.purposes: list[str] = []
        self.asked: list[str] = []
        """The user section of every prompt."""

    def digest(self, prompt: str) -> str:
        return self._prompts.digest(prompt)

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        self.purposes.append(purpose)
        self.asked.append(self._prompts.render(prompt, variables).user)
        assert self._script, f"asked once more than scripted: {purpose}"
        reply = self._script.pop(0)
        assert isinstance(reply, reply_type), (
            f"{purpose} wants {reply_type.__name__}, not {type(reply).__name__}"
        )
        return reply


@dataclass
class FakeShell:
    """What a node may use; obeys `cogworks.nodes.contract.NodeShell`."""

    model: ScriptedAnswers
    service: ScriptedService
    copy: MemoryWorkspace
    said: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    seconds: Callable[[], float] = lambda: 0.0
    limit: Callable[[float], AbstractContextManager[None]] = nullcontext
    stop: str = ""
    """Why a person wants the visit to stop, from now on."""
    saved: list[dict[str, str]] = field(default_factory=list)
    """What was kept at each checkpoint."""

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

    def workspace(self) -> MemoryWorkspace:
        return self.copy

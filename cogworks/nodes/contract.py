"""What a node is handed and what it hands back.

A node is a procedure `(task, ports) -> Outcome`. It reads only its task, speaks to the world only through its
ports, and never writes to GitHub: what it wants published it returns as effects, which the step applies under the lease.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field

from cogworks.codebase.changes import FileChange
from cogworks.codebase.merging import Joined
from cogworks.codebase.scripts import ScriptRun
from cogworks.codebase.treefacts import PastCommit
from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.checking import InterfaceMap, Parts
from cogworks.domain_services.messages import Diagnostic, Message, TestReport
from cogworks.domain_services.operations import Operation
from cogworks.forge.effects import Effect
from cogworks.llm.conversation import Looks
from cogworks.llm.gateway import NO_LOOKS, LookLimits
from cogworks.nodes.task import NodeTask
from cogworks.repair.consulting import HasPath
from cogworks.repair.probe.investigating import SandboxPool
from cogworks.repair.transact.transaction import Tree
from cogworks.sight.index import Index
from cogworks.sight.seen import Stretch
from cogworks.vocabulary import BranchName, CommitOid, ScopeCode, Value

Reply = TypeVar("Reply", bound=BaseModel)
Params = TypeVar("Params", bound=Message)
Result = TypeVar("Result", bound=Message)


class Workspace(Protocol):
    """One working copy of the repository: a git worktree on this machine."""

    @property
    def path(self) -> Path: ...
    def files(self) -> Sequence[str]:
        """Tracked files, repository-relative POSIX paths, sorted."""

    def read(self, path: str) -> str | None:
        """Text of a file, None when absent or not UTF-8 text."""

    def contents(self) -> Mapping[str, str]:
        """Path -> what names the content of each tracked regular file: equal names, equal contents."""

    def attributes(self) -> Mapping[str, Collection[str]]:
        """Path -> `generated`, `vendored`, as the repository says of it; others are left out."""

    def past(self, limit: int) -> Sequence[PastCommit]:
        """The commits that the head stands on, the newest first, without merges."""

    def read_newest(self, path: str, branch: BranchName) -> str | None:
        """Text of a file as the branch has it where it changed there since the work left it, else as `read`."""

    def read_at(self, oid: CommitOid, path: str) -> str | None:
        """Text of a file as a commit of the repository has it; None when absent there or not UTF-8 text."""

    def files_at(self, oid: CommitOid, folder: str) -> Sequence[str]:
        """The files below a folder as a commit of the repository has them, sorted."""

    def apply(self, changes: Sequence[FileChange]) -> str | None:
        """Write the changes; a reason when refused (outside the tree, protected, symlink, ignored by git), and then nothing
        is written."""

    def unwritable(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Those of the paths that no change may hold, each with the reason in words: ignored by git and not in the last commit,
        kept by Git LFS, or inside a submodule."""

    def roll_back(self) -> None:
        """Make the tree byte-identical to the last commit, untracked files included."""

    def diff(self, base: str) -> str:
        """Unified diff from `base` (a branch or oid) to the working tree."""

    def changed_since(self, oid: CommitOid) -> Sequence[str] | None:
        """The files in which the last commit differs from another one, which need not be before it; None: that is not here."""

    def commit(self, message: str) -> CommitOid:
        """Commit everything; returns the head when there is nothing to commit."""

    def tree_name(self) -> str:
        """Hex digits; others for any changed, new or deleted file, and the same for equal files on every machine."""

    @property
    def head(self) -> CommitOid:
        """The commit the working copy stands on."""

    def fork(self, oid: CommitOid) -> CommitOid | None:
        """The newest commit that the head and another one both hold; None where the other one is not here, or there is none."""

    def join(self, oid: CommitOid) -> Joined:
        """Merge a commit into the tree and commit nothing; what nobody but people or a model can decide stands in the files."""

    def commit_joined(self, oid: CommitOid, message: str) -> CommitOid:
        """Commit the tree with two parents: the head, and the commit that was joined."""

    def settle(self, oid: CommitOid) -> None:
        """Stand on a commit, byte-identical to it, whatever was there before."""

    def transactions(self) -> Tree:
        """The same files as a transaction sees them. Nothing may be uncommitted; what a killed one left behind is settled."""


class DomainService(Protocol):
    """The language's own process: checks and tests run there, never in ours."""

    def validate(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]: ...
    def simulate(self, workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        """Run the given test files or ids (none = the whole suite), in as many runs as it takes."""

    def simulate_part(self, workspace: Workspace, tests: Sequence[str], parts: Parts) -> TestReport:
        """As `simulate`, in one run: what there was no time for is named in the report's `left`."""

    def call(
        self, operation: Operation[Params, Result], workspace: HasPath, params: Params
    ) -> tuple[Answer[Result], ...] | NotOffered:
        """What all services that offer an operation answer; NotOffered when none does."""

    def interfaces(self, workspace: Workspace, paths: Sequence[str]) -> InterfaceMap | NotOffered:
        """The names, types and signatures that files offer; files of no service are passed over."""

    def normalised(self, workspace: Workspace, paths: Sequence[str]) -> Mapping[str, str]:
        """The new texts of those files that are not in the project's formatting; nothing is written."""

    def review(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What rules of security and of likely bugs find in these files."""

    def dependencies(self, workspace: Workspace, paths: Sequence[str]) -> Sequence[Diagnostic]:
        """What is wrong with the dependencies that these files use."""

    @property
    def warnings(self) -> Sequence[str]:
        """Checks that were left out so far, in words for a reviewer: those of a secondary service that cannot be used, and
        those that no service offers."""


class Talk(Protocol[Reply]):
    """One growing conversation with the model; every answer fits its type or an InvalidReply is raised."""

    def answer(self, *, purpose: str) -> Reply:
        """The answer, after as many looks as are left; `purpose` as for `Asks.ask`."""

    def tell(self, part: str, variables: Mapping[str, Any], /) -> None:
        """Say something before the next answer: a template part, e.g. `_correction`, and what it needs."""

    def fork(self) -> "Talk[Reply]":
        """Another conversation with the same beginning."""


class Asks(Protocol):
    """Asks the model one question; the reply fits `reply_type` or an InvalidReply is raised."""

    def converse(
        self,
        prompt: str,
        variables: Mapping[str, Any],
        reply_type: type[Reply],
        *,
        looks: Looks | None = None,
        limits: LookLimits = NO_LOOKS,
        shown: Sequence[Mapping[str, Any]] = (),
    ) -> Talk[Reply]:
        """A conversation that begins with a question; nobody is asked yet.

        Args:
            prompt, variables: as for `ask`.
            looks: who shows more of the repository; None: nobody.
            limits: of all looks of the visit together.
            shown: what of the repository the question shows, for the record.
        """

    def ask(
        self, prompt: str, variables: Mapping[str, Any], reply_type: type[Reply], *, purpose: str
    ) -> Reply:
        """Args:
        prompt: stem of a template, e.g. `intake`.
        variables: what the template needs; StrictUndefined refuses a missing one.
        purpose: `<node>[-<sub-item>][-<n>]`, stable between runs, unique within the run.
        """

    def digest(self, prompt: str) -> str:
        """64 hex digits that change with the words of a template or of any part it may include; empty: no such template."""


class NodePorts(Protocol):
    """The world as a node may use it."""

    @property
    def model(self) -> Asks: ...
    @property
    def service(self) -> DomainService: ...
    def say(self, line: str, /) -> None:
        """One line of progress for the person who watches; raises when the visit has to stop."""

    def say_once(self, line: str, /) -> None:
        """As `say`, but what the visit has said before it does not say again."""

    def check(self) -> None:
        """Raise when the visit has to stop: VisitStopped when a person wants it, with the reason."""

    def checkpoint(self) -> None:
        """Have what was paid for and kept put into the ledger now, and see what people want; raises as `check`."""

    def within(self, limit_s: float, /) -> AbstractContextManager[None]:
        """Inside the block nothing is waited for longer than until so many seconds from now: what takes longer is ended
        with everything it started, and raises."""

    def now(self) -> float:
        """Seconds of a clock that only runs forward; for limits, never for content."""

    def keep(self, name: str, text: str, /) -> None:
        """Have a file kept in the visit's folder of the ledger, in place of an earlier one of that name; it gets there
        with the next checkpoint, at the latest when the visit ends."""

    def script(self, name: str, stdin: str) -> ScriptRun:
        """Run a script that ships with cogworks, in a process of its own without secrets; see `ScriptRun`."""

    def sandbox_pool(self) -> AbstractContextManager[SandboxPool]:
        """Where probes may look at the working copy's last commit, within the caller's time and behind the same isolation
        as the node's tests; what they started ends with the block."""

    def looks(self, hidden: frozenset[str] = frozenset()) -> Looks | None:
        """Who shows a model more of the working copy; None: nobody.

        Args:
            hidden: paths that are not even named.
        """

    def looked(self) -> Mapping[str, Sequence[Stretch]]:
        """Path -> lines that looks of this visit have shown so far, of files that are still the same."""

    def index(self) -> Index:
        """What the working copy says as it is now, ready to be searched."""

    def workspace(self) -> Workspace:
        """The working copy of this run and sub-item at the task's branch (its base where the branch does not exist yet), dependencies merged in; opened at the first call."""


class Succeeded(Value):
    """The node did its work."""

    output: dict[str, Any]
    """Kept as `output.json`; must fit the node's output schema."""
    effects: tuple[Effect, ...] = ()
    """To be published before the visit is recorded."""
    summary: str
    """One line for the status table."""
    caution: str = ""
    """What people have to know before they read anything else about it; empty: nothing."""
    is_empty: bool = False
    """Nothing had to be done, so nobody has to look at a result, unless safety is at stake."""
    moves_up: str = ""
    """Why the item needs a longer way than the short one that it is on, as the end of a sentence; its output is what was
    learnt. Empty: it does not. Given only where the task's `conventions.lane_files` is."""
    orders: tuple[str, ...] = ()
    """Passages of the issue that try to steer whoever reads them. All that follows is that a person is asked, or told."""


class Failed(Value):
    """The node gave up for good; a person has to look."""

    reason: str
    """Where, what was found, what to do; shown on the issue."""
    missing: str = ""
    """What the model says it needs and may not have; empty: nothing."""
    code: ScopeCode = ""
    """With it `reason` begins, where there is one."""
    category: Literal[
        "retry_exhausted",
        "rework_exhausted",
        "invalid_reply",
        "refused_change",
        "escalated",
        "service_failed",
        "timed_out",
    ]
    output: dict[str, Any] = Field(default_factory=dict)
    orders: tuple[str, ...] = ()
    """As of a success."""


Outcome = Succeeded | Failed
NodeProcedure = Callable[[NodeTask, NodePorts], Outcome]


def left_out(ports: NodePorts) -> dict[str, list[str]]:
    """The part of a node's output that names checks which a missing service did not make; empty when all were made."""
    warnings = list(ports.service.warnings)
    return {"left_out": warnings} if warnings else {}


class BuiltIn(Value):
    """A node that ships with cogworks."""

    run: NodeProcedure
    replies: Mapping[str, type[BaseModel]] = {}
    """Stem of a prompt -> type of its reply. Empty: it asks no model."""
    is_served: bool = False
    """Whether a domain service judges what it makes."""

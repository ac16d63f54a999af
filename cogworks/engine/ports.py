"""The world as a step uses it, and as a visit within it does."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from cogworks.engine.consider import Reads
from cogworks.engine.record import Claimed
from cogworks.engine.remember import ListsNeighbours, ReadsLogs
from cogworks.forge.effects import Effect
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import RepositoryFacts, Snapshot
from cogworks.ledger.record import Change, LedgerCommit, Tip
from cogworks.llm.budget import PriceList, Secures
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import ModelReply
from cogworks.nodes.contract import Failed, NodePorts, NodeProcedure
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.pipeline.spend import ItemCost
from cogworks.settings.config import Config
from cogworks.vocabulary import BranchName, CommitOid, Login, NodeId, RunId


class MovingLedger(Protocol):
    """The ledger branch of the item."""

    def tip(self) -> Tip | None: ...
    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit: ...


class Ledger(MovingLedger, Protocol):
    """The ledger branch of the item, which the first claim makes."""

    def create(self, root: CommitOid, change: Change) -> LedgerCommit: ...
    def files(self, paths: Sequence[str]) -> Mapping[str, str]: ...


Push = Callable[[BranchName, CommitOid, CommitOid | None], None]


class Session(Protocol):
    """A node's world, open for one visit."""

    @property
    def ports(self) -> NodePorts: ...
    def push(self, branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
        """Push the working copy's commit; `expected` is the branch's head as last read, None = it must not exist."""


@dataclass(frozen=True)
class SessionOrder:
    """What a session is opened for."""

    run_id: RunId
    task: NodeTask
    config: Config
    files: Mapping[str, str]
    """The repository's files below `.cogworks`: path -> text."""
    budget_usd: float
    budget_tokens: int
    memory: Mapping[str, ModelReply]
    """Replies that an earlier attempt of this visit paid for, by request key."""
    on_reply: Callable[[ReplyRecord], None]
    keep: Callable[[str, str], None]
    """Has a file of the visit's folder kept: name and text."""
    left_s: Callable[[], float | None]
    """How many seconds the node still has; None: as long as it takes. Nothing it waits for may take longer."""
    check: Callable[[], None]
    """Raises when the visit has to stop; called between the node's moves."""
    checkpoint: Callable[[], None]
    """Has what was paid for and kept put into the ledger; raises as `check`."""
    secure: Secures
    """Has what the session may cost set aside in the ledger; raises as `check`, and where so much is not left."""
    needs_walls: Callable[[], bool]
    """Whether code of the repository may run only in complete isolation; may cost a request."""
    root_names: tuple[str, ...] = ()
    """Files and folders at the root of its default branch."""


class ReadsElsewhere(Protocol):
    """GitHub as packs use it."""

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        """Files of other repositories, or why there are none; one request."""


class ReadsPermissions(Protocol):
    """GitHub as trust in people uses it."""

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        """What each of them may do in the repository; one request."""


class Tracker(ReadsLogs, ReadsElsewhere, ListsNeighbours, ReadsPermissions, Protocol):
    """GitHub as a visit uses it."""

    def read(self) -> Snapshot: ...
    def publish(
        self,
        effects: Sequence[Effect],
        snapshot: Snapshot,
        context: PublicationContext,
        push: Push,
    ) -> Published: ...


@dataclass(frozen=True)
class VisitPorts:
    """The world as a visit uses it."""

    tracker: Tracker
    nodes: Mapping[NodeId, NodeProcedure]
    session: Callable[[SessionOrder], AbstractContextManager[Session]]
    monotonic: Callable[[], float]
    say: Callable[[str], None]
    check_base: Callable[[Claimed, NodePorts], Failed | None]
    """Why nothing may be paid for on the base as it is; asked before each visit that calls a model."""


class StepTracker(Tracker, Reads, Protocol):
    """GitHub as a step uses it."""

    def create_root(self) -> CommitOid:
        """The commit every ledger starts from, made where it is missing."""

    def item_costs(self) -> tuple[ItemCost, ...]:
        """What finished items of the repository came to, the one that ended last first; one request."""

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        """Apply views; a warning when that failed, for the next step repairs them."""


@dataclass(frozen=True)
class StepPorts:
    """The world as a step uses it."""

    visit: VisitPorts
    tracker: StepTracker
    ledger: Callable[[Snapshot], Ledger]
    holder: str
    """Who we are in a lease: unique to this process."""
    new_run_id: Callable[[], RunId]
    check: Callable[[Config, RepositoryFacts], None]
    """Raise what would keep any node from running (a missing model key, a full disk, a malformed prompt), given the
    configuration and the repository; nothing has been claimed then. A ConfigurationError is reported on the issue."""
    prices: Callable[[Config], PriceList]
    """What every model costs that the configuration may name."""
    forget: Callable[[RunId], None]
    """Remove what a finished run keeps on this machine."""
    sleep: Callable[[float], None]
    say: Callable[[str], None]

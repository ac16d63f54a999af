"""The world as a step uses it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cogworks.engine.answer import MovingLedger
from cogworks.engine.consider import Reads
from cogworks.engine.visit import Tracker, VisitPorts
from cogworks.forge.effects import Effect
from cogworks.forge.snapshot import RepositoryFacts, Snapshot
from cogworks.ledger.record import Change, LedgerCommit
from cogworks.llm.budget import PriceList
from cogworks.pipeline.worth import ItemCost
from cogworks.settings.config import Config
from cogworks.vocabulary import CommitOid, RunId


class Ledger(MovingLedger, Protocol):
    """The ledger branch of the item, which the first claim makes."""

    def create(self, root: CommitOid, change: Change) -> LedgerCommit: ...
    def files(self, paths: Sequence[str]) -> Mapping[str, str]: ...


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
    configuration and the repository; nothing has been claimed then. A ConfigurationError is told on the issue."""
    prices: Callable[[Config], PriceList]
    """What every model costs that the configuration may name."""
    forget: Callable[[RunId], None]
    """Remove what a finished run keeps on this machine."""
    sleep: Callable[[float], None]
    say: Callable[[str], None]

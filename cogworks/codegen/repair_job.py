"""What a repair is about, who works at it, and what it found out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cogworks.cycle.results import MAX_LISTED
from cogworks.repair.branches import Course
from cogworks.repair.heldback import TriesBeside
from cogworks.repair.instance import Instance
from cogworks.repair.landmarks import RepairTarget
from cogworks.repair.localise.localising import Explorer, Localised
from cogworks.repair.options import Budgets, Options
from cogworks.repair.planning import Model, Planned
from cogworks.repair.probe.investigating import Findings, SandboxPool
from cogworks.repair.probe.recalling import Recalled
from cogworks.repair.probe.understanding import Understanding
from cogworks.repair.proof import Proof
from cogworks.repair.proposing import Proposal, Proposer
from cogworks.repair.transact.gates import Limits
from cogworks.repair.transact.outcomes import Result
from cogworks.repair.transact.steady import SteadyTests
from cogworks.repair.transact.transaction import Checks, Tree
from cogworks.repair.violations import TestRules
from cogworks.settings.sections import ASKED_ABOUT
from cogworks.sight.seen import Seen
from cogworks.vocabulary import CommitOid, RunId, Value


class History(Tree, Protocol):
    """A worktree whose last transaction, or all since a savepoint, can be taken back; `cogworks.codebase.patchtree.PatchTree`."""

    def take_back(self) -> CommitOid: ...
    def save(self) -> None: ...
    def release(self) -> None: ...
    def go_back(self) -> int: ...


class Job(Value):
    """What is to be repaired, under which options."""

    run: RunId
    instance: Instance
    options: Options = Options()
    handed_over: tuple[str, ...] = ()
    """Test files that came with the task."""
    rules: TestRules = TestRules()
    asked: tuple[str, ...] = ASKED_ABOUT
    """Patterns of files that a person decides on."""
    command: str = ""
    """How the tests are run, for the proof."""
    limits: Limits = Limits()


@dataclass(frozen=True)
class Tools:
    """Who does the work."""

    tree: History
    checks: Checks
    explorer: Explorer
    model: Model
    proposer: Proposer
    sandbox_pool: SandboxPool | None = None
    """None: no probe can be sent."""
    seen: Seen | None = None
    """What looks have shown to the one that is asked; None: only what the questions show counts."""
    tries: TriesBeside | None = None
    """Runs what is held back from the proposer; None: nothing is."""
    steady: SteadyTests | None = None
    """Knows which names of tests cannot be relied on; None: all can."""
    say: Callable[[str], None] = lambda _: None
    """Called with one line for each probe, as it begins and ends."""
    now: Callable[[], float] = lambda: 0.0
    """The clock of the run, as in `cycle.CyclePorts`."""


class Tried(Value):
    """One transaction."""

    landmark: str
    candidate: str
    result: Result


class Notes:
    """What a run found out, for its artifacts."""

    def __init__(self) -> None:
        self.misnamed: tuple[str, ...] = ()
        """What is wrong with the ids of the task that name no test."""
        self.localised: Localised | None = None
        self.recalled: tuple[Recalled, ...] = ()
        self.findings: Findings | None = None
        self.planned: Planned | None = None
        self.understanding: Understanding | None = None
        self.landmarks: tuple[RepairTarget, ...] = ()
        self.courses: list[Course] = []
        """Every turn among the branches, the latest last."""
        self.rejected: list[str] = []
        """Diffs that were taken back, as git writes them."""
        self.proposals: list[Proposal] = []
        self.refused: list[str] = []
        self.refused_diffs = 0
        self.doubted = set[str]()
        """Fingerprints of the diffs that were sent back for the data of the tests in them."""
        self.unread = 0
        """Diffs of answers that were not even judged."""
        self.tried: list[Tried] = []
        self.kept: list[str] = []
        """Which changes were kept and which of these were taken back, in words for the next question."""
        self.proof: Proof | None = None


def budgets_of(options: Options) -> Budgets:
    """How many diffs of one request reach the tree."""
    return Budgets(finalists=options.search.finalists, actions_per_txn=options.tnr.actions_per_txn)


def listed(tests: Sequence[str]) -> list[str]:
    """As many of them as one entry of a log names."""
    return list(tests)[:MAX_LISTED]

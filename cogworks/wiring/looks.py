"""Who answers what a model wants to see: of one visit's working copy, or of the clone that `cogworks fix` repairs."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import Rules, WorkingCopy
from cogworks.codegen.governed import ActionAudit
from cogworks.domain_services.messages import TestReport
from cogworks.llm.conversation import Looks
from cogworks.sight.index import Index
from cogworks.sight.looks.governed import GovernedLooks, sight_policy
from cogworks.sight.looks.room import Room
from cogworks.sight.looks.running import Trials
from cogworks.sight.seen import Seen
from cogworks.tools.records import Identity
from cogworks.vocabulary import NodeId
from cogworks.wiring.clone import Copy
from cogworks.wiring.committer import COMMITTER

if TYPE_CHECKING:
    # A repair of a checkout makes no visit and need not load what one does.
    from cogworks.engine.ports import SessionOrder
    from cogworks.nodes.contract import DomainService

RUNNING_NODES = frozenset({"code_generation", "review"})
"""Whose questions may have tests run before they are answered."""
LOOKS_FILE = "looks-1.ndjson"
"""The audit of a visit's looks, in its folder of the ledger."""


def look_audit(order: "SessionOrder", *, now: Callable[[], float]) -> ActionAudit:
    """The audit of one visit's looks."""
    visit = order.task.visit
    identity = Identity(
        run_id=order.run_id, node=visit.node, sub_item=visit.sub_item or "", trace_id=visit.visit_key
    )
    return ActionAudit(identity, now=now, keep=order.keep, file=LOOKS_FILE)


def looks_of(
    node: NodeId,
    files: Mapping[str, str],
    copy: WorkingCopy,
    audit: ActionAudit,
    *,
    index: Callable[[], Index],
    service: Callable[[], "DomainService"],
    hidden: frozenset[str],
    seen: Seen,
) -> Looks:
    """The looks of one question series, under the repository's policy.

    Args:
        files: those below `.cogworks`, of the default branch.
        index: what the working copy says as it is when a turn begins.
        hidden: paths that the model must not see.
        seen: gets each line of a file that a look shows.

    Raises:
        ConfigurationError: the repository's policy is malformed, or would loosen the built-in one.
    """
    trials = None
    if node in RUNNING_NODES:
        trials = Trials(
            simulate=lambda tests: service().simulate(copy, tests),
            apply=copy.apply,
            roll_back=copy.roll_back,
            read=copy.read,
        )
    return GovernedLooks(
        lambda: Room(index(), copy, hidden),
        policy=sight_policy(files),
        trail=audit.trail,
        tree=copy.tree_name,
        trials=trials,
        seen=seen,
    )


def looks_at(
    copy: Copy,
    files: Mapping[str, str],
    audit: ActionAudit,
    *,
    index: Callable[[], Index],
    simulate: Callable[[Sequence[str]], TestReport],
    seen: Seen,
) -> Looks:
    """The looks of one repair, under the repository's policy; what they show of files counts as seen.

    Args:
        files: those below `.cogworks`, of the commit that is repaired.
        simulate: runs tests in isolation.

    Raises:
        ConfigurationError: the repository's policy is malformed, or would loosen the built-in one.
    """
    # Nothing is fetched or pushed, and nothing that is tried is kept.
    nowhere = Remote(url=str(copy.path), token=None)
    there = WorkingCopy(copy.path, copy.git, remote=nowhere, identity=COMMITTER, rules=Rules())

    def run(tests: Sequence[str]) -> TestReport:
        try:
            return simulate(tests)
        finally:
            there.roll_back()

    return GovernedLooks(
        lambda: Room(index(), there),
        policy=sight_policy(files),
        trail=audit.trail,
        tree=there.tree_name,
        trials=Trials(simulate=run, apply=there.apply, roll_back=there.roll_back, read=there.read),
        seen=seen,
    )

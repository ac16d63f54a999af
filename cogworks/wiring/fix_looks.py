"""Who answers what a model wants to see of the clone that `cogworks fix` repairs."""

from collections.abc import Callable, Mapping, Sequence

from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import Rules, WorkingCopy
from cogworks.codegen.governed import ActionAudit
from cogworks.domain_services.messages import TestReport
from cogworks.llm.conversation import Looks
from cogworks.sight.index import Index
from cogworks.sight.looks.governed import GovernedLooks, sight_policy
from cogworks.sight.looks.running import Trials
from cogworks.sight.looks.showing import Room
from cogworks.sight.seen import Seen
from cogworks.wiring.clone import Copy
from cogworks.wiring.committer import COMMITTER


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

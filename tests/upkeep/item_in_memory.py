"""A work item of the GitHub in memory, as a check reads and repairs it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cogworks.forge.bodies import Marker, parse_marker
from cogworks.forge.effects import Effect
from cogworks.forge.facts import FailedCheck, ReviewText, SubIssue
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.unmergeable import Failing
from cogworks.github.ledger_log import ChainedCommit, LedgerCopy
from cogworks.upkeep.checking import CheckPorts
from cogworks.vocabulary import CommitOid, Login, RunId
from tests.step_fakes import Runner
from tests.world import ROOT, World


def _marked(snapshot: Snapshot) -> list[tuple[SubIssue, Marker]]:
    found = ((issue, parse_marker(issue.body)) for issue in snapshot.issue.sub_issues)
    return [(issue, marker) for issue, marker in found if marker is not None]


def no_push(*_: object) -> None:
    raise AssertionError("a check pushes nothing")


@dataclass
class ItemInMemory:
    """Obeys `cogworks.upkeep.checking.Item`; what a check does to the world is the runner's doing."""

    world: World
    runner: Runner

    def read(self) -> Snapshot:
        snapshot = self.runner.read()
        numbers = {marker.topic: issue.number for issue, marker in _marked(snapshot)}
        keys = {number: key for key, number in numbers.items()}
        sub_issues = tuple(
            issue.model_copy(
                update={
                    "blocked_by": tuple(
                        numbers[blocking]
                        for blocked, blocking in sorted(self.world.links)
                        if blocked == keys.get(issue.number) and blocking in numbers
                    )
                }
            )
            for issue in snapshot.issue.sub_issues
        )
        issue = snapshot.issue.model_copy(update={"sub_issues": sub_issues})
        return snapshot.model_copy(update={"issue": issue})

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        return self.runner.complete(snapshot, recorded)

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        return self.runner.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        return self.runner.failed_checks(snapshot, failing)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        return self.runner.permissions(snapshot, people)

    def copy(self, snapshot: Snapshot, tip: CommitOid) -> LedgerCopy:
        oids = [ROOT, *(commit.oid for commit in self.world.commits)]
        chain = [
            ChainedCommit(
                oid=commit.oid,
                message=commit.message,
                committed_date=commit.committed_date,
                parents=(before,),
            )
            for before, commit in zip(oids, self.world.commits, strict=False)
        ]
        first = ChainedCommit(
            oid=ROOT,
            message="cogworks: ledger begin [skip ci]",
            committed_date=chain[0].committed_date,
            parents=(),
        )
        files = {path: text for path, text in self.world.files.items() if path.startswith("visits/")}
        return LedgerCopy(chain=(*reversed(chain), first), files=files)

    def existing(self, snapshot: Snapshot, node_ids: Sequence[str]) -> Collection[str]:
        there = {comment.node_id for comment in self.world.comments}
        there |= {issue.node_id for issue in self.world.sub_issues}
        return there & set(node_ids)

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext
    ) -> Published:
        return self.runner.publish(effects, snapshot, context, no_push)

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        return self.runner.show(effects, snapshot)

    def add_sub_issue(self, snapshot: Snapshot, node_id: str) -> None:
        raise AssertionError("sub-issues do not leave their parent in this world")


def check_shell(world: World) -> CheckPorts:
    """A check of the item in that world."""
    runner = Runner(world, name="checker")
    return CheckPorts(
        item=ItemInMemory(world, runner),
        ledger=lambda _: runner,
        holder="checker",
        new_run_id=lambda: RunId("run-1"),
    )

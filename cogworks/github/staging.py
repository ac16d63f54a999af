"""A rehearsal: everything is read from GitHub, and what would be written is kept here instead.

A ledger that is read and never moved, for a rehearsal of a step.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from cogworks.forge.effects import (
    AddReaction,
    CloseIssue,
    ClosePullRequest,
    CommitFiles,
    CreateIssue,
    CreateSubIssue,
    EditComment,
    EditPullRequest,
    Effect,
    LinkDependency,
    OpenPullRequest,
    PostComment,
    PostReview,
    PushBranch,
    ReportCheck,
    SetBase,
    SetLabels,
)
from cogworks.forge.facts import FailedCheck, ReviewText
from cogworks.forge.publication import (
    Learned,
    PublicationContext,
    Published,
    PublishedComment,
    PublishedCommit,
    PublishedIssue,
    PublishedPull,
    PublishedSubIssue,
    Repeatable,
)
from cogworks.forge.snapshot import Neighbour, Snapshot
from cogworks.forge.unmergeable import Failing
from cogworks.github.earlier_logs import EarlierLog
from cogworks.github.publishing import Push
from cogworks.ledger.record import Change, LedgerCommit, Tip
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.pipeline.spend import ItemCost
from cogworks.vocabulary import CommitOid, IssueNumber, Login, NodeId

NOWHERE = CommitOid("0" * 40)
_FIRST_NUMBER = 1_000_000
"""Numbers of what does not exist begin here, far from those of any repository."""


class ReadsItem(Protocol):
    """The reading half of one work item on GitHub."""

    def read(self) -> Snapshot: ...
    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot: ...
    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]: ...
    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]: ...
    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]: ...
    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]: ...
    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]: ...
    def item_costs(self) -> tuple[ItemCost, ...]: ...
    def neighbours(self) -> Sequence[Neighbour]: ...


class StagedItem:
    """One work item that is read and never written; `effects` is what a real step would do, in its order."""

    def __init__(self, item: ReadsItem) -> None:
        self._item = item
        self._count = _FIRST_NUMBER
        self.effects: list[Effect] = []

    def read(self) -> Snapshot:
        return self._item.read()

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        return self._item.complete(snapshot, recorded)

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        return self._item.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        return self._item.failed_checks(snapshot, failing)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        return self._item.permissions(snapshot, people)

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        return self._item.earlier_logs(node, besides=besides)

    def item_costs(self) -> tuple[ItemCost, ...]:
        return self._item.item_costs()

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        return self._item.read_elsewhere(exemplars)

    def neighbours(self) -> Sequence[Neighbour]:
        return self._item.neighbours()

    def create_root(self) -> CommitOid:
        return NOWHERE

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
    ) -> Published:
        """Keep them, and answer as if all were done; nothing is pushed."""
        del snapshot, context, push
        self.effects.extend(effects)
        facts = [self._as_if_done(effect) for effect in effects]
        return Published(
            commits=tuple(fact for fact in facts if isinstance(fact, PublishedCommit)),
            pull_requests=tuple(fact for fact in facts if isinstance(fact, PublishedPull)),
            sub_issues=tuple(fact for fact in facts if isinstance(fact, PublishedSubIssue)),
            issues=tuple(fact for fact in facts if isinstance(fact, PublishedIssue)),
            comments=tuple(fact for fact in facts if isinstance(fact, PublishedComment)),
        )

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        del snapshot
        self.effects.extend(effects)
        return None

    def _as_if_done(self, effect: Effect) -> Learned:
        self._count += 1
        number, node_id = IssueNumber(self._count), f"staged-{self._count}"
        match effect:
            case CommitFiles():
                return PublishedCommit(branch=effect.branch, oid=NOWHERE)
            case PushBranch():
                return PublishedCommit(branch=effect.branch, oid=effect.oid)
            case OpenPullRequest():
                return PublishedPull(
                    slug=effect.slug,
                    number=number,
                    node_id=node_id,
                    url="",
                    head=effect.head,
                    base=effect.base,
                    is_shown_only=effect.is_shown_only,
                )
            case CreateSubIssue():
                return PublishedSubIssue(key=effect.key, number=number, node_id=node_id, url="")
            case CreateIssue():
                return PublishedIssue(key=effect.key, number=number, node_id=node_id, url="")
            case PostComment():
                return PublishedComment(
                    topic=effect.topic, number=effect.number, node_id=node_id, database_id=number, url=""
                )
            case LinkDependency() | EditComment() | AddReaction() | SetLabels() | SetBase() | ReportCheck():
                return Repeatable()
            case EditPullRequest() | ClosePullRequest() | CloseIssue() | PostReview():
                return Repeatable()


_NOWHERE = CommitOid("0" * 40)


class ReadsLedger(Protocol):
    """The reading half of a ledger branch."""

    def tip(self) -> Tip | None: ...
    def files(self, paths: Sequence[str]) -> Mapping[str, str]: ...


class StagedLedger:
    """Commits go nowhere, and the files they ask back are read from the branch."""

    def __init__(self, ledger: ReadsLedger) -> None:
        self._ledger = ledger

    def tip(self) -> Tip | None:
        return self._ledger.tip()

    def files(self, paths: Sequence[str]) -> Mapping[str, str]:
        return self._ledger.files(paths)

    def create(self, root: CommitOid, change: Change) -> LedgerCommit:
        del root, change
        return _commit({})

    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit:
        del tip, change
        return _commit(self._ledger.files(echoes) if echoes else {})


def _commit(echoed: Mapping[str, str]) -> LedgerCommit:
    # As if nobody had touched the issue since the step read it: a rehearsal is stopped by its operator alone.
    return LedgerCommit(oid=_NOWHERE, echoed=echoed, issue_is_open=True, labels=frozenset())

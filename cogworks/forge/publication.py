"""What is known to be on GitHub, and which effects are there already."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cogworks.forge.bodies import parse_marker
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
from cogworks.forge.facts import Account, Branch, Comment, PullRequest, SubIssue
from cogworks.forge.snapshot import Snapshot
from cogworks.vocabulary import VISIT_TRAILER, BranchName, CommitOid, IssueNumber, SubItemKey, Value, VisitKey

COMMIT_TRAILER = VISIT_TRAILER
"""In the message of every commit of ours on a work branch, followed by its visit key."""


class PublishedCommit(Value):
    """The head that an effect left on its branch."""

    branch: BranchName
    oid: CommitOid


class PublishedPull(Value):
    """A pull request that was opened or adopted."""

    slug: str
    number: IssueNumber
    node_id: str
    url: str
    head: BranchName
    base: BranchName
    is_shown_only: bool = False


class PublishedSubIssue(Value):
    """A sub-issue that was created or adopted."""

    key: SubItemKey
    number: IssueNumber
    node_id: str
    url: str


class PublishedIssue(Value):
    """An issue of its own that was created or adopted."""

    key: str
    number: IssueNumber
    node_id: str
    url: str


class RefusedIssue(Value):
    """An issue of its own that could not be created; nothing waits for it."""

    key: str
    reason: str


class PublishedComment(Value):
    """A comment that was posted or adopted."""

    topic: str
    number: IssueNumber
    node_id: str
    database_id: int
    url: str


class Repeatable(Value):
    """An effect that leaves nothing to learn."""


Learned = PublishedCommit | PublishedPull | PublishedSubIssue | PublishedIssue | PublishedComment | Repeatable


class Published(Value):
    """What a visit left on GitHub: ids for the state."""

    commits: tuple[PublishedCommit, ...] = ()
    pull_requests: tuple[PublishedPull, ...] = ()
    sub_issues: tuple[PublishedSubIssue, ...] = ()
    issues: tuple[PublishedIssue, ...] = ()
    refused_issues: tuple[RefusedIssue, ...] = ()
    comments: tuple[PublishedComment, ...] = ()
    warnings: tuple[str, ...] = ()
    """Repeatable effects that did not succeed; nothing depends on them."""


class PublicationContext(Value):
    """What the state knows and GitHub does not say."""

    identities: tuple[int, ...] = ()
    """Database ids of everyone who has held a lease of this run; only their markers count."""
    sub_items: Mapping[SubItemKey, IssueNumber] = {}
    """Sub-items whose sub-issue exists, from earlier visits."""
    pushed: Mapping[BranchName, tuple[CommitOid, ...]] = {}
    """Heads of branches that are ours, from earlier visits."""


class WrittenCommit(Value):
    """What a commit did, as GitHub reports it."""

    parents: tuple[CommitOid, ...]
    changed: int
    """How many files differ from those of its first parent."""
    files: Mapping[str, tuple[str, str]]
    """Path -> name of the content before it and in it; empty where there was none."""


@dataclass(frozen=True)
class Known:
    """What is on GitHub as far as it was read."""

    repository: Snapshot
    """Where ids of the repository, the issue and the labels come from; its lists are those of S1."""
    identities: frozenset[int]
    branches: Mapping[BranchName, Branch]
    pulls: tuple[PullRequest, ...]
    sub_issues: tuple[SubIssue, ...]
    issues: tuple[SubIssue, ...]
    """Issues of the repository that the visit may have created; read only where one is to be created."""
    comments: Mapping[IssueNumber, tuple[Comment, ...]]
    subjects: Mapping[IssueNumber, str]
    """Node ids of what can be commented on or labelled."""
    label_ids: Mapping[str, str]
    sub_items: Mapping[SubItemKey, str]
    """Node ids of the sub-issues of the plan."""
    posted: frozenset[str] = frozenset()
    """Node ids of comments that this process posted or adopted since the read."""
    pushed: Mapping[BranchName, tuple[CommitOid, ...]] = field(default_factory=dict)
    """Heads of branches that are ours, from earlier visits."""
    written: Mapping[CommitOid, WrittenCommit] = field(default_factory=dict)
    """What those heads did that carry the key of a visit, which anybody can write."""


def known_from(
    snapshot: Snapshot, context: PublicationContext, *, posted: frozenset[str] = frozenset()
) -> Known:
    """What the step's own read says, and what was posted since."""
    subjects = {snapshot.issue.number: snapshot.issue.node_id}
    subjects.update((pull.number, pull.node_id) for pull in snapshot.pulls)
    subjects.update((issue.number, issue.node_id) for issue in snapshot.issue.sub_issues)
    viewer = () if snapshot.viewer.id is None else (snapshot.viewer.id,)
    return Known(
        repository=snapshot,
        identities=frozenset({*context.identities, *viewer}),
        branches=snapshot.branches,
        pulls=snapshot.pulls,
        sub_issues=snapshot.issue.sub_issues,
        issues=(),
        comments={snapshot.issue.number: snapshot.issue.comments},
        subjects=subjects,
        label_ids=snapshot.repository.label_ids,
        sub_items={key: subjects[number] for key, number in context.sub_items.items() if number in subjects},
        posted=posted,
        pushed=context.pushed,
    )


def with_sub_item(known: Known, learned: PublishedSubIssue) -> Known:
    """The same with one more sub-issue of the plan."""
    return replace(
        known,
        sub_items={**known.sub_items, learned.key: learned.node_id},
        subjects={**known.subjects, learned.number: learned.node_id},
    )


def commit_body(visit_key: VisitKey) -> str:
    """What stands below the headline of every commit made through the API."""
    return f"{COMMIT_TRAILER}{visit_key}"


def adopted(effect: Effect, known: Known) -> Learned | None:
    """What is there already of an effect; None when it still has to be done."""
    match effect:
        case CommitFiles():
            branch = claimed_tip(effect, known)
            ours = branch is not None and _is_just(effect, branch.oid, known)
            return PublishedCommit(branch=effect.branch, oid=branch.oid) if branch and ours else None
        case PushBranch():
            branch = known.branches.get(effect.branch)
            there = branch is not None and branch.oid == effect.oid
            return PublishedCommit(branch=effect.branch, oid=effect.oid) if there else None
        case OpenPullRequest():
            return _adopted_pull(effect, known)
        case CreateSubIssue():
            return _adopted_sub_issue(effect, known)
        case CreateIssue():
            return _adopted_issue(effect, known)
        case PostComment():
            return _adopted_comment(effect, known)
        case SetLabels():
            return None if label_changes(effect, known) != ((), ()) else Repeatable()
        case LinkDependency() | EditComment() | AddReaction() | SetBase() | ReportCheck():
            return None
        case EditPullRequest() | ClosePullRequest() | CloseIssue() | PostReview():
            return None


def claimed_tip(effect: CommitFiles, known: Known) -> Branch | None:
    """The effect's branch where its newest commit says that it is this effect; `adopted` checks whether that is true."""
    branch = known.branches.get(effect.branch)
    return branch if branch is not None and commit_body(effect.visit_key) in branch.message else None


def _is_just(effect: CommitFiles, oid: CommitOid, known: Known) -> bool:
    """Whether a commit did what the effect does and nothing else, on top of what the effect builds on."""
    written = known.written.get(oid)
    if written is None or len(written.parents) != 1 or written.parents[0] not in _starts(effect, known):
        return False
    if any(written.files.get(file.path, ("", ""))[1] != blob_name(file.text) for file in effect.files):
        return False
    return written.changed == sum(before != after for before, after in written.files.values())


def _starts(effect: CommitFiles, known: Known) -> set[CommitOid]:
    first, base = known.repository.branches.get(effect.branch), known.repository.branches.get(effect.base)
    starts = {*known.pushed.get(effect.branch, ()), *([first.oid] if first else ())}
    if effect.branch not in known.pushed:
        starts.add(base.oid if base else known.repository.repository.head_oid)
    return starts


def blob_name(text: str) -> str:
    """The name that git gives a file's content."""
    content = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _adopted_pull(effect: OpenPullRequest, known: Known) -> PublishedPull | None:
    tip = known.branches.get(effect.head)
    for pull in sorted(known.pulls, key=lambda pull: (pull.state == "open", pull.number), reverse=True):
        is_current = pull.state == "open" or (
            pull.state == "merged" and (tip is None or tip.oid == pull.head_oid)
        )
        if (pull.head, pull.base) == (effect.head, effect.base) and is_current:
            return PublishedPull(
                slug=effect.slug,
                number=pull.number,
                node_id=pull.node_id,
                url=pull.url,
                head=pull.head,
                base=pull.base,
                is_shown_only=effect.is_shown_only,
            )
    return None


def _adopted_sub_issue(effect: CreateSubIssue, known: Known) -> PublishedSubIssue | None:
    for issue in known.sub_issues:
        if _is_ours(issue.body, issue.author, effect.visit_key, effect.key, known):
            return PublishedSubIssue(
                key=effect.key, number=issue.number, node_id=issue.node_id, url=issue.url
            )
    return None


def _adopted_issue(effect: CreateIssue, known: Known) -> PublishedIssue | None:
    for issue in known.issues:
        if _is_ours(issue.body, issue.author, effect.visit_key, effect.key, known):
            return PublishedIssue(key=effect.key, number=issue.number, node_id=issue.node_id, url=issue.url)
    return None


def _adopted_comment(effect: PostComment, known: Known) -> PublishedComment | None:
    for comment in known.comments.get(effect.number, ()):
        ours = _is_ours(comment.body, comment.author, effect.visit_key, effect.topic, known)
        if ours:
            return PublishedComment(
                topic=effect.topic,
                number=effect.number,
                node_id=comment.node_id,
                database_id=comment.database_id,
                url=comment.url,
            )
    return None


def _is_ours(body: str, author: Account | None, visit_key: VisitKey, topic: str, known: Known) -> bool:
    marker = parse_marker(body)
    if marker is None or (marker.visit_key, marker.topic) != (visit_key, topic):
        return False
    # Anybody can copy a marker; only those who have held a lease can have meant it.
    return author is not None and author.id in known.identities


def label_changes(effect: SetLabels, known: Known) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that must be added and names that must be removed; labels elsewhere than on the issue are not known."""
    issue = known.repository.issue
    if effect.number != issue.number:
        return effect.add, tuple(name for name in effect.remove if name in known.label_ids)
    present = {name.casefold() for name in issue.labels}
    add = tuple(name for name in effect.add if name.casefold() not in present)
    return add, tuple(
        name for name in effect.remove if name.casefold() in present and name in known.label_ids
    )

"""The facts of one work item as GitHub reports them: people, comments, labels, branches, pull requests."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, Value


class Account(Value):
    """Somebody on GitHub; compare by `id`, because an App's login differs between viewer and author."""

    login: Login
    id: int | None
    """`databaseId`; None for kinds that have none, such as a mannequin."""
    is_bot: bool = False


class Viewer(Value):
    """Who the token speaks for."""

    login: Login
    id: int | None
    is_app: bool
    """An installation, whose login is `name[bot]` here."""


class Edit(Value):
    """The newest change that somebody made to a text."""

    by: Account | None
    """None when GitHub does not say, e.g. because the account is gone."""
    at: datetime


class Comment(Value):
    """A comment on the issue."""

    node_id: str
    database_id: int
    """Grows with time; above 2³¹ on github.com."""
    author: Account | None
    """None when the account is gone."""
    body: str
    created_at: datetime
    edited: bool
    """Changed after it was posted."""
    viewer_did_author: bool
    url: str = ""
    own_reactions: tuple[str, ...] = ()
    """What the viewer reacted with, e.g. `THUMBS_UP`."""


class LabelEvent(Value):
    """A label was put on the issue or taken off."""

    id: str
    label: str
    added: bool
    actor: Account | None
    created_at: datetime


class SubIssue(Value):
    """A sub-issue of the work item."""

    node_id: str
    number: IssueNumber
    title: str
    body: str
    state: Literal["open", "closed"]
    author: Account | None = None
    url: str = ""
    body_edit: Edit | None = None
    title_edit: Edit | None = None
    """None: it is called as it was when it was opened."""
    blocked_by: tuple[IssueNumber, ...] | None = None
    """Issues that block it, closed ones included; None where this GitHub does not say."""


class Branch(Value):
    """A branch below the work item's prefix."""

    oid: CommitOid
    message: str
    """The tip's whole commit message."""


class Review(Value):
    """The last opinion of one reviewer with write permission."""

    author: Account | None
    state: Literal["approved", "changes_requested", "commented", "dismissed", "pending"]
    oid: CommitOid | None
    """The head it was given for."""
    can_push: bool
    node_id: str = ""
    database_id: int = 0
    submitted_at: datetime | None = None
    """By GitHub's clock."""
    own_reactions: tuple[str, ...] = ()
    """What we reacted with."""


class Remark(Value):
    """An inline comment of a review."""

    path: str
    line: int
    """In the newer file; 0 where GitHub names none."""
    body: str


class ReviewText(Value):
    """What somebody wrote in a review."""

    body: str
    remarks: tuple[Remark, ...] = ()
    left_out: int = 0
    """Remarks that were not read."""


class CheckSeen(Value):
    """One check run or commit status at a pull request's head."""

    node_id: str
    name: str
    is_pending: bool = False
    """Its result is still to come by itself."""
    is_failed: bool = False
    """It looked at the commit and found it wanting; what was cancelled, skipped or could not even start is no failure."""
    is_ours: bool = False
    """cogworks wrote it."""


class Remarked(Value):
    """What a check says of a line of a file."""

    path: str
    line: int
    text: str


class FailedCheck(Value):
    """What a check that failed has to say; all of it is somebody else's text."""

    name: str
    summary: str = ""
    remarks: tuple[Remarked, ...] = ()
    log_tail: str = ""
    """The last lines of its log; empty where there is none, or it may not be read."""
    fails_on_base: bool = False
    """A check of that name fails at the commit that the pull request goes to as well."""


class Checks(Value):
    """What the checks say of a pull request's head."""

    is_known: bool = True
    """False when the token may not read them: only gates that need checks wait for that."""
    state: Literal["success", "pending", "failure", "error", "expected"] | None = None
    """None: there are none."""
    failed: tuple[str, ...] = ()
    """Names of the checks that did not pass, sorted; at most the first 50 checks are looked at."""
    seen: tuple[CheckSeen, ...] = ()
    """Those first 50."""


class PullRequest(Value):
    """A pull request of this repository that belongs to the work item; forks never count."""

    node_id: str
    number: IssueNumber
    title: str
    body: str
    url: str
    head: BranchName
    base: BranchName
    head_oid: CommitOid
    base_oid: CommitOid
    state: Literal["open", "closed", "merged"]
    """`closed` is closed without a merge."""
    is_conflicting: bool = False
    """GitHub tried to merge it and could not; false also as long as it does not know."""
    author: Account | None = None
    merged_by: Account | None = None
    reviews: tuple[Review, ...] = ()
    checks: Checks = Checks(is_known=False)
    """Known for pull requests whose branch exists."""


class LedgerCommit(Value):
    """One commit of the item's ledger."""

    oid: CommitOid
    message: str
    committed_date: datetime
    """GitHub's clock."""


class Ledger(Value):
    """The tip of the item's ledger branch."""

    oid: CommitOid
    message: str
    committed_date: datetime
    state_text: str | None
    """Text of `state.json`; None before the first record."""
    history: tuple[LedgerCommit, ...]
    """The newest 50 commits, the tip first."""
    author: str = ""
    """The login of the author of the tip, as the address of the commit has it; empty where GitHub knows no account of that address."""
    is_signed_by_host: bool = False
    """The host made the tip itself when its API was asked to, so that nobody but the author can have asked."""


class Issue(Value):
    """The work item's issue."""

    node_id: str
    number: IssueNumber
    title: str
    body: str
    state: Literal["open", "closed"]
    is_reopened: bool = False
    """Open, and closed once before."""
    locked: bool
    url: str
    author: Account | None
    body_edit: Edit | None = None
    title_edit: Edit | None = None
    labels: tuple[str, ...]
    """In GitHub's order."""
    comments: tuple[Comment, ...]
    """Oldest first by database id; at least those that the ledger has not recorded yet."""
    has_all_comments: bool = True
    """False: there are older ones, which had to be read earlier."""
    sought_comments: tuple[str, ...] = ()
    """Node ids that were asked for by name as well: one of them that is not among `comments` is not on this issue."""
    label_events: tuple[LabelEvent, ...]
    """Oldest first; at least those that the ledger has not recorded yet."""
    sub_issues: tuple[SubIssue, ...]
    parent: IssueNumber | None
    open_blockers: tuple[IssueNumber, ...] = ()
    """Open issues of the repository that block it; none where this GitHub does not say."""


@dataclass(frozen=True)
class RateLimit:
    """What is left of the hour's points."""

    remaining: int
    reset_at: datetime | None = None
    cost: int | None = None
    """Points of this answer, where the document asked."""
    limit: int | None = None
    """Points of a whole hour."""

"""What the hub keeps: one frozen record per GitHub object."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from cogworks.hub.node_ids import Record, Role, node_id
from cogworks.vocabulary import Value

COMMENT_ID_BASE = 2_200_000_000
"""Ids of comments and reviews start here: beyond a signed 32-bit integer, as on github.com."""


class User(Record):
    type_name = "User"
    login: str
    """An app's login ends in `[bot]`; `handle` is the login without it."""
    kind: Literal["User", "Bot", "Organization"] = "User"
    name: str | None = None
    email: str | None = None
    created_at: datetime

    @property
    def node_id(self) -> str:
        return node_id(self.kind, self.id)

    @property
    def key(self) -> str:
        return self.login.lower()

    @property
    def handle(self) -> str:
        return self.login.removesuffix("[bot]")

    @property
    def noreply(self) -> str:
        return f"{self.id}+{self.login}@users.noreply.github.com"


class Token(Record):
    type_name = "Token"
    sha256: str
    user_id: int
    kind: Literal["personal", "installation", "actions"] = "personal"
    """`actions` is what a workflow gets as GITHUB_TOKEN."""
    permissions: dict[str, Literal["none", "read", "write"]] | None = None
    """None: whatever the user may do. Otherwise as an app's: contents, issues, pull_requests, checks, statuses, workflows."""
    account_id: int | None = None
    """Whose repositories an App's installation was given; None: wherever the user may go."""
    repository_ids: tuple[int, ...] | None = None
    """Those of them that the token was made for; None: all."""
    expires_at: datetime | None = None

    def reaches(self, repository: "Repository") -> bool:
        """Whether it speaks for its user in a repository; elsewhere it is a stranger's."""
        return self.account_id in (None, repository.owner_id) and (
            self.repository_ids is None or repository.id in self.repository_ids
        )

    @property
    def parent(self) -> int:
        return self.user_id

    @property
    def key(self) -> str:
        return self.sha256


class Repository(Record):
    type_name = "Repository"
    owner_id: int
    owner: str
    name: str
    description: str | None = None
    default_branch: str = "main"
    is_private: bool = True
    is_archived: bool = False
    has_issues: bool = True
    delete_branch_on_merge: bool = False
    allow_merge_commit: bool = True
    allow_squash_merge: bool = True
    allow_rebase_merge: bool = True
    actions_may_open_pull_requests: bool = False
    created_at: datetime
    updated_at: datetime
    pushed_at: datetime

    @property
    def parent(self) -> int:
        return self.owner_id

    @property
    def key(self) -> str:
        return self.full_name.lower()

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


class RefTips(Record):
    """The refs of a repository as the records know them; `id` is the repository's."""

    type_name = "RefTips"
    tips: dict[str, str]


class SignedCommit(Record):
    """A commit that the hub made when its API was asked to: as on github.com it bears the host's signature."""

    type_name = "SignedCommit"
    repository_id: int
    oid: str

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.oid}"


class Collaborator(Record):
    type_name = "Collaborator"
    repository_id: int
    user_id: int
    role: Role

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.user_id}"


class Label(Record):
    type_name = "Label"
    repository_id: int
    name: str
    color: str = "ededed"
    description: str | None = None
    created_at: datetime

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.name.lower()}"


class Milestone(Record):
    type_name = "Milestone"
    repository_id: int
    number: int
    title: str
    description: str | None = None
    state: Literal["open", "closed"] = "open"
    creator_id: int
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    due_on: datetime | None = None

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.number}"


class PullRequest(Value):
    """What a pull request has beyond the issue that carries its number, title, body and labels."""

    head_branch: str
    head_oid: str
    """Kept when the branch is gone."""
    base_branch: str
    base_oid: str
    """The tip of the base; kept as it was when the pull request was closed or merged."""
    is_draft: bool = False
    maintainer_can_modify: bool = False
    requested_reviewer_ids: tuple[int, ...] = ()
    merged_at: datetime | None = None
    merged_by_id: int | None = None
    merge_commit_oid: str | None = None


class Issue(Record):
    """An issue, or a pull request when `pull` is set; they share one sequence of numbers."""

    type_name = "Issue"
    repository_id: int
    number: int
    author_id: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: Literal["completed", "not_planned", "reopened", "duplicate"] | None = None
    is_locked: bool = False
    lock_reason: Literal["off-topic", "too heated", "resolved", "spam"] | None = None
    label_ids: tuple[int, ...] = ()
    assignee_ids: tuple[int, ...] = ()
    milestone_id: int | None = None
    parent_id: int | None = None
    """The issue that this one is a sub-issue of."""
    sub_issue_ids: tuple[int, ...] = ()
    """In the order of their priority."""
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    closed_by_id: int | None = None
    editor_id: int | None = None
    last_edited_at: datetime | None = None
    pull: PullRequest | None = None

    @property
    def node_id(self) -> str:
        return node_id("Issue" if self.pull is None else "PullRequest", self.id)

    @property
    def parent(self) -> int:
        return self.repository_id

    @property
    def key(self) -> str:
        return f"{self.repository_id}/{self.number}"

    @property
    def tag(self) -> str:
        return "issue" if self.pull is None else "pull"

    @property
    def is_open(self) -> bool:
        return self.state == "open"


class PendingMerge(Record):
    """A merge that was decided before its ref moved; `id` is the pull request's. Repair finishes or drops it."""

    type_name = "PendingMerge"
    merge_commit_oid: str
    merged_by_id: int
    merged_at: datetime


class Comment(Record):
    type_name = "IssueComment"
    repository_id: int
    issue_id: int
    author_id: int
    body: str
    created_at: datetime
    updated_at: datetime
    last_edited_at: datetime | None = None
    editor_id: int | None = None
    minimized_reason: str | None = None

    @property
    def parent(self) -> int:
        return self.issue_id


class Event(Record):
    """A line of the timeline that is neither a comment nor a review."""

    type_name = "Event"
    repository_id: int
    issue_id: int
    actor_id: int
    kind: str
    """REST's name: labeled, unlabeled, closed, reopened, renamed, cross_referenced, comment_deleted, merged, …"""
    created_at: datetime
    details: dict[str, str | int | bool | None] = Field(default_factory=dict)
    """labeled: label_id, label_name, label_color; renamed: from, to; cross_referenced: source_id; closed: state_reason; …"""

    @property
    def parent(self) -> int:
        return self.issue_id

    @property
    def tag(self) -> str:
        return self.kind


class Review(Record):
    type_name = "PullRequestReview"
    repository_id: int
    issue_id: int
    author_id: int
    state: Literal["PENDING", "COMMENTED", "APPROVED", "CHANGES_REQUESTED", "DISMISSED"]
    body: str = ""
    commit_oid: str
    created_at: datetime
    updated_at: datetime
    submitted_at: datetime | None = None

    @property
    def parent(self) -> int:
        return self.issue_id


class ReviewComment(Record):
    type_name = "PullRequestReviewComment"
    repository_id: int
    issue_id: int
    review_id: int
    author_id: int
    body: str
    path: str
    line: int | None = None
    """Of the new file for side RIGHT, of the old one for LEFT; None: about the whole file."""
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    start_line: int | None = None
    diff_hunk: str = ""
    commit_oid: str
    original_commit_oid: str
    in_reply_to_id: int | None = None
    """The first comment of the thread; None: this is it."""
    is_resolved: bool = False
    """Of the thread; kept on its first comment."""
    created_at: datetime
    updated_at: datetime

    @property
    def parent(self) -> int:
        return self.issue_id


ReactionContent = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]


class Reaction(Record):
    type_name = "Reaction"
    subject_id: int
    """Of an issue, a pull request, a comment, a review or a review comment."""
    user_id: int
    content: ReactionContent
    created_at: datetime

    @property
    def parent(self) -> int:
        return self.subject_id

    @property
    def key(self) -> str:
        return f"{self.subject_id}/{self.user_id}/{self.content}"


class Dependency(Record):
    """`issue_id` cannot be done before `blocking_id`."""

    type_name = "Dependency"
    issue_id: int
    blocking_id: int

    @property
    def parent(self) -> int:
        return self.issue_id

    @property
    def key(self) -> str:
        return f"{self.issue_id}/{self.blocking_id}"

    @property
    def tag(self) -> str:
        return str(self.blocking_id)

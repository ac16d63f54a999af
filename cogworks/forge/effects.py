"""Writes to GitHub as data; what makes each safe to repeat is its key.

Keyed effects may be repeated freely. Un-keyed ones (issue, sub-issue, comment, review) carry a marker and are read before they are
repeated; see docs/failures.md.
"""

from typing import Annotated, Literal

from pydantic import Field

from cogworks.pipeline.people import Reaction
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey, Value, VisitKey


class FileText(Value):
    """One file of a commit made through the API: mode 100644, UTF-8, at most 1 MB."""

    path: str
    text: str


class CommitFiles(Value):
    """Create the branch at `start` if absent and put one commit with these files on it. Key: branch and visit key."""

    kind: Literal["commit_files"] = "commit_files"
    branch: BranchName
    base: BranchName
    """The branch it starts from when it does not exist yet (its head as last read)."""
    files: tuple[FileText, ...]
    headline: str
    visit_key: VisitKey


class PushBranch(Value):
    """Push the working copy's head to the branch. Key: branch; fast-forward of what was last read, or a lease on it."""

    kind: Literal["push_branch"] = "push_branch"
    branch: BranchName
    oid: CommitOid


class OpenPullRequest(Value):
    """Open a pull request, or adopt the one that exists. Key: (head, base)."""

    kind: Literal["open_pull_request"] = "open_pull_request"
    slug: str
    head: BranchName
    base: BranchName
    title: str
    body: str
    is_shown_only: bool = False
    """People read and approve it, and nobody merges it."""


class CreateSubIssue(Value):
    """Create a sub-issue. No natural key: the marker `(visit key, key)` in its body is one."""

    kind: Literal["create_sub_issue"] = "create_sub_issue"
    key: SubItemKey
    title: str
    body: str
    labels: tuple[str, ...] = ()
    visit_key: VisitKey


class CreateIssue(Value):
    """Create an issue of its own. No natural key: the marker `(visit key, key)` in its body is one.

    One that is refused is noted and holds nothing up: the issues beside it and the run go on.
    """

    kind: Literal["create_issue"] = "create_issue"
    key: str
    """Names it among the issues of its visit, e.g. `issue-1`."""
    title: str
    body: str
    labels: tuple[str, ...] = ()
    visit_key: VisitKey


class LinkDependency(Value):
    """Say that one sub-item is blocked by another. Key: the pair."""

    kind: Literal["link_dependency"] = "link_dependency"
    blocked: SubItemKey
    blocking: SubItemKey


class PostComment(Value):
    """Post a comment. No natural key: the marker `(visit key, topic)` in its first line is one."""

    kind: Literal["post_comment"] = "post_comment"
    number: IssueNumber
    topic: str
    body: str
    visit_key: VisitKey
    revision: int | None = None
    """Of the ledger, as the marker says it; the status comment has one, see `surface.status_comment`."""


class EditComment(Value):
    """Replace a comment's body. Key: the comment's node id."""

    kind: Literal["edit_comment"] = "edit_comment"
    comment_id: str
    body: str


class AddReaction(Value):
    """React to a comment. Key: the comment, who reacts, and with what."""

    kind: Literal["add_reaction"] = "add_reaction"
    subject_id: str
    """Node id of the comment."""
    content: Reaction


class SetLabels(Value):
    """Add and remove labels; set semantics, never replace-all."""

    kind: Literal["set_labels"] = "set_labels"
    number: IssueNumber
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class SetBase(Value):
    """Let a pull request go to another branch. Key: the pull request."""

    kind: Literal["set_base"] = "set_base"
    pull_id: str
    number: IssueNumber
    base: BranchName
    lost_base: BranchName = BranchName("")
    """The branch it went to, which is gone so that GitHub closed it: restored first, and the pull request opened again."""
    lost_base_oid: CommitOid = CommitOid("")


class EditPullRequest(Value):
    """Replace a pull request's body. Key: the pull request."""

    kind: Literal["edit_pull_request"] = "edit_pull_request"
    pull_id: str
    number: IssueNumber
    body: str


class ClosePullRequest(Value):
    """Close a pull request that is not to be merged. Key: the pull request."""

    kind: Literal["close_pull_request"] = "close_pull_request"
    pull_id: str
    number: IssueNumber


class CloseIssue(Value):
    """Close the work item's issue as completed. Key: the issue."""

    kind: Literal["close_issue"] = "close_issue"
    issue_id: str
    number: IssueNumber


OWN_CHECK = "cogworks: tests before and after"
"""The one check run that is ours."""


class ReportCheck(Value):
    """Show a verdict beside a commit. No natural key: the visit key as `external_id` is one.

    Only a token of an App may; with any other it is left out. One that is refused is a warning: the verdict stands elsewhere.
    """

    kind: Literal["report_check"] = "report_check"
    name: str
    head: CommitOid
    conclusion: Literal["success", "neutral"]
    title: str
    summary: str
    """Markdown."""
    visit_key: VisitKey


class LineRemark(Value):
    """What is said at lines of a pull request's diff."""

    key: str
    """What it is about: letters and digits, the same in every round that finds it again."""
    path: str
    first_line: int
    last_line: int
    """Both in the newer file, from 1."""
    body: str
    """Markdown."""


class PostReview(Value):
    """Say something at lines of a pull request, as one review that only comments; what was said there before is left out.

    No natural key: the marker `(visit key, head)` in its body is one, and the key of each remark in that of the remark.
    Where GitHub takes no remark at its line, all of them stand in the review's body.
    """

    kind: Literal["post_review"] = "post_review"
    branch: BranchName
    base: BranchName
    """Of the pull request that is open by then, see `OpenPullRequest`."""
    head: CommitOid
    body: str
    remarks: tuple[LineRemark, ...]
    visit_key: VisitKey


Effect = Annotated[
    CommitFiles
    | PushBranch
    | OpenPullRequest
    | CreateSubIssue
    | CreateIssue
    | LinkDependency
    | PostComment
    | EditComment
    | AddReaction
    | SetLabels
    | SetBase
    | EditPullRequest
    | ClosePullRequest
    | CloseIssue
    | ReportCheck
    | PostReview,
    Field(discriminator="kind"),
]

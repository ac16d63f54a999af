"""What GitHub says now, as far as decisions need it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import Approval, IgnoredLabel, InputLabel, ShownCall
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Value, VisitKey


class PullFacts(Value):
    """A pull request as GitHub shows it now."""

    number: IssueNumber
    state: Literal["open", "closed", "merged"]
    head_oid: CommitOid
    url: str = ""
    merged_by: str = ""
    approved_by: str = ""
    """A person with write permission who approved this very head, and nobody such asked for changes."""
    base_oid: CommitOid | None = None
    """Where the branch it goes to stands now; None: unknown."""
    is_base_gone: bool = False
    """The branch it goes to does not exist: GitHub closes it then, and nobody rejected it."""


class Facts(Value):
    """What GitHub says now, as far as the decision needs it."""

    issue_is_open: bool
    issue_url: str
    is_triggered: bool
    is_held: bool = False
    is_cancelled: bool = False
    trigger: str
    """The name of the trigger label, for messages."""
    issue_digest: str = ""
    """sha256 of title and body as they are now; empty = unknown."""
    is_locked: bool = False
    ignored_labels: tuple[IgnoredLabel, ...] = ()
    """On the issue, but set by somebody who may not: they count as not there."""
    input_labels: tuple[InputLabel, ...] = ()
    """On the issue, whether they count or not."""
    foreign_branches: tuple[BranchName, ...] = ()
    """Branches of this item whose head no visit of ours is known to have pushed."""
    is_status_gone: bool = False
    """Somebody deleted the status comment."""
    is_safety_critical: bool = False
    lane: Literal["", "large", "default", "auto", "small"] = ""
    """The built-in pipeline that people ask for, or `auto`, by label or by configuration; empty: the repository has its own ones."""
    blocked_by: tuple[IssueNumber, ...] = ()
    """Open issues that have to be closed before this one is begun."""
    open_parts: tuple[IssueNumber, ...] = ()
    """Of the issues into which this one was divided, those that are not closed."""
    pulls: Mapping[IssueNumber, PullFacts]
    lease_ages_s: Mapping[VisitKey, float]
    """Seconds since the newest ledger commit of each visit, by GitHub's clocks; absent = too old to be seen."""
    doubted_approvals: tuple[Approval, ...] = ()
    """The ledger has them, and GitHub shows no comment that says so: they pass no gate."""
    shown_calls: tuple[ShownCall, ...] = ()
    """Of the approved calls in the ledger, those whose approval GitHub shows; no other counts."""
    max_cost_usd: float
    small_max_cost_usd: float
    """On the built-in pipeline `small`, where it is less."""
    max_tokens: int
    take_over: bool = False
    """The operator says that the other runner is dead."""
    wanted: Instance | None = None
    """The operator picked this node (and sub-item)."""
    now: datetime | None = None
    """What GitHub's clock says; None = unknown."""
    approval_hours: int = 0
    """How long an approval counts from when it was written; 0 = for ever."""

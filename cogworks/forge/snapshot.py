"""One work item as it was at one moment: everything the decision may look at."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from cogworks.forge.facts import (
    Branch,
    FailedCheck,
    Issue,
    Ledger,
    PullRequest,
    RateLimit,
    ReviewText,
    Viewer,
)
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, Value


class Contents(Value):
    """What the default branch holds, as far as GitHub says it at no cost."""

    languages: Mapping[str, int] = {}
    """GitHub's name of each language -> bytes of it; empty where GitHub has not counted yet."""
    root_names: tuple[str, ...] = ()
    """Files and folders beside `.cogworks`."""


class RepositoryFacts(Value):
    """The repository, pinned to the head of its default branch."""

    node_id: str
    name_with_owner: str
    """As it is called now; differs from the address after a rename."""
    viewer_permission: str | None
    """`ADMIN`, `MAINTAIN`, `WRITE`, `TRIAGE`, `READ`; None for an installation, which is not a refusal."""
    default_branch: BranchName
    head_oid: CommitOid
    config_files: Mapping[str, str]
    """Path below `.cogworks`, e.g. `prompts/intake.md.j2` -> text; two levels deep, text files only."""
    config_oid: str = ""
    """The tree of `.cogworks`; empty where there is none."""
    contents: Contents = Contents()
    label_ids: Mapping[str, str]
    """Name -> node id of the repository's labels that look like cogworks' own, and of those on the issue."""


class Snapshot(Value):
    """Everything one read returns about a work item."""

    server_date: datetime
    """GitHub's clock at the read."""
    viewer: Viewer
    repository: RepositoryFacts
    issue: Issue
    root_oid: CommitOid | None
    """The commit every ledger starts from; None before the first one."""
    ledger: Ledger | None
    branches: Mapping[BranchName, Branch]
    """Branches below `cogworks/<number>/`, by their full name."""
    pulls: tuple[PullRequest, ...]
    """By number; of this repository only."""
    rate: RateLimit | None = None
    """What was left of the hour's points after the read; None where the answer did not say."""
    permissions: Mapping[Login, str] = {}
    """What people may do here (`admin`, `write`, …), of those who newly asked for something; empty when nobody did."""
    review_texts: Mapping[str, ReviewText] = {}
    """Node id -> what is written in a review that nobody has dealt with yet and that asks for changes."""
    failed_checks: Mapping[IssueNumber, tuple[FailedCheck, ...]] = {}
    """What the checks say that failed at the head of a pull request and that nobody has dealt with yet."""
    strangers: tuple[str, ...] = ()
    """What the ledger names as the item's own and GitHub says is not, each in words."""


class Neighbour(Value):
    """Another issue of the repository, or a merged pull request."""

    number: IssueNumber
    title: str
    body: str
    kind: Literal["issue", "pull request"]
    state: Literal["open", "closed", "merged"]
    why_closed: str = ""
    """`completed`, `not planned` or `duplicate`; empty where nobody said."""
    labels: tuple[str, ...] = ()
    head: BranchName = BranchName("")
    """Of a pull request."""

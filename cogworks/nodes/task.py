"""What one visit of a node is about: values that the step makes and a node reads."""

from collections.abc import Mapping
from typing import Any, Literal

from cogworks.codegen.governed import POLICY
from cogworks.cycle.events import Observation
from cogworks.forge.snapshot import Neighbour
from cogworks.forge.wordings import EditedText
from cogworks.packs.choosing import FrozenPacks
from cogworks.pipeline.state import PartIssue
from cogworks.pipeline.visits import AskedChange, LookedAt
from cogworks.settings.sections import ChangeLimits, ProbeConfig, SightConfig
from cogworks.tools.policy import Policy
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, NodeId, SubItemKey, Value, VisitKey


class Visit(Value):
    """One execution of one node."""

    index: int
    """Position among all visits of the run, from 1."""
    node: NodeId
    sub_item: SubItemKey | None
    visit_key: VisitKey
    attempt: int
    """1 for the first runner, 2 after a take-over."""
    ordinal: int
    """1 for the first visit of this node (and sub-item), 2 for the first rework, …"""


class WorkItem(Value):
    """What a node may know of the issue; nothing in it varies between runs of the same item."""

    number: IssueNumber
    title: str
    body: str
    labels: tuple[str, ...]
    repository: str
    """owner/name"""
    default_branch: BranchName


class PullRequestRef(Value):
    """A pull request of this run."""

    slug: str
    """`spec`, `interfaces`, `swi-1`, …"""
    number: IssueNumber
    head: BranchName
    base: BranchName


class SubItemRef(Value):
    """A sub-work-item as the run knows it."""

    key: SubItemKey
    ordinal: int
    """Position in dependency order, from 1; its branch slug is `swi-<ordinal>`."""
    number: IssueNumber | None
    depends_on: tuple[SubItemKey, ...]
    edited: EditedText | None = None
    """The sub-issue as people rewrote it; it goes before what the plan says. None: it is as the plan has it."""


MAX_ANSWERS = 3
"""To one question where the pipeline says nothing else: the first answer and two corrections."""


class Conventions(Value):
    """What the repository configured about how nodes work."""

    specs: tuple[str, ...] = ("docs/specs",)
    """Where specifications may be written, without a trailing slash: the first that git does not ignore counts."""
    merges_specs: bool = False
    """Whether a specification becomes a file of the repository, and is not only shown to people."""
    sub_item_label: str = "cogworks:sub-work-item"
    max_retries: int = 5
    """Attempts at code generation after the first."""
    max_answers: int = MAX_ANSWERS
    """Answers to one question of this node, the first included, before the visit fails."""
    baseline: Literal["require", "allow-failing", "none"] = "require"
    """What is wanted of the tests that are there: that all can be loaded, nothing, or not even a run."""
    test_writer: Literal["separate", "none"] = "separate"
    """Whether tests are written, and handed over, before the code; `none`: they come with it."""
    test_warnings: tuple[str, ...] = ()
    """Codes of the checks of handed-over tests that only warn."""
    test_judge: bool = False
    """Whether a model looks once whether the tests assert what is wanted."""
    own_labels: tuple[str, ...] = ()
    """Labels by which people and the program steer work items; no node sets one."""
    manifests: tuple[str, ...] = ()
    """Patterns of files that say what is installed or how tests run, and that only a person changes."""
    pipelines: Mapping[str, str] = {}
    """The pipelines that a classification may choose: name -> description; empty where there is no choice."""
    combined_review: bool = False
    """One question about all sides of a change instead of one about each."""
    lane_files: int = 0
    """Files that the work may change on the short way that the item is on, and no public interface with them; what needs more
    moves up. 0: it is on no such way."""
    remarks_at_lines: bool = True
    """Whether what a review leaves for people stands at the lines of the pull request."""
    division: Literal["", "on_request", "by_rule", "asked"] = ""
    """Whether an issue that is too large for one work item is divided: where people ask for it, where the rule says so, or because
    they have asked. Empty: the repository has pipelines of its own."""
    trigger: str = "cogworks:run"
    """The label that starts an item."""
    safety_critical: str = ""
    """The label for work where safety is at stake, where this item is of that kind; else empty."""
    change_limits: ChangeLimits = ChangeLimits()
    probes: ProbeConfig = ProbeConfig()
    sight: SightConfig = SightConfig()
    coding_policy: Policy = POLICY
    """What the actions of the coding cycle may do."""


class Learnt(Value):
    """What an item brings along that was on a shorter way before."""

    why: str
    """Why that did not do."""
    output: Mapping[str, Any] = {}
    """What its last node put out; empty where none had."""


class NodeTask(Value):
    """Everything one visit is about."""

    visit: Visit
    item: WorkItem
    kind: str = ""
    """What Intake classified the item as, e.g. `bug_fix`; empty before that."""
    inputs: Mapping[str, Any]
    """Declared input slot -> output JSON of the latest visit that produced it (the same sub-item's first)."""
    dependency_outputs: Mapping[SubItemKey, Mapping[str, Any]]
    """For a sub-item: what its dependencies' nodes produced, slot -> JSON."""
    earlier: Mapping[str, Any] = {}
    """What the latest successful visit of this node (and sub-item) put out, slot -> JSON, also where rework has
    discarded it; empty on a first visit."""
    learnt: Learnt | None = None
    """On a node that works on the item as a whole; None: the item was on no other way before."""
    earlier_failure: str = ""
    """Why the visit of this node (and sub-item) before this one failed; empty where it did not, or there was none."""
    asked_changes: tuple[AskedChange, ...] = ()
    """What people want otherwise since this node (and sub-item) last succeeded, by a review or by `/cogworks reject`."""
    sub_item: SubItemRef | None
    sub_items: tuple[SubItemRef, ...]
    parts: tuple[PartIssue, ...] = ()
    """The issues into which the item was divided."""
    made_by: Mapping[str, VisitKey] = {}
    """Input slot -> the visit that put it out."""
    pull_requests: tuple[PullRequestRef, ...]
    branch: BranchName
    """The branch this node publishes to, e.g. `cogworks/42/spec`."""
    slug: str = ""
    """What that branch, and its pull request, are called within the run; empty where the node has none."""
    base_branch: BranchName
    """What that branch starts from: the default branch, or the branch of an unmerged result that the visit builds on."""
    base_oid: CommitOid | None = None
    """The commit of the base branch that people let pass; None: wherever that branch stands."""
    merge_branches: tuple[BranchName, ...]
    """Further unmerged results to merge into the working copy before starting."""
    approved: Mapping[str, CommitOid] = {}
    """Slot -> the head of its pull request, at which people let what is in it pass; slots without one are left out."""
    is_last: bool = False
    """The merge of its pull request completes the item."""
    closes_issue: bool = False
    """The merge of its pull request completes the item, and shall close the issue."""
    conventions: Conventions = Conventions()
    approved_calls: tuple[str, ...] = ()
    """Hashes of the calls of tools that people approved for this visit."""
    lapsed_calls: Mapping[str, str] = {}
    """Calls whose approval is too old to count: hash -> who gave it and why it does not count."""
    packs: FrozenPacks | None = None
    """What the run decided about context packs; None: nothing yet, or there are none."""
    neighbours: tuple[Neighbour, ...] = ()
    """For Intake, when a run begins: other issues and merged pull requests that may say or do the same, the likest first."""
    looked: tuple[LookedAt, ...] = ()
    """What earlier visits for the same work looked at, each file once, the latest look last."""
    experience: tuple[Observation, ...] | None = None
    """What earlier visits of such nodes came to; None where nobody asked to have it remembered."""

"""What a run remembers: an immutable value, fit to resume from, with the transitions that may be made of it."""

import hashlib
from collections.abc import Mapping
from operator import itemgetter
from typing import Literal

from pydantic import Field

from cogworks.pipeline.graph import GraphHash, Instance
from cogworks.pipeline.graph import SubItem as ScheduledItem
from cogworks.pipeline.lane_choice import MovedUp
from cogworks.pipeline.people import (
    INPUTS_NODE,
    Approval,
    AskedCall,
    CommentRef,
    GatePassed,
    Held,
    Inputs,
    Owed,
    Refusal,
)
from cogworks.pipeline.spend import Expected, ItemCost, Spend
from cogworks.pipeline.visits import FoldedVisits, KnownBase, Lease, NextCall, VisitRecord, fold
from cogworks.vocabulary import (
    BranchName,
    CommitOid,
    IssueNumber,
    RunId,
    SubItemKey,
    Value,
    VisitKey,
)

SCHEMA_VERSION = "1"
RunStatus = Literal["running", "done", "failed", "cancelled"]


class SubItem(Value):
    """A sub-work-item of the plan."""

    key: SubItemKey
    ordinal: int
    """Position in dependency order, from 1; its branch slug is `swi-<ordinal>`."""
    title: str
    depends_on: tuple[SubItemKey, ...] = ()
    number: IssueNumber | None = None
    node_id: str | None = None


class PartIssue(Value):
    """One of the issues into which the work item was divided; an item of its own."""

    key: SubItemKey
    """The proposal's own name of it, e.g. `A`."""
    title: str
    depends_on: tuple[SubItemKey, ...] = ()
    number: IssueNumber
    node_id: str


class KnownPull(Value):
    """A pull request of this run, found again by its number."""

    slug: str
    number: IssueNumber
    node_id: str
    head: BranchName
    base: BranchName
    is_shown_only: bool = False
    """People read and approve it, and nobody merges it: it is closed once it is approved, and nothing is built on its branch."""


class EarlierRuns(Value):
    """What is kept of the runs of this item before a restart."""

    last_index: int = 0
    """Visits are numbered on, so that no folder of the ledger is written twice."""
    revision: int = 0
    spend: Spend = Spend()


class RunState(Value):
    """Everything a run needs to go on anywhere; `state.json` in the ledger is exactly this."""

    schema_version: Literal["1"] = "1"
    run_id: RunId
    run_number: int = 1
    repository_id: str
    repository: str
    issue: IssueNumber
    issue_digest: str
    """sha256 of title and body as the run saw them first."""
    pipeline: str
    graph_hash: GraphHash
    moved_up: MovedUp | None = None
    """None: the run is on the way that was chosen at first, or by what Intake found."""
    status: RunStatus = "running"
    kind: str = ""
    """The classification's type, e.g. `bug_fix`; a label shows it."""
    is_safety_critical: bool = False
    complexity: str = ""
    """The classification's estimate of the scope: `low`, `medium` or `high`."""
    visits: tuple[VisitRecord, ...] = ()
    """Those that count, and what is still asked of discarded ones; see `visits.fold`."""
    folded: tuple[FoldedVisits, ...] = ()
    leases: tuple[Lease, ...] = ()
    marks: Mapping[str, Literal["taken", "not_taken", "dead"]] = Field(default_factory=dict)
    """`<edge>` or `<edge>@<sub-item>` -> what was decided; absent = not yet."""
    traversals: Mapping[str, int] = Field(default_factory=dict)
    """How often each rework edge was taken, keyed like `marks`."""
    sub_items: tuple[SubItem, ...] | None = None
    """None until the plan exists."""
    parts: tuple[PartIssue, ...] = ()
    """The issues into which the item was divided; empty where it was not, or not yet."""
    pull_requests: tuple[KnownPull, ...] = ()
    gates: tuple[GatePassed, ...] = ()
    status_comment: CommentRef | None = None
    inputs: Inputs = Inputs()
    identities: tuple[int, ...] = ()
    """`databaseId` of everyone who has held a lease."""
    given_back: tuple[Lease, ...] = ()
    """Visits that ended neither well nor badly, e.g. by Ctrl-C: the runner that claims one goes on under its key."""
    asked_by: str = ""
    """Who said `/cogworks run`; as good as the trigger label."""
    held: Held | None = None
    approvals: tuple[Approval, ...] = ()
    owed: tuple[Owed, ...] = ()
    """Comments that people are owed and that are not posted yet."""
    earlier: EarlierRuns = EarlierRuns()
    refusal: Refusal | None = None
    """Why no node could be claimed, or the one that was claimed could not begin; None once one is claimed again."""
    heads: Mapping[SubItemKey, CommitOid] = Field(default_factory=dict)
    """Head of each sub-work-item's branch that its newest visit made or judged."""
    pushed: Mapping[BranchName, tuple[CommitOid, ...]] = Field(default_factory=dict)
    """Heads of each branch that are ours: where the newest visit left it, then what a visit was about to push since."""
    packs_at: str = ""
    """Where the ledger keeps what was decided about context packs; empty: there are none."""
    expected: tuple[Expected, ...] = ()
    """What the item is expected to cost on each pipeline that it may take; empty: the run began before that was asked."""
    came_to: ItemCost | None = None
    """What the run came to; None until it is done."""
    base: KnownBase | None = None
    """What the first model call was made on; None: no base has passed, or the run began before bases were looked at."""

    @property
    def has_begun(self) -> bool:
        """Whether a node ended, or one may be claimed: from then on the run stays on its pipeline."""
        return self.refusal is None or bool(self.visits or self.folded)

    @property
    def spent(self) -> Spend:
        """Everything gone so far, reservations of live leases not included."""
        total = Spend()
        ended = [*(each.spend for each in self.folded), *(visit.spend for visit in self.visits)]
        for spend in (*ended, *(lease.spent for lease in (*self.leases, *self.given_back))):
            total = total + spend
        return total

    @property
    def reserved_usd(self) -> float:
        return sum(lease.reserved_usd for lease in self.leases)

    @property
    def reserved_tokens(self) -> int:
        return sum(lease.reserved_tokens for lease in self.leases)

    @property
    def revision(self) -> int:
        """Grows with every recorded visit and every commit that obeys people; a ledger set back has a smaller one."""
        return self.earlier.revision + self.ended + self.inputs.times

    @property
    def ended(self) -> int:
        """How many visits the run has finished."""
        return len(self.visits) + sum(len(each.indices) for each in self.folded)

    def latest(self, instance: Instance) -> VisitRecord | None:
        """The visit that counts for this node and sub-item, if any."""
        counting = [v for v in self.visits if v.instance == instance and not v.is_discarded]
        return counting[-1] if counting else None

    def lease_of(self, instance: Instance) -> Lease | None:
        return next((lease for lease in self.leases if lease.instance == instance), None)

    def unfinished(self, instance: Instance) -> Lease | None:
        """The visit of this node and sub-item that somebody gave back, if any."""
        return next((lease for lease in self.given_back if lease.instance == instance), None)

    def lease_stands(self, lease: Lease) -> bool:
        """True while this very lease (visit, holder, attempt) is the one in the state."""
        return any(
            (held.visit_key, held.holder, held.attempt) == (lease.visit_key, lease.holder, lease.attempt)
            for held in self.leases
        )

    def sub_item(self, key: SubItemKey) -> SubItem:
        for item in self.sub_items or ():
            if item.key == key:
                return item
        message = f"sub-work-item {key!r} is not in the plan of run {self.run_id}"
        raise KeyError(message)

    def is_planned(self, key: SubItemKey | None) -> bool:
        """Whether that is the whole item, or a sub-work-item of the plan."""
        return key is None or any(item.key == key for item in self.sub_items or ())

    def folder(self, index: int, instance: Instance) -> str:
        """Where the ledger keeps a visit, e.g. `visits/0007-code_generation@57` (57 = the sub-issue)."""
        node, sub_item = instance
        if sub_item is None:
            return f"visits/{index:04d}-{node}"
        return f"visits/{index:04d}-{node}@{self.sub_item(sub_item).number or sub_item}"

    @property
    def schedule(self) -> tuple[ScheduledItem, ...] | None:
        """The plan as the scheduler needs it."""
        if self.sub_items is None:
            return None
        return tuple(ScheduledItem(key=item.key, depends_on=item.depends_on) for item in self.sub_items)

    def pull(self, slug: str) -> KnownPull | None:
        return next((pull for pull in self.pull_requests if pull.slug == slug), None)

    def next_index(self) -> int:
        """The index of the next visit; leased and unfinished visits already have theirs."""
        # An unfinished visit has its folder in the ledger already.
        leased = [lease.index for lease in (*self.leases, *self.given_back)]
        return max(self.earlier.last_index, *(index for index, _ in self.finished()), *leased, 0) + 1

    def finished(self) -> tuple[tuple[int, Instance], ...]:
        """Index and instance of every finished visit, by index."""
        folded = [(index, each.instance) for each in self.folded for index in each.indices]
        return tuple(
            sorted([*folded, *((visit.index, visit.instance) for visit in self.visits)], key=itemgetter(0))
        )

    def ordinal_of_next(self, instance: Instance) -> int:
        return 1 + len(self.sum_of(instance).indices)

    def sum_of(self, instance: Instance) -> FoldedVisits:
        """All finished visits of an instance, folded or not, as one sum."""
        node, sub_item = instance
        nothing = FoldedVisits(node=node, sub_item=sub_item, indices=())
        total = next((each for each in self.folded if each.instance == instance), nothing)
        for visit in self.visits:
            total = total.with_visit(visit) if visit.instance == instance else total
        return total

    def with_lease(self, lease: Lease, *, identity: int) -> "RunState":
        """Claim a visit; what it has cost already stays with it, a dead runner's reservation included.

        A lease on the same instance goes: the caller has made sure that it is stale.
        """
        unfinished = self.unfinished(lease.instance)
        if left := self.lease_of(lease.instance) or unfinished:
            # Nothing is reserved for a visit that was given back.
            kept = {"spent": left.spent_at_most, "approved_calls": left.approved_calls}
            lease = lease.model_copy(update=kept)
        others = tuple(held for held in self.leases if held.instance != lease.instance)
        waiting = tuple(each for each in self.given_back if each is not unfinished)
        # Later steps may run under another account, and have to know our comments by their authors.
        known = self.identities if identity in self.identities else (*self.identities, identity)
        return self.model_copy(
            update={"leases": (*others, lease), "given_back": waiting, "identities": known}
        )

    def having_read(self, comment_id: int) -> "RunState":
        """Say that every comment up to this one has been looked at, so that nobody reads back to it again."""
        if comment_id <= self.inputs.last_comment_id:
            return self
        inputs = self.inputs.model_copy(update={"last_comment_id": comment_id})
        return self.model_copy(update={"inputs": inputs})

    def checkpointed(self, lease: Lease, spent: Spend) -> "RunState":
        """Say what a visit has cost so far while it goes on."""
        leases = tuple(
            held.with_spent(spent) if held.visit_key == lease.visit_key else held for held in self.leases
        )
        return self.model_copy(update={"leases": leases})

    def released(
        self,
        lease: Lease,
        spend: Spend,
        *,
        short_of: NextCall | None = None,
        why: str = "",
        asks: AskedCall | None = None,
    ) -> "RunState":
        """Give a visit back unfinished, with the call the budget did not allow, what a person stopped it with, or the call
        that a person has to approve. Its key stays, for what it has published already carries it."""
        kept = tuple(held for held in self.leases if held.visit_key != lease.visit_key)
        stopped = {"stopped_short_of": short_of, "stopped_because": why, "asks": asks}
        # Nobody works on it, so nothing is set aside for it; what it has spent stays.
        nothing = {"reserved_usd": 0.0, "reserved_tokens": 0}
        unfinished = lease.model_copy(update={"spent": spend, **nothing, **stopped})
        return self.model_copy(update={"leases": kept, "given_back": (*self.given_back, unfinished)})

    def recorded(self, visit: VisitRecord) -> "RunState":
        """Finish a visit: its record is added and its lease goes."""
        kept = tuple(held for held in self.leases if held.visit_key != visit.visit_key)
        left = tuple(each for each in self.given_back if each.visit_key != visit.visit_key)
        # What was found on the short way is shown on the long one: its newest output is not folded.
        left_behind = self.moved_up.after if self.moved_up else 0
        folded, visits = fold(self.folded, (*self.visits, visit), left_behind=left_behind)
        return self.model_copy(
            update={"folded": folded, "visits": visits, "leases": kept, "given_back": left}
        )

    def discarding(self, instances: frozenset[Instance], marks: frozenset[str]) -> "RunState":
        """Go back behind these instances: their visits no longer count and these edges are undecided again."""
        visits = tuple(
            v.model_copy(update={"is_discarded": True}) if v.instance in instances else v for v in self.visits
        )
        # The visits stay: what they cost counts, and later rounds read what was asked of them.
        kept = {key: mark for key, mark in self.marks.items() if key not in marks}
        return self.model_copy(update={"visits": visits, "marks": kept})


def edge_key(edge: str, sub_item: SubItemKey | None) -> str:
    """How an edge of a sub-item is named in the state."""
    return edge if sub_item is None else f"{edge}@{sub_item}"


def visit_key(state: RunState, instance: Instance, index: int) -> VisitKey:
    """The name of one visit: the same after a restart, different on rework. See docs/ledger.md."""
    node, sub_item = instance
    # The run id has `/cogworks restart` begin with new keys; a visit that is taken over keeps its key.
    parts = (state.repository_id, str(state.issue), state.run_id, node, sub_item or "", str(index))
    # Parted by a character that no part holds, so that other parts never make the same text.
    return VisitKey(hashlib.sha256("\x1f".join(parts).encode()).hexdigest())


def first_visit_key(state: RunState) -> VisitKey:
    """The visit that posted the status comment: the key its marker carries."""
    # The marker goes on carrying the key with which it was posted, also in a later run of the item.
    if state.status_comment is not None and state.status_comment.visit_key:
        return VisitKey(state.status_comment.visit_key)
    known = {index: visit_key(state, at, index) for index, at in state.finished()}
    # The lease under which people are answered belongs to no visit: its index is 0.
    claims = (lease for lease in (*state.leases, *state.given_back) if lease.node != INPUTS_NODE)
    known.update((lease.index, lease.visit_key) for lease in claims)
    return known[min(known)]


def issue_digest(title: str, body: str) -> str:
    """sha256 of what was asked for; a change of it mid-run is a fact for the decision."""
    # Parted, so that a word that moves from the title into the body counts as an edit.
    return hashlib.sha256(f"{title}\x1f{body}".encode()).hexdigest()

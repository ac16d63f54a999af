"""What a run remembers: an immutable value, fit to resume from, with the transitions that may be made of it."""

import hashlib
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from cogworks.pipeline.elements import ConditionAnswer
from cogworks.pipeline.graph import GraphHash, Instance
from cogworks.pipeline.graph import SubItem as ScheduledItem
from cogworks.pipeline.known_base import KnownBase
from cogworks.pipeline.lane_choice import MovedUp
from cogworks.pipeline.people import (
    INPUTS_NODE,
    Approval,
    ApprovedCall,
    AskedCall,
    CommentRef,
    GatePassed,
    Held,
    Inputs,
    Owed,
    Refusal,
)
from cogworks.pipeline.spend import Spend
from cogworks.vocabulary import (
    BranchName,
    CommitOid,
    IssueNumber,
    NodeId,
    RunId,
    SubItemKey,
    Value,
    VisitKey,
)

SCHEMA_VERSION = "1"
LEASE_TTL_S = 180
LEASE_MARGIN_S = 60
MAX_ATTEMPTS = 3
"""Runners that may die on one visit before the node fails instead of being tried for ever."""

RunStatus = Literal["running", "done", "failed", "cancelled"]


class NextCall(Value):
    """The most that the model call can cost which a visit stopped before."""

    cost_usd: float
    tokens: int


class VisitRecord(Value):
    """One finished visit of one node."""

    index: int
    node: NodeId
    sub_item: SubItemKey | None
    visit_key: VisitKey
    ordinal: int
    attempt: int
    status: Literal["succeeded", "failed"]
    summary: str
    """What it did in one line, or why it failed."""
    caution: str = ""
    """What people have to know before they read anything else about its result."""
    spend: Spend = Spend()
    duration_s: float = 0.0
    has_output: bool = False
    is_empty: bool = False
    """It found that there was nothing to do: nobody has to pass its result, unless safety is at stake."""
    output_sha256: str = ""
    """Of `output.json` as it stands in the ledger; what people approve where there is no pull request."""
    awaits_routing: bool = False
    """Expressions alone could not say where it leads: a routing visit decides its edges."""
    answers: tuple[ConditionAnswer, ...] = ()
    """A routing visit: what the model said, in the order it was asked."""
    is_discarded: bool = False
    """A rework edge or a retry went back behind it; its output no longer counts."""

    @property
    def instance(self) -> Instance:
        return Instance(self.node, self.sub_item)

    @property
    def told(self) -> str:
        """The summary with what has to be known first."""
        return f"{self.caution} {self.summary}" if self.caution else self.summary


class Lease(Value):
    """Who works on which visit, and what they may spend before they must say so."""

    visit_key: VisitKey
    index: int
    node: NodeId
    sub_item: SubItemKey | None
    ordinal: int
    holder: str
    attempt: int
    ttl_s: int = LEASE_TTL_S
    reserved_usd: float = 0.0
    """The most this runner may spend before it says so in the ledger; booked as spent when it dies."""
    reserved_tokens: int = 0
    is_capped: bool = False
    """The reservation is all that the visit may still cost, so it shrinks with what is spent."""
    spent: Spend = Spend()
    """What this visit has cost so far, earlier attempts and their lost reservations included."""
    stopped_short_of: NextCall | None = None
    """Given back because this call did not fit into the budget; it is claimed again when it does, or people ask."""
    stopped_because: str = ""
    """Given back because a person stopped it in its midst: the reason."""
    asks: AskedCall | None = None
    """Given back because this call needs a person; it is claimed again when somebody approves the call."""
    approved_calls: tuple[ApprovedCall, ...] = ()
    """What people approved for this visit; whether it still counts is judged when the visit is claimed."""
    graph_hash: GraphHash
    input_digest: str

    @property
    def instance(self) -> Instance:
        return Instance(self.node, self.sub_item)

    @property
    def spent_at_most(self) -> Spend:
        """What the visit has cost if its runner died: everything it had reserved may be gone."""
        return self.spent + self.reserved

    @property
    def reserved(self) -> Spend:
        """As it is booked when the runner dies."""
        return Spend(
            cost_usd=self.reserved_usd,
            input_tokens=self.reserved_tokens,
            unconfirmed_usd=self.reserved_usd,
            unconfirmed_tokens=self.reserved_tokens,
        )

    def stealable_in_s(self, age_s: float | None) -> float:
        """Seconds until it may be taken over; `age_s` is None where nobody has heard of it for too long."""
        return 0.0 if age_s is None else max(0.0, self.ttl_s + LEASE_MARGIN_S - age_s)

    def with_spent(self, spent: Spend) -> "Lease":
        """The lease after its runner said what the visit has cost so far."""
        more_usd = (spent - self.spent).cost_usd if self.is_capped else 0.0
        rest_usd = round(max(0.0, self.reserved_usd - more_usd), 9)
        return self.model_copy(update={"spent": spent, "reserved_usd": rest_usd})


class SubItem(Value):
    """A sub-work-item of the plan."""

    key: SubItemKey
    ordinal: int
    """Position in dependency order, from 1; its branch slug is `swi-<ordinal>`."""
    title: str
    depends_on: tuple[SubItemKey, ...] = ()
    number: IssueNumber | None = None
    node_id: str | None = None


class KnownPull(Value):
    """A pull request of this run, found again by its number."""

    slug: str
    number: IssueNumber
    node_id: str
    head: BranchName
    base: BranchName


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
    leases: tuple[Lease, ...] = ()
    marks: Mapping[str, Literal["taken", "not_taken", "dead"]] = Field(default_factory=dict)
    """`<edge>` or `<edge>@<sub-item>` -> what was decided; absent = not yet."""
    traversals: Mapping[str, int] = Field(default_factory=dict)
    """How often each rework edge was taken, keyed like `marks`."""
    sub_items: tuple[SubItem, ...] | None = None
    """None until the plan exists."""
    pull_requests: tuple[KnownPull, ...] = ()
    gates: tuple[GatePassed, ...] = ()
    status_comment: CommentRef | None = None
    inputs: Inputs = Inputs()
    identities: tuple[int, ...] = ()
    """`databaseId` of everyone who has held a lease."""
    given_back: tuple[Lease, ...] = ()
    """Visits that ended neither well nor badly, e.g. by Ctrl-C: whoever claims one goes on under its key."""
    asked_by: str = ""
    """Who said `/cogworks run`; as good as the trigger label."""
    held: Held | None = None
    approvals: tuple[Approval, ...] = ()
    owed: tuple[Owed, ...] = ()
    """Comments that people are owed and that are not posted yet."""
    earlier: EarlierRuns = EarlierRuns()
    refusal: Refusal | None = None
    """Why no node could be claimed yet; None once one was."""
    heads: Mapping[SubItemKey, CommitOid] = Field(default_factory=dict)
    """Head of each sub-work-item's branch that its newest visit made or judged."""
    pushed: Mapping[BranchName, tuple[CommitOid, ...]] = Field(default_factory=dict)
    """Heads of each branch that are ours: where the newest visit left it, then what a visit was about to push since."""
    base: KnownBase | None = None
    """What the first model call was made on; None: no base has passed, or the run began before bases were looked at."""

    @property
    def spent(self) -> Spend:
        """Everything gone so far, reservations of live leases not included."""
        total = Spend()
        for visit in self.visits:
            total = total + visit.spend
        for lease in (*self.leases, *self.given_back):
            total = total + lease.spent
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
        return self.earlier.revision + len(self.visits) + self.inputs.times

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
        used = [self.earlier.last_index, *(visit.index for visit in self.visits)]
        used += [lease.index for lease in (*self.leases, *self.given_back)]
        return max(used) + 1

    def ordinal_of_next(self, instance: Instance) -> int:
        return 1 + sum(1 for visit in self.visits if visit.instance == instance)

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
        nothing = {"reserved_usd": 0.0, "reserved_tokens": 0}
        unfinished = lease.model_copy(update={"spent": spend, **nothing, **stopped})
        return self.model_copy(update={"leases": kept, "given_back": (*self.given_back, unfinished)})

    def recorded(self, visit: VisitRecord) -> "RunState":
        """Finish a visit: its record is added and its lease goes."""
        kept = tuple(held for held in self.leases if held.visit_key != visit.visit_key)
        left = tuple(each for each in self.given_back if each.visit_key != visit.visit_key)
        return self.model_copy(update={"visits": (*self.visits, visit), "leases": kept, "given_back": left})

    def discarding(self, instances: frozenset[Instance], marks: frozenset[str]) -> "RunState":
        """Go back behind these instances: their visits no longer count and these edges are undecided again."""
        visits = tuple(
            v.model_copy(update={"is_discarded": True}) if v.instance in instances else v for v in self.visits
        )
        kept = {key: mark for key, mark in self.marks.items() if key not in marks}
        return self.model_copy(update={"visits": visits, "marks": kept})


def edge_key(edge: str, sub_item: SubItemKey | None) -> str:
    """How an edge of a sub-item is named in the state."""
    return edge if sub_item is None else f"{edge}@{sub_item}"


def visit_key(state: RunState, instance: Instance, index: int) -> VisitKey:
    """The name of one visit: the same after a restart, different on rework. See docs/ledger.md."""
    node, sub_item = instance
    parts = (state.repository_id, str(state.issue), state.run_id, node, sub_item or "", str(index))
    return VisitKey(hashlib.sha256("\x1f".join(parts).encode()).hexdigest())


def first_visit_key(state: RunState) -> VisitKey:
    """The visit that posted the status comment: the key its marker carries."""
    if state.status_comment is not None and state.status_comment.visit_key:
        return VisitKey(state.status_comment.visit_key)
    known = {visit.index: visit.visit_key for visit in state.visits}
    claims = (lease for lease in (*state.leases, *state.given_back) if lease.node != INPUTS_NODE)
    known.update((lease.index, lease.visit_key) for lease in claims)
    return known[min(known)]


def issue_digest(title: str, body: str) -> str:
    """sha256 of what was asked for; a change of it mid-run is a fact for the decision."""
    return hashlib.sha256(f"{title}\x1f{body}".encode()).hexdigest()

"""Visits of a run: what is remembered of a finished one, of many that no longer count, and of one that somebody works on."""

from collections.abc import Iterable, Sequence
from typing import Literal

from cogworks.pipeline.elements import ConditionAnswer
from cogworks.pipeline.graph import GraphHash, Instance
from cogworks.pipeline.people import ApprovedCall, AskedCall
from cogworks.pipeline.spend import Spend
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, ScopeCode, SubItemKey, Value, VisitKey

# Three renewals (`engine/visit.RENEWAL_S`) fit into it: one that fails loses no visit.
LEASE_TTL_S = 180
LEASE_MARGIN_S = 60
MAX_ATTEMPTS = 3
"""Runners that may die on one visit before the node fails instead of being tried for ever."""
KEPT_DISCARDED = 20
"""Discarded visits that the state keeps whole; older ones are folded, so that a state does not grow with the rounds behind it."""


class NextCall(Value):
    """The most that the model call can cost which a visit stopped before."""

    cost_usd: float
    tokens: int


class AskedChange(Value):
    """Something that somebody wants otherwise in a result."""

    by: str
    file: str = ""
    """Empty: it is about the result as a whole."""
    line: int = 0
    """In the newer file; 0: it is about the whole file."""
    text: str
    pull_request: IssueNumber | None = None
    """Where a review or a check says it; None: a command did."""
    check: str = ""
    """The check that failed and says it; empty: a person says it."""
    merges: CommitOid | None = None
    """The commit of the base branch that shall be merged into the pull request's; None: it asks for something else."""

    @property
    def place(self) -> str:
        """`file:line`, as far as they are known."""
        return f"{self.file}:{self.line}" if self.line else self.file


MOST_CONTAMINATED = 10
"""The manifests of the replies name the others."""


MOST_LOOKED = 8
"""Files that a visit records as looked at, and that one is handed. A state is read by every step, so it stays short."""


class LookedAt(Value):
    """What of a file a visit looked at: nodes after it are shown the same lines."""

    path: str
    version: str
    """Hex digits that stand for the text of the file, so that no lines of another text are taken for these."""
    lines: tuple[tuple[int, int], ...]
    """First and last line of each stretch, from 1, both ends included."""


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
    code: ScopeCode = ""
    """In which way it left its bounds, where that ended it."""
    caution: str = ""
    """What people have to know before they read anything else about its result."""
    contaminated: tuple[str, ...] = ()
    """Texts that the model was shown and that give it orders: what each is, and the kinds of orders; at most `MOST_CONTAMINATED`."""
    looked: tuple[LookedAt, ...] = ()
    """What it looked at, the latest look last."""
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
    changes: tuple[AskedChange, ...] = ()
    """Somebody rejected its result and asked for these."""
    is_discarded: bool = False
    """A rework edge or a retry went back behind it; its output no longer counts."""

    @property
    def instance(self) -> Instance:
        return Instance(self.node, self.sub_item)

    @property
    def is_mended(self) -> bool:
        """Nobody rejected its result: checks failed at it, or its base moved, so that it is gone on with and not made from nothing."""
        return (
            self.has_output
            and bool(self.changes)
            # One wish of a person among them, and the result is rejected all the same.
            and all(change.check or change.merges for change in self.changes)
        )

    @property
    def waits(self) -> bool:
        """It is no failure: people have to say first what it may have, and then it is done again."""
        return self.status == "failed" and self.code == "SCOPE_UNDERSPECIFIED"

    @property
    def full_summary(self) -> str:
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
        # The runner that renews the lease makes any other reservation anew.
        more_usd = (spent - self.spent).cost_usd if self.is_capped else 0.0
        rest_usd = round(max(0.0, self.reserved_usd - more_usd), 9)
        return self.model_copy(update={"spent": spent, "reserved_usd": rest_usd})


class FoldedVisits(Value):
    """Visits of one node and sub-work-item that no longer count, as a sum; each keeps its folder in the ledger."""

    node: NodeId
    sub_item: SubItemKey | None
    indices: tuple[int, ...]
    """Ascending; with the instance they give back visit keys and folders."""
    spend: Spend = Spend()
    duration_s: float = 0.0

    @property
    def instance(self) -> Instance:
        return Instance(self.node, self.sub_item)

    def with_visit(self, visit: VisitRecord) -> "FoldedVisits":
        """The sum with one visit more."""
        return self.model_copy(
            update={
                "indices": tuple(sorted((*self.indices, visit.index))),
                "spend": self.spend + visit.spend,
                # Rounded, because sums of floats drift, and equal states have to be equal texts.
                "duration_s": round(self.duration_s + visit.duration_s, 3),
            }
        )


def fold(
    folded: Sequence[FoldedVisits], visits: Sequence[VisitRecord], *, left_behind: int
) -> tuple[tuple[FoldedVisits, ...], tuple[VisitRecord, ...]]:
    """What stays of the visits of a run: the sums, and the visits that are kept whole, in their order.

    A visit is folded when nothing can ask for more than its sum: it was discarded, a newer one of its instance exists, it is not the
    newest with an output (which rework edits) or with what people asked for, and it wrote a folder. The newest `KEPT_DISCARDED` of those stay whole for people.

    Args:
        left_behind: the last index of a lane that the item has left; the newest output from there is still shown. 0 = no such lane.
    """
    needed = _needed(visits, left_behind)
    idle = [visit for visit in visits if visit.index not in needed]
    # The oldest: people look at what was discarded last.
    gone = {visit.index for visit in idle[: max(0, len(idle) - KEPT_DISCARDED)]}
    sums = {each.instance: each for each in folded}
    for visit in visits:
        if visit.index in gone:
            before = sums.get(visit.instance)
            empty = FoldedVisits(node=visit.node, sub_item=visit.sub_item, indices=())
            sums[visit.instance] = (before or empty).with_visit(visit)
    return tuple(sums.values()), tuple(visit for visit in visits if visit.index not in gone)


def _needed(visits: Iterable[VisitRecord], left_behind: int) -> frozenset[int]:
    newest: dict[tuple[str, Instance | None], int] = {}
    needed = set()
    for visit in visits:
        newest["visit", visit.instance] = visit.index
        if visit.has_output and visit.status == "succeeded":
            newest["result", visit.instance] = visit.index
        if visit.changes:
            newest["asked", visit.instance] = visit.index
        if visit.has_output and visit.index <= left_behind:
            newest["left behind", None] = visit.index
        # A visit that was given up because its runners died may have left no folder to be read again.
        if not visit.is_discarded or (visit.status == "failed" and visit.attempt >= MAX_ATTEMPTS):
            needed.add(visit.index)
    return frozenset(needed | set(newest.values()))


class KnownBase(Value):
    """A base on which work could begin: its environment was there, and its suite was what the repository wants of it.

    Where a later commit of it is broken, `problem` says so, and everything else is still about the last one that was not.
    """

    oid: CommitOid
    """The commit of the default branch."""
    environment_key: str = ""
    """Of what the tests ran with; empty: the services do not say."""
    follows_from_files: bool = False
    """Whether the environment follows from files of the base and from the kind of machine: no service need be asked while those stay."""
    machine: str = ""
    """On what kind of machine they ran, behind complete isolation; empty: it was not noted, or there was none."""
    wanted: str = "require"
    """`[tests] baseline` as it was then."""
    line: str
    """For people, e.g. `745 tests pass, 2 fail already, environment made in 12.3 s`."""
    path: str
    """The file of the ledger that holds the findings."""
    tests_documents: bool = False
    """Whether tests stand in documents, so that a change of one may matter to the suite."""
    problem: str = ""
    """Why nothing may be paid for on what the base became since; empty: nothing is known against it."""

    @property
    def description(self) -> str:
        """For people, in one line: what is wrong with it before what it was."""
        if not self.problem:
            return self.line
        return f"broken now ({self.problem.splitlines()[0]}); before that: {self.line}"

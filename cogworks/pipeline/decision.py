"""What happens next to one work item: the same facts and the same state give the same answer."""

from collections.abc import Mapping
from typing import Literal

from cogworks.pipeline.frontier import EdgeMark, EdgeRef, Frontier, InstanceStatus, frontier
from cogworks.pipeline.graph import Instance, Node, Pipeline
from cogworks.pipeline.state import (
    LEASE_MARGIN_S,
    MAX_ATTEMPTS,
    GatePassed,
    Lease,
    RunState,
    VisitRecord,
    edge_key,
    visit_key,
)
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, SubItemKey, Value, VisitKey


class PullFacts(Value):
    """A pull request as GitHub shows it now."""

    number: IssueNumber
    state: Literal["open", "closed", "merged"]
    head_oid: CommitOid
    url: str = ""
    merged_by: str = ""
    approved_by: str = ""
    """A person with write permission who approved this very head, and nobody such asked for changes."""


class Facts(Value):
    """What GitHub says now, as far as the decision needs it."""

    issue_is_open: bool
    issue_url: str
    is_triggered: bool
    is_held: bool = False
    is_cancelled: bool = False
    trigger: str
    """The name of the trigger label, for messages."""
    trigger_event_id: str = ""
    """The newest time somebody set the trigger label."""
    is_safety_critical: bool = False
    pulls: Mapping[IssueNumber, PullFacts]
    lease_ages_s: Mapping[VisitKey, float]
    """Seconds since the newest ledger commit of each visit, by GitHub's clocks; absent = too old to be seen."""
    max_cost_usd: float
    max_tokens: int
    take_over: bool = False
    """The operator says that the other runner is dead."""
    wanted: Instance | None = None
    """The operator picked this node (and sub-item)."""


class WaitingFor(Value):
    """Something only a person can do, and the words to ask for it."""

    kind: Literal["merge", "approval", "label", "reopen"]
    node: NodeId | None = None
    sub_item: SubItemKey | None = None
    number: IssueNumber | None = None
    url: str = ""
    who: str
    ask: str
    """What to do, in one sentence."""


class Run(Value):
    """Run this visit."""

    instance: Instance
    index: int
    ordinal: int
    visit_key: VisitKey
    attempt: int
    taken_over_from: Lease | None = None


class GiveUpOn(Value):
    """Too many runners died on this visit: record it as failed."""

    lease: Lease
    reason: str


class Finish(Value):
    """Everything is done; only the state does not say so yet."""


class Wait(Value):
    """Nothing can move before a person acts."""

    waiting_for: tuple[WaitingFor, ...]


class BackOff(Value):
    """Another runner is at work."""

    lease: Lease
    stealable_in_s: float


class Nothing(Value):
    """Nothing is left to do."""

    reason: str


class Stop(Value):
    """The item cannot go on by itself."""

    outcome: Literal["failed", "usage_error", "configuration_error", "budget_reached"]
    reason: str


Decision = Run | GiveUpOn | Finish | Wait | BackOff | Nothing | Stop


class Position(Value):
    """Where a run stands: what each instance is, and what may start."""

    statuses: Mapping[Instance, InstanceStatus]
    gates: tuple[GatePassed, ...]
    rejected: Mapping[Instance, IssueNumber]
    frontier: Frontier


def decide(state: RunState, facts: Facts, pipeline: Pipeline) -> Decision:
    """Choose the next move for one work item.

    Order of precedence: an ended or closed item, what people said by label, a changed graph, a node that failed for
    good, the nodes that are ready, a live lease, gates. Never raises: a state that cannot move on is a `Wait` or a
    `Stop` with a reason an operator can act on.
    """
    if forced := _forced(state, facts, pipeline):
        return forced
    position = locate(state, facts, pipeline)
    if position.frontier.finished:
        return Finish()
    return _claimable(state, facts, position) or _stuck(state, facts, pipeline, position)


def obey(state: RunState, facts: Facts) -> RunState:
    """The state after what people newly asked for: setting the trigger label again retries what failed."""
    if not facts.trigger_event_id or facts.trigger_event_id == state.inputs.trigger_event_id:
        return state
    failed = frozenset(v.instance for v in state.visits if v.status == "failed" and not v.is_discarded)
    inputs = state.inputs.model_copy(update={"trigger_event_id": facts.trigger_event_id})
    return state.discarding(failed, frozenset()).model_copy(update={"inputs": inputs})


def locate(state: RunState, facts: Facts, pipeline: Pipeline) -> Position:
    """Where the run stands, given what people decided about its gates."""
    statuses: dict[Instance, InstanceStatus] = {}
    gates: list[GatePassed] = []
    rejected: dict[Instance, IssueNumber] = {}
    for visit in state.visits:
        if visit.is_discarded:
            continue
        statuses[visit.instance] = InstanceStatus.FAILED
        if visit.status == "failed":
            continue
        verdict = _gate(state, facts, pipeline.node(visit.node), visit)
        if isinstance(verdict, GatePassed):
            gates.append(verdict)
        if isinstance(verdict, int):
            rejected[visit.instance] = verdict
        else:
            statuses[visit.instance] = (
                InstanceStatus.WAITING_GATE if verdict == "waiting" else InstanceStatus.SUCCEEDED
            )
    for lease in state.leases:
        statuses[lease.instance] = InstanceStatus.RUNNING
    ahead = frontier(pipeline, _marks(state, pipeline), statuses, state.schedule)
    return Position(statuses=statuses, gates=tuple(gates), rejected=rejected, frontier=ahead)


def slug_of(state: RunState, node: Node, sub_item: SubItemKey | None) -> str:
    """The branch and pull-request slug of a node's result, `""` where it has none."""
    if not node.slug or sub_item is None:
        return node.slug or ""
    return f"{node.slug}-{state.sub_item(sub_item).ordinal}"


def waiting_for(state: RunState, facts: Facts, pipeline: Pipeline) -> tuple[WaitingFor, ...]:
    """What people have to do before the run can go on, in the order of the visits."""
    position = locate(state, facts, pipeline)
    waits = []
    for (node_id, sub_item), status in position.statuses.items():
        if status is InstanceStatus.WAITING_GATE:
            waits.append(_ask(state, facts, pipeline.node(node_id), sub_item))
    return tuple(waits)


def _forced(state: RunState, facts: Facts, pipeline: Pipeline) -> Decision | None:
    if state.status == "done":
        return Nothing(reason="every sub-work-item has a reviewed pull request")
    if not facts.issue_is_open:
        return Stop(
            outcome="usage_error",
            reason=f"{facts.issue_url} is closed. Reopen it and set the label {facts.trigger!r} to go on.",
        )
    label = _label_wait(facts)
    if label:
        return label
    if state.graph_hash != pipeline.graph_hash:
        return Stop(
            outcome="configuration_error",
            reason=f"the pipeline {state.pipeline!r} changed since this run began (graph {state.graph_hash[:12]}, now "
            f"{pipeline.graph_hash[:12]}). Restore `.cogworks/pipeline.toml`, or start the item over as a new issue.",
        )
    return None


def _label_wait(facts: Facts) -> Decision | None:
    if facts.is_held:
        ask = "remove the hold label when the item may go on"
        return Wait(waiting_for=(WaitingFor(kind="label", who="a maintainer", ask=ask),))
    if facts.is_cancelled:
        ask = "remove the cancel label when the item may go on"
        return Wait(waiting_for=(WaitingFor(kind="label", who="a maintainer", ask=ask),))
    if not facts.is_triggered:
        return Stop(
            outcome="usage_error",
            reason=f"{facts.issue_url} does not carry the label {facts.trigger!r}, so nobody asked for it. "
            f"Set the label {facts.trigger!r} and run the command again.",
        )
    return None


def _marks(state: RunState, pipeline: Pipeline) -> dict[EdgeRef, EdgeMark]:
    keys: list[SubItemKey | None] = [None, *(item.key for item in state.sub_items or ())]
    found: dict[EdgeRef, EdgeMark] = {}
    for edge in pipeline.edges:
        for key in keys:
            mark = state.marks.get(edge_key(edge.id, key))
            if mark is not None:
                found[EdgeRef(edge.id, key)] = EdgeMark(mark)
    return found


def _gate(
    state: RunState, facts: Facts, node: Node, visit: VisitRecord
) -> GatePassed | IssueNumber | Literal["open", "waiting"]:
    """`"open"`: no gate here; a number: the pull request that was closed unmerged."""
    slug = slug_of(state, node, visit.sub_item)
    known = state.pull(slug) if slug else None
    pull = facts.pulls.get(known.number) if known else None
    if pull is not None and pull.state == "closed":
        return pull.number
    if not node.needs_human_gate(safety_critical=facts.is_safety_critical or state.is_safety_critical):
        return "open"
    if pull is not None and pull.state == "merged":
        return GatePassed(
            node=node.id, sub_item=visit.sub_item, how="merged", by=pull.merged_by, oid=pull.head_oid
        )
    if pull is not None and pull.approved_by:
        return GatePassed(
            node=node.id, sub_item=visit.sub_item, how="approved", by=pull.approved_by, oid=pull.head_oid
        )
    return "waiting"


def _claimable(state: RunState, facts: Facts, position: Position) -> Decision | None:
    for lease in state.leases:
        if facts.wanted not in (None, lease.instance) or not _is_stealable(lease, facts):
            continue
        if lease.attempt >= MAX_ATTEMPTS:
            return GiveUpOn(lease=lease, reason=f"its runner died {lease.attempt} times")
        return Run(
            instance=lease.instance,
            index=lease.index,
            ordinal=lease.ordinal,
            visit_key=lease.visit_key,
            attempt=lease.attempt + 1,
            taken_over_from=lease,
        )
    for instance in position.frontier.ready:
        if facts.wanted in (None, instance):
            return _affordable(state, facts, instance)
    return None


def _affordable(state: RunState, facts: Facts, instance: Instance) -> Decision:
    spent = state.spent
    tokens = spent.input_tokens + spent.output_tokens
    committed_usd = spent.cost_usd + state.reserved_usd
    if committed_usd >= facts.max_cost_usd:
        return Stop(
            outcome="budget_reached",
            reason=f"budget: {committed_usd:.2f} of {facts.max_cost_usd:.2f} USD is spent or reserved; raise "
            "`budgets.pipeline_max_cost_dollars` in `.cogworks/config.toml` or split the issue.",
        )
    if tokens >= facts.max_tokens:
        return Stop(
            outcome="budget_reached",
            reason=f"budget: {tokens} of {facts.max_tokens} tokens are spent; raise `budgets.pipeline_max_tokens` "
            "in `.cogworks/config.toml` or split the issue.",
        )
    index = state.next_index()
    return Run(
        instance=instance,
        index=index,
        ordinal=state.ordinal_of_next(instance),
        visit_key=visit_key(state, instance, index),
        attempt=1,
    )


def _stuck(state: RunState, facts: Facts, pipeline: Pipeline, position: Position) -> Decision:
    if facts.wanted is not None and facts.wanted not in position.frontier.ready:
        return Stop(outcome="usage_error", reason=_why_not(facts.wanted, position))
    live = [lease for lease in state.leases if not _is_stealable(lease, facts)]
    if live:
        soonest = min(live, key=lambda lease: (_stealable_in_s(lease, facts), lease.index))
        return BackOff(lease=soonest, stealable_in_s=_stealable_in_s(soonest, facts))
    if failed := _failures(state, facts, position):
        return Stop(outcome="failed", reason=failed)
    if waits := waiting_for(state, facts, pipeline):
        return Wait(waiting_for=waits)
    blocked = ", ".join(f"{_name(i)} by {_name(c)}" for i, c in position.frontier.blocked.items())
    return Stop(
        outcome="failed",
        reason=f"no node can start; blocked: {blocked or 'nothing'}. Check `cogworks graph`.",
    )


def _failures(state: RunState, facts: Facts, position: Position) -> str:
    lines = [
        f"{_name(v.instance)}: {v.summary}"
        for v in state.visits
        if v.status == "failed" and not v.is_discarded
    ]
    for instance, number in position.rejected.items():
        lines.append(f"{_name(instance)}: pull request #{number} was closed unmerged; reopen it to go on")
    if not lines:
        return ""
    retry = f"Remove the label {facts.trigger!r} and set it again to retry what failed."
    return "\n".join([*lines, retry])


def _ask(state: RunState, facts: Facts, node: Node, sub_item: SubItemKey | None) -> WaitingFor:
    slug = slug_of(state, node, sub_item)
    pull = state.pull(slug) if slug else None
    if pull is None:
        return WaitingFor(
            kind="approval",
            node=node.id,
            sub_item=sub_item,
            who="anyone with write permission",
            ask=f"look at the result of {_name(Instance(node.id, sub_item))} and approve it",
        )
    known = facts.pulls.get(pull.number)
    return WaitingFor(
        kind="merge",
        node=node.id,
        sub_item=sub_item,
        number=pull.number,
        url=known.url if known else "",
        who="anyone with write permission",
        ask=f"merge or approve pull request #{pull.number}, or close it to reject it",
    )


def _stealable_in_s(lease: Lease, facts: Facts) -> float:
    age_s = facts.lease_ages_s.get(lease.visit_key)
    return 0.0 if age_s is None else max(0.0, lease.ttl_s + LEASE_MARGIN_S - age_s)


def _is_stealable(lease: Lease, facts: Facts) -> bool:
    return facts.take_over or _stealable_in_s(lease, facts) <= 0


def _why_not(wanted: Instance, position: Position) -> str:
    ready = ", ".join(_name(instance) for instance in position.frontier.ready) or "none"
    status = position.statuses.get(wanted)
    now = f"it is {status.value}" if status else "its inputs are not there yet"
    return f"node {_name(wanted)} cannot start: {now}. Ready now: {ready}."


def _name(instance: Instance) -> str:
    node, sub_item = instance
    return f"{node}@{sub_item}" if sub_item else str(node)

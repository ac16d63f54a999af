"""Where a run stands: what each place of its graph is, what its gates say, and whom it waits for."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Literal

from cogworks.pipeline.frontier import EdgeMark, EdgeRef, Frontier, InstanceStatus, frontier, instances
from cogworks.pipeline.graph import Instance, Node, Pipeline
from cogworks.pipeline.state import GatePassed, RunState, VisitRecord, edge_key
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


class Position(Value):
    """Where a run stands: what each instance is, and what may start."""

    statuses: Mapping[Instance, InstanceStatus]
    gates: tuple[GatePassed, ...]
    rejected: Mapping[Instance, IssueNumber]
    frontier: Frontier


def locate(state: RunState, facts: Facts, pipeline: Pipeline) -> Position:
    """Where the run stands, given what people decided about its gates; visits the graph has no place for do not count."""
    statuses: dict[Instance, InstanceStatus] = {}
    gates: list[GatePassed] = []
    rejected: dict[Instance, IssueNumber] = {}
    places = frozenset(instances(pipeline, state.schedule))
    for visit in state.visits:
        if visit.is_discarded or visit.instance not in places:
            continue
        statuses[visit.instance] = InstanceStatus.FAILED
        if visit.status == "failed":
            continue
        verdict = _gate(state, facts, pipeline, visit)
        if isinstance(verdict, GatePassed):
            gates.append(verdict)
        if isinstance(verdict, int):
            rejected[visit.instance] = verdict
        else:
            statuses[visit.instance] = (
                InstanceStatus.WAITING_GATE if verdict == "waiting" else InstanceStatus.SUCCEEDED
            )
    for lease in state.leases:
        if lease.instance in places:
            statuses[lease.instance] = InstanceStatus.RUNNING
    ahead = frontier(pipeline, _marks(state, pipeline), statuses, state.schedule)
    shut = {at for at, known in statuses.items() if known is InstanceStatus.WAITING_GATE} | rejected.keys()
    ahead = replace(ahead, ready=tuple(at for at in ahead.ready if not _is_behind(at, shut, pipeline)))
    return Position(statuses=statuses, gates=tuple(gates), rejected=rejected, frontier=ahead)


def slug_of(state: RunState, node: Node, sub_item: SubItemKey | None) -> str:
    """The branch and pull-request slug of a node's result, `""` where it has none."""
    if not node.slug or sub_item is None:
        return node.slug or ""
    return f"{node.slug}-{state.sub_item(sub_item).ordinal}"


def waiting_for(state: RunState, facts: Facts, pipeline: Pipeline) -> tuple[WaitingFor, ...]:
    """What people have to do before the run can go on: labels first, then gates in the order of the visits."""
    if state.status == "done":
        return ()
    position = locate(state, facts, pipeline)
    waits = [label] if (label := label_wait(facts)) else []
    for (node_id, sub_item), status in position.statuses.items():
        if status is InstanceStatus.WAITING_GATE:
            asked = _ask(state, facts, pipeline.node(node_id), sub_item)
            # Several nodes may wait for one pull request; a person merges it once.
            if asked.number is None or asked.number not in [wait.number for wait in waits]:
                waits.append(asked)
    return tuple(waits)


def failures(state: RunState, position: Position) -> tuple[tuple[Instance, str], ...]:
    """What keeps the run from its end for good, each with its reason: failed visits, then rejected pull requests."""
    found = [(v.instance, v.summary) for v in state.visits if v.status == "failed" and not v.is_discarded]
    told: set[IssueNumber] = set()
    for instance, number in position.rejected.items():
        if number not in told:
            found.append((instance, f"pull request #{number} was closed unmerged; reopen it to go on"))
        told.add(number)
    return tuple(found)


def how_to_retry(state: RunState, facts: Facts) -> str:
    """What makes failed visits run again; empty where nothing failed (a closed pull request is reopened instead)."""
    if not any(v.status == "failed" and not v.is_discarded for v in state.visits):
        return ""
    return f"Remove the label `{facts.trigger}` and set it again to retry what failed."


def label_wait(facts: Facts) -> WaitingFor | None:
    """What a label keeps from going on, whatever the run is about to do."""
    if not facts.is_held and not facts.is_cancelled:
        return None
    label = "hold" if facts.is_held else "cancel"
    return WaitingFor(
        kind="label", who="a maintainer", ask=f"remove the {label} label when the item may go on"
    )


def instance_name(instance: Instance) -> str:
    """`node` or `node@sub-item`, as people write it."""
    return f"{instance.node}@{instance.sub_item}" if instance.sub_item else str(instance.node)


def _is_behind(at: Instance, shut: AbstractSet[Instance], pipeline: Pipeline) -> bool:
    """Whether a gate on the way to it is shut; it may have been open when the nodes in between ran."""
    before = pipeline.upstream_of(at.node)
    return any(
        gate.node in before and (gate.sub_item is None or at.sub_item in (None, gate.sub_item))
        for gate in shut
    )


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
    state: RunState, facts: Facts, pipeline: Pipeline, visit: VisitRecord
) -> GatePassed | IssueNumber | Literal["open", "waiting"]:
    """`"open"`: no gate here; a number: the pull request that was closed unmerged."""
    node = pipeline.node(visit.node)
    slug = slug_of(state, node, visit.sub_item)
    known = state.pull(slug) if slug else None
    pull = facts.pulls.get(known.number) if known else None
    if pull is not None and pull.state == "closed":
        return pull.number
    if not node.needs_human_gate(safety_critical=facts.is_safety_critical or state.is_safety_critical):
        return "open"
    if known is None and node.slug and _opens_later(pipeline, node):
        # There is nothing to look at yet: the gate closes when the pull request is there.
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


def _opens_later(pipeline: Pipeline, node: Node) -> bool:
    return any(pipeline.node(later).slug == node.slug for later in pipeline.downstream_of(node.id))


def _ask(state: RunState, facts: Facts, node: Node, sub_item: SubItemKey | None) -> WaitingFor:
    slug = slug_of(state, node, sub_item)
    pull = state.pull(slug) if slug else None
    if pull is None:
        return WaitingFor(
            kind="approval",
            node=node.id,
            sub_item=sub_item,
            who="anyone with write permission",
            ask=f"look at the result of {instance_name(Instance(node.id, sub_item))} and approve it",
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

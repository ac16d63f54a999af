"""Where a run stands: what each place of its graph is, what its gates say, and whom it waits for."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from cogworks.pipeline.elements import is_routing, place_of, routing_of
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.frontier import EdgeMark, EdgeRef, Frontier, InstanceStatus, frontier, instances
from cogworks.pipeline.gates import (
    approval_line,
    asking_visit,
    asking_visits,
    judged,
    question,
    rejected_visits,
    slug_of,
)
from cogworks.pipeline.graph import Instance, Node, Pipeline
from cogworks.pipeline.people import GatePassed
from cogworks.pipeline.state import KnownPull, RunState, edge_key
from cogworks.pipeline.visits import VisitRecord
from cogworks.pipeline.waiting import WaitingFor, beyond_bounds, doubted
from cogworks.pipeline.wording import question as contaminated_texts
from cogworks.vocabulary import IssueNumber, NodeId, ScopeCode, SubItemKey, Value


class Position(Value):
    """Where a run stands: what each instance is, and what may start."""

    statuses: Mapping[Instance, InstanceStatus]
    gates: tuple[GatePassed, ...]
    rejected: Mapping[Instance, IssueNumber]
    outdated: Mapping[Instance, SubItemKey]
    """Finished, but built on a sub-work-item that failed or was rejected since."""
    frontier: Frontier
    ready: tuple[Instance, ...]
    """What may be claimed, best first: routing visits, for they open the way, then the frontier's nodes."""


@dataclass(frozen=True)
class Standing:
    """A run as it is at one look: its state, what GitHub says of it, and the pipeline it follows."""

    state: RunState
    facts: Facts
    pipeline: Pipeline

    @cached_property
    def position(self) -> Position:
        """Where the run stands; computed once."""
        return locate(self.state, self.facts, self.pipeline)

    def noting(self, state: RunState) -> "Standing":
        """The same run, whose state now says what follows from where it stands.

        Args:
            state: this one with other `gates`, `status`, `came_to` or `inputs`. None of them moves a run, so the position
                goes along.
        """
        after = replace(self, state=state)
        # Where `cached_property` keeps it; a frozen dataclass takes no assignment.
        after.__dict__["position"] = self.position
        return after


def locate(state: RunState, facts: Facts, pipeline: Pipeline) -> Position:
    """Where the run stands, given what people decided about its gates; visits the graph has no place for do not count."""
    places = frozenset(instances(pipeline, state.schedule))
    statuses, gates, rejected = judged(state, facts, pipeline, places)
    statuses.update(_routing(state, statuses))
    outdated = _outdated(state, statuses)
    statuses.update(dict.fromkeys(outdated, InstanceStatus.FAILED))
    groups = (
        (asking_visits(state), InstanceStatus.WAITING_GATE),
        (rejected_visits(state), InstanceStatus.FAILED),
        (state.leases, InstanceStatus.RUNNING),
    )
    for leases, known in groups:
        # Last, so that a visit at work counts for more than the record of an earlier one.
        statuses.update((lease.instance, known) for lease in leases if lease.instance in places)
    ahead = frontier(pipeline, _marks(state, pipeline), statuses, state.schedule)
    # A gate may shut again after nodes behind it became ready, e.g. when its pull request is closed.
    shut = {at for at, known in statuses.items() if known is InstanceStatus.WAITING_GATE} | rejected.keys()
    ahead = replace(ahead, ready=tuple(at for at in ahead.ready if not _is_behind(at, shut, pipeline)))
    unrouted = (
        routing_of(at)
        for at, known in statuses.items()
        if known is InstanceStatus.ROUTING and at not in ahead.to_stop and not _is_behind(at, shut, pipeline)
    )
    return Position(
        statuses=statuses,
        gates=tuple(gates),
        rejected=rejected,
        outdated=outdated,
        frontier=ahead,
        ready=(*(at for at in unrouted if state.lease_of(at) is None), *ahead.ready),
    )


def _routing(state: RunState, statuses: Mapping[Instance, InstanceStatus]) -> dict[Instance, InstanceStatus]:
    """The finished nodes that a model has yet to lead on from, and those for which it found no way on."""
    routing: dict[Instance, InstanceStatus] = {}
    latest = {visit.instance: visit for visit in state.visits if not visit.is_discarded}
    for at, known in statuses.items():
        if known is not InstanceStatus.SUCCEEDED or not latest[at].awaits_routing:
            continue
        routed = latest.get(routing_of(at))
        # Only the routing visit decides edges; until then nothing after the node can start.
        if routed is None:
            routing[at] = InstanceStatus.ROUTING
        elif routed.status == "failed":
            routing[at] = InstanceStatus.FAILED
    return routing


def aborted_by(at: Instance, position: Position) -> str:
    """Why a visit has to stop although nothing is wrong with it: a sibling that aborts its siblings failed. Empty = it
    may go on."""
    if place_of(at) not in position.frontier.to_stop:
        return ""
    return f"{instance_name(at)} was stopped because a sibling of it failed and aborts its siblings"


def dependents_of(state: RunState, rejected: AbstractSet[SubItemKey]) -> Mapping[SubItemKey, SubItemKey]:
    """Every sub-work-item built on one of these, directly or not -> the one it is built on."""
    dependents: dict[SubItemKey, SubItemKey] = {}
    # The plan is in dependency order, so one pass sees every chain.
    for item in state.sub_items or ():
        culprit = next((key for key in item.depends_on if key in rejected or key in dependents), None)
        if culprit is not None and item.key not in rejected:
            dependents[item.key] = culprit
    return dependents


def waiting_for(standing: Standing) -> tuple[WaitingFor, ...]:
    """What people have to do before the run can go on: labels first, then gates in the order of the visits."""
    if standing.state.status in ("done", "cancelled"):
        return ()
    position = standing.position
    waits = [stopped] if (stopped := stopped_by(standing.state, standing.facts)) else []
    if texts := standing.state.inputs.contaminated:
        waits.append(contaminated_texts(texts))
    waits += [doubted(doubt) for doubt in standing.state.inputs.doubts]
    if request := changed_request(standing.state, standing.facts, standing.pipeline, position):
        waits.append(request)
    # Nobody is asked to look at what is thrown away because a sibling failed.
    stopped_nodes = position.frontier.to_stop
    for (node_id, sub_item), status in position.statuses.items():
        if status is InstanceStatus.WAITING_GATE and Instance(node_id, sub_item) not in stopped_nodes:
            asked = _ask(standing.state, standing.facts, standing.pipeline.node(node_id), sub_item)
            # Several nodes may wait for one pull request; a person merges it once.
            if asked.number is None or asked.number not in [wait.number for wait in waits]:
                waits.append(asked)
    return tuple(waits)


def failures(state: RunState, position: Position) -> tuple[tuple[Instance, str], ...]:
    """What keeps the run from its end for good, each with its reason: failed visits, then rejected pull requests."""
    reasons = [(v.instance, v.summary) for v in _failed(state)]
    reported: set[IssueNumber] = set()
    # Several nodes may have written to one pull request; people read of it once.
    for instance, number in position.rejected.items():
        if number not in reported:
            reasons.append((instance, f"pull request #{number} was closed unmerged; reopen it to go on"))
        reported.add(number)
    for key, culprit in {at.sub_item: below for at, below in position.outdated.items()}.items():
        reasons.append(
            (Instance(NodeId("sub_work_item"), key), f"is built on {culprit!r}, which was rejected")
        )
    return tuple(reasons)


def how_to_retry(state: RunState, facts: Facts) -> str:
    """What makes failed visits run again; empty where nothing failed (a closed pull request is reopened instead)."""
    if not _failed(state):
        return ""
    return f"Remove the label `{facts.trigger}` and set it again to retry what failed."


def codes_of(state: RunState) -> tuple[ScopeCode, ...]:
    """In which ways the work of a run has left its bounds, as far as people have not dealt with it; each once."""
    ended = [v.code for v in state.visits if v.status == "failed" and not v.is_discarded]
    asking_codes = [left.asks.code for left in asking_visits(state) if left.asks]
    return tuple(code for code in dict.fromkeys((*ended, *asking_codes)) if code)


def _failed(state: RunState) -> tuple[VisitRecord, ...]:
    return tuple(v for v in state.visits if v.status == "failed" and not v.is_discarded and not v.waits)


def stopped_by(state: RunState, facts: Facts) -> WaitingFor | None:
    """What people stopped by a label or a command, whatever the run is about to do."""
    if not facts.is_held and not facts.is_cancelled:
        if state.held is None:
            return None
        why = f" ({state.held.why})" if state.held.why else ""
        return WaitingFor(
            kind="resume",
            who="anyone with write permission",
            ask=f"{state.held.by} holds the item{why}; say why it may go on",
            paste="/cogworks resume <why>",
        )
    label = "hold" if facts.is_held else "cancel"
    return WaitingFor(
        kind="label", who="a maintainer", ask=f"remove the {label} label when the item may go on"
    )


def changed_request(
    state: RunState, facts: Facts, pipeline: Pipeline, position: Position
) -> WaitingFor | None:
    """The question that has to be answered when nothing but last nodes is ready and the issue is not what it was."""
    ready = position.ready
    # Work in between goes on: only what people get at the end is not made from a text that is theirs no more.
    if not is_request_changed(state, facts) or not ready or not all(is_last(at, pipeline) for at in ready):
        return None
    return WaitingFor(
        kind="resume",
        who="anyone with write permission",
        ask="the issue was edited after the run began; say why the result is still wanted, or restart the item",
        paste="/cogworks resume <why>",
    )


def is_request_changed(state: RunState, facts: Facts) -> bool:
    """Whether title or body differ from what the run was asked for."""
    return bool(facts.issue_digest) and facts.issue_digest != state.issue_digest


def is_last(at: Instance, pipeline: Pipeline) -> bool:
    """Whether a node's result is what people get: the end of a sub-work-item, or of the graph without them."""
    if is_routing(at):
        return False
    return at.node in pipeline.sub_item_exits or not pipeline.forward_from(at.node)


def instance_name(instance: Instance) -> str:
    """`node` or `node@sub-item`, as people write it."""
    return f"{instance.node}@{instance.sub_item}" if instance.sub_item else str(instance.node)


def named_instance(name: str, state: RunState, pipeline: Pipeline) -> Instance | None:
    """What `<node>` or `<node>@<sub-item key or issue number>` means; None when there is no such thing."""
    node, _, sub = name.partition("@")
    if node not in {known.id for known in pipeline.nodes}:
        return None
    if not sub:
        return None if pipeline.is_sub_item(NodeId(node)) else Instance(NodeId(node), None)
    for item in state.sub_items or ():
        if pipeline.is_sub_item(NodeId(node)) and sub in (item.key, str(item.number)):
            return Instance(NodeId(node), item.key)
    return None


def _is_behind(at: Instance, shut: AbstractSet[Instance], pipeline: Pipeline) -> bool:
    """Whether a gate on the way to it is shut; it may have been open when the nodes in between ran."""
    return any(
        # The gate of one sub-work-item holds up what joins them all, and no other sub-work-item.
        (gate.sub_item is None or at.sub_item in (None, gate.sub_item))
        and gate.node != at.node
        and pipeline.leads_to(gate.node, at.node)
        for gate in shut
    )


def _marks(state: RunState, pipeline: Pipeline) -> dict[EdgeRef, EdgeMark]:
    keys: list[SubItemKey | None] = [None, *(item.key for item in state.sub_items or ())]
    marks: dict[EdgeRef, EdgeMark] = {}
    for edge in pipeline.edges:
        for key in keys:
            mark = state.marks.get(edge_key(edge.id, key))
            if mark is not None:
                marks[EdgeRef(edge.id, key)] = EdgeMark(mark)
    return marks


def _outdated(state: RunState, statuses: Mapping[Instance, InstanceStatus]) -> dict[Instance, SubItemKey]:
    failed = {
        at.sub_item
        for at, known in statuses.items()
        if known is InstanceStatus.FAILED and at.sub_item is not None
    }
    below = dependents_of(state, failed)
    return {at: below[at.sub_item] for at in statuses if at.sub_item is not None and at.sub_item in below}


def _how_to_pass(pull: KnownPull) -> str:
    if pull.is_shown_only:
        return f"approve pull request #{pull.number}, which is then closed unmerged, or close it to reject it"
    return f"merge or approve pull request #{pull.number}, or close it to reject it"


def _ask(state: RunState, facts: Facts, node: Node, sub_item: SubItemKey | None) -> WaitingFor:
    slug = slug_of(state, node, sub_item)
    pull = state.pull(slug) if slug else None
    known = facts.pulls.get(pull.number) if pull else None
    name = instance_name(Instance(node.id, sub_item))
    who = "anyone with write permission"
    visit = state.latest(Instance(node.id, sub_item))
    if visit is not None and visit.waits:
        return beyond_bounds(visit)
    call = question(state, Instance(node.id, sub_item), name)
    if call or pull is None:
        asking = asking_visit(state, Instance(node.id, sub_item))
        code: ScopeCode = asking.asks.code if asking and asking.asks else ""
        ask = f"review the result of {name} and approve it"
        if visit is not None and visit.is_empty:
            # Only where safety is at stake: elsewhere nobody has to pass what is empty.
            ask = (
                f"confirm that {name} has nothing to do, for safety is at stake ({visit.summary.rstrip('.')})"
            )
        if node.is_proposal:
            ask = (
                f"read the proposal in its comment and approve it, or comment `/cogworks reject {name} <why>` to "
                "get another one"
            )
        # By its hash: an approval counts for what the person saw, and not for what replaces it later.
        paste = approval_line(name, visit.output_sha256 if visit else "")
        ask, paste = call or (ask, paste)
        return WaitingFor(
            kind="approval", node=node.id, sub_item=sub_item, who=who, ask=ask, paste=paste, code=code
        )
    if known is not None and known.state == "closed":
        return WaitingFor(
            kind="reopen",
            node=node.id,
            sub_item=sub_item,
            number=pull.number,
            url=known.url,
            who=who,
            ask=f"restore branch {pull.base!r}, the base of pull request #{pull.number}, and reopen the pull request",
        )
    return WaitingFor(
        kind="review" if pull.is_shown_only else "merge",
        node=node.id,
        sub_item=sub_item,
        number=pull.number,
        url=known.url if known else "",
        who=who,
        ask=_how_to_pass(pull),
        paste=approval_line(name, known.head_oid if known else ""),
    )

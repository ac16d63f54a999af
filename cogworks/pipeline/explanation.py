"""Why the next move is what it is: the facts it rests on, what every other node waits for, and who can unblock it."""

from collections.abc import Iterable, Mapping, Sequence

from cogworks.pipeline.arbiter import Signal
from cogworks.pipeline.decision import (
    Answer,
    BackOff,
    Decision,
    Finish,
    GiveUpOn,
    Nothing,
    Run,
    Stop,
    Wait,
    candidates,
)
from cogworks.pipeline.elements import is_routing, place_of, routing_of
from cogworks.pipeline.frontier import InstanceStatus, instances
from cogworks.pipeline.gates import asking_visit, boundary_line, class_of
from cogworks.pipeline.graph import Edge, Instance, Pipeline
from cogworks.pipeline.limits import max_cost_usd
from cogworks.pipeline.position import Position, Standing, how_to_retry, instance_name, waiting_for
from cogworks.pipeline.state import RunState, edge_key
from cogworks.pipeline.visits import LEASE_MARGIN_S
from cogworks.vocabulary import SubItemKey, Value


class Fact(Value):
    """One thing the decision looked at."""

    name: str
    value: str
    """As people read it."""


class NotNow(Value):
    """A node that is not run next, and why."""

    node: str
    """`node` or `node@sub-item`."""
    status: str
    """`succeeded`, `failed`, `running`, `waiting_gate`, `routing`, `ready`, `skipped`, `blocked` or `pending`."""
    reason: str


class HumanAct(Value):
    """What a person can do to move the item on."""

    who: str
    act: str
    url: str = ""
    paste: str = ""
    """The comment that does it as well."""


class Explanation(Value):
    """A decision with its reasons."""

    because: str
    facts: tuple[Fact, ...]
    not_now: tuple[NotNow, ...]
    """Every place of the graph but the chosen one, in the order of a run."""
    unblocked_by: tuple[HumanAct, ...]


_PLAIN_REASONS: Mapping[type[Decision], str] = {
    Answer: "people are answered before anything else goes on",
    GiveUpOn: "no further runner will try it",
    Finish: "every node succeeded or was skipped, and the state does not record that yet",
    Wait: "nothing can move before a person acts",
}


def explain(standing: Standing, decision: Decision) -> Explanation:
    """The reasons of a decision that `decide` made of the same state, facts and pipeline."""
    position = standing.position
    chosen = decision.instance if isinstance(decision, Run) else None
    places = instances(standing.pipeline, standing.state.schedule)
    return Explanation(
        because=_because(standing.state, standing.pipeline, decision),
        facts=tuple(_facts(standing)),
        not_now=tuple(
            _not_now(place, chosen, standing.state, standing.pipeline, position)
            for place in places
            if place != chosen
        ),
        unblocked_by=tuple(_acts(standing, decision)),
    )


def _because(state: RunState, pipeline: Pipeline, decision: Decision) -> str:
    match decision:
        case Run(taken_over_from=dead) if dead is not None:
            return (
                f"the lease of {dead.holder} is too old, so its runner counts as dead. Attempt {decision.attempt} "
                "goes on under the same visit key"
            )
        case Run(instance=instance) if is_routing(instance):
            return (
                f"no expression decides where {instance_name(place_of(instance))} leads, so a model is asked"
            )
        case Run(instance=instance):
            edge_ids = [edge.id for edge in _into(pipeline, instance) if _is_taken(state, edge, instance)]
            if not edge_ids:
                return "it is where the pipeline starts"
            return f"every edge into it is decided, {', '.join(edge_ids)} taken, and it is the first that is ready"
        case Answer() | GiveUpOn() | Finish() | Wait():
            return _PLAIN_REASONS[type(decision)]
        case BackOff(lease=lease):
            limit_s = lease.ttl_s + LEASE_MARGIN_S
            return f"{lease.holder} renewed its lease less than {limit_s} s ago, and no other node is ready"
        case Nothing():
            return f"the run is {state.status}"
        case Stop(outcome=outcome):
            return f"the item cannot go on by itself ({outcome.replace('_', ' ')})"


def _facts(standing: Standing) -> Iterable[Fact]:
    which = f", run {standing.state.run_number} of the item" if standing.state.run_number > 1 else ""
    yield Fact(name="run", value=f"{standing.state.status}{which}")
    yield Fact(name="issue", value="open" if standing.facts.issue_is_open else "closed")
    yield Fact(
        name=f"trigger label {standing.facts.trigger}",
        value="set" if standing.facts.is_triggered else "not set",
    )
    yield Fact(name="hold label", value="set" if standing.facts.is_held else "not set")
    if standing.state.held is not None:
        yield Fact(
            name="held by command",
            value=f"{standing.state.held.by}: {standing.state.held.why or 'no reason given'}",
        )
    yield Fact(name="cancel label", value="set" if standing.facts.is_cancelled else "not set")
    same = standing.state.graph_hash == standing.pipeline.graph_hash
    yield Fact(
        name="graph",
        value=f"{standing.pipeline.graph_hash[:12]}, {'as' if same else 'not as'} when the run began",
    )
    if standing.state.base is not None:
        yield Fact(
            name="baseline",
            value=f"{standing.state.base.description} (commit {standing.state.base.oid[:12]})",
        )
    spent = standing.state.spent
    reserved = f", {standing.state.reserved_usd:.4f} reserved" if standing.state.leases else ""
    yield Fact(
        name="budget",
        value=f"{spent.cost_usd:.4f} of {max_cost_usd(standing.facts, standing.pipeline):.2f} USD spent{reserved}; "
        f"{spent.input_tokens + spent.output_tokens} of {standing.facts.max_tokens} tokens",
    )
    if boundary := boundary_line(standing.pipeline, class_of(standing.state, standing.facts)):
        yield Fact(name="shift-work boundary", value=boundary)
    for lease in standing.state.leases:
        age_s = standing.facts.lease_ages_s.get(lease.visit_key)
        heard = "not heard of lately" if age_s is None else f"last heard of {age_s:.0f} s ago"
        yield Fact(name=f"lease of {instance_name(lease.instance)}", value=f"{lease.holder}, {heard}")
    for known in standing.state.pull_requests:
        pull = standing.facts.pulls.get(known.number)
        approved = f", approved by {pull.approved_by}" if pull is not None and pull.approved_by else ""
        yield Fact(
            name=f"pull request #{known.number} ({known.slug})",
            value="not found" if pull is None else f"{pull.state}{approved}",
        )
    yield Fact(name="arbiter", value=_competition(standing))


def _competition(standing: Standing) -> str:
    """What took part in the choice of the next move, the older signal or the better score first."""
    claims = [each.claim for each in candidates(standing)]
    forced = [claim.reason for claim in claims if isinstance(claim, Signal)]
    proposed = sorted(
        (-claim.score, claim.priority, claim.slot_id) for claim in claims if not isinstance(claim, Signal)
    )
    scored = [f"{slot_id} {-score / 1_000_000:.3f}" for score, _, slot_id in proposed]
    return f"forced: {'; '.join(forced)}" if forced else ", ".join(scored) or "nothing is proposed"


def _not_now(
    place: Instance, chosen: Instance | None, state: RunState, pipeline: Pipeline, position: Position
) -> NotNow:
    status, reason = _standing(place, chosen, state, pipeline, position)
    return NotNow(node=instance_name(place), status=status, reason=reason)


def _standing(
    place: Instance, chosen: Instance | None, state: RunState, pipeline: Pipeline, position: Position
) -> tuple[str, str]:
    known = position.statuses.get(place)
    if known is not None:
        return known.value, _of_started(place, known, state, position)
    if place in position.ready:
        ahead = f"{instance_name(chosen)} comes first" if chosen else "something else blocks the item"
        return "ready", f"could start, but {ahead}"
    if place in position.frontier.skipped:
        return "skipped", "no taken edge leads to it"
    if (culprit := position.frontier.blocked.get(place)) is not None:
        return "blocked", f"{instance_name(culprit)} failed, and it waits for that"
    if waits := _undecided(place, state, pipeline, position):
        return "pending", f"waits for {', '.join(waits)}"
    if (last := position.frontier.held.get(place)) is not None:
        return "pending", f"waits for {instance_name(last)}, which may lead back over it"
    return "pending", "its turn comes later"


def _of_started(place: Instance, known: InstanceStatus, state: RunState, position: Position) -> str:
    visit = state.latest(place)
    match known:
        case InstanceStatus.RUNNING:
            lease = state.lease_of(place)
            return f"{lease.holder} works on it" if lease else "somebody works on it"
        case InstanceStatus.WAITING_GATE:
            if (left := asking_visit(state, place)) and left.asks:
                return f"a person has yet to approve its call {left.asks.hash} of {left.asks.tool}"
            if visit is not None and visit.waits:
                return visit.summary
            return "finished; a person has yet to look at the result"
        case InstanceStatus.ROUTING:
            lease = state.lease_of(routing_of(place))
            who = f"{lease.holder} asks a model" if lease else "a model has yet to say"
            return f"finished; {who} where it leads"
        case InstanceStatus.FAILED:
            rejected = position.rejected.get(place)
            if rejected is not None:
                return f"pull request #{rejected} was closed unmerged"
            routed = state.latest(routing_of(place))
            shown = routed if routed is not None and routed.status == "failed" else visit
            return shown.summary if shown else "it failed"
        case InstanceStatus.SUCCEEDED:
            gate = next((g for g in position.gates if Instance(g.node, g.sub_item) == place), None)
            passed = f", {gate.how} by {gate.by or 'somebody'}" if gate else ""
            return f"done in visit {visit.index}{passed}" if visit else "done"


def _undecided(place: Instance, state: RunState, pipeline: Pipeline, position: Position) -> list[str]:
    """What it waits for: the nodes just before it, those its loops repeat and the sub-items it builds on."""
    skipped = position.frontier.skipped
    before = [source for edge in _into(pipeline, place) for source in _sources(edge, place, state, pipeline)]
    if place.sub_item is not None:
        depends_on = state.sub_item(place.sub_item).depends_on
        before += [Instance(node, key) for key in depends_on for node in pipeline.sub_item_exits]
    before += [Instance(node, place.sub_item) for node in pipeline.repeats.get(place.node, ())]
    done = InstanceStatus.SUCCEEDED
    open_ones = [each for each in before if position.statuses.get(each) is not done and each not in skipped]
    return [instance_name(each) for each in dict.fromkeys(open_ones)]


def _sources(edge: Edge, place: Instance, state: RunState, pipeline: Pipeline) -> Sequence[Instance]:
    if not pipeline.is_sub_item(edge.source):
        return [Instance(edge.source)]
    if place.sub_item is not None:
        return [Instance(edge.source, place.sub_item)]
    keys: list[SubItemKey | None] = [item.key for item in state.sub_items or ()]
    return [Instance(edge.source, key) for key in keys or [None]]


def _into(pipeline: Pipeline, place: Instance) -> Sequence[Edge]:
    return list(pipeline.forward_to(place.node))


def _is_taken(state: RunState, edge: Edge, place: Instance) -> bool:
    keys = (place.sub_item, None)
    return any(state.marks.get(edge_key(edge.id, key)) == "taken" for key in keys)


def _acts(standing: Standing, decision: Decision) -> Iterable[HumanAct]:
    match decision:
        case Wait(waiting_for=waits):
            for wait in waits:
                yield HumanAct(who=wait.who, act=wait.ask, url=wait.url, paste=wait.paste)
        case Stop(outcome="failed"):
            if retry := how_to_retry(standing.state, standing.facts):
                yield HumanAct(who="anyone who may set labels", act=retry, url=standing.facts.issue_url)
            for number in dict.fromkeys(standing.position.rejected.values()):
                yield HumanAct(
                    who="anyone with write permission",
                    act=f"reopen pull request #{number}, or let it be made again",
                    url=standing.facts.pulls[number].url,
                    paste="/cogworks retry",
                )
            for wait in waiting_for(standing):
                yield HumanAct(who=wait.who, act=wait.ask, url=wait.url, paste=wait.paste)
        case Stop(reason=reason):
            yield HumanAct(who="a maintainer", act=reason, url=standing.facts.issue_url)
        case BackOff(stealable_in_s=wait_s):
            yield HumanAct(
                who="whoever knows that the other runner is dead",
                act=f"run `cogworks run --take-over {standing.facts.issue_url}` instead of waiting {wait_s:.0f} s",
                url=standing.facts.issue_url,
            )
        case _:
            return

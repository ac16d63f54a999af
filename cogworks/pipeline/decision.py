"""What happens next to one work item: the same facts and the same state give the same answer."""

from typing import Literal

from cogworks.pipeline.affording import shortage
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.limits import calls_model, too_many_visits
from cogworks.pipeline.people import INPUTS_NODE
from cogworks.pipeline.position import (
    Facts,
    Position,
    WaitingFor,
    aborted_by,
    failures,
    how_to_retry,
    instance_name,
    is_last,
    is_request_changed,
    locate,
    stopped_by,
    waiting_for,
)
from cogworks.pipeline.state import LEASE_MARGIN_S, MAX_ATTEMPTS, Lease, RunState, visit_key
from cogworks.vocabulary import Value, VisitKey

INPUTS = Instance(INPUTS_NODE, None)


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


class Answer(Value):
    """Post the comments that people are owed, under a lease of their own; no node runs."""

    visit_key: VisitKey
    attempt: int
    taken_over_from: Lease | None = None


class Nothing(Value):
    """Nothing is left to do."""

    reason: str


class Stop(Value):
    """The item cannot go on by itself."""

    outcome: Literal["failed", "usage_error", "configuration_error", "budget_reached"]
    reason: str
    is_about_item: bool = True
    """False: a slip of the operator, nothing that the people on the issue have to know."""


Decision = Run | GiveUpOn | Finish | Answer | Wait | BackOff | Nothing | Stop


def decide(state: RunState, facts: Facts, pipeline: Pipeline) -> Decision:
    """Choose the next move for one work item.

    Order of precedence: what people are owed, an ended or closed item, what people stopped, a changed graph, a dead runner's visit,
    the nodes that are ready, a live lease, what failed for good, gates; so a failure stops only what comes after it.
    Never raises: a state that cannot move on is a `Wait` or a `Stop` with a reason an operator can act on.
    """
    if answer := _answer(state, facts):
        return answer
    if forced := _forced(state, facts, pipeline):
        return forced
    position = locate(state, facts, pipeline)
    if position.frontier.finished:
        return Finish()
    return _claimable(state, facts, pipeline, position) or _stuck(state, facts, pipeline, position)


def _forced(state: RunState, facts: Facts, pipeline: Pipeline) -> Decision | None:
    if state.status == "cancelled":
        return Nothing(reason="the item was cancelled; comment `/cogworks restart` to begin anew")
    if state.status == "done":
        return Nothing(reason=_at_the_end(state, facts, pipeline))
    if not facts.issue_is_open:
        return Stop(
            outcome="usage_error",
            reason=f"{facts.issue_url} is closed. Reopen it and set the label {facts.trigger!r} to go on.",
        )
    if stopped := stopped_by(state, facts):
        return Wait(waiting_for=(stopped,))
    if not facts.is_triggered and not state.asked_by:
        return Stop(
            outcome="usage_error",
            reason=f"{facts.issue_url} does not carry the label {facts.trigger!r}, so nobody asked for it. "
            f"Set the label {facts.trigger!r} and run the command again.",
        )
    if state.graph_hash != pipeline.graph_hash:
        return Stop(
            outcome="configuration_error",
            reason=f"the pipeline {state.pipeline!r} changed since this run began (graph {state.graph_hash[:12]}, now "
            f"{pipeline.graph_hash[:12]}). Restore `.cogworks/pipeline.toml`, or comment `/cogworks restart` to begin anew.",
        )
    return None


def _at_the_end(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    if state.graph_hash == pipeline.graph_hash:
        for number in locate(state, facts, pipeline).rejected.values():
            return f"pull request #{number} was closed unmerged; reopen it, or comment `/cogworks retry` to do it again"
    return "every sub-work-item has a reviewed pull request"


def _answer(state: RunState, facts: Facts) -> Answer | None:
    """People first; but a run that never began has no ledger to post from."""
    if not state.visits and not state.earlier.revision:
        return None
    if not state.owed and not (facts.is_status_gone and state.status == "running"):
        return None
    dead = state.lease_of(INPUTS)
    if dead is None:
        return Answer(visit_key=visit_key(state, INPUTS, state.inputs.times), attempt=1)
    if not _is_stealable(dead, facts):
        return None
    return Answer(visit_key=dead.visit_key, attempt=dead.attempt + 1, taken_over_from=dead)


def _claimable(state: RunState, facts: Facts, pipeline: Pipeline, position: Position) -> Decision | None:
    if left := _left_behind(state, facts, position):
        return left
    refused = ""
    is_changed = is_request_changed(state, facts)
    is_full = _asking_now(state, facts, pipeline) >= pipeline.settings.max_concurrent_llm_calls
    for instance in position.ready:
        if facts.wanted not in (None, instance):
            continue
        # What people get is not made from a request that is no longer theirs.
        if (is_changed and is_last(instance, pipeline)) or (is_full and calls_model(instance, pipeline)):
            continue
        unfinished = state.unfinished(instance)
        if unfinished is None and (many := too_many_visits(state)):
            return Stop(outcome="failed", reason=many)
        if reason := shortage(state, facts, pipeline, instance):
            # Another ready node may need less.
            refused = refused or reason
            continue
        return _visit(state, instance, unfinished)
    return Stop(outcome="budget_reached", reason=refused) if refused else None


def _left_behind(state: RunState, facts: Facts, position: Position) -> Decision | None:
    """What to do about a dead runner's visit."""
    for lease in state.leases:
        if (
            lease.node == INPUTS_NODE
            or facts.wanted not in (None, lease.instance)
            or not _is_stealable(lease, facts)
        ):
            continue
        if aborted := aborted_by(lease.instance, position):
            return GiveUpOn(lease=lease, reason=aborted)
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
    return None


def _asking_now(state: RunState, facts: Facts, pipeline: Pipeline) -> int:
    """How many runners ask a model at this moment."""
    return sum(
        1
        for lease in state.leases
        if lease.node != INPUTS_NODE
        and not _is_stealable(lease, facts)
        and calls_model(lease.instance, pipeline)
    )


def _visit(state: RunState, instance: Instance, unfinished: Lease | None) -> Run:
    if unfinished is not None:
        return Run(
            instance=instance,
            index=unfinished.index,
            ordinal=unfinished.ordinal,
            visit_key=unfinished.visit_key,
            attempt=unfinished.attempt,
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
    if facts.wanted is not None and facts.wanted not in position.ready:
        return Stop(outcome="usage_error", reason=_why_not(facts.wanted, position), is_about_item=False)
    live = [lease for lease in state.leases if not _is_stealable(lease, facts)]
    if live:
        soonest = min(live, key=lambda lease: (_stealable_in_s(lease, facts), lease.index))
        return BackOff(lease=soonest, stealable_in_s=_stealable_in_s(soonest, facts))
    if failed := failures(state, position):
        lines = [f"{instance_name(instance)}: {reason}" for instance, reason in failed]
        return Stop(outcome="failed", reason="\n".join([*lines, how_to_retry(state, facts)]).strip())
    if waits := waiting_for(state, facts, pipeline):
        return Wait(waiting_for=waits)
    blocked = ", ".join(
        f"{instance_name(i)} by {instance_name(c)}" for i, c in position.frontier.blocked.items()
    )
    return Stop(
        outcome="failed",
        reason=f"no node can start; blocked: {blocked or 'nothing'}. Check `cogworks graph`.",
    )


def _stealable_in_s(lease: Lease, facts: Facts) -> float:
    age_s = facts.lease_ages_s.get(lease.visit_key)
    return 0.0 if age_s is None else max(0.0, lease.ttl_s + LEASE_MARGIN_S - age_s)


def _is_stealable(lease: Lease, facts: Facts) -> bool:
    return facts.take_over or _stealable_in_s(lease, facts) <= 0


def _why_not(wanted: Instance, position: Position) -> str:
    ready = ", ".join(instance_name(instance) for instance in position.ready) or "none"
    status = position.statuses.get(wanted)
    now = f"it is {status.value}" if status else "its inputs are not there yet"
    return f"node {instance_name(wanted)} cannot start: {now}. Ready now: {ready}."

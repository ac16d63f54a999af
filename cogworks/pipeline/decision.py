"""What happens next to one work item: the same facts and the same state give the same answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from cogworks.pipeline.arbiter import MAX_PROPOSALS, Proposal, Signal, choose
from cogworks.pipeline.elements import is_routing
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.gates import rejected_visits
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.limits import calls_model, shortage, too_many_visits
from cogworks.pipeline.people import INPUTS_NODE
from cogworks.pipeline.position import (
    Position,
    Standing,
    aborted_by,
    failures,
    how_to_retry,
    instance_name,
    is_last,
    is_request_changed,
    stopped_by,
    waiting_for,
)
from cogworks.pipeline.state import RunState, visit_key
from cogworks.pipeline.unmerged import end_of
from cogworks.pipeline.visits import MAX_ATTEMPTS, Lease
from cogworks.pipeline.waiting import WaitingFor, blocked
from cogworks.pipeline.wording import is_in_doubt, question
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
    """Too many runners died on this visit, or a person rejected what it wants: record it as failed."""

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

    outcome: Literal["failed", "rejected", "usage_error", "configuration_error", "budget_reached"]
    reason: str
    is_about_item: bool = True
    """False: a slip of the operator, nothing that the people on the issue have to know."""


Decision = Run | GiveUpOn | Finish | Answer | Wait | BackOff | Nothing | Stop


@dataclass(frozen=True)
class Candidate:
    """One move that could be made now."""

    claim: Signal | Proposal
    """What the arbiter sees of it."""
    move: Decision


def decide(standing: Standing) -> Decision:
    """Choose the next move for one work item.

    The arbiter chooses: what people and the item's own end demand are signals, everything else is proposed with a score.
    Order of precedence: what people are owed, an ended or closed item, what people stopped, a changed graph, a dead runner's visit,
    the nodes that are ready, a live lease, what failed for good, gates; so a failure stops only what comes after it.
    Never raises: a state that cannot move on is a `Wait` or a `Stop` with a reason an operator can act on.
    """
    options = candidates(standing)
    signals = [each.claim for each in options if isinstance(each.claim, Signal)]
    choice = choose(signals, [each.claim for each in options if isinstance(each.claim, Proposal)])
    if choice is None:
        return _stuck(standing, standing.position)
    return next(each.move for each in options if each.claim is choice.winner)


def candidates(standing: Standing) -> tuple[Candidate, ...]:
    """Every move that could be made now; only the signals where there are any, and none where nothing can start.

    Their order says nothing but which signal is the older one.
    """
    demanded = tuple(_demanded(standing))
    # A stopped item is asked for no proposals: its graph may not even be the one that it began with.
    return demanded or tuple(_proposed(standing))


def _demanded(standing: Standing) -> Iterator[Candidate]:
    if answer := _answer(standing.state, standing.facts):
        yield Candidate(Signal("forced/answer", "people", "answer", "people are owed an answer"), answer)
    if forced := _forced(standing):
        yield Candidate(Signal("forced/rest", "item", "rest", "the item may not go on"), forced)


def _forced(standing: Standing) -> Decision | None:
    if standing.state.status == "cancelled":
        return Nothing(reason="the item was cancelled; comment `/cogworks restart` to begin anew")
    if standing.state.status == "done":
        return _at_the_end(standing)
    # The last merge closes the issue before the run knows that it is done.
    if not standing.facts.issue_is_open and not _is_finished(standing):
        return Stop(
            outcome="usage_error",
            reason=f"{standing.facts.issue_url} is closed. Reopen it and set the label {standing.facts.trigger!r} to go on.",
        )
    if stopped := stopped_by(standing.state, standing.facts):
        return Wait(waiting_for=(stopped,))
    # After what people stopped: who takes the trigger off a held item reads of the hold.
    if not standing.facts.is_triggered and not standing.state.asked_by:
        return Stop(
            outcome="usage_error",
            reason=f"{standing.facts.issue_url} does not carry the label {standing.facts.trigger!r}, so nobody asked for it. "
            f"Set the label {standing.facts.trigger!r} and run the command again.",
        )
    if standing.facts.blocked_by and not _has_worked(standing.state):
        return Wait(waiting_for=(blocked(standing.facts.blocked_by),))
    # Before anything is paid for: the texts would go into a prompt (docs/injections.md).
    if texts := standing.state.inputs.contaminated:
        return Wait(waiting_for=(question(texts),))
    # Before anything is proposed: visits and marks name places of the graph that the run began with.
    if standing.state.graph_hash != standing.pipeline.graph_hash:
        return Stop(
            outcome="configuration_error",
            reason=f"the pipeline {standing.state.pipeline!r} changed since this run began (graph {standing.state.graph_hash[:12]}, now "
            f"{standing.pipeline.graph_hash[:12]}). Restore `.cogworks/pipeline.toml`, or comment `/cogworks restart` to begin anew.",
        )
    return None


def _has_worked(state: RunState) -> bool:
    """Whether a node was ever claimed, in this run or an earlier one: what is begun is brought to its end."""
    return bool(state.visits or state.folded or state.leases or state.given_back or state.earlier.last_index)


def _is_finished(standing: Standing) -> bool:
    """Whether only the state does not say yet that the run is done: the last merge passes a gate and closes the issue."""
    is_same = standing.state.graph_hash == standing.pipeline.graph_hash
    return is_same and standing.position.frontier.finished


def _at_the_end(standing: Standing) -> Nothing | Stop:
    if standing.state.graph_hash == standing.pipeline.graph_hash:
        for number in standing.position.rejected.values():
            how = "reopen it, or comment `/cogworks retry` to do it again"
            return Stop(outcome="rejected", reason=f"pull request #{number} was closed unmerged; {how}")
    return Nothing(reason=end_of(standing.state, standing.facts.pulls, standing.facts.open_parts))


def _answer(state: RunState, facts: Facts) -> Answer | BackOff | None:
    """People first; but a run that never began has no ledger to post from, unless a comment said why it could not."""
    if not state.visits and not state.earlier.revision and state.refusal is None:
        return None
    if not state.owed and not (facts.is_status_gone and state.status == "running"):
        return None
    dead = state.lease_of(INPUTS)
    if dead is None:
        # Numbered by what was obeyed so far: until more is, a repetition has the same key.
        return Answer(visit_key=visit_key(state, INPUTS, state.inputs.times), attempt=1)
    if not _is_stealable(dead, facts):
        # A node would post a status comment beside the one that is being posted.
        is_first = state.refusal is not None
        return BackOff(lease=dead, stealable_in_s=_stealable_in_s(dead, facts)) if is_first else None
    return Answer(visit_key=dead.visit_key, attempt=dead.attempt + 1, taken_over_from=dead)


def _proposed(standing: Standing) -> Iterator[Candidate]:
    position = standing.position
    if position.frontier.finished:
        yield _candidate("finish", "finish", Finish(), saliency=1.0, urgency=1.0)
    yield from _left_behind(standing.state, standing.facts, position)
    yield from _ready(standing, position)


def _candidate(
    slot_id: str, action: str, move: Decision, *, saliency: float, urgency: float = 0.0, priority: int = 0
) -> Candidate:
    proposal = Proposal(
        slot_id=slot_id,
        source="graph",
        action=action,
        saliency=saliency,
        urgency=urgency,
        # A move has no other content, and without any the arbiter would take all of one action for the same.
        payload_hash=slot_id,
        priority=priority,
    )
    return Candidate(proposal, move)


def _ready(standing: Standing, position: Position) -> Iterator[Candidate]:
    """The nodes that may start and can be paid for; the reason where none can be paid for."""
    refused: list[str] = []
    many = too_many_visits(standing.state)

    def affordable() -> Iterator[Candidate]:
        for place, instance in enumerate(_startable(standing, position)):
            name = instance_name(instance)
            unfinished = standing.state.unfinished(instance)
            move: Decision
            # A visit that was given back has its number already and may come to its end.
            if unfinished is None and many:
                move = Stop(outcome="failed", reason=many)
            elif reason := shortage(standing.state, standing.facts, standing.pipeline, instance):
                # Another ready node may need less.
                refused.append(reason)
                continue
            else:
                move = _visit(standing.state, instance, unfinished)
            # Routing opens the way for others; nodes of equal score go in the order of the run.
            saliency = 0.9 if is_routing(instance) else 0.8
            yield _candidate(f"ready/{name}", "run", move, saliency=saliency, priority=place)

    # They come best first, and no more than these take part in a choice.
    moves = tuple(islice(affordable(), MAX_PROPOSALS))
    yield from moves
    if refused and not moves:
        stop = Stop(outcome="budget_reached", reason=refused[0])
        yield _candidate("budget", "stop", stop, saliency=0.1)


def _startable(standing: Standing, position: Position) -> Iterator[Instance]:
    is_changed = is_request_changed(standing.state, standing.facts)
    is_full = _asking_now(standing) >= standing.pipeline.settings.max_concurrent_llm_calls
    for instance in position.ready:
        if standing.facts.wanted not in (None, instance) or is_in_doubt(standing.state, instance):
            continue
        # What people get is not made from a request that is no longer theirs.
        if not (is_changed and is_last(instance, standing.pipeline)) and not (
            is_full and calls_model(instance, standing.pipeline)
        ):
            yield instance


def _left_behind(state: RunState, facts: Facts, position: Position) -> Iterator[Candidate]:
    """What to do about the visits of dead runners, and those whose call a person rejected."""
    for left in rejected_visits(state):
        if left.asks and facts.wanted in (None, left.instance):
            end = GiveUpOn(lease=left, reason=left.asks.rejected_because)
            slot_id = f"rejected/{left.index:04d}-{instance_name(left.instance)}"
            yield _candidate(slot_id, "give-up", end, saliency=1.0, urgency=1.0, priority=left.index)
    for lease in state.leases:
        is_meant = lease.node != INPUTS_NODE and facts.wanted in (None, lease.instance)
        # Answering people is `_answer`'s; its lease is never inherited by a node.
        if is_meant and _is_stealable(lease, facts):
            move = _inheritance(lease, position)
            # A runner that takes over would make a prompt of a text that nobody answers for (docs/failures.md).
            if isinstance(move, Run) and is_in_doubt(state, lease.instance):
                continue
            slot_id = f"left/{lease.index:04d}-{instance_name(lease.instance)}"
            yield _candidate(slot_id, "inherit", move, saliency=1.0, priority=lease.index)


def _inheritance(lease: Lease, position: Position) -> Run | GiveUpOn:
    if aborted := aborted_by(lease.instance, position):
        return GiveUpOn(lease=lease, reason=aborted)
    # What kills its runner again and again is no accident.
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


def _asking_now(standing: Standing) -> int:
    """How many runners ask a model at this moment."""
    return sum(
        1
        for lease in standing.state.leases
        if lease.node != INPUTS_NODE
        # A dead runner asks nobody.
        and not _is_stealable(lease, standing.facts)
        and calls_model(lease.instance, standing.pipeline)
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


def _stuck(standing: Standing, position: Position) -> Decision:
    if standing.facts.wanted is not None and standing.facts.wanted not in position.ready:
        return Stop(
            outcome="usage_error", reason=_why_not(standing.facts.wanted, position), is_about_item=False
        )
    live = [lease for lease in standing.state.leases if not _is_stealable(lease, standing.facts)]
    # Before what failed: a runner at work may still open a way.
    if live:
        # By index where the times are equal: the order of leases in the state must not matter.
        soonest = min(live, key=lambda lease: (_stealable_in_s(lease, standing.facts), lease.index))
        return BackOff(lease=soonest, stealable_in_s=_stealable_in_s(soonest, standing.facts))
    if failed := failures(standing.state, position):
        lines = [f"{instance_name(instance)}: {reason}" for instance, reason in failed]
        return Stop(
            outcome="failed", reason="\n".join([*lines, how_to_retry(standing.state, standing.facts)]).strip()
        )
    if waits := waiting_for(standing):
        return Wait(waiting_for=waits)
    blocked = ", ".join(
        f"{instance_name(i)} by {instance_name(c)}" for i, c in position.frontier.blocked.items()
    )
    return Stop(
        outcome="failed",
        reason=f"no node can start; blocked: {blocked or 'nothing'}. Check `cogworks graph`.",
    )


def _stealable_in_s(lease: Lease, facts: Facts) -> float:
    return lease.stealable_in_s(facts.lease_ages_s.get(lease.visit_key))


def _is_stealable(lease: Lease, facts: Facts) -> bool:
    return facts.take_over or _stealable_in_s(lease, facts) <= 0


def _why_not(at: Instance, position: Position) -> str:
    ready = ", ".join(instance_name(instance) for instance in position.ready) or "none"
    status = position.statuses.get(at)
    now = f"it is {status.value}" if status else "its inputs are not there yet"
    return f"node {instance_name(at)} cannot start: {now}. Ready now: {ready}."

"""An item that cannot begin: one comment on the issue says why, and the ledger keeps what was said."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cogworks.engine.answer import AnswerPorts, Correspondence, Due, held_by, inputs_lease, settle
from cogworks.engine.consider import lease_ages_of
from cogworks.engine.ports import MovingLedger
from cogworks.errors import LostRace
from cogworks.forge.bodies import STATUS_TOPIC
from cogworks.forge.facts import LabelEvent
from cogworks.forge.inbox import label_objection, newest_event
from cogworks.forge.labels import legible_config
from cogworks.forge.notices import owed_comment
from cogworks.forge.observe import present_inputs
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import blocked_comment, problem_comment, status_comment
from cogworks.ledger.lease import VisitLease
from cogworks.ledger.record import Change, LedgerCommit, StaleTip, change_for
from cogworks.pipeline.decision import INPUTS
from cogworks.pipeline.people import BLOCKED, CONFIGURATION, Inputs, Owed, Refusal
from cogworks.pipeline.state import RunState, issue_digest, visit_key
from cogworks.pipeline.visits import MAX_ATTEMPTS
from cogworks.vocabulary import CommitOid, IssueNumber, RunId

VERB = "refused"
"""Of the commit after which an item rests until its repository is mended."""


class NewLedger(MovingLedger, Protocol):
    """The ledger branch of the item, which may have to be made."""

    def create(self, root: CommitOid, change: Change) -> LedgerCommit: ...


@dataclass(frozen=True)
class Refused:
    """An item, and the problem of its repository that keeps it from its first node."""

    snapshot: Snapshot
    state: RunState | None
    """None: there is no ledger yet."""
    problem: str
    has_claimed: bool = False
    """Whether a node was claimed before the problem was found: somebody who is obeyed asked for the item."""
    considered: RunState | None = None
    """The run with what people said obeyed, where a text that they have to answer for is the problem: no answer counts that was
    given before the question."""

    @property
    def blocked_by(self) -> tuple[IssueNumber, ...]:
        """The issues that go first, where nothing is wrong but that: while there are any, no text of people is a problem."""
        return () if self.considered is None else self.snapshot.issue.open_blockers

    @property
    def refusal(self) -> Refusal:
        digest = hashlib.sha256(self.problem.encode()).hexdigest()
        config_oid = self.snapshot.repository.config_oid
        return Refusal(digest=digest, config_oid=config_oid, blocked_by=self.blocked_by)

    @property
    def comment(self) -> str:
        """What the status comment says."""
        return blocked_comment(self.problem) if self.blocked_by else problem_comment(self.problem)


def post_refusal(
    ports: AnswerPorts,
    ledger: NewLedger,
    refused: Refused,
    *,
    take_over: bool,
    new_run_id: Callable[[], RunId],
) -> None:
    """Post the one comment that says why the item cannot begin; where it is there, note that the problem is another one.

    The protocol is that of every first comment: a lease in a ledger commit that only one runner can make, the comment, the
    record with its id. Nothing is done where somebody else is at it, or where nobody who may do so asked for the item.

    Raises:
        StaleTip: somebody else moved the ledger; nothing was done.
    """
    state = refused.state
    if state is not None and (state.status_comment or (state.refusal == refused.refusal and not state.owed)):
        _note(ports, ledger, refused, state)
        return
    attempt = _attempt(refused, take_over=take_over)
    event = _asked_by(ports.tracker, refused.snapshot) if attempt else None
    if not attempt or (event is None and not refused.has_claimed):
        return
    state = _with_problem(
        refused.considered or state or _born(refused.snapshot, new_run_id()), refused, event
    )
    try:
        _post(ports, ledger, refused, state, attempt)
    except StaleTip:
        raise
    except LostRace:
        ports.say("another runner already says on the issue why the item cannot begin")


def _attempt(refused: Refused, *, take_over: bool) -> int:
    """Which attempt to post it this is; 0 = somebody else is at it."""
    left = refused.state.lease_of(INPUTS) if refused.state else None
    if refused.state is None or left is None:
        return 1
    age_s = lease_ages_of(refused.snapshot, refused.state).get(left.visit_key)
    is_stale = take_over or left.stealable_in_s(age_s) <= 0
    return min(left.attempt + 1, MAX_ATTEMPTS) if is_stale else 0


def _asked_by(tracker: Correspondence, snapshot: Snapshot) -> LabelEvent | None:
    """The trigger label as somebody set it who is obeyed here; None where nobody is to be informed."""
    config = legible_config(snapshot.repository.config_files)
    labels, present = config.labels, set(snapshot.issue.labels)
    event = newest_event(snapshot, labels.trigger)
    if event is None or snapshot.issue.state != "open" or {labels.hold, labels.cancel} & present:
        return None
    is_known = event.actor is None or event.actor.login in snapshot.permissions
    permissions = (
        {} if is_known or event.actor is None else tracker.permissions(snapshot, [event.actor.login])
    )
    known = snapshot.model_copy(update={"permissions": {**snapshot.permissions, **permissions}})
    return None if label_objection(event, known, config) else event


def _born(snapshot: Snapshot, run_id: RunId) -> RunState:
    """A run without a pipeline: which one it is on is known when the repository is mended."""
    return RunState(
        run_id=run_id,
        repository_id=snapshot.repository.node_id,
        repository=snapshot.repository.name_with_owner,
        issue=snapshot.issue.number,
        issue_digest=issue_digest(snapshot.issue.title, snapshot.issue.body),
        pipeline="",
        graph_hash="",
    )


def _with_problem(state: RunState, refused: Refused, event: LabelEvent | None) -> RunState:
    key = next((each.visit_key for each in state.owed if each.topic == STATUS_TOPIC), None)
    owed = Owed(
        topic=STATUS_TOPIC,
        body=refused.comment,
        visit_key=key or visit_key(state, INPUTS, state.inputs.times),
    )
    others = tuple(each for each in state.owed if each.topic != STATUS_TOPIC)
    inputs = _inputs(state.inputs, refused.snapshot, event)
    update = {"refusal": refused.refusal, "owed": (*others, owed), "inputs": inputs}
    return state.model_copy(update=update)


def _inputs(before: Inputs, snapshot: Snapshot, event: LabelEvent | None) -> Inputs:
    """The trigger was dealt with: a sweep wakes up for what happens after it."""
    labels = legible_config(snapshot.repository.config_files).labels
    seen = {"labels": present_inputs(snapshot.issue.labels, labels)}
    return before.model_copy(update={**seen, **({"last_label_event_id": event.id} if event else {})})


def _post(ports: AnswerPorts, ledger: NewLedger, refused: Refused, state: RunState, attempt: int) -> None:
    snapshot, is_heir = refused.snapshot, state.lease_of(INPUTS) is not None
    key = visit_key(state, INPUTS, state.inputs.times)
    lease = inputs_lease(state, visit_key=key, holder=ports.holder, attempt=attempt)
    held, lease = held_by(state, lease, snapshot)
    change = change_for(held, lease, "claim", {}, sequence=0)
    asked_s = ports.monotonic()
    if snapshot.ledger is None:
        commit = ledger.create(snapshot.root_oid or ports.tracker.create_root(), change)
    else:
        commit = ledger.append(snapshot.ledger.oid, change)
    due = Due(
        comments=tuple(
            status_comment(held, each.body, each.visit_key)
            if each.topic == STATUS_TOPIC
            else owed_comment(each, snapshot, held)
            for each in held.owed
        ),
        verb=VERB,
        waits_for=_waits_for,
        asked_s=asked_s,
        is_heir=is_heir,
    )
    settle(ports, VisitLease(ledger, state=held, tip=commit.oid, lease=lease), snapshot, due)


def _note(ports: AnswerPorts, ledger: NewLedger, refused: Refused, state: RunState) -> None:
    """Have the ledger say which problem the item rests on now; nothing where it does."""
    snapshot = refused.snapshot
    trigger = legible_config(snapshot.repository.config_files).labels.trigger
    newest = newest_event(snapshot, trigger)
    is_news = newest is not None and newest.id != state.inputs.last_label_event_id
    event = _asked_by(ports.tracker, snapshot) if is_news else None
    if snapshot.ledger is None or (state.refusal == refused.refusal and event is None):
        return
    after = state.model_copy(
        update={"refusal": refused.refusal, "inputs": _inputs(state.inputs, snapshot, event)}
    )
    key = visit_key(state, INPUTS, state.inputs.times)
    signature = inputs_lease(state, visit_key=key, holder=ports.holder)
    change = change_for(after, signature, VERB, {}, sequence=0, waits_for=_waits_for(after))
    ledger.append(snapshot.ledger.oid, change)


def _waits_for(state: RunState) -> str:
    """The trailer that a sweep compares with `.cogworks` as it is then, or with the issues that are open then."""
    if state.refusal is None:
        return ""
    others = [f"{BLOCKED} {number}@" for number in state.refusal.blocked_by]
    return "; ".join(others) or f"{CONFIGURATION} @{state.refusal.config_oid}"

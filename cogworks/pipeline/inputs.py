"""What people ask for changes the run: each verb as a transition of the state, and the answer it gets."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Literal

from cogworks.pipeline.calls import (
    approval_line,
    asking_visit,
    lapsed,
    with_approved_call,
    with_rejected_call,
)
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.people import (
    INPUTS_NODE,
    Approval,
    Held,
    IgnoredLabel,
    Owed,
    Reaction,
    Receipt,
)
from cogworks.pipeline.places import place_of
from cogworks.pipeline.position import Standing, artifact_of, dependents_of, instance_name, is_gated, slug_of
from cogworks.pipeline.restarting import restarted
from cogworks.pipeline.state import RunState, edge_key, visit_key
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import NodeId, Value

Verb = Literal["run", "approve", "reject", "retry", "cancel", "restart", "hold", "resume", "status"]
HOW_TO_WRITE: Mapping[str, str] = {
    "run": "/cogworks run",
    "approve": "/cogworks approve <node> <hash>",
    "reject": "/cogworks reject <node> <why>",
    "retry": "/cogworks retry",
    "cancel": "/cogworks cancel",
    "restart": "/cogworks restart",
    "hold": "/cogworks hold [why]",
    "resume": "/cogworks resume <why>",
    "status": "/cogworks status",
}
"""Verb -> how it is written."""
CANCELLED_TOPIC = "cancelled"


class Asked(Value):
    """Something that somebody who may do so asked for."""

    verb: Verb
    node: str = ""
    """`<node>` or `<node>@<sub-item key or number>`, for `approve` and `reject`."""
    artifact: str = ""
    why: str = ""
    by: str
    comment_id: int = 0
    """0: by a label, which gets no answer."""
    subject_id: str = ""
    """Node id of the comment, for the receipt."""
    written: datetime | None = None
    """When the comment was, or the label was set, by GitHub's clock."""


class Refused(Value):
    """A comment that is not obeyed."""

    by: str
    comment_id: int
    subject_id: str
    reason: str
    is_misspelt: bool = False


class Heard(Value):
    """The inputs of one read that nobody has dealt with yet, oldest first."""

    said: tuple[Asked | Refused, ...] = ()
    ignored_labels: tuple[IgnoredLabel, ...] = ()
    """All that are on the issue now and do not count, those found out earlier included."""
    last_comment_id: int = 0
    """Id of the newest comment among them; 0 = there is none."""
    last_label_event_id: str = ""
    """Of the newest label event among them, those that only had to be judged included."""

    @property
    def is_empty(self) -> bool:
        return not self.last_comment_id and not self.last_label_event_id


class NotNow(Exception):
    """A command of somebody who may give it does not fit the run; its text is the answer."""


def obey(
    state: RunState, facts: Facts, heard: Heard, pipeline: Pipeline, *, fresh: Callable[[], RunState]
) -> RunState:
    """The state after what people newly asked for; the same state when there was nothing.

    Args:
        fresh: a new run of the same item, for a restart.
    """
    if heard.is_empty:
        return state
    receipts: list[Receipt] = []
    for said in heard.said:
        if isinstance(said, Refused):
            state, reaction = _owing(state, said), _refusal_sign(said)
        else:
            state, reaction = _obeyed(state, facts, said, pipeline, fresh)
        if said.subject_id:
            receipts.append(Receipt(subject_id=said.subject_id, content=reaction))
    return _with_cursor(state, heard, tuple(receipts))


def _obeyed(
    state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline, fresh: Callable[[], RunState]
) -> tuple[RunState, Reaction]:
    try:
        after = (
            restarted(state, fresh()) if asked.verb == "restart" else _after(state, facts, asked, pipeline)
        )
    except NotNow as problem:
        refused = Refused(
            by=asked.by, comment_id=asked.comment_id, subject_id=asked.subject_id, reason=str(problem)
        )
        return (_owing(state, refused) if asked.comment_id else state), "THUMBS_DOWN"
    return after, "EYES" if asked.verb == "status" else "THUMBS_UP"


def _after(state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline) -> RunState:
    if state.status == "cancelled" and asked.verb != "status":
        raise NotNow("the item was cancelled; `/cogworks restart` begins anew")
    match asked.verb:
        case "approve":
            return _approved(state, facts, asked, pipeline)
        case "reject":
            return _rejected(state, facts, asked, pipeline)
        case "run":
            # A label says by itself that it is there; a comment has to be remembered.
            by = asked.by if asked.comment_id else state.asked_by
            return _retried(state, facts, pipeline).model_copy(update={"asked_by": by})
        case "retry":
            return _retried(state, facts, pipeline, must_exist=True)
        case "hold":
            return state.model_copy(update={"held": Held(by=asked.by, why=asked.why)})
        case "resume":
            asked_for = state.inputs.request
            # What a stranger wrote meanwhile is not what this person speaks of.
            accepted = asked_for.digest if asked_for else facts.issue_digest or state.issue_digest
            return state.model_copy(update={"held": None, "issue_digest": accepted})
        case "cancel":
            return _cancelled(state, asked)
        case "status" | "restart":
            return state


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


def _approved(state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline) -> RunState:
    at = _named(state, asked, pipeline)
    if (left := asking_visit(state, at)) and left.asks:
        if left.asks.hash.startswith(asked.artifact):
            _require_fresh(asked, facts, approval_line(instance_name(at), left.asks.hash))
            return with_approved_call(state, left, by=asked.by, written=asked.written)
        line = approval_line(instance_name(at), left.asks.hash)
        raise NotNow(
            f"`{asked.artifact[:12]}` is not the call that {instance_name(at)} asks about now. Look at it, then paste: `{line}`"
        )
    visit = _finished(state, at)
    name = instance_name(visit.instance)
    if not is_gated(state, facts, pipeline, pipeline.node(visit.node)):
        raise NotNow(f"{name} does not wait for an approval")
    artifact = artifact_of(state, facts, pipeline, visit)
    if not artifact or not artifact.startswith(asked.artifact):
        line = approval_line(name, artifact)
        raise NotNow(
            f"`{asked.artifact[:12]}` is not what {name} stands at now. Look at it, then paste: `{line}`"
        )
    _require_fresh(asked, facts, approval_line(name, artifact))
    approval = Approval(
        node=visit.node,
        sub_item=visit.sub_item,
        artifact=asked.artifact,
        by=asked.by,
        comment_id=asked.comment_id,
    )
    others = tuple(each for each in state.approvals if (each.node, each.sub_item) != visit.instance)
    return state.model_copy(update={"approvals": (*others, approval)})


def _require_fresh(asked: Asked, facts: Facts, line: str) -> None:
    """Refuse an approval that nobody obeyed in time: what it was given for may not be wanted any more."""
    if reason := lapsed(asked.written, now=facts.now, valid_hours=facts.approval_hours):
        raise NotNow(f"this approval came too late to be obeyed: {reason}. Look again, then paste: `{line}`")


def _rejected(state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline) -> RunState:
    at = _named(state, asked, pipeline)
    reason = f"rejected by {asked.by}: {asked.why}"
    if left := asking_visit(state, at):
        return with_rejected_call(state, left, reason)
    visit = _finished(state, at)
    name = instance_name(visit.instance)
    gates = Standing(state, facts, pipeline).position.gates
    if any((gate.node, gate.sub_item, gate.how) == (*visit.instance, "merged") for gate in gates):
        raise NotNow(f"the pull request of {name} is merged; revert it, or `/cogworks restart`")
    if visit.sub_item is None and state.sub_items is not None and _is_before_plan(visit.node, pipeline):
        raise NotNow(f"the plan is already made from {name}; `/cogworks restart` begins anew")
    visits = tuple(
        v.model_copy(update={"status": "failed", "summary": reason}) if v is visit else v
        for v in state.visits
    )
    return state.model_copy(update={"visits": visits, "status": "running"})


def _named(state: RunState, asked: Asked, pipeline: Pipeline) -> Instance:
    at = named_instance(asked.node, state, pipeline)
    if at is None:
        known = ", ".join(node.id for node in pipeline.nodes)
        raise NotNow(
            f"`{asked.node}` names no node of this item (a node per sub-work-item is written <node>@<number>); there are: {known}"
        )
    return at


def _finished(state: RunState, at: Instance) -> VisitRecord:
    visit = state.latest(at)
    if visit is None or visit.status == "failed" or state.lease_of(at) is not None:
        now = "is being worked on" if state.lease_of(at) else "has no finished result"
        raise NotNow(f"{instance_name(at)} {now}")
    return visit


def _is_before_plan(node: NodeId, pipeline: Pipeline) -> bool:
    return any(pipeline.is_sub_item(later) for later in pipeline.downstream_of(node))


def _retried(state: RunState, facts: Facts, pipeline: Pipeline, *, must_exist: bool = False) -> RunState:
    """Without what failed or was rejected, and without everything built on that."""
    rejected = Standing(state, facts, pipeline).position.rejected
    failed = {v.instance for v in state.visits if v.status == "failed" and not v.is_discarded}
    # Where no way led on from a node, asking again leads nowhere: the node itself is done again.
    wrong = failed | {place_of(at) for at in failed} | rejected.keys()
    stopped = any(left.stopped_short_of for left in state.given_back)
    # Visits that stopped short of a call may be claimed once more.
    tried = tuple(left.model_copy(update={"stopped_short_of": None}) for left in state.given_back)
    state = state.model_copy(update={"given_back": tried})
    if not wrong:
        if must_exist and not stopped:
            raise NotNow("nothing has failed, so there is nothing to do again")
        return state
    if any(at.sub_item is None and state.sub_items and _is_before_plan(at.node, pipeline) for at in rejected):
        raise NotNow(
            "the plan is already made from what was rejected; reopen the pull request, or `/cogworks restart`"
        )
    undone = _built_on(state, pipeline, wrong, rejected.keys())
    slugs = {slug_of(state, pipeline.node(at.node), at.sub_item) for at in rejected}
    marks = {edge_key(edge.id, at.sub_item) for at in undone for edge in pipeline.forward_from(at.node)}
    kept = tuple(pull for pull in state.pull_requests if pull.slug not in slugs)
    after = state.discarding(frozenset(undone), frozenset(marks))
    return after.model_copy(update={"pull_requests": kept, "status": "running"})


def _built_on(
    state: RunState, pipeline: Pipeline, wrong: AbstractSet[Instance], rejected: AbstractSet[Instance]
) -> set[Instance]:
    whole = {at.sub_item for at in rejected if at.sub_item is not None}
    below = dependents_of(state, {at.sub_item for at in wrong if at.sub_item is not None})
    undone = set(wrong)
    for visit in state.visits:
        at = place_of(visit.instance)
        is_whole = at.sub_item is not None and (at.sub_item in whole or at.sub_item in below)
        if (
            at in wrong
            or is_whole
            or any(
                at.node in pipeline.downstream_of(cause.node) and at.sub_item in (None, cause.sub_item)
                for cause in wrong
            )
        ):
            undone |= {at, visit.instance}
    return undone


def _cancelled(state: RunState, asked: Asked) -> RunState:
    if state.status == "done":
        raise NotNow("the item is done; close its pull requests if they are not wanted")
    gone = state.earlier.spend
    for lease in (*state.leases, *state.given_back):
        gone = gone + lease.spent_at_most
    spent = state.earlier.spend + state.spent
    ended = state.model_copy(
        update={
            "status": "cancelled",
            "leases": (),
            "given_back": (),
            "held": None,
            "earlier": state.earlier.model_copy(update={"spend": gone}),
        }
    )
    if not state.visits and not state.earlier.revision:
        return ended
    finished = sum(1 for visit in state.visits if visit.status == "succeeded" and not visit.is_discarded)
    pulls = ", ".join(f"#{pull.number}" for pull in state.pull_requests) or "none"
    body = (
        f"Cancelled by {asked.by}. {finished} visit(s) had finished, at ${spent.cost_usd:.4f}. Pull requests left as they "
        f"are: {pulls}. Branches and sub-issues were not touched. `/cogworks restart` begins anew."
    )
    key = visit_key(state, Instance(INPUTS_NODE, None), asked.comment_id)
    return ended.model_copy(
        update={"owed": (*state.owed, Owed(topic=CANCELLED_TOPIC, body=body, visit_key=key))}
    )


def _owing(state: RunState, refused: Refused) -> RunState:
    opening = "I do not understand this" if refused.is_misspelt else "This was not obeyed"
    verbs = "\n".join(HOW_TO_WRITE.values())
    body = (
        f"@{refused.by}: {opening}: {refused.reason}.\n\n"
        if refused.by
        else f"{opening}: {refused.reason}.\n\n"
    )
    body += f"What I understand, on the first line of a new comment:\n\n```text\n{verbs}\n```\n"
    key = visit_key(state, Instance(INPUTS_NODE, None), refused.comment_id)
    reply = Owed(topic=f"reply-{refused.comment_id}", body=body, visit_key=key)
    return state.model_copy(update={"owed": (*state.owed, reply)})


def _refusal_sign(refused: Refused) -> Reaction:
    return "CONFUSED" if refused.is_misspelt else "THUMBS_DOWN"


def _with_cursor(state: RunState, heard: Heard, receipts: tuple[Receipt, ...]) -> RunState:
    before = state.inputs
    inputs = before.model_copy(
        update={
            "last_comment_id": max(before.last_comment_id, heard.last_comment_id),
            "last_label_event_id": heard.last_label_event_id or before.last_label_event_id,
            "times": before.times + 1,
            "ignored_labels": heard.ignored_labels,
            "receipts": receipts or before.receipts,
        }
    )
    return state.model_copy(update={"inputs": inputs})

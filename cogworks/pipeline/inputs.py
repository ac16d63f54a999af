"""What people ask for changes the run: each verb as a transition of the state, and the answer it gets."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from cogworks.leaving import called
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.gates import (
    approval_line,
    artifact_of,
    asking_visit,
    is_gated,
    lapsed,
    with_approved_call,
)
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.people import (
    INPUTS_NODE,
    REPLY,
    Approval,
    FailedHead,
    Held,
    IgnoredLabel,
    Owed,
    Reaction,
    Receipt,
)
from cogworks.pipeline.position import instance_name, named_instance
from cogworks.pipeline.redoing import (
    NotNow,
    finished,
    is_worked_on,
    rejected,
    restarted,
    retried,
    revised,
    updated,
)
from cogworks.pipeline.state import RunState, visit_key
from cogworks.pipeline.visits import AskedChange
from cogworks.pipeline.wording import answered
from cogworks.vocabulary import IssueNumber, Value

Verb = Literal[
    "run",
    "approve",
    "reject",
    "retry",
    "update",
    "cancel",
    "restart",
    "hold",
    "resume",
    "status",
    "revise",
    "repair",
    "resolve",
]
"""`revise` is what a review says that asks for changes, `repair` what checks say that failed, `resolve` that GitHub cannot merge a pull
request; they are no commands."""
HOW_TO_WRITE: Mapping[str, str] = {
    "run": "/cogworks run",
    "approve": "/cogworks approve <node> <hash>",
    "reject": "/cogworks reject <node> <why>",
    "retry": "/cogworks retry",
    "update": "/cogworks update [number]",
    "cancel": "/cogworks cancel",
    "restart": "/cogworks restart",
    "hold": "/cogworks hold [why]",
    "resume": "/cogworks resume <why>",
    "status": "/cogworks status",
}
"""Verb -> how it is written; `revise`, `repair` and `resolve` are no commands."""
CANCELLED_TOPIC = "cancelled"


class Asked(Value):
    """Something that somebody who may do so asked for."""

    verb: Verb
    node: str = ""
    """`<node>` or `<node>@<sub-item key or number>`, for `approve` and `reject`."""
    artifact: str = ""
    pull_request: IssueNumber | None = None
    """Whose review asks for changes, for `revise`; whose checks failed, for `repair`; what shall be brought up to date, for `update` and
    `resolve`; None there: all that go to the default branch."""
    changes: tuple[AskedChange, ...] = ()
    failed_head: FailedHead | None = None
    """For `repair`; with `resolve` the head that conflicts."""
    why: str = ""
    by: str
    comment_id: int = 0
    """Of the comment or the review; 0: by a label, which gets no answer."""
    subject_id: str = ""
    """Node id of the comment or the review, for the receipt."""
    written: datetime | None = None
    """When the comment was, or the label was set, by GitHub's clock."""


class Refused(Value):
    """A comment that is not obeyed."""

    by: str
    comment_id: int
    subject_id: str
    reason: str
    is_misspelt: bool = False
    is_outsider: bool = False
    """Nobody knows that its author may ask for anything."""
    written: datetime | None = None
    """When, by GitHub's clock."""


class Heard(Value):
    """The inputs of one read that nobody has dealt with yet, oldest first."""

    said: tuple[Asked | Refused, ...] = ()
    ignored_labels: tuple[IgnoredLabel, ...] = ()
    """All that are on the issue now and do not count, those found out earlier included."""
    last_comment_id: int = 0
    """Id of the newest comment among them; 0 = there is none."""
    last_label_event_id: str = ""
    """Of the newest label event among them, those that only had to be judged included."""
    reviews: tuple[int, ...] = ()
    """Reviews that ask for changes and start nothing: of an App that nobody named, or from before anybody looked."""
    failed_heads: tuple[FailedHead, ...] = ()
    """Heads with failed checks that start nothing."""
    conflicts: tuple[FailedHead, ...] = ()
    """Heads that conflict and start nothing."""

    @property
    def is_empty(self) -> bool:
        return not (self.is_cursor_moved or self.said)

    @property
    def is_cursor_moved(self) -> bool:
        """Whether there is something to note, beside what was asked for."""
        return bool(self.failed_heads or self.conflicts or self.last_comment_id or self.last_label_event_id)


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
    dealt_with = [entry for entry in heard.said if not _has_to_wait(entry, state, pipeline)]
    if not dealt_with and not heard.is_cursor_moved:
        return state
    for entry in dealt_with:
        if isinstance(entry, Refused):
            state, reaction = _answered_once(state, entry), _refusal_sign(entry)
        else:
            state, reaction = _obeyed(state, facts, entry, pipeline, fresh)
        if entry.subject_id:
            receipts.append(Receipt(subject_id=entry.subject_id, content=reaction))
    return _with_cursor(
        state, heard, tuple(receipts), [entry for entry in dealt_with if isinstance(entry, Asked)]
    )


def _has_to_wait(entry: "Asked | Refused", state: RunState, pipeline: Pipeline) -> bool:
    """Whether a review is left for the next look, since what it is about is being worked on."""
    # A comment is read once; a review, checks and conflicts are there at the next look as well.
    number = entry.pull_request if isinstance(entry, Asked) and entry.verb != "update" else None
    return number is not None and is_worked_on(state, pipeline, number)


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
        case "reject" | "revise" | "repair" | "resolve":
            return _refused(state, facts, asked, pipeline)
        case "update":
            return updated(state, facts, pipeline, by=asked.by, number=asked.pull_request)
        case "run":
            # A label says by itself that it is there; a comment has to be remembered.
            by = asked.by if asked.comment_id else state.asked_by
            return retried(state, facts, pipeline).model_copy(update={"asked_by": by})
        case "retry":
            return retried(state, facts, pipeline, must_exist=True)
        case "hold" | "resume":
            return _held_or_resumed(state, facts, asked)
        case "cancel":
            return _cancelled(state, asked)
        case "status" | "restart":
            return state


def _held_or_resumed(state: RunState, facts: Facts, asked: Asked) -> RunState:
    if asked.verb == "hold":
        return state.model_copy(update={"held": Held(by=asked.by, why=asked.why)})
    asked_for = state.inputs.request
    # What a stranger wrote meanwhile is not what this person speaks of.
    accepted = asked_for.digest if asked_for else facts.issue_digest or state.issue_digest
    inputs = answered(state.inputs, by=asked.by, why=asked.why)
    return state.model_copy(update={"held": None, "issue_digest": accepted, "inputs": inputs})


def _refused(state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline) -> RunState:
    """A result is not wanted as it is; who asks for changes in a review wants it done again at once, and so do
    checks that failed."""
    if asked.failed_head is not None:
        return _mended(state, facts, asked, asked.failed_head, pipeline)
    if asked.pull_request is not None:
        reason = f"{asked.by} asked for changes in a review of #{asked.pull_request}"
        return revised(state, facts, pipeline, asked.pull_request, reason=reason, changes=asked.changes)
    changes = (AskedChange(by=asked.by, text=asked.why),)
    why = f"rejected by {asked.by}: {asked.why}"
    return rejected(state, facts, pipeline, _named(state, asked, pipeline), reason=why, changes=changes)


def _mended(state: RunState, facts: Facts, asked: Asked, head: FailedHead, pipeline: Pipeline) -> RunState:
    """Checks of a pull request failed, or it conflicts: its work is gone on with, or a person is asked where that was done often enough."""
    is_conflict = asked.verb == "resolve"
    if head.became == "repair" and is_conflict:
        return updated(state, facts, pipeline, by=asked.by, number=head.number)
    if head.became == "repair":
        reason = f"checks of #{head.number} failed: {asked.why}"
        return revised(state, facts, pipeline, head.number, reason=reason, changes=asked.changes)
    key = visit_key(state, Instance(INPUTS_NODE, None), head.number)
    what = "conflict" if is_conflict else "checks"
    reply = Owed(topic=f"{what}-{head.number}-{head.oid[:12]}", body=asked.why, visit_key=key)
    return state.model_copy(update={"owed": (*state.owed, reply)})


def _approved(state: RunState, facts: Facts, asked: Asked, pipeline: Pipeline) -> RunState:
    at = _named(state, asked, pipeline)
    if (left := asking_visit(state, at)) and left.asks:
        if left.asks.hash.startswith(asked.artifact):
            _require_fresh(asked, facts, approval_line(instance_name(at), left.asks.hash))
            return with_approved_call(
                state, left, by=asked.by, comment_id=asked.comment_id, written=asked.written
            )
        line = approval_line(instance_name(at), left.asks.hash)
        raise NotNow(
            f"{instance_name(at)} now asks about another call than `{asked.artifact[:12]}`. Look at it, then "
            f"paste: `{line}`"
        )
    visit = finished(state, at)
    name = instance_name(visit.instance)
    if not is_gated(state, facts, pipeline, pipeline.node(visit.node)):
        raise NotNow(f"{name} does not wait for an approval")
    artifact = artifact_of(state, facts, pipeline, visit)
    if not artifact or not artifact.startswith(asked.artifact):
        line = approval_line(name, artifact)
        raise NotNow(
            f"`{asked.artifact[:12]}` is not the current result of {name}. Look at it, then paste: `{line}`"
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
        raise NotNow(f"this approval came too late: {reason}. Look again, then paste: `{line}`")


def _named(state: RunState, asked: Asked, pipeline: Pipeline) -> Instance:
    at = named_instance(asked.node, state, pipeline)
    if at is None:
        known = ", ".join(node.id for node in pipeline.nodes)
        raise NotNow(
            f"`{asked.node}` is no node of this item. A node of a sub-work-item is written <node>@<number>. "
            f"There are: {known}"
        )
    return at


def _cancelled(state: RunState, asked: Asked) -> RunState:
    if state.status == "done":
        raise NotNow("the item is done. Close its pull requests if you do not want them")
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


def _answered_once(state: RunState, refused: Refused) -> RunState:
    """A person who may ask for nothing gets one answer a day, and signs beyond that: else they could have us post for ever."""
    if not refused.is_outsider or refused.written is None:
        return _owing(state, refused)
    day, before = refused.written.date(), state.inputs.answered
    if before.get(refused.by) == day:
        return state
    # Older days are forgotten, so that the state does not grow with every stranger.
    kept = {who: when for who, when in before.items() if when >= day - timedelta(days=1)}
    inputs = state.inputs.model_copy(update={"answered": {**kept, refused.by: day}})
    return _owing(state.model_copy(update={"inputs": inputs}), refused)


def _owing(state: RunState, refused: Refused) -> RunState:
    opening = "I do not understand this" if refused.is_misspelt else "This was not obeyed"
    verbs = "\n".join(HOW_TO_WRITE.values())
    body = (
        f"{called(refused.by)}: {opening}: {refused.reason}.\n\n"
        if refused.by
        else f"{opening}: {refused.reason}.\n\n"
    )
    body += f"What I understand, on the first line of a new comment:\n\n```text\n{verbs}\n```\n"
    if refused.is_outsider:
        body += "\nFurther such comments of the same day get a reaction and no answer.\n"
    key = visit_key(state, Instance(INPUTS_NODE, None), refused.comment_id)
    reply = Owed(topic=f"{REPLY}{refused.comment_id}", body=body, visit_key=key)
    return state.model_copy(update={"owed": (*state.owed, reply)})


def _refusal_sign(refused: Refused) -> Reaction:
    return "CONFUSED" if refused.is_misspelt else "THUMBS_DOWN"


def _with_cursor(
    state: RunState, heard: Heard, receipts: tuple[Receipt, ...], obeyed: Sequence[Asked]
) -> RunState:
    before = state.inputs
    reviews = [asked.comment_id for asked in obeyed if asked.verb == "revise"]
    known = (*(before.reviews or ()), *heard.reviews, *reviews)
    became = [(asked.verb, asked.failed_head) for asked in obeyed if asked.failed_head]
    heads = [*heard.failed_heads, *(head for verb, head in became if verb == "repair")]
    conflicts = [*heard.conflicts, *(head for verb, head in became if verb == "resolve")]
    inputs = before.model_copy(
        update={
            "last_comment_id": max(before.last_comment_id, heard.last_comment_id),
            "last_label_event_id": heard.last_label_event_id or before.last_label_event_id,
            "times": before.times + 1,
            "ignored_labels": heard.ignored_labels,
            "receipts": receipts or before.receipts,
            "reviews": tuple(sorted(set(known))) if known else before.reviews,
            "failed_heads": _with_heads(before.failed_heads, heads),
            "conflicts": _with_heads(before.conflicts, conflicts),
        }
    )
    return state.model_copy(update={"inputs": inputs})


def _with_heads(before: Sequence[FailedHead], new: Sequence[FailedHead]) -> tuple[FailedHead, ...]:
    """Both; what became of a head last is what counts."""
    heads = {(head.number, head.oid): head for head in (*before, *new)}
    return tuple(heads[key] for key in sorted(heads))

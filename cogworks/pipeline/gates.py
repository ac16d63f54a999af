"""Which nodes and calls of tools a person has to pass, and what people decided about the results and calls of a run.

A node waits at its own gate, for the safety override or at the shift-work boundary; a call waits until somebody approves it. How long
what somebody approved is good for, GitHub's clocks alone say.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from cogworks.pipeline.elements import Gate, Instance, Node, WorkClass
from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.frontier import InstanceStatus, instances
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.people import MIN_HASH_DIGITS, Approval, ApprovedCall, AskedCall, GatePassed
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease, VisitRecord
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, SubItemKey

WORK_CLASSES: tuple[WorkClass, ...] = ("safety-critical", "standard", "low-risk")


def work_class(*, safety_critical: bool, complexity: str) -> WorkClass:
    """How closely people look at an item.

    Args:
        complexity: `estimated_scope.complexity` of the classification; empty before there is one.
    """
    if safety_critical:
        return "safety-critical"
    return "low-risk" if complexity == "low" else "standard"


def gate_of(pipeline: Pipeline, node: Node, of: WorkClass) -> Gate:
    """The gate of a node for an item of this class.

    A safety-critical item gates whatever produces code, then a node's own gate counts, then the boundary.
    """
    # Before what the file says: no declaration opens this gate.
    if of == "safety-critical" and node.produces_code:
        return "human-gated"
    if node.gate is not None:
        return node.gate
    return "human-gated" if node.id in pipeline.up_to_boundary.get(of, ()) else "auto-proceed"


def gated_nodes(pipeline: Pipeline, of: WorkClass) -> frozenset[NodeId]:
    """Every node a person has to pass for an item of this class."""
    return frozenset(node.id for node in pipeline.nodes if gate_of(pipeline, node, of) == "human-gated")


def boundary_line(pipeline: Pipeline, of: WorkClass) -> str:
    """The shift-work boundary in one sentence for people; empty where the pipeline has none."""
    if not pipeline.shift_work:
        return ""
    boundary = pipeline.shift_work.get(of)
    if boundary is None:
        return f"{of}: no boundary; only nodes with a gate of their own wait for people"
    return f"{of}: people look at results up to {pipeline.node(boundary).title}; after it the machine goes on"


def artifact_of(state: RunState, facts: Facts, pipeline: Pipeline, visit: VisitRecord) -> str:
    """The hash that an approval of this visit has to name: its pull request's head, else that of its output."""
    slug = slug_of(state, pipeline.node(visit.node), visit.sub_item)
    known = state.pull(slug) if slug else None
    pull = facts.pulls.get(known.number) if known else None
    return pull.head_oid if pull is not None else visit.output_sha256


def class_of(state: RunState, facts: Facts) -> WorkClass:
    """How closely people look at this item, as far as its classification says by now."""
    critical = facts.is_safety_critical or state.is_safety_critical
    return work_class(safety_critical=critical, complexity=state.complexity)


def is_gated(state: RunState, facts: Facts, pipeline: Pipeline, node: Node) -> bool:
    """Whether a person has to pass a node's result."""
    return gate_of(pipeline, node, class_of(state, facts)) == "human-gated"


def slug_of(state: RunState, node: Node, sub_item: SubItemKey | None) -> str:
    """The branch and pull-request slug of a node's result, `""` where it has none."""
    if not node.slug or sub_item is None:
        return node.slug or ""
    return f"{node.slug}-{state.sub_item(sub_item).ordinal}"


def passed_gates(state: RunState, facts: Facts, pipeline: Pipeline) -> tuple[GatePassed, ...]:
    """The gates that people opened; the rest of the position is not computed."""
    return tuple(judged(state, facts, pipeline, frozenset(instances(pipeline, state.schedule))).gates)


def rejected_results(state: RunState, facts: Facts, pipeline: Pipeline) -> Mapping[Instance, IssueNumber]:
    """The results whose pull request was closed unmerged; the rest of the position is not computed."""
    return judged(state, facts, pipeline, frozenset(instances(pipeline, state.schedule))).rejected


class Judged(NamedTuple):
    """What became of the visits of a run at their gates."""

    statuses: dict[Instance, InstanceStatus]
    gates: list[GatePassed]
    rejected: dict[Instance, IssueNumber]


def judged(state: RunState, facts: Facts, pipeline: Pipeline, places: AbstractSet[Instance]) -> Judged:
    judged = Judged({}, [], {})
    for visit in state.visits:
        if visit.is_discarded or visit.instance not in places:
            continue
        # Until the gate says otherwise: a result that people rejected is left so, too.
        judged.statuses[visit.instance] = InstanceStatus.FAILED
        if visit.waits:
            judged.statuses[visit.instance] = InstanceStatus.WAITING_GATE
        if visit.status == "failed":
            continue
        verdict = _gate(state, facts, pipeline, visit)
        if isinstance(verdict, GatePassed):
            judged.gates.append(verdict)
        if isinstance(verdict, int):
            judged.rejected[visit.instance] = verdict
        else:
            judged.statuses[visit.instance] = (
                InstanceStatus.WAITING_GATE if verdict == "waiting" else InstanceStatus.SUCCEEDED
            )
    return judged


def _gate(
    state: RunState, facts: Facts, pipeline: Pipeline, visit: VisitRecord
) -> GatePassed | IssueNumber | Literal["open", "waiting"]:
    """`"open"`: no gate here; a number: the pull request that was closed unmerged."""
    node = pipeline.node(visit.node)
    slug = slug_of(state, node, visit.sub_item)
    known = state.pull(slug) if slug else None
    pull = facts.pulls.get(known.number) if known else None
    is_closed = pull is not None and pull.state == "closed"
    if pull is not None and is_closed and not (known and known.is_shown_only):
        # GitHub closes a pull request when its base branch is deleted: nobody rejected it (docs/failures.md).
        return "waiting" if pull.is_base_gone else pull.number
    if not is_gated(state, facts, pipeline, node):
        return "open"
    # Nothing was made, so there is nothing to look at; where safety is at stake somebody looks at that, too.
    if known is None and visit.is_empty and class_of(state, facts) != "safety-critical":
        return "open"
    if known is None and node.slug and _opens_later(pipeline, node):
        # There is nothing to look at yet: the gate closes when the pull request is there.
        return "open"
    approvals = tuple(each for each in state.approvals if each not in facts.doubted_approvals)
    how, by = _passed_by(approvals, pull, visit)
    if by is not None:
        oid = pull.head_oid if pull is not None else CommitOid(visit.output_sha256)
        return GatePassed(node=node.id, sub_item=visit.sub_item, how=how, by=by, oid=oid)
    # What is only shown is closed once it is approved; closed before, it was rejected.
    return pull.number if pull is not None and is_closed else "waiting"


def _passed_by(
    approvals: Sequence[Approval], pull: PullFacts | None, visit: VisitRecord
) -> tuple[Literal["merged", "approved"], str | None]:
    # GitHub says so itself; only what it does not know is looked up among the commands.
    if pull is not None and pull.state == "merged":
        return "merged", pull.merged_by
    if pull is not None and pull.approved_by:
        return "approved", pull.approved_by
    artifact = pull.head_oid if pull is not None else visit.output_sha256
    for approval in approvals:
        # People paste the first digits of a hash; too few of them would fit what they never saw.
        is_for_it = (approval.node, approval.sub_item) == visit.instance
        if is_for_it and len(approval.artifact) >= MIN_HASH_DIGITS and artifact.startswith(approval.artifact):
            return "approved", approval.by
    return "approved", None


def _opens_later(pipeline: Pipeline, node: Node) -> bool:
    return any(pipeline.node(later).slug == node.slug for later in pipeline.downstream_of(node.id))


def lapsed(written: datetime | None, *, now: datetime | None, valid_hours: int) -> str:
    """Since when an approval no longer counts, in words for people; empty while it does.

    Args:
        written: when GitHub says that the approval was written; None: nobody knows.
        now: what GitHub's clock says; None: nobody knows.
        valid_hours: 0 = for ever.
    """
    # Without a date on either side nothing is taken from people.
    if not valid_hours or written is None or now is None:
        return ""
    if now - written <= timedelta(hours=valid_hours):
        return ""
    return (
        f"it was written at {written:%Y-%m-%d %H:%M} UTC and expired after {valid_hours} hour(s) "
        "(`approvals.valid_hours`)"
    )


KEEP_TEST = "keep_disputed_test"
"""The call by which a person has a test stay that somebody holds to be wrong."""
MAX_APPROVED = 64
"""Of one visit. Each took a comment of a person; the oldest is forgotten first and asked about again."""


def asking_visits(state: RunState) -> tuple[Lease, ...]:
    """The visits that were given back until somebody says whether they may make a call."""
    # Once rejected it asks nobody any more; it is to be recorded as failed.
    return tuple(left for left in state.given_back if left.asks and not left.asks.rejected_because)


def rejected_visits(state: RunState) -> tuple[Lease, ...]:
    """The visits whose call somebody rejected, and that are not recorded as failed yet."""
    return tuple(left for left in state.given_back if left.asks and left.asks.rejected_because)


def asking_visit(state: RunState, at: Instance) -> Lease | None:
    """The visit of this node and sub-item that asks people about a call, if any."""
    return next((left for left in asking_visits(state) if left.instance == at), None)


def question(state: RunState, at: Instance, name: str) -> tuple[str, str] | None:
    """What to do about the call that a visit asks about, in one sentence for people, and the comment that approves it.

    Args:
        name: of the node, as people write it.
    """
    asking = asking_visit(state, at)
    if asking is None or asking.asks is None:
        return None
    call, folder = asking.asks, state.folder(asking.index, at)
    again = f". It was approved {call.lapsed}" if call.lapsed else ""
    if call.tool == KEEP_TEST:
        return _about_test(call, folder, name, again), approval_line(name, call.hash)
    sentence = (
        f"{name} wants to call {call.tool} (call {call.hash}) with `{call.shown}`. Its replies in "
        f"`{folder}` of the ledger hold the whole input. Approve this call, or comment `/cogworks reject "
        f"{name} <why>`{again}"
    )
    return sentence, approval_line(name, call.hash)


def _about_test(call: AskedCall, folder: str, name: str, again: str) -> str:
    return (
        f"{name} asks whether a disputed test stays (call {call.hash}): `{call.shown}`. Its replies in "
        f"`{folder}` of the ledger hold the whole dispute. If the test is right, approve this call. If it "
        "is wrong, make the sub-issue or the specification more precise and comment `/cogworks reject "
        f"{name} <why>`. Once this issue says that it failed, remove the trigger label and set it again: "
        f"the tests are written anew{again}"
    )


def approval_line(name: str, artifact: str) -> str:
    """The comment that approves this artifact or call of a node; empty where its hash is not known."""
    return f"/cogworks approve {name} {artifact[:12]}" if artifact else ""


def with_approved_call(
    state: RunState, asking: Lease, *, by: str, comment_id: int, written: datetime | None = None
) -> RunState:
    """The visit may be claimed again, and makes the call that it asked about without asking.

    Args:
        written: when the approval was, by GitHub's clock.
    """
    asks = asking.asks
    new = (ApprovedCall(hash=asks.hash, by=by, written=written, comment_id=comment_id),) if asks else ()
    # Approved once more, a call counts from now on.
    others = [each for each in asking.approved_calls if each.hash not in {call.hash for call in new}]
    approved = (*others, *new)[-MAX_APPROVED:]
    return _changed(state, asking, {"asks": None, "approved_calls": approved})


def with_rejected_call(state: RunState, asking: Lease, reason: str) -> RunState:
    """The visit is to be recorded as failed, for this reason."""
    rejected = asking.asks and asking.asks.model_copy(update={"rejected_because": reason})
    return _changed(state, asking, {"asks": rejected})


def lapsed_calls(
    approved: Sequence[ApprovedCall],
    shown: Mapping[str, datetime],
    *,
    now: datetime | None,
    valid_hours: int,
) -> dict[str, str]:
    """The approved calls whose approval does not count, or no longer: hash -> by whom and why, in words for people.

    Args:
        shown: hash -> when the comment was written that approves it; what the ledger says of that is nobody's word.
    """
    judged = {
        call: lapsed(shown[call.hash], now=now, valid_hours=valid_hours) if call.hash in shown else _UNSAID
        for call in approved
    }
    return {call.hash: f"by {call.by}, but {reason}" for call, reason in judged.items() if reason}


_UNSAID = "no unedited comment of somebody with write permission says so"


def _changed(state: RunState, left: Lease, update: Mapping[str, object]) -> RunState:
    changed = left.model_copy(update=update)
    given_back = tuple(changed if each is left else each for each in state.given_back)
    return state.model_copy(update={"given_back": given_back})

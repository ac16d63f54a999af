"""Which nodes a person has to pass (a node's own gate, the safety override, the shift-work boundary), and what people
decided about the results of a run."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple

from cogworks.pipeline.elements import Gate, Instance, Node, WorkClass
from cogworks.pipeline.facts import Facts, PullFacts
from cogworks.pipeline.frontier import InstanceStatus, instances
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.people import MIN_HASH_DIGITS, Approval, GatePassed
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import VisitRecord
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

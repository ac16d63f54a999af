"""What a finished visit does to the run: its record, the edges it decides, and what was looked at for each."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cogworks.pipeline.elements import (
    MAX_TRAVERSALS,
    Condition,
    ConditionAnswer,
    Edge,
    EdgeId,
    EdgeRef,
    ExpressionCondition,
    ModelCondition,
    is_routing,
    place_of,
    routing_of,
)
from cogworks.pipeline.expressions import parse_expression, paths_of
from cogworks.pipeline.graph import Instance, Pipeline, PipelineConfiguration
from cogworks.pipeline.lane_choice import MovedUp
from cogworks.pipeline.routing import (
    Ask,
    EdgeVerdict,
    Undecided,
    evaluate_edges,
    leaves,
    out_edges_after,
    read_path,
    reopened_by,
)
from cogworks.pipeline.state import PartIssue, RunState, SubItem, edge_key
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import IssueNumber, NodeId, SubItemKey, Value


class Evaluator(Value):
    """Who said whether an edge holds."""

    kind: Literal["Deterministic", "LlmModel", "Composite"]
    model_id: str = ""
    """The model that was asked; empty where none was, or where it gave no answer."""


class EdgeEvaluation(Value):
    """One edge that was looked at. When: the time of the ledger commit that holds it."""

    edge_id: EdgeId
    condition: Mapping[str, Any] | None
    """As JSON; None = always taken, or chosen by the node itself."""
    input_snapshot: Mapping[str, Any]
    """Path -> value of every path that the condition reads and the view has."""
    result: bool
    evaluator: Evaluator
    answers: tuple[ConditionAnswer, ...] = ()
    """To the questions of the condition, those that a fallback decided included."""


def edge_evaluations(
    pipeline: Pipeline, visit: VisitRecord, view: Mapping[str, Any]
) -> tuple[EdgeEvaluation, ...]:
    """What a finished visit decided of the edges that leave its place, in the order they were looked at.

    None for a failed visit, and for one that awaits a routing visit: that one records them. An edge that holds need
    not be taken: a loop that goes back wins over every edge that leads on.

    Args:
        view: as `transitions.settle` takes it.
    """
    if visit.status == "failed":
        return ()
    place = place_of(visit.instance)
    try:
        results = evaluate_edges(pipeline, place.node, view, ask=_answers(visit))
    except Undecided:
        return ()
    return tuple(
        _evaluation(pipeline, pipeline.edge(edge_id), result, view, visit.answers)
        for edge_id, result in results.items()
    )


def edges_line(evaluations: Sequence[EdgeEvaluation], *, max_edges: int = 20) -> str:
    """The evaluations in one line for a commit message: `<edge>=true` or `<edge>=false`, and who said so if not code."""
    words = [f"{each.edge_id}={str(each.result).lower()}{_by(each)}" for each in evaluations[:max_edges]]
    more = len(evaluations) - len(words)
    return " ".join([*words, f"and {more} more"] if more else words)


def answers_of(visit: VisitRecord) -> Ask:
    """Answers questions from what a routing visit recorded; raises Undecided for one that it was not asked."""
    known = {answer.question: answer.answer for answer in visit.answers}

    def ask(condition: ModelCondition) -> bool | None:
        if condition.question not in known:
            raise Undecided(condition.question)
        return known[condition.question]

    return ask


def _answers(visit: VisitRecord) -> Ask | None:
    return answers_of(visit) if is_routing(visit.instance) else None


def _evaluation(
    pipeline: Pipeline,
    edge: Edge,
    result: bool,
    view: Mapping[str, Any],
    answers: Sequence[ConditionAnswer],
) -> EdgeEvaluation:
    questions = {each.question for each in leaves(edge.condition) if isinstance(each, ModelCondition)}
    used = tuple(answer for answer in answers if answer.question in questions)
    return EdgeEvaluation(
        edge_id=edge.id,
        condition=None if edge.condition is None else edge.condition.model_dump(mode="json"),
        input_snapshot=_snapshot(pipeline, edge, view),
        result=result,
        evaluator=_evaluator(edge.condition, used),
        answers=used,
    )


def _evaluator(condition: Condition | None, answers: Sequence[ConditionAnswer]) -> Evaluator:
    model_id = next((answer.model_id for answer in answers if answer.model_id), "")
    match condition:
        case None | ExpressionCondition():
            return Evaluator(kind="Deterministic")
        case ModelCondition():
            return Evaluator(kind="LlmModel", model_id=model_id)
        case _:
            return Evaluator(kind="Composite", model_id=model_id)


def _snapshot(pipeline: Pipeline, edge: Edge, view: Mapping[str, Any]) -> dict[str, Any]:
    paths = [
        path
        for each in leaves(edge.condition)
        if isinstance(each, ExpressionCondition)
        for path in paths_of(parse_expression(each.expr))
    ]
    if pipeline.node(edge.source).evaluation == "explicit":
        paths = [f"{slot}.next_edges" for slot in pipeline.node(edge.source).outputs]
    values = ((path, read_path(path, view)) for path in dict.fromkeys(paths))
    # `null` in the view is a value, a path that leads nowhere is none.
    return {path: value[0] for path, value in values if value}


def _by(each: EdgeEvaluation) -> str:
    if not each.answers:
        return ""
    fell_back = any(answer.answer is None for answer in each.answers)
    return "(fallback)" if fell_back else "(model)"


def settle(state: RunState, pipeline: Pipeline, visit: VisitRecord, view: Mapping[str, Any]) -> RunState:
    """Record a visit and decide the edges that leave its place; the same arguments give the same state.

    Args:
        visit: of a node, or a routing visit with its answers.
        view: output slot -> JSON, the node's own output included; what conditions are evaluated over. A routing visit
            takes the one that its node was recorded with.

    Where only a model can say which edges hold, none is decided: the record says that it awaits a routing visit.
    A rework edge makes everything it repeats undecided again, and the answers given there count no more. A loop that
    is used up and a node none of whose edges hold are failures of the visit, with the reason in its summary.

    Raises:
        Undecided: a routing visit lacks an answer.
    """
    # A failure decides no edge: the next attempt has to find them open.
    if visit.status == "failed":
        return state.recorded(visit)
    ask = answers_of(visit) if is_routing(visit.instance) else None
    place = place_of(visit.instance)
    try:
        verdict = out_edges_after(pipeline, place, view, _traversals(state, pipeline), ask=ask)
    except Undecided:
        # A routing visit is what would be awaited: nothing else can decide these edges.
        if ask is not None:
            raise
        return state.recorded(visit.model_copy(update={"awaits_routing": True}))
    if reason := _no_way_on(pipeline, place.node, verdict):
        failed = visit.model_copy(update={"status": "failed", "summary": f"{visit.summary}; {reason}"})
        return state.recorded(failed)
    decided = {**state.marks, **{_key(ref): mark.value for ref, mark in verdict.marks.items()}}
    after = state.recorded(visit).model_copy(update={"marks": decided})
    if verdict.rework is None:
        return after
    counted = edge_key(verdict.rework, visit.sub_item)
    # Counted for good, whatever the loop undoes: so every run ends.
    walked = {**after.traversals, counted: after.traversals.get(counted, 0) + 1}
    undone = reopened_by(pipeline, verdict.rework, visit.sub_item)
    # With the answers that were given on the way: they are about results that no longer count.
    repeated = frozenset(undone.instances) | {routing_of(at) for at in undone.instances}
    reopened = after.discarding(repeated, frozenset(_key(ref) for ref in undone.edges))
    return reopened.model_copy(update={"traversals": walked})


def switched(state: RunState, pipeline: Pipeline) -> RunState:
    """The run on another pipeline, as its first node chose; what was decided on the old graph counts no more."""
    # The same graph under another name: every place and edge is still there.
    if state.graph_hash == pipeline.graph_hash:
        return state.model_copy(update={"pipeline": pipeline.name})
    # Discarded and kept: their cost counts, and their numbers and folders are taken.
    discarded = tuple(visit.model_copy(update={"is_discarded": True}) for visit in state.visits)
    return state.model_copy(
        update={
            "pipeline": pipeline.name,
            "graph_hash": pipeline.graph_hash,
            "visits": discarded,
            "marks": {},
            "traversals": {},
        }
    )


def moved_up(state: RunState, pipeline: Pipeline, why: str) -> RunState:
    """The run on a longer pipeline that begins with the same node: what that node found still counts, nothing else does.

    Args:
        pipeline: one on which the first node leads on without conditions.
    """
    first = Instance(pipeline.start, None)
    last = state.latest(first)
    is_done = last is not None and last.status == "succeeded"
    marks = out_edges_after(pipeline, first, {}, {}).marks if is_done else {}
    after = switched(state, pipeline)
    return after.model_copy(
        update={
            "visits": tuple(
                kept if kept is last else left for kept, left in zip(state.visits, after.visits, strict=True)
            ),
            "marks": {_key(ref): mark.value for ref, mark in marks.items()},
            "gates": (),
            "moved_up": MovedUp(why=why, after=max((index for index, _ in state.finished()), default=0)),
        }
    )


CRITICAL = "the item has become safety-critical"


def moved_up_for_safety(state: RunState, lanes: PipelineConfiguration, *, is_critical: bool) -> RunState:
    """The run on the whole way where safety has come to be at stake; the same where nothing has to change.

    A node that is at work, or was stopped in its midst, ends first. Once there is a pull request people decide on that.
    """
    may_move = lanes.are_lanes and state.pipeline == "small" and state.status == "running"
    is_under_way = state.leases or state.given_back or state.pull_requests
    if not (may_move and is_critical) or is_under_way or not state.visits:
        return state
    return moved_up(state, lanes.choose("default"), CRITICAL)


def learn_classification(state: RunState, output: Mapping[str, Any]) -> RunState:
    """Keep what the views and the gates need of the classification slot."""
    scope = output.get("estimated_scope")
    complexity = scope.get("complexity") if isinstance(scope, Mapping) else None
    update: dict[str, Any] = {"kind": str(output.get("type", "")), "complexity": str(complexity or "")}
    # Set and never lifted: a later answer of a model must not open a gate.
    if output.get("safety_affecting") is True:
        update["is_safety_critical"] = True
    return state.model_copy(update=update)


def learn_plan(
    state: RunState, output: Mapping[str, Any], issues: Mapping[SubItemKey, tuple[IssueNumber, str]]
) -> RunState:
    """Keep the sub-work-items of the plan slot.

    Args:
        output: `sub_work_items` in dependency order, each with `key`, `title` and `depends_on`.
        issues: key -> number and node id of the sub-issue that was made for it.
    """
    items = []
    for ordinal, planned in enumerate(output["sub_work_items"], start=1):
        number, node_id = issues[planned["key"]]
        items.append(
            SubItem(
                key=planned["key"],
                ordinal=ordinal,
                title=planned["title"],
                depends_on=tuple(planned["depends_on"]),
                number=number,
                node_id=node_id,
            )
        )
    return state.model_copy(update={"sub_items": tuple(items)})


def learn_parts(
    state: RunState, output: Mapping[str, Any], issues: Mapping[SubItemKey, tuple[IssueNumber, str]]
) -> RunState:
    """Keep the issues into which the item was divided.

    Args:
        output: `parts` in dependency order, each with `key`, `title` and `depends_on`.
        issues: key -> number and node id of the issue that was made for it.
    """
    parts = []
    for part in output["parts"]:
        number, node_id = issues[part["key"]]
        known = {"key": part["key"], "title": part["title"], "depends_on": tuple(part["depends_on"])}
        parts.append(PartIssue(**known, number=number, node_id=node_id))
    return state.model_copy(update={"parts": tuple(parts)})


def _traversals(state: RunState, pipeline: Pipeline) -> dict[EdgeRef, int]:
    keys: list[SubItemKey | None] = [None, *(item.key for item in state.sub_items or ())]
    return {
        EdgeRef(edge.id, key): state.traversals.get(edge_key(edge.id, key), 0)
        for edge in pipeline.edges
        if edge.rework
        for key in keys
    }


def _no_way_on(pipeline: Pipeline, node_id: NodeId, verdict: EdgeVerdict) -> str:
    if verdict.overflow in ("halt", "escalate") and verdict.overflowed is not None:
        edge = pipeline.edge(verdict.overflowed)
        limit = min(edge.rework.max_traversals, MAX_TRAVERSALS) if edge.rework else 0
        return f"edge {edge.id!r} was taken {limit} times, its limit; a person has to look"
    if verdict.dead_end:
        return f"no edge that leaves {node_id!r} holds, so the run cannot go on; check `cogworks graph`"
    return ""


def _key(ref: EdgeRef) -> str:
    return edge_key(ref.edge, ref.sub_item)

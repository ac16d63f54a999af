"""What a finished visit does to the run: its record, the edges it decides, and what later nodes learn from it."""

from collections.abc import Mapping
from typing import Any

from cogworks.pipeline.frontier import EdgeVerdict, out_edges_after, reopened_by
from cogworks.pipeline.graph import EdgeRef, Pipeline
from cogworks.pipeline.state import RunState, SubItem, VisitRecord, edge_key
from cogworks.vocabulary import IssueNumber, SubItemKey


def settle(state: RunState, pipeline: Pipeline, visit: VisitRecord, view: Mapping[str, Any]) -> RunState:
    """Record a visit and decide the edges that leave it.

    Args:
        view: output slot -> JSON, the visit's own output included; what conditions are evaluated over.

    A rework edge makes everything it repeats undecided again. A loop that is used up and a node none of whose edges
    hold are failures of the visit, with the reason in its summary.
    """
    if visit.status == "failed":
        return state.recorded(visit)
    traversals = _traversals(state, pipeline)
    verdict = out_edges_after(pipeline, visit.instance, view, traversals)
    if reason := _no_way_on(pipeline, visit, verdict):
        failed = visit.model_copy(update={"status": "failed", "summary": f"{visit.summary}; {reason}"})
        return state.recorded(failed)
    decided = {**state.marks, **{_key(ref): mark.value for ref, mark in verdict.marks.items()}}
    after = state.recorded(visit).model_copy(update={"marks": decided})
    if verdict.rework is None:
        return after
    counted = edge_key(verdict.rework, visit.sub_item)
    walked = {**after.traversals, counted: after.traversals.get(counted, 0) + 1}
    undone = reopened_by(pipeline, verdict.rework, visit.sub_item)
    reopened = after.discarding(frozenset(undone.instances), frozenset(_key(ref) for ref in undone.edges))
    return reopened.model_copy(update={"traversals": walked})


def learn_classification(state: RunState, output: Mapping[str, Any]) -> RunState:
    """Keep what the views and the gates need of the classification slot."""
    update: dict[str, Any] = {"kind": str(output.get("type", ""))}
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


def _traversals(state: RunState, pipeline: Pipeline) -> dict[EdgeRef, int]:
    keys: list[SubItemKey | None] = [None, *(item.key for item in state.sub_items or ())]
    return {
        EdgeRef(edge.id, key): state.traversals.get(edge_key(edge.id, key), 0)
        for edge in pipeline.edges
        if edge.rework
        for key in keys
    }


def _no_way_on(pipeline: Pipeline, visit: VisitRecord, verdict: EdgeVerdict) -> str:
    if verdict.overflow in ("halt", "escalate") and verdict.overflowed is not None:
        edge = pipeline.edge(verdict.overflowed)
        limit = edge.rework.max_traversals if edge.rework else 0
        return f"edge {edge.id!r} was taken {limit} times, its limit; a person has to look"
    if verdict.dead_end:
        return f"no edge that leaves {visit.node!r} holds, so the run cannot go on; check `cogworks graph`"
    return ""


def _key(ref: EdgeRef) -> str:
    return edge_key(ref.edge, ref.sub_item)

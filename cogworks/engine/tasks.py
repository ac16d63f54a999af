"""What one visit is about: which recorded outputs it needs, and the task made of them."""

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from cogworks.forge.wordings import EditedText
from cogworks.ledger.record import LedgerUnreadable, ledger_branch, view_path
from cogworks.nodes.task import Conventions, Learnt, NodeTask, PullRequestRef, SubItemRef, Visit, WorkItem
from cogworks.pipeline.decision import Run
from cogworks.pipeline.elements import is_routing, place_of
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.gates import slug_of
from cogworks.pipeline.graph import Instance, Node, Pipeline
from cogworks.pipeline.redoing import open_changes
from cogworks.pipeline.state import RunState
from cogworks.pipeline.unmerged import Foundation, foundations
from cogworks.pipeline.visits import MOST_LOOKED, LookedAt, VisitRecord
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey, Value, VisitKey

VIEW = "view"
"""The one input of a routing visit: what the conditions of its node are evaluated over."""


class Source(Value):
    """Where in the ledger one input comes from."""

    slot: str
    dependency: SubItemKey | None
    """None: the visit's own input; else the output of a sub-item it depends on."""
    path: str
    is_whole: bool
    """The file is the slot's value; False: the slot is one key of it."""
    visit_key: VisitKey = VisitKey("")
    """Of the visit that put it out."""
    is_earlier: bool = False
    """It is what an earlier visit of the same node put out."""
    is_learnt: bool = False
    """It is what was found on the short way that the item has left."""


def sources_of(
    state: RunState, pipeline: Pipeline, instance: Instance, *, ordinal: int
) -> tuple[Source, ...]:
    """Every recorded output that a visit of this instance is handed, each slot once."""
    if is_routing(instance):
        return _view_of(state, instance)
    node = pipeline.node(instance.node)
    slots = list(node.inputs)
    # A rework edge discards what it repeats; what it preserves is handed on all the same.
    preserved = _preserved_slots(pipeline, node) if ordinal > 1 else ()
    slots += [slot for slot in preserved if slot not in slots]
    maybe_sources = [
        _source(state, pipeline, slot, instance.sub_item, may_be_discarded=slot in preserved)
        for slot in slots
    ]
    sources = [source for source in maybe_sources if source is not None]
    if ordinal > 1:
        own = [
            _source(state, pipeline, slot, instance.sub_item, may_be_discarded=True) for slot in node.outputs
        ]
        # Rework edits what there is and does not begin from nothing.
        sources += [each.model_copy(update={"is_earlier": True}) for each in own if each is not None]
    if instance.sub_item is not None:
        # It is built on these, so it reads what they put out.
        for dependency in state.sub_item(instance.sub_item).depends_on:
            for slot in node.outputs:
                source = _source(state, pipeline, slot, dependency, may_be_discarded=False)
                if source is not None:
                    sources.append(source.model_copy(update={"dependency": dependency}))
    return (*sources, *_learnt(state, pipeline, instance))


def missing_inputs(pipeline: Pipeline, instance: Instance, sources: tuple[Source, ...]) -> tuple[str, ...]:
    """Declared inputs that no finished visit has produced although one before it should have."""
    if is_routing(instance):
        return () if sources else (VIEW,)
    # What an earlier round put out does not stand in for what the node before owes in this one.
    there = {
        each.slot for each in sources if each.dependency is None and not (each.is_earlier or each.is_learnt)
    }
    return tuple(slot for slot in pipeline.required_inputs(instance.node) if slot not in there)


def task_for(
    state: RunState,
    pipeline: Pipeline,
    move: Run,
    *,
    item: WorkItem,
    pulls: Mapping[IssueNumber, PullFacts],
    files: Mapping[str, str],
    conventions: Conventions,
) -> NodeTask:
    """The task of a visit.

    Args:
        pulls: the run's pull requests as GitHub shows them now.
        files: ledger path -> text of every path that `sources_of` named.

    Raises:
        LedgerUnreadable: one of those files is not there.
    """
    node, sub_item = move.instance
    inputs: dict[str, Any] = {}
    earlier: dict[str, Any] = {}
    learnt: dict[str, Any] = {}
    dependencies: dict[SubItemKey, dict[str, Any]] = {}
    made_by: dict[str, VisitKey] = {}
    for source in sources_of(state, pipeline, move.instance, ordinal=move.ordinal):
        data = json.loads(_text_of(files, source.path, state))
        value = data if source.is_whole else data.get(source.slot)
        if source.is_learnt:
            learnt = value
        elif source.dependency is not None:
            dependencies.setdefault(source.dependency, {})[source.slot] = value
        elif source.is_earlier:
            earlier[source.slot] = value
        else:
            inputs[source.slot], made_by[source.slot] = value, source.visit_key
    own = branch_of(state, pipeline, move.instance)
    built_on = foundations(state, pipeline, pulls, move.instance, own=own)
    base, *merges = built_on or (Foundation(branch=item.default_branch),)
    return NodeTask(
        visit=Visit(
            index=move.index,
            node=node,
            sub_item=sub_item,
            visit_key=move.visit_key,
            attempt=move.attempt,
            ordinal=move.ordinal,
        ),
        item=item,
        kind=state.kind,
        inputs=inputs,
        dependency_outputs=dependencies,
        earlier=earlier,
        learnt=Learnt(why=state.moved_up.why, output=learnt)
        if state.moved_up and _is_of_item(pipeline, move.instance)
        else None,
        earlier_failure=_failure_before(state, move.instance),
        asked_changes=open_changes(state, pipeline, move.instance),
        sub_item=_sub_item_ref(state, sub_item) if sub_item else None,
        sub_items=tuple(_sub_item_ref(state, planned.key) for planned in state.sub_items or ()),
        parts=state.parts,
        made_by=made_by,
        pull_requests=tuple(
            PullRequestRef(slug=p.slug, number=p.number, head=p.head, base=p.base)
            for p in state.pull_requests
        ),
        branch=own or item.default_branch,
        slug=slug_of(state, pipeline.node(place_of(move.instance).node), sub_item),
        base_branch=base.branch,
        base_oid=base.oid,
        merge_branches=tuple(each.branch for each in merges),
        approved=_approved(state, pipeline, pulls),
        looked=looked_before(state, move.instance),
        conventions=conventions,
    )


def _is_of_item(pipeline: Pipeline, instance: Instance) -> bool:
    """Whether an instance works on the item as a whole, after its first node."""
    return instance.sub_item is None and not is_routing(instance) and instance.node != pipeline.start


def _learnt(state: RunState, pipeline: Pipeline, instance: Instance) -> tuple[Source, ...]:
    """The newest output of the way that the item has left; none where nothing but its first node ran there."""
    if state.moved_up is None or not _is_of_item(pipeline, instance):
        return ()
    for visit in reversed(state.visits):
        is_left = visit.is_discarded and visit.index <= state.moved_up.after and visit.node != pipeline.start
        if is_left and visit.has_output:
            path = f"{state.folder(visit.index, visit.instance)}/output.json"
            return (Source(slot="", dependency=None, path=path, is_whole=True, is_learnt=True),)
    return ()


def _failure_before(state: RunState, instance: Instance) -> str:
    """The reason of the latest visit of this instance, where it failed: the next attempt has to know it."""
    latest = next((visit for visit in reversed(state.visits) if visit.instance == instance), None)
    return latest.summary if latest is not None and latest.status == "failed" else ""


def looked_before(state: RunState, instance: Instance) -> tuple[LookedAt, ...]:
    """What the visits before one of this instance looked at, each file as in the latest visit that did, the latest look last.

    Visits for other sub-work-items are left out. Visits that failed or no longer count are not: they looked at the same repository.
    """
    newest: dict[str, LookedAt] = {}
    for visit in reversed(state.visits):
        if visit.sub_item in (None, instance.sub_item):
            for each in reversed(visit.looked):
                newest.setdefault(each.path, each)
    return tuple(reversed([*islice(newest.values(), MOST_LOOKED)]))


def with_edits(task: NodeTask, edited: Mapping[SubItemKey, EditedText]) -> NodeTask:
    """The task with the sub-issues as people rewrote them."""
    if not edited:
        return task
    refs = {ref.key: ref.model_copy(update={"edited": edited.get(ref.key)}) for ref in task.sub_items}
    own = refs[task.sub_item.key] if task.sub_item else None
    return task.model_copy(update={"sub_item": own, "sub_items": tuple(refs.values())})


def slot_values(node: Node, output: Mapping[str, Any]) -> dict[str, Any]:
    """What a node's output means slot by slot: the whole of it for one declared slot, else one key for each."""
    if len(node.outputs) == 1:
        return {node.outputs[0]: dict(output)}
    return {slot: output.get(slot) for slot in node.outputs}


def work_branch(state: RunState, slug: str) -> BranchName:
    """`cogworks/<issue>/<slug>`, with `-r<k>` from the second run of an item on."""
    # The branches of earlier runs stay, perhaps with open pull requests.
    suffix = f"-r{state.run_number}" if state.run_number > 1 else ""
    return BranchName(f"cogworks/{state.issue}/{slug}{suffix}")


def branch_of(state: RunState, pipeline: Pipeline, instance: Instance) -> BranchName | None:
    """The work branch that an instance makes or looks at; None where there is none."""
    place = place_of(instance)
    if not pipeline.has(place.node) or not state.is_planned(place.sub_item):
        # Of a visit that was claimed on another pipeline, or as somebody else wrote it into the ledger.
        return None
    node = pipeline.node(place.node)
    if not node.slug and instance.sub_item is not None:
        # Review and integration look at the branch that the sub-item's own code went to.
        node = next((n for n in pipeline.nodes if n.scope == "sub-item" and n.slug), node)
    slug = slug_of(state, node, instance.sub_item)
    return work_branch(state, slug) if slug else None


def _text_of(files: Mapping[str, str], path: str, state: RunState) -> str:
    if path in files:
        return files[path]
    branch = ledger_branch(state.issue)
    raise LedgerUnreadable(
        f"`{path}` is not on branch `{branch}` although the state says that its visit was recorded. "
        "Restore it with `git revert` on that branch; nothing was published."
    )


def _approved(
    state: RunState, pipeline: Pipeline, pulls: Mapping[IssueNumber, PullFacts]
) -> dict[str, CommitOid]:
    """Slot of the item -> head of the pull request that people were shown it in."""
    heads: dict[str, CommitOid] = {}
    for visit in state.visits:
        is_result = visit.sub_item is None and visit.status == "succeeded" and not visit.is_discarded
        if not is_result or not pipeline.has(visit.node):
            continue
        node = pipeline.node(visit.node)
        known = state.pull(slug_of(state, node, None))
        now = pulls.get(known.number) if known else None
        # Closed unmerged it was rejected; what is only shown is closed because it was approved.
        if known is not None and now is not None and (now.state != "closed" or known.is_shown_only):
            heads.update(dict.fromkeys(node.outputs, now.head_oid))
    return heads


def _sub_item_ref(state: RunState, key: SubItemKey) -> SubItemRef:
    planned = state.sub_item(key)
    return SubItemRef(key=key, ordinal=planned.ordinal, number=planned.number, depends_on=planned.depends_on)


def _view_of(state: RunState, instance: Instance) -> tuple[Source, ...]:
    """What the conditions read when the node was recorded; nothing that others did since takes part."""
    visit = state.latest(place_of(instance))
    if visit is None:
        return ()
    return (Source(slot=VIEW, dependency=None, path=view_path(state, visit), is_whole=True),)


def _preserved_slots(pipeline: Pipeline, node: Node) -> tuple[str, ...]:
    return tuple(
        slot
        for edge in pipeline.edges
        if edge.rework is not None and node.id in pipeline.span_of(edge)
        for slot in edge.rework.preserve
    )


def _source(
    state: RunState, pipeline: Pipeline, slot: str, sub_item: SubItemKey | None, *, may_be_discarded: bool
) -> Source | None:
    newest: VisitRecord | None = None
    for visit in state.visits:
        # Routing visits, and visits of a pipeline that another one followed, put out no slot of this graph.
        outputs = pipeline.node(visit.node).outputs if pipeline.has(visit.node) else ()
        if (
            # Of the other sub-work-items only those that it is built on are read, by their own key.
            visit.sub_item in (None, sub_item)
            and slot in outputs
            and visit.has_output
            and (visit.status == "succeeded" or (may_be_discarded and visit.is_mended))
            and (not visit.is_discarded or (may_be_discarded and not _is_left_behind(state, visit)))
        ):
            newest = visit
    if newest is None:
        return None
    path = f"{state.folder(newest.index, newest.instance)}/output.json"
    is_whole = len(pipeline.node(newest.node).outputs) == 1
    return Source(slot=slot, dependency=None, path=path, is_whole=is_whole, visit_key=newest.visit_key)


def _is_left_behind(state: RunState, visit: VisitRecord) -> bool:
    return state.moved_up is not None and visit.index <= state.moved_up.after

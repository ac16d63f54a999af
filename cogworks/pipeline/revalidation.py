"""What has to be judged again because other people changed the branch it was about."""

from collections.abc import Mapping

from cogworks.pipeline.elements import routing_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.state import RunState, edge_key
from cogworks.vocabulary import BranchName, CommitOid, SubItemKey


def looked_at(state: RunState, sub_item: SubItemKey, head: CommitOid) -> RunState:
    """The state that remembers which head of a sub-work-item's branch its newest visit made or judged."""
    return state.model_copy(update={"heads": {**state.heads, sub_item: head}})


def about_to_push(state: RunState, heads: Mapping[BranchName, CommitOid]) -> RunState:
    """The state that knows what a visit is about to push for ours, whatever becomes of its runner."""
    told = {
        name: known if oid in (known := state.pushed.get(name, ())) else (*known, oid)
        for name, oid in heads.items()
    }
    return state.model_copy(update={"pushed": {**state.pushed, **told}})


def left_at(state: RunState, heads: Mapping[BranchName, CommitOid]) -> RunState:
    """The state that knows where a visit left its branches; no earlier head of one counts for ours any more."""
    told = {name: (oid,) for name, oid in heads.items()}
    return state.model_copy(update={"pushed": {**state.pushed, **told}})


def revalidated(state: RunState, foreign: Mapping[SubItemKey, CommitOid], pipeline: Pipeline) -> RunState:
    """The state in which nothing counts that was said about another head than the one people put there.

    Code stays as it is, theirs included; every node after it that judges it runs again. A sub-work-item that is finished,
    or that somebody works on, is left alone: from then on its pull request's gate decides.

    Args:
        foreign: sub-work-item -> the head of its branch, where somebody else made the newest commit.
    """
    for key, head in foreign.items():
        is_known = state.heads.get(key) in (None, head)
        if (
            is_known
            or _is_finished(state, key, pipeline)
            or any(lease.sub_item == key for lease in state.leases)
        ):
            continue
        again = frozenset(_judges(state, key, pipeline))
        marks = {edge_key(edge.id, key) for at in again for edge in pipeline.forward_from(at.node)}
        state = looked_at(state.discarding(again, frozenset(marks)), key, head)
    return state


def _is_finished(state: RunState, key: SubItemKey, pipeline: Pipeline) -> bool:
    return any(state.latest(Instance(node, key)) is not None for node in pipeline.sub_item_exits)


def _judges(state: RunState, key: SubItemKey, pipeline: Pipeline) -> list[Instance]:
    """Instances that finished after code was made, with the choices that followed from them."""
    makers = {node.id for node in pipeline.nodes if node.produces_code and pipeline.is_sub_item(node.id)}
    # A reviewer counts as one who produces code, for people have to look at the result; the first of them writes it.
    first = [maker for maker in makers if not makers & pipeline.upstream_of(maker)]
    after = {later for maker in first for later in pipeline.downstream_of(maker)}
    judges = [Instance(node, key) for node in after if pipeline.is_sub_item(node)]
    return [at for at in (*judges, *map(routing_of, judges)) if state.latest(at) is not None]

"""What people change on a branch is judged before the run goes on."""

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.position import locate
from cogworks.pipeline.state import RunState
from cogworks.pipeline.unmerged import looked_at, revalidated
from cogworks.vocabulary import CommitOid, NodeId, SubItemKey
from tests.pipeline.runs import GRAPH, MERGED_SPEC, facts, finished, lease, new_run, visit

A = SubItemKey("A")
OURS, THEIRS = CommitOid("a" * 40), CommitOid("b" * 40)
REVIEWED = looked_at(finished(new_run(), "spec", "plan", "code@A", "review@A"), A, OURS)


def ready(state: RunState) -> tuple[Instance, ...]:
    return locate(state, facts(MERGED_SPEC), GRAPH).frontier.ready


def test_a_review_of_another_head_is_made_again_and_the_code_stays() -> None:
    again = revalidated(REVIEWED, {A: THEIRS}, GRAPH)

    assert Instance(NodeId("ship"), A) in ready(REVIEWED)
    assert Instance(NodeId("review"), A) in ready(again)
    assert Instance(NodeId("ship"), A) not in ready(again)
    assert again.latest(Instance(NodeId("code"), A)) is not None
    assert again.heads == {A: THEIRS}
    assert revalidated(again, {A: THEIRS}, GRAPH) is again


def test_the_head_that_was_judged_is_judged_once() -> None:
    assert revalidated(REVIEWED, {A: OURS}, GRAPH) is REVIEWED
    assert revalidated(REVIEWED, {}, GRAPH) is REVIEWED


def test_commits_before_the_review_only_move_the_head() -> None:
    coded = looked_at(finished(new_run(), "spec", "plan", "code@A"), A, OURS)

    assert revalidated(coded, {A: THEIRS}, GRAPH) == coded.model_copy(update={"heads": {A: THEIRS}})


def test_a_ledger_without_heads_a_live_lease_and_a_finished_item_are_left_alone() -> None:
    unknown = REVIEWED.model_copy(update={"heads": {}})
    leased = REVIEWED.model_copy(update={"leases": (lease(REVIEWED, "ship@A"),)})
    shipped = looked_at(finished(new_run(), "spec", "plan", "code@A", "review@A", "ship@A"), A, OURS)

    for state in (unknown, leased, shipped):
        assert revalidated(state, {A: THEIRS}, GRAPH) is state


def test_the_reviewer_of_the_built_in_pipeline_reviews_what_others_pushed() -> None:
    pipeline = built_in_pipelines().choose()
    state = new_run(pipeline=pipeline)
    for name in ("code_generation@A", "review@A"):
        state = state.recorded(visit(state, name))
    reviewed = looked_at(state, A, OURS)

    again = revalidated(reviewed, {A: THEIRS}, pipeline)

    assert again.latest(Instance(NodeId("review"), A)) is None
    assert again.latest(Instance(NodeId("code_generation"), A)) is not None

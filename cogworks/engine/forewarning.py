"""An item that could not pay for a round of rework says so on the issue before it asks its first question."""

from cogworks.engine.record import Claimed
from cogworks.forge.effects import PostComment
from cogworks.forge.publication import PublishedComment
from cogworks.forge.surface import project, status_comment
from cogworks.pipeline.limits import calls_model
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing
from cogworks.pipeline.rounds import short_of_a_round
from cogworks.pipeline.state import RunState


def forewarning(claimed: Claimed) -> PostComment | None:
    """The status comment, posted before its time; None where there is room for a round, or people have the comment already."""
    state, facts, pipeline = claimed.visit_lease.state, claimed.facts, claimed.pipeline
    if state.status_comment is not None or not calls_model(claimed.move.instance, pipeline):
        return None
    if short_of_a_round(state, facts, pipeline) is None:
        return None
    body = project(Standing(state, facts, pipeline), claimed.config).comment
    return status_comment(state, body, claimed.move.visit_key)


def learn_where_it_stands(claimed: Claimed, comment: PublishedComment) -> None:
    """Have the next commit of the visit say which comment it is, so that nobody posts a second one."""
    ref = CommentRef(
        node_id=comment.node_id, database_id=comment.database_id, visit_key=claimed.move.visit_key
    )

    def knowing(state: RunState) -> RunState:
        return state.model_copy(update={"status_comment": ref})

    claimed.visit_lease.learn(knowing)

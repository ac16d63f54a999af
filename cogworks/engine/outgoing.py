"""What a visit publishes.

At its end: what its node wants, answers to those who asked for it, and the first status comment. Before its first question:
that the item could not pay for a round of rework.
"""

from cogworks.engine.record import Claimed, transition
from cogworks.forge.conflicts import answer_to_update
from cogworks.forge.effects import Effect, PostComment
from cogworks.forge.failing_checks import answer_to_checks
from cogworks.forge.publication import Published, PublishedComment
from cogworks.forge.reviews import answer_to_review
from cogworks.forge.surface import project, status_comment
from cogworks.nodes.contract import Outcome, Succeeded
from cogworks.pipeline.expected import short_of_a_round
from cogworks.pipeline.limits import calls_model
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing
from cogworks.pipeline.redoing import answered_by
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import VisitRecord


def effects_of(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> tuple[Effect, ...]:
    wanted: tuple[Effect, ...] = ()
    if isinstance(outcome, Succeeded):
        asked = answered_by(claimed.visit_lease.state, claimed.pipeline, record.instance)
        answers = [
            comment
            for answer in (answer_to_review, answer_to_checks, answer_to_update)
            for comment in answer(asked, record.visit_key)
        ]
        wanted = (*outcome.effects, *answers)
    if claimed.visit_lease.state.status_comment is not None:
        return wanted
    return (*wanted, _first_status(claimed, outcome, record))


def _first_status(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> PostComment:
    after = transition(claimed, outcome, record, Published(), claimed.facts)(claimed.visit_lease.state)
    surface = project(after, claimed.config)
    return status_comment(after.state, surface.comment, claimed.move.visit_key)


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

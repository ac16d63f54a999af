"""What a visit that ended has to publish: what its node wants, answers to those who asked for it, and the first status comment."""

from cogworks.engine.record import Claimed, transition
from cogworks.forge.conflicts import answer_to_update
from cogworks.forge.effects import Effect, PostComment
from cogworks.forge.failing_checks import answer_to_checks
from cogworks.forge.publication import Published
from cogworks.forge.reviews import answer_to_review
from cogworks.forge.surface import project, status_comment
from cogworks.nodes.contract import Outcome, Succeeded
from cogworks.pipeline.redoing import answered_by
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

"""What one step came to: what its visit publishes, and how it is reported."""

from collections.abc import Mapping, Sequence
from typing import Literal

from cogworks.engine.consider import Considered
from cogworks.engine.record import Claimed, transition
from cogworks.forge.effects import Effect, PostComment
from cogworks.forge.publication import Published, PublishedComment
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import project, status_comment
from cogworks.forge.unmergeable import GITHUB
from cogworks.leaving import called, in_markdown, in_title
from cogworks.nodes.contract import Outcome, Succeeded
from cogworks.pipeline.expected import short_of_a_round
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.limits import calls_model
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing, codes_of
from cogworks.pipeline.redoing import answered_by
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import AskedChange, VisitRecord
from cogworks.pipeline.waiting import WaitingFor
from cogworks.vocabulary import IssueNumber, ScopeCode, Value, VisitKey

MOST_COMMENTS = 2_500
WARN_AT_COMMENTS = 2_000
MAX_QUOTED = 200
"""Characters of each remark in the answer to a review."""
REVIEW_TOPIC = "review-answer"
CHECKS_TOPIC = "checks-answer"
UPDATE_TOPIC = "update-answer"


class StepReport(Value):
    """What one step came to."""

    outcome: Literal[
        "succeeded",
        "failed",
        "rejected",
        "done",
        "waiting",
        "backed_off",
        "usage_error",
        "configuration_error",
        "budget_reached",
    ]
    message: str
    node: str = ""
    visit_key: str = ""
    waiting_for: tuple[WaitingFor, ...] = ()
    codes: tuple[ScopeCode, ...] = ()
    """In which ways the work has left its bounds, as far as people have not dealt with it."""
    retry_in_s: float | None = None
    """Backed off: when the other runner's lease may be taken over."""
    urls: Mapping[str, str] = {}
    spend: Spend = Spend()
    """What this step's model calls cost."""
    warnings: tuple[str, ...] = ()


def report(
    outcome: str,
    message: str,
    seen: Considered,
    state: RunState,
    *,
    waiting_for: tuple[WaitingFor, ...] = (),
    warning: str = "",
    retry_in_s: float | None = None,
    facts: Facts | None = None,
) -> StepReport:
    """The report of a step, with the addresses of what there is and the warnings that people should see."""
    pulls = (facts or seen.facts).pulls
    urls = {"issue": seen.snapshot.issue.url}
    if state.status_comment is not None:
        urls["status_comment"] = f"{seen.snapshot.issue.url}#issuecomment-{state.status_comment.database_id}"
    for pull in state.pull_requests:
        if pull.number in pulls:
            urls[pull.slug] = pulls[pull.number].url
    return StepReport.model_validate(
        {
            "outcome": outcome,
            "message": message,
            "waiting_for": waiting_for,
            "codes": codes_of(state),
            "retry_in_s": retry_in_s,
            "urls": urls,
            "warnings": tuple(text for text in (warning, many_comments(seen.snapshot)) if text),
        }
    )


def many_comments(snapshot: Snapshot) -> str:
    """A warning before an issue takes no further comment; empty while there is room."""
    count = len(snapshot.issue.comments)
    if count < WARN_AT_COMMENTS:
        return ""
    return (
        f"{snapshot.issue.url} has {count} comments, and GitHub takes no more than {MOST_COMMENTS}. "
        "cogworks keeps the status comment up to date. Give commands by labels from then on, or move the "
        "rest of the work to a new issue."
    )


def outcome_after(
    standing: Standing, *, has_failed: bool
) -> Literal["failed", "done", "succeeded", "waiting"]:
    """What a step came to that ended a visit, the last one of the run.

    Args:
        has_failed: whether the visit's node said so.
    """
    visit = standing.state.visits[-1]
    if visit.waits:
        # A node beside it may go on meanwhile.
        return "succeeded" if standing.position.ready else "waiting"
    if has_failed or visit.status == "failed":
        return "failed"
    return "done" if standing.state.status == "done" else "succeeded"


def effects_of(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> tuple[Effect, ...]:
    effects: tuple[Effect, ...] = ()
    if isinstance(outcome, Succeeded):
        asked = answered_by(claimed.visit_lease.state, claimed.pipeline, record.instance)
        answers = [
            comment
            for answer in (_answer_to_review, _answer_to_checks, _answer_to_update)
            for comment in answer(asked, record.visit_key)
        ]
        effects = (*outcome.effects, *answers)
    if claimed.visit_lease.state.status_comment is not None:
        return effects
    return (*effects, _first_status(claimed, outcome, record))


def _answer_to_review(changes: Sequence[AskedChange], visit_key: VisitKey) -> tuple[PostComment, ...]:
    """The comment below a pull request that says that a review of it was worked on; none where no review asked for anything."""
    asked_changes = [
        change
        for change in changes
        if change.pull_request is not None and not (change.check or change.merges)
    ]
    if not asked_changes:
        return ()
    names = ", ".join(called(name) for name in dict.fromkeys(change.by for change in asked_changes))
    listed = "\n".join(
        f"- {f'`{change.place}`: ' if change.place else ''}{in_markdown(_first_line(change.text))}"
        for change in asked_changes
    )
    body = (
        f"{names}: the newest commits of this branch respond to this review.\n\nWhat was asked "
        f"for:\n\n{listed}\n\nIf something is still not as you meant it, say so in another review.\n"
    )
    number = asked_changes[0].pull_request or IssueNumber(0)
    return (PostComment(number=number, topic=REVIEW_TOPIC, body=body, visit_key=visit_key),)


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    line = lines[0] if lines else ""
    return line if len(lines) == 1 and len(line) <= MAX_QUOTED else f"{line[:MAX_QUOTED]} …"


def _answer_to_checks(changes: Sequence[AskedChange], visit_key: VisitKey) -> tuple[PostComment, ...]:
    """The comment below a pull request that says that its failed checks were worked on; none where none had failed."""
    asked_changes = [change for change in changes if change.check and change.pull_request is not None]
    if not asked_changes:
        return ()
    names = ", ".join(
        f"`{in_title(name)}`" for name in dict.fromkeys(change.check for change in asked_changes)
    )
    places = [change.place for change in asked_changes if change.place]
    listed = "".join(f"- `{in_title(place)}`\n" for place in dict.fromkeys(places))
    body = (
        f"Checks of this pull request had failed: {names}. The newest commits of this branch respond to "
        "them.\n"
        + (f"\nWhat they had pointed at:\n\n{listed}" if listed else "")
        + "\nThe checks run again on these commits. Say in a review what is still wrong.\n"
    )
    number = asked_changes[0].pull_request or IssueNumber(0)
    return (PostComment(number=number, topic=CHECKS_TOPIC, body=body, visit_key=visit_key),)


def _answer_to_update(changes: Sequence[AskedChange], visit_key: VisitKey) -> tuple[PostComment, ...]:
    """The comment below a pull request that says that it was brought up to date; none where nobody asked for that."""
    asked_changes = [
        change for change in changes if change.merges is not None and change.pull_request is not None
    ]
    if not asked_changes:
        return ()
    newest = asked_changes[-1]
    number = newest.pull_request or IssueNumber(0)
    merged = f"`{(newest.merges or '')[:12]}`"
    people = dict.fromkeys(called(change.by) for change in asked_changes if change.by != GITHUB)
    opening = f"{', '.join(people)}: this" if people else "GitHub could not merge this pull request. This"
    body = (
        f"{opening} branch now includes its base branch at {merged}, by a merge commit. No test that passed "
        "on either side is worse in it.\n"
    )
    return (PostComment(number=number, topic=UPDATE_TOPIC, body=body, visit_key=visit_key),)


def with_created(outcome: Outcome, published: Published) -> Outcome:
    """The outcome of a visit with what became of the issues it wanted."""
    if not isinstance(outcome, Succeeded) or not (published.issues or published.refused_issues):
        return outcome
    created = [{"key": each.key, "number": each.number, "url": each.url} for each in published.issues]
    refused = [{"key": each.key, "reason": each.reason} for each in published.refused_issues]
    numbers = ", ".join(f"#{each.number}" for each in published.issues) or "none"
    failed = f"; {len(refused)} refused: {refused[0]['reason']}" if refused else ""
    return outcome.model_copy(
        update={
            "output": {**outcome.output, "created": created, "refused": refused},
            "summary": f"follow-up issues created: {numbers}{failed}",
        }
    )


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

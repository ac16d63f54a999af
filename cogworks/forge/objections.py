"""Reviews of the run's pull requests that ask for changes: inputs of the run like commands."""

from cogworks.forge.facts import PullRequest, Review, ReviewText
from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import AskedChange
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber

MAX_REMARKS = 60
MAX_CHARS = 3_000
"""Of one remark, and of the words above the remarks."""
_CUT = " … (the rest is in the review)"
_NO_WORDS = "The review says nothing about what to change; the pull request does not do what was asked for."


def standing_objections(
    snapshot: Snapshot, numbers: frozenset[IssueNumber]
) -> tuple[tuple[PullRequest, Review], ...]:
    """The reviews by people who may push that ask for changes of these pull requests, while those are open."""
    return tuple(
        (pull, review)
        for pull in snapshot.pulls
        if pull.state == "open" and pull.number in numbers
        for review in pull.reviews
        if review.state == "changes_requested" and review.can_push and review.database_id
    )


def new_objections(snapshot: Snapshot, state: RunState) -> tuple[tuple[PullRequest, Review], ...]:
    """Those that nobody has dealt with yet."""
    known = frozenset(state.inputs.reviews)
    standing = standing_objections(snapshot, _numbers(state))
    return tuple((pull, review) for pull, review in standing if review.database_id not in known)


def with_objections(heard: Heard, snapshot: Snapshot, state: RunState | None, config: Config) -> Heard:
    """What people newly asked for, reviews included; the snapshot has the texts of those that are new.

    An App counts only where `[commands] allowed_apps` names it; another one's review is looked at and left.
    """
    new = new_objections(snapshot, state) if state is not None else ()
    if state is None or not new:
        return heard
    asked = tuple(
        Asked(
            verb="revise",
            by=review.author.login if review.author else "a reviewer",
            pull_request=pull.number,
            changes=asked_changes(review, snapshot.review_texts.get(review.node_id, ReviewText(body=""))),
            comment_id=review.database_id,
            subject_id=review.node_id,
        )
        for pull, review in new
        if not (review.author and review.author.is_bot and objection(review.author, snapshot, config))
    )
    standing = standing_objections(snapshot, _numbers(state))
    return heard.model_copy(
        update={
            "said": (*heard.said, *asked),
            "reviews": tuple(sorted(review.database_id for _, review in standing)),
        }
    )


def asked_changes(review: Review, text: ReviewText) -> tuple[AskedChange, ...]:
    """A review as changes that somebody asked for: its own words, then each remark at its place."""
    by = review.author.login if review.author else "a reviewer"
    found = [AskedChange(by=by, text=_cut(text.body))] if text.body.strip() else []
    found += [
        AskedChange(by=by, file=remark.path, line=remark.line, text=_cut(remark.body))
        for remark in text.remarks[:MAX_REMARKS]
    ]
    return tuple(found) or (AskedChange(by=by, text=_NO_WORDS),)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + _CUT


def _numbers(state: RunState) -> frozenset[IssueNumber]:
    return frozenset(pull.number for pull in state.pull_requests)

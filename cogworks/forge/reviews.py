"""Reviews of the run's pull requests that ask for changes: inputs of the run like commands."""

from cogworks.forge.facts import PullRequest, Review, ReviewText
from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import AskedChange
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber

MAX_CHARS = 3_000
"""Of one remark, and of the words above the remarks."""
_CUT = " … (the rest is in the review)"
_NO_WORDS = "The review says nothing about what to change; the pull request does not do what was asked for."


def standing_change_requests(
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


def new_change_requests(snapshot: Snapshot, state: RunState) -> tuple[tuple[PullRequest, Review], ...]:
    """Those that nobody has dealt with yet.

    A ledger from before reviews were looked at says of none. There, those that are older than its newest commit are old.
    """
    known = state.inputs.reviews
    standing = standing_change_requests(snapshot, _numbers(state))
    if known is None:
        tip = snapshot.ledger.committed_date if snapshot.ledger else snapshot.server_date
        return tuple(each for each in standing if each[1].submitted_at and each[1].submitted_at > tip)
    return tuple(each for each in standing if each[1].database_id not in known)


def with_change_requests(heard: Heard, snapshot: Snapshot, state: RunState | None, config: Config) -> Heard:
    """What people newly asked for, reviews included; the snapshot has the texts of those that are new.

    An App counts only where `[commands] allowed_apps` names it; another one's review is looked at and left.
    """
    new = new_change_requests(snapshot, state) if state is not None else ()
    if state is None or not new:
        return heard
    obeyed = [(pull, review) for pull, review in new if not _is_unnamed_app(review, snapshot, config)]
    asked = tuple(
        Asked(
            verb="revise",
            by=_name(review),
            pull_request=pull.number,
            changes=asked_changes(
                pull.number, review, snapshot.review_texts.get(review.node_id, ReviewText(body=""))
            ),
            comment_id=review.database_id,
            subject_id=review.node_id,
        )
        for pull, review in obeyed
    )
    left = {review.database_id for _, review in standing_change_requests(snapshot, _numbers(state))}
    left -= {review.database_id for _, review in obeyed}
    return heard.model_copy(update={"said": (*heard.said, *asked), "reviews": tuple(sorted(left))})


def asked_changes(number: IssueNumber, review: Review, text: ReviewText) -> tuple[AskedChange, ...]:
    """A review as changes that somebody asked for: its own words, then each remark at its place."""
    nothing = AskedChange(by=_name(review), text=_NO_WORDS, pull_request=number)
    found = [nothing.model_copy(update={"text": _cut(text.body)})] if text.body.strip() else []
    found += [
        nothing.model_copy(update={"file": remark.path, "line": remark.line, "text": _cut(remark.body)})
        for remark in text.remarks
    ]
    if text.left_out:
        words = f"The review has {text.left_out} remarks more than could be read."
        found.append(nothing.model_copy(update={"text": words}))
    return tuple(found) or (nothing,)


def _name(review: Review) -> str:
    if review.author is None:
        return "a reviewer whose account is gone"
    login = review.author.login
    return f"{login.removesuffix('[bot]')}[bot]" if review.author.is_bot else login


def _is_unnamed_app(review: Review, snapshot: Snapshot, config: Config) -> bool:
    return bool(review.author and review.author.is_bot and objection(review.author, snapshot, config))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + _CUT


def _numbers(state: RunState) -> frozenset[IssueNumber]:
    return frozenset(pull.number for pull in state.pull_requests)

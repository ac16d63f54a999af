"""Pull requests of the run that cannot be merged, for their checks fail, they conflict or a review asks for changes: inputs of the run like commands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cogworks.forge.facts import CheckSeen, FailedCheck, PullRequest, Review, ReviewText
from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import in_markdown, in_title, masked, on_terminal
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.people import FailedHead
from cogworks.pipeline.redoing import is_mended_by_code
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import AskedChange
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber

MAX_CHECKS = 5
"""Whose words are shown; the others are named."""
MAX_REMARKS = 10
"""Of one check."""
MAX_SUMMARY = 1_500
MAX_REMARK = 800
MAX_LOG_LINES = 60
MAX_LOG = 4_000
"""Characters of the end of a log."""


@dataclass(frozen=True)
class Failing:
    """A head of an open pull request of ours whose checks have all ended, and some of them badly."""

    pull: PullRequest
    checks: tuple[CheckSeen, ...]
    """Those that failed."""
    has_had_enough: bool
    """Whether as many repairs were started as the repository wants."""

    def became(self, what: str) -> FailedHead:
        return FailedHead.model_validate(
            {"number": self.pull.number, "oid": self.pull.head_oid, "became": what}
        )


def failed_of(seen: Sequence[CheckSeen]) -> tuple[CheckSeen, ...]:
    """The checks that failed, none before all have ended; ours say what the pull request says."""
    others = [check for check in seen if not check.is_ours]
    if any(check.is_pending for check in others):
        return ()
    return tuple(check for check in others if check.is_failed)


def has_failing(snapshot: Snapshot, state: RunState) -> bool:
    """Whether anything is to be looked at; false as good as always."""
    return bool(_candidates(snapshot, state))


def failing_heads(
    snapshot: Snapshot, state: RunState, pipeline: Pipeline, config: Config
) -> tuple[Failing, ...]:
    """The heads with failed checks that nobody has dealt with, and whose work can be done again."""
    limit = config.pull_requests.ci_repairs
    if not limit:
        return ()
    dealt_with = {(head.number, head.oid): head.became for head in state.inputs.failed_heads}
    failing = []
    for pull, checks in _candidates(snapshot, state):
        started = [h for h in state.inputs.failed_heads if h.number == pull.number and h.became == "repair"]
        before = dealt_with.get((pull.number, pull.head_oid))
        # A person was asked about this very head, and the repository wants more repairs since.
        is_new = before is None or (before == "person" and len(started) < limit)
        if is_new and is_mended_by_code(state, pipeline, pull.number):
            failing.append(Failing(pull, checks, has_had_enough=len(started) >= limit))
    return tuple(failing)


def with_failed_checks(
    heard: Heard, snapshot: Snapshot, state: RunState | None, pipeline: Pipeline, config: Config
) -> Heard:
    """What people newly asked for, and with it what checks newly say; the snapshot has their words."""
    if state is None or not has_failing(snapshot, state):
        return heard
    asked: list[Asked] = []
    left = _not_for_us(snapshot, state, pipeline, config)
    for failing in failing_heads(snapshot, state, pipeline, config):
        number = failing.pull.number
        checks = snapshot.failed_checks.get(number, ())
        caused = [check for check in checks if not check.fails_on_base]
        if not caused:
            left.append(failing.became("left"))
        elif failing.has_had_enough:
            asked.append(_person_for_checks(failing, caused, config.pull_requests.ci_repairs))
        else:
            head = failing.became("repair")
            names = ", ".join(check.name for check in caused)
            changes = changes_of(number, caused)
            asked.append(_asked_of_checks(head, why=in_title(names), changes=changes))
    return heard.model_copy(update={"said": (*heard.said, *asked), "failed_heads": tuple(left)})


def _not_for_us(snapshot: Snapshot, state: RunState, pipeline: Pipeline, config: Config) -> list[FailedHead]:
    """The failed heads that nothing of the run mends: they are noted, so that no sweep wakes for them again."""
    known = {(head.number, head.oid) for head in state.inputs.failed_heads}
    return [
        FailedHead(number=pull.number, oid=pull.head_oid, became="left")
        for pull, _ in _candidates(snapshot, state)
        if (pull.number, pull.head_oid) not in known
        and not (config.pull_requests.ci_repairs and is_mended_by_code(state, pipeline, pull.number))
    ]


def changes_of(number: IssueNumber, checks: Sequence[FailedCheck]) -> tuple[AskedChange, ...]:
    """What checks say, as changes that are asked for: of each its summary with the end of its log, then its remarks."""
    changes: list[AskedChange] = []
    for check in checks[:MAX_CHECKS]:
        own = AskedChange(by="a check", check=_plain(check.name), pull_request=number, text="")
        parts = [f"The check {check.name} failed."]
        # A secret of which only a part is left after a cut is known by nothing.
        if summary := _plain(check.summary).strip():
            parts.append(_cut(summary, MAX_SUMMARY))
        if (log := _plain(check.log_tail)).strip():
            parts.append(f"The last lines of its log:\n{last_lines(log)}")
        changes.append(own.model_copy(update={"text": _plain("\n\n".join(parts))}))
        changes += [
            own.model_copy(
                update={
                    "file": _plain(each.path),
                    "line": each.line,
                    "text": _cut(_plain(each.text), MAX_REMARK),
                }
            )
            for each in check.remarks[:MAX_REMARKS]
        ]
        if more := len(check.remarks) - MAX_REMARKS:
            changes += [own.model_copy(update={"text": f"{more} remarks more"})] if more > 0 else []
    rest = [check.name for check in checks[MAX_CHECKS:]]
    if rest:
        text = f"These checks failed as well: {', '.join(rest)}."
        changes.append(
            AskedChange(by="a check", check=_plain(rest[0]), pull_request=number, text=_plain(text))
        )
    return tuple(changes)


def last_lines(log: str) -> str:
    """The end of a log, as much of it as a prompt has room for."""
    lines = log.rstrip().splitlines()[-MAX_LOG_LINES:]
    text = "\n".join(lines)
    return text if len(text) <= MAX_LOG else f"… {text[-MAX_LOG:]}"


def _person_for_checks(failing: Failing, caused: Sequence[FailedCheck], limit: int) -> Asked:
    number = failing.pull.number
    names = ", ".join(f"`{in_title(check.name)}`" for check in caused)
    body = (
        f"Checks of pull request #{number} still fail after {limit} repair(s): {in_markdown(names)}. "
        "cogworks tries nothing more by itself. Push a commit to its branch, request changes in a review "
        "that says what to do, or raise `pull_requests.ci_repairs` in `.cogworks/config.toml` and comment "
        "`/cogworks run`.\n"
    )
    return _asked_of_checks(failing.became("person"), why=body)


def _asked_of_checks(head: FailedHead, *, why: str, changes: tuple[AskedChange, ...] = ()) -> Asked:
    return Asked(
        verb="repair", by="checks", pull_request=head.number, failed_head=head, why=why, changes=changes
    )


def _candidates(snapshot: Snapshot, state: RunState) -> list[tuple[PullRequest, tuple[CheckSeen, ...]]]:
    settled = {(head.number, head.oid) for head in state.inputs.failed_heads if head.became != "person"}
    numbers = _own_numbers(state)
    return [
        (pull, failed)
        for pull in snapshot.pulls
        if pull.state == "open"
        and pull.number in numbers
        and (pull.number, pull.head_oid) not in settled
        and (failed := failed_of(pull.checks.seen))
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … (cut)"


def _plain(text: str) -> str:
    """Without what a terminal would obey, and without secrets that a log may show."""
    return masked(on_terminal(text))


GITHUB = "GitHub"


def with_conflicts(
    heard: Heard, snapshot: Snapshot, state: RunState | None, pipeline: Pipeline, config: Config
) -> Heard:
    """What people newly asked for, and with it which heads newly conflict with the branch they go to."""
    if state is None:
        return heard
    limit = config.pull_requests.conflict_repairs
    known = {(head.number, head.oid): head.became for head in state.inputs.conflicts}
    asked: list[Asked] = []
    left: list[FailedHead] = []
    for pull in _conflicting(snapshot, state):
        before = known.get((pull.number, pull.head_oid))
        started = sum(h.number == pull.number and h.became == "repair" for h in state.inputs.conflicts)
        if not limit or not is_mended_by_code(state, pipeline, pull.number):
            left += [_became(pull, "left")] if before is None else []
        elif started < limit and before in (None, "person", "left"):
            # A person was asked about this very head, or nobody was to mend it, and the repository wants it otherwise since.
            asked.append(_asked_of_conflict(_became(pull, "repair")))
        elif before is None:
            asked.append(_person_for_conflict(pull, limit))
    return heard.model_copy(update={"said": (*heard.said, *asked), "conflicts": tuple(left)})


def _conflicting(snapshot: Snapshot, state: RunState) -> list[PullRequest]:
    numbers = _own_numbers(state)
    return [
        pull
        for pull in snapshot.pulls
        if pull.is_conflicting and pull.state == "open" and pull.number in numbers
    ]


def _became(pull: PullRequest, what: Literal["repair", "person", "left"]) -> FailedHead:
    return FailedHead(number=pull.number, oid=pull.head_oid, became=what)


def _asked_of_conflict(head: FailedHead, *, why: str = "") -> Asked:
    return Asked(verb="resolve", by=GITHUB, pull_request=head.number, failed_head=head, why=why)


def _person_for_conflict(pull: PullRequest, limit: int) -> Asked:
    body = (
        f"Pull request #{pull.number} conflicts with `{pull.base}` again, after {limit} merge(s) of that "
        f"branch. cogworks tries nothing more by itself. Merge `{pull.base}` into its branch and push, "
        f"comment `/cogworks update #{pull.number}`, or raise `pull_requests.conflict_repairs` in "
        "`.cogworks/config.toml`.\n"
    )
    return _asked_of_conflict(_became(pull, "person"), why=body)


MAX_REVIEW = 3_000
"""Of one remark, and of the words above the remarks."""
_REST_IN_REVIEW = " … (the rest is in the review)"
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
    standing = standing_change_requests(snapshot, _own_numbers(state))
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
            by=_reviewer(review),
            pull_request=pull.number,
            changes=asked_changes(
                pull.number, review, snapshot.review_texts.get(review.node_id, ReviewText(body=""))
            ),
            comment_id=review.database_id,
            subject_id=review.node_id,
        )
        for pull, review in obeyed
    )
    left = {review.database_id for _, review in standing_change_requests(snapshot, _own_numbers(state))}
    left -= {review.database_id for _, review in obeyed}
    return heard.model_copy(update={"said": (*heard.said, *asked), "reviews": tuple(sorted(left))})


def asked_changes(number: IssueNumber, review: Review, text: ReviewText) -> tuple[AskedChange, ...]:
    """A review as changes that somebody asked for: its own words, then each remark at its place."""
    nothing = AskedChange(by=_reviewer(review), text=_NO_WORDS, pull_request=number)
    changes = [nothing.model_copy(update={"text": _cut_review(text.body)})] if text.body.strip() else []
    changes += [
        nothing.model_copy(
            update={"file": remark.path, "line": remark.line, "text": _cut_review(remark.body)}
        )
        for remark in text.remarks
    ]
    if text.left_out:
        words = f"The review has {text.left_out} remarks more than could be read."
        changes.append(nothing.model_copy(update={"text": words}))
    return tuple(changes) or (nothing,)


def _reviewer(review: Review) -> str:
    if review.author is None:
        return "a reviewer whose account is gone"
    login = review.author.login
    return f"{login.removesuffix('[bot]')}[bot]" if review.author.is_bot else login


def _is_unnamed_app(review: Review, snapshot: Snapshot, config: Config) -> bool:
    return bool(review.author and review.author.is_bot and objection(review.author, snapshot, config))


def _cut_review(text: str) -> str:
    return text if len(text) <= MAX_REVIEW else text[:MAX_REVIEW] + _REST_IN_REVIEW


def _own_numbers(state: RunState) -> frozenset[IssueNumber]:
    return frozenset(pull.number for pull in state.pull_requests)

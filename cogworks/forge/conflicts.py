"""Pull requests of the run that GitHub cannot merge: inputs of the run, as reviews are; and the answer below one that was brought up to date."""

from collections.abc import Sequence
from typing import Literal

from cogworks.forge.effects import PostComment
from cogworks.forge.facts import PullRequest
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import called
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.people import FailedHead
from cogworks.pipeline.redoing import is_mended_by_code
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import AskedChange
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber, VisitKey

BY = "GitHub"
UPDATE_TOPIC = "update-answer"


def with_conflicts(
    heard: Heard, snapshot: Snapshot, state: RunState | None, pipeline: Pipeline, config: Config
) -> Heard:
    """What people newly asked for, and with it which heads newly conflict with the branch they go to."""
    if state is None:
        return heard
    limit = config.pull_requests.conflict_repairs
    known = {(head.number, head.oid): head.became for head in state.inputs.conflicts}
    said: list[Asked] = []
    left: list[FailedHead] = []
    for pull in _conflicting(snapshot, state):
        before = known.get((pull.number, pull.head_oid))
        started = sum(h.number == pull.number and h.became == "repair" for h in state.inputs.conflicts)
        if not limit or not is_mended_by_code(state, pipeline, pull.number):
            left += [_became(pull, "left")] if before is None else []
        elif started < limit and before in (None, "person", "left"):
            # A person was asked about this very head, or nobody was to mend it, and the repository wants it otherwise since.
            said.append(_asked(_became(pull, "repair")))
        elif before is None:
            said.append(_for_a_person(pull, limit))
    return heard.model_copy(update={"said": (*heard.said, *said), "conflicts": tuple(left)})


def answer_to_update(changes: Sequence[AskedChange], visit_key: VisitKey) -> tuple[PostComment, ...]:
    """The comment below a pull request that says that it was brought up to date; none where nobody asked for that."""
    asked = [change for change in changes if change.merges is not None and change.pull_request is not None]
    if not asked:
        return ()
    newest = asked[-1]
    number = newest.pull_request or IssueNumber(0)
    merged = f"`{(newest.merges or '')[:12]}`"
    people = dict.fromkeys(called(change.by) for change in asked if change.by != BY)
    opening = f"{', '.join(people)}: this" if people else "GitHub could not merge this pull request. This"
    body = (
        f"{opening} branch now includes its base branch at {merged}, by a merge commit. No test that passed "
        "on either side is worse in it.\n"
    )
    return (PostComment(number=number, topic=UPDATE_TOPIC, body=body, visit_key=visit_key),)


def _conflicting(snapshot: Snapshot, state: RunState) -> list[PullRequest]:
    numbers = {pull.number for pull in state.pull_requests}
    return [
        pull
        for pull in snapshot.pulls
        if pull.is_conflicting and pull.state == "open" and pull.number in numbers
    ]


def _became(pull: PullRequest, what: Literal["repair", "person", "left"]) -> FailedHead:
    return FailedHead(number=pull.number, oid=pull.head_oid, became=what)


def _asked(head: FailedHead, *, why: str = "") -> Asked:
    return Asked(verb="resolve", by=BY, pull_request=head.number, failed_head=head, why=why)


def _for_a_person(pull: PullRequest, limit: int) -> Asked:
    body = (
        f"Pull request #{pull.number} conflicts with `{pull.base}` again, after {limit} merge(s) of that "
        f"branch. cogworks tries nothing more by itself. Merge `{pull.base}` into its branch and push, "
        f"comment `/cogworks update #{pull.number}`, or raise `pull_requests.conflict_repairs` in "
        "`.cogworks/config.toml`.\n"
    )
    return _asked(_became(pull, "person"), why=body)

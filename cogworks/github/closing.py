"""How a pull request says which issue it is part of, and that its merge closes it."""

import re
from collections.abc import Iterator

from cogworks.github.effects import CloseIssue, EditPullRequest
from cogworks.github.recorded import recorded_in
from cogworks.github.snapshot import Snapshot
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import IssueNumber


def part_of(issue: IssueNumber, *, closes: bool) -> str:
    """The words that tie a pull request to its issue; with `closes` those that GitHub obeys when it is merged."""
    return f"Part of #{issue}, the last part: closes #{issue}" if closes else f"Part of #{issue}"


def bodies_put_right(
    snapshot: Snapshot, state: RunState, closing: IssueNumber | None
) -> Iterator[EditPullRequest]:
    """The edits after which the pull request `closing`, and no other one of the run, closes the issue by its merge.

    Only our own words are changed: where a person took them out, or wrote others, the body stays as it is.
    """
    own = {known.number for known in state.pull_requests}
    for pull in snapshot.pulls:
        if pull.number not in own or pull.state != "open":
            continue
        body = _with_part(pull.body, state.issue, closes=pull.number == closing)
        if body != pull.body:
            yield EditPullRequest(pull_id=pull.node_id, number=pull.number, body=body)


def issue_closed(snapshot: Snapshot, state: RunState, *, is_all_merged: bool) -> Iterator[CloseIssue]:
    """Close the issue where the merge of the last pull request could not, once: who reopens it afterwards is left alone."""
    issue, ledger = snapshot.issue, snapshot.ledger
    if not is_all_merged or issue.state == "closed" or ledger is None:
        return
    own = {known.number for known in state.pull_requests}
    words = part_of(state.issue, closes=True)
    closed_by_merge = any(words in pull.body for pull in snapshot.pulls if pull.number in own)
    if not closed_by_merge and not recorded_in(ledger.state_text).is_all_merged:
        yield CloseIssue(issue_id=issue.node_id, number=issue.number)


def _with_part(body: str, issue: IssueNumber, *, closes: bool) -> str:
    lines = body.splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return body
    plain, last = part_of(issue, closes=False), part_of(issue, closes=True)
    ours = re.compile(rf"{re.escape(last)}\b|{re.escape(plain)}\b")
    lines[first] = ours.sub(last if closes else plain, lines[first], count=1)
    return "".join(lines)

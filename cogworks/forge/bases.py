"""Pull requests whose base is merged: they go to where the base went, and are opened again where GitHub closed them.

How a pull request says which issue it is part of, and that its merge closes it.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from cogworks.forge.bodies import work_prefix
from cogworks.forge.effects import CloseIssue, ClosePullRequest, EditPullRequest, SetBase
from cogworks.forge.facts import PullRequest
from cogworks.forge.recorded import recorded_in
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import BranchName, IssueNumber


def base_repairs(snapshot: Snapshot, state: RunState) -> Iterator[SetBase]:
    """The effects that leave no pull request of the run on a branch that is merged already; none when all is well.

    A restored base branch stays: deleting it would close what was just opened if another write of the same document failed.
    """
    merged = _merged_branches(snapshot, state)
    # What was closed before its base went was rejected, and stays so.
    closed_with_base = {
        pull.number for pull in state.inputs.pulls if pull.state == "closed" and pull.is_base_gone
    }
    for pull in _own_pulls(snapshot, state):
        if pull.base not in merged:
            continue
        is_gone = pull.base not in snapshot.branches
        goes_to = _where_it_went(pull.base, merged)
        if pull.state == "open" and not is_gone:
            yield SetBase(pull_id=pull.node_id, number=pull.number, base=goes_to)
        # The base comes back first: GitHub opens no pull request without one, and moves none that is closed.
        elif is_gone and pull.number in closed_with_base:
            yield SetBase(
                pull_id=pull.node_id,
                number=pull.number,
                base=goes_to,
                lost_base=pull.base,
                lost_base_oid=pull.base_oid,
            )


def _own_pulls(snapshot: Snapshot, state: RunState) -> tuple[PullRequest, ...]:
    own: set[IssueNumber] = {known.number for known in state.pull_requests}
    # Not because of the ledger alone: GitHub says that it comes from a branch of the item.
    prefix = work_prefix(snapshot.issue.number)
    return tuple(pull for pull in snapshot.pulls if pull.number in own and pull.head.startswith(prefix))


def _merged_branches(snapshot: Snapshot, state: RunState) -> Mapping[BranchName, BranchName]:
    pulls = _own_pulls(snapshot, state)
    # A branch with another pull request that is not merged is not done with.
    unmerged = {pull.head for pull in pulls if pull.state != "merged"}
    return {pull.head: pull.base for pull in pulls if pull.state == "merged" and pull.head not in unmerged}


def _where_it_went(base: BranchName, merged: Mapping[BranchName, BranchName]) -> BranchName:
    seen: set[BranchName] = set()
    # Two branches may have been merged into one another.
    while base in merged and base not in seen:
        seen.add(base)
        base = merged[base]
    return base


def part_of(issue: IssueNumber, *, closes: bool) -> str:
    """The words that tie a pull request to its issue; with `closes` those that GitHub obeys when it is merged."""
    # GitHub obeys it where the merge goes to the default branch:
    # https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
    return f"Closes #{issue}{_OURS}" if closes else f"Part of #{issue}"


_OURS = "<!-- the last part -->"
"""Nobody sees it; it separates our words from the same ones of a person, which are never changed."""


def _earlier_words(issue: IssueNumber) -> str:
    """What the last pull request said before these words; there are items that were begun then."""
    return f"Part of #{issue}, the last part: closes #{issue}"


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


def shown_only_closed(
    snapshot: Snapshot, state: RunState, approved: Collection[IssueNumber]
) -> Iterator[ClosePullRequest]:
    """The effects that close what people have approved and nobody is to merge."""
    for pull in _own_pulls(snapshot, state):
        if pull.state == "open" and pull.number in approved:
            yield ClosePullRequest(pull_id=pull.node_id, number=pull.number)


def issue_closed(snapshot: Snapshot, state: RunState, *, is_all_merged: bool) -> Iterator[CloseIssue]:
    """Close the issue where the merge of the last pull request could not, once: who reopens it afterwards is left alone."""
    issue, ledger = snapshot.issue, snapshot.ledger
    if not is_all_merged or issue.state == "closed" or ledger is None:
        return
    own = {known.number for known in state.pull_requests}
    words = (part_of(state.issue, closes=True), _earlier_words(state.issue))
    bodies = [pull.body for pull in snapshot.pulls if pull.number in own]
    closed_by_merge = any(each in body for body in bodies for each in words)
    # Had the ledger said so at the read, the issue was closed then, and somebody reopened it.
    if not closed_by_merge and not recorded_in(ledger.state_text).is_all_merged:
        yield CloseIssue(issue_id=issue.node_id, number=issue.number)


def issue_closed_with_parts(snapshot: Snapshot, *, is_due: bool) -> Iterator[CloseIssue]:
    """Close the issue with the last of those into which it was divided; who has reopened it is left alone."""
    issue = snapshot.issue
    if is_due and issue.state == "open" and not issue.is_reopened:
        yield CloseIssue(issue_id=issue.node_id, number=issue.number)


def _with_part(body: str, issue: IssueNumber, *, closes: bool) -> str:
    lines = body.splitlines(keepends=True)
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return body
    plain, last = part_of(issue, closes=False), part_of(issue, closes=True)
    ours = re.compile(rf"{re.escape(last)}|{re.escape(_earlier_words(issue))}\b|{re.escape(plain)}\b")
    # Once, in the first line: what stands below is not ours to change.
    lines[first] = ours.sub(last if closes else plain, lines[first], count=1)
    return "".join(lines)

"""Pull requests whose base is merged: they go to where the base went, and are opened again where GitHub closed them."""

from collections.abc import Iterator, Mapping

from cogworks.github.effects import SetBase
from cogworks.github.facts import PullRequest
from cogworks.github.markers import work_prefix
from cogworks.github.snapshot import Snapshot
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import BranchName, IssueNumber


def base_repairs(snapshot: Snapshot, state: RunState) -> Iterator[SetBase]:
    """The effects that leave no pull request of the run on a branch that is merged already; none when all is well.

    A restored base branch stays: deleting it would close what was just opened if another write of the same document failed.
    """
    merged = _merged_branches(snapshot, state)
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
    unmerged = {pull.head for pull in pulls if pull.state != "merged"}
    return {pull.head: pull.base for pull in pulls if pull.state == "merged" and pull.head not in unmerged}


def _where_it_went(base: BranchName, merged: Mapping[BranchName, BranchName]) -> BranchName:
    seen: set[BranchName] = set()
    while base in merged and base not in seen:
        seen.add(base)
        base = merged[base]
    return base

"""Which pull request is the last to be merged, so that its merge closes the issue."""

from collections.abc import Collection, Iterator, Mapping

from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.foundations import stands_on
from cogworks.pipeline.frontier import instances
from cogworks.pipeline.gates import slug_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.vocabulary import BranchName, IssueNumber, SubItemKey


def closing_pull(standing: Standing) -> KnownPull | None:
    """The open pull request whose merge completes the item; None while several may be merged last, or work is left."""
    state, pipeline, pulls = standing.state, standing.pipeline, standing.facts.pulls
    for at in _ends(state, pipeline):
        known = state.pull(slug_of(state, pipeline.node(at.node), at.sub_item))
        now = pulls.get(known.number) if known else None
        is_there = now is not None and now.state == "open" and _is_settled(at, standing)
        if known is not None and is_there and is_last_to_merge(standing, at, on=(known.head,)):
            return known
    return None


def is_last_to_merge(standing: Standing, at: Instance, *, on: tuple[BranchName, ...]) -> bool:
    """Whether nothing is left to do or to merge once the pull request of this end of the run is merged.

    Pull requests below it do not count: until they are merged it goes to their branches, and merging it there closes nothing.

    Args:
        on: the branches that its own branch stands on.
    """
    state, pipeline, pulls = standing.state, standing.pipeline, standing.facts.pulls
    ends = tuple(_ends(state, pipeline))
    # First what is cheap: most visits are at no end, and need no position.
    if at not in ends or not all(_is_settled(end, standing) for end in ends if end != at):
        return False
    bases = {known.head: known.base for known in state.pull_requests}
    below = {*on, *(base for branch in on for base in stands_on(branch, bases))}
    below |= {
        known.head for key in _needed_by(at.sub_item, state) for known in _pulls_of(key, state, pipeline)
    }
    own = state.pull(slug_of(state, pipeline.node(at.node), at.sub_item))
    return all(
        _is_merged(known, pulls) or (_is_open(known, pulls) and known.head in below)
        for known in _to_merge(state)
        if known != own
    )


def done_with(standing: Standing) -> frozenset[IssueNumber]:
    """The pull requests that are only shown, and that people have approved or the run has left behind."""
    state, pipeline = standing.state, standing.pipeline
    approved = {slug_of(state, pipeline.node(gate.node), gate.sub_item) for gate in standing.position.gates}
    return frozenset(
        known.number
        for known in state.pull_requests
        if known.is_shown_only and (known.slug in approved or state.status == "done")
    )


def is_all_merged(state: RunState, pulls: Mapping[IssueNumber, PullFacts]) -> bool:
    """Whether the run is done and everything that it made is merged."""
    known = _to_merge(state)
    return state.status == "done" and bool(known) and all(_is_merged(each, pulls) for each in known)


def is_all_parts_closed(state: RunState, open_parts: Collection[IssueNumber]) -> bool:
    """Whether the run divided its issue, and none of the issues that came of it is left to do."""
    return state.status == "done" and bool(state.parts) and not open_parts


def _to_merge(state: RunState) -> tuple[KnownPull, ...]:
    return tuple(known for known in state.pull_requests if not known.is_shown_only)


def end_of(
    state: RunState,
    pulls: Mapping[IssueNumber, PullFacts],
    open_parts: Collection[IssueNumber] = (),
) -> str:
    """How a run that is done ended, in words for people.

    Args:
        open_parts: of the issues into which it was divided, those that are not closed.
    """
    if state.parts and not open_parts:
        return "every part of this issue is closed"
    if state.parts:
        numbers = ", ".join(f"#{part.number}" for part in state.parts)
        return f"divided into {numbers}; this issue is closed with the last of them"
    if is_all_merged(state, pulls):
        return "every pull request is merged"
    parts = "every sub-work-item has a" if state.sub_items else "there is a"
    return f"{parts} reviewed pull request"


def _ends(state: RunState, pipeline: Pipeline) -> Iterator[Instance]:
    # Before there is a plan nobody knows how many ends the run has.
    if state.sub_items is None and pipeline.sub_item_exits:
        return
    for at in instances(pipeline, state.schedule):
        if not pipeline.forward_from(at.node):
            yield at


def _is_settled(at: Instance, standing: Standing) -> bool:
    visit = standing.state.latest(at)
    is_done = visit is not None and visit.status == "succeeded" and standing.state.lease_of(at) is None
    # Nothing leads to a skipped end any more, so nothing of it will ever be merged.
    return is_done or at in standing.position.frontier.skipped


def _needed_by(sub_item: SubItemKey | None, state: RunState) -> frozenset[SubItemKey]:
    """The sub-work-items that this one is built on, directly or not."""
    needed: set[SubItemKey] = set()
    left = [sub_item] if sub_item else []
    while left:
        new = set(state.sub_item(left.pop()).depends_on) - needed
        needed |= new
        left += new
    return frozenset(needed)


def _pulls_of(key: SubItemKey, state: RunState, pipeline: Pipeline) -> Iterator[KnownPull]:
    for node in pipeline.nodes:
        known = state.pull(slug_of(state, node, key)) if node.scope == "sub-item" else None
        if known is not None:
            yield known


def _is_merged(known: KnownPull, pulls: Mapping[IssueNumber, PullFacts]) -> bool:
    return known.number in pulls and pulls[known.number].state == "merged"


def _is_open(known: KnownPull, pulls: Mapping[IssueNumber, PullFacts]) -> bool:
    return known.number in pulls and pulls[known.number].state == "open"

"""Which unmerged results a visit builds on, and at which commit people let them pass."""

from collections.abc import Iterator, Mapping

from cogworks.pipeline.elements import place_of
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.gates import slug_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.state import KnownPull, RunState
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, SubItemKey, Value


class Foundation(Value):
    """A branch whose pull request is not merged yet, under work that needs what is on it."""

    branch: BranchName
    oid: CommitOid | None = None
    """The head at which its gate was passed; None: wherever the branch stands."""


def foundations(
    state: RunState,
    pipeline: Pipeline,
    pulls: Mapping[IssueNumber, PullFacts],
    at: Instance,
    *,
    own: BranchName | None,
) -> tuple[Foundation, ...]:
    """What a visit starts from when something before it is passed and not merged; the first is the one to start from.

    A gate is passed by a merge, an approval or not at all (`auto-proceed`); only a merge brings the result to the default
    branch. Dependencies come first, the last in dependency order at the front, for they stand on the others already.

    Args:
        pulls: the run's pull requests as GitHub shows them now.
        own: the branch that the visit itself makes or looks at.
    """
    place = place_of(at)
    found = [(known, Foundation(branch=known.head)) for known in _dependencies(state, pipeline, pulls, place)]
    found += [
        (known, Foundation(branch=known.head, oid=pulls[known.number].head_oid))
        for known in _passed_before(state, pipeline, pulls, place)
    ]
    bases = {known.head: known.base for known in state.pull_requests}
    # What is done again has a pull request already; what that stands on is not in it for whoever makes it.
    others = [(known, each) for known, each in found if each.branch != own]
    below = {base for known, _ in others for base in stands_on(known.head, bases)}
    kept = {each.branch: each for _, each in reversed(others) if each.branch not in below}
    return tuple(reversed(kept.values()))


def _dependencies(
    state: RunState, pipeline: Pipeline, pulls: Mapping[IssueNumber, PullFacts], place: Instance
) -> Iterator[KnownPull]:
    items = [
        state.sub_item(key) for key in (state.sub_item(place.sub_item).depends_on if place.sub_item else ())
    ]
    for item in sorted(items, key=lambda each: each.ordinal, reverse=True):
        nodes = (node for node in pipeline.nodes if node.scope == "sub-item")
        for slug in sorted({slug_of(state, node, item.key) for node in nodes}, reverse=True):
            known = state.pull(slug)
            if known is not None and (known.number not in pulls or pulls[known.number].state != "merged"):
                yield known


def _passed_before(
    state: RunState, pipeline: Pipeline, pulls: Mapping[IssueNumber, PullFacts], place: Instance
) -> Iterator[KnownPull]:
    """The open pull requests of the nodes that lead here, the nearest node's first."""
    before = pipeline.upstream_of(place.node)
    for node_id in reversed(pipeline.topological_order):
        sub_item: SubItemKey | None = place.sub_item if pipeline.is_sub_item(node_id) else None
        if node_id not in before or (pipeline.is_sub_item(node_id) and sub_item is None):
            continue
        known = state.pull(slug_of(state, pipeline.node(node_id), sub_item))
        is_open = known is not None and known.number in pulls and pulls[known.number].state == "open"
        if known is not None and is_open and not known.is_shown_only:
            yield known


def stands_on(head: BranchName, bases: Mapping[BranchName, BranchName]) -> Iterator[BranchName]:
    """The branches below this one, as its pull requests were opened."""
    seen = {head}
    while (base := bases.get(head)) is not None and base not in seen:
        yield base
        seen.add(base)
        head = base

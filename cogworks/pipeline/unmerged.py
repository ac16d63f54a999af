"""What of a run is not merged yet: what visits build on, what has to be judged again, and which merge closes the issue."""

from collections.abc import Collection, Iterator, Mapping

from cogworks.pipeline.elements import place_of, routing_of
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.frontier import instances
from cogworks.pipeline.gates import slug_of
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import KnownPull, RunState, edge_key
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
    listed = [
        (known, Foundation(branch=known.head)) for known in _dependencies(state, pipeline, pulls, place)
    ]
    listed += [
        # At this very head: what is pushed to the branch later nobody has passed.
        (known, Foundation(branch=known.head, oid=pulls[known.number].head_oid))
        for known in _passed_before(state, pipeline, pulls, place)
    ]
    bases = {known.head: known.base for known in state.pull_requests}
    # What is done again has a pull request already; what that stands on is not in it for the node that makes it.
    others = [(known, each) for known, each in listed if each.branch != own]
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
    # Others can push a ledger, so that its bases may lead round in a circle.
    while (base := bases.get(head)) is not None and base not in seen:
        yield base
        seen.add(base)
        head = base


def looked_at(state: RunState, sub_item: SubItemKey, head: CommitOid) -> RunState:
    """The state that remembers which head of a sub-work-item's branch its newest visit made or judged."""
    return state.model_copy(update={"heads": {**state.heads, sub_item: head}})


def about_to_push(state: RunState, heads: Mapping[BranchName, CommitOid]) -> RunState:
    """The state that knows what a visit is about to push for ours, whatever becomes of its runner."""
    heads_pushed = {
        name: known if oid in (known := state.pushed.get(name, ())) else (*known, oid)
        for name, oid in heads.items()
    }
    return state.model_copy(update={"pushed": {**state.pushed, **heads_pushed}})


def left_at(state: RunState, heads: Mapping[BranchName, CommitOid]) -> RunState:
    """The state that knows where a visit left its branches; no earlier head of one counts for ours any more."""
    heads_left = {name: (oid,) for name, oid in heads.items()}
    return state.model_copy(update={"pushed": {**state.pushed, **heads_left}})


def revalidated(state: RunState, foreign: Mapping[SubItemKey, CommitOid], pipeline: Pipeline) -> RunState:
    """The state in which nothing counts that was said about another head than the one people put there.

    Code stays as it is, theirs included; every node after it that judges it runs again. A sub-work-item that is finished,
    or that somebody works on, is left alone: from then on its pull request's gate decides.

    Args:
        foreign: sub-work-item -> the head of its branch, where somebody else made the newest commit.
    """
    for key, head in foreign.items():
        is_known = state.heads.get(key) in (None, head)
        if (
            is_known
            or _is_finished(state, key, pipeline)
            or any(lease.sub_item == key for lease in state.leases)
        ):
            continue
        again = frozenset(_judges(state, key, pipeline))
        marks = {edge_key(edge.id, key) for at in again for edge in pipeline.forward_from(at.node)}
        state = looked_at(state.discarding(again, frozenset(marks)), key, head)
    return state


def _is_finished(state: RunState, key: SubItemKey, pipeline: Pipeline) -> bool:
    return any(state.latest(Instance(node, key)) is not None for node in pipeline.sub_item_exits)


def _judges(state: RunState, key: SubItemKey, pipeline: Pipeline) -> list[Instance]:
    """Instances that finished after code was made, with the choices that followed from them."""
    makers = {node.id for node in pipeline.nodes if node.produces_code and pipeline.is_sub_item(node.id)}
    # A reviewer counts as one who produces code, for people have to look at the result; the first of them writes it.
    first = [maker for maker in makers if not makers & pipeline.upstream_of(maker)]
    after = {later for maker in first for later in pipeline.downstream_of(maker)}
    judges = [Instance(node, key) for node in after if pipeline.is_sub_item(node)]
    return [at for at in (*judges, *map(routing_of, judges)) if state.latest(at) is not None]


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
    # A run without a pull request has merged nothing, so nothing closes its issue for it.
    return state.status == "done" and bool(known) and all(_is_merged(each, pulls) for each in known)


def is_all_parts_closed(state: RunState, open_parts: Collection[IssueNumber]) -> bool:
    """Whether the run divided its issue, and none of the issues that it was divided into is left to do."""
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

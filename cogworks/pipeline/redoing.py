"""What people want done again: a result that they reject, what failed, a pull request whose base moved on, or the whole item.

What is built on it is done again, too.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from cogworks.pipeline.elements import PARTS, place_of
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.gates import asking_visit, passed_gates, rejected_results, slug_of, with_rejected_call
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.people import (
    CommentRef,
)
from cogworks.pipeline.position import dependents_of, instance_name
from cogworks.pipeline.state import (
    EarlierRuns,
    KnownPull,
    RunState,
    edge_key,
    first_visit_key,
)
from cogworks.pipeline.transitions import switched
from cogworks.pipeline.visits import AskedChange, VisitRecord
from cogworks.pipeline.wording import is_in_doubt
from cogworks.vocabulary import IssueNumber, NodeId, SubItemKey


class NotNow(Exception):
    """A wish of somebody who may have it does not fit the run; its text is the answer."""


def rejected(
    state: RunState,
    facts: Facts,
    pipeline: Pipeline,
    at: Instance,
    *,
    reason: str,
    changes: tuple[AskedChange, ...],
) -> RunState:
    """The state in which the result of a node failed because somebody did not want it so; what is a proposal only is made anew.

    Args:
        reason: in one line.
        changes: what is wanted instead; whoever does it again reads it.

    Raises:
        NotNow: there is no such result, or it is too late.
    """
    if left := asking_visit(state, at):
        return with_rejected_call(state, left, reason)
    if pipeline.node(at.node).is_proposal:
        return _proposed_anew(state, pipeline, at, changes)
    visit = finished(state, at)
    name = instance_name(visit.instance)
    gates = passed_gates(state, facts, pipeline)
    # What is merged is in the base branch: making it again would not take it out.
    if any((gate.node, gate.sub_item, gate.how) == (*visit.instance, "merged") for gate in gates):
        raise NotNow(f"the pull request of {name} is merged; revert it, or `/cogworks restart`")
    if visit.sub_item is None and state.sub_items is not None and _is_before_plan(visit.node, pipeline):
        raise NotNow(f"the plan is already made from {name}; `/cogworks restart` begins anew")
    _refuse_once_parted(state, pipeline, at)
    failed = {"status": "failed", "summary": reason, "changes": changes}
    visits = tuple(v.model_copy(update=failed) if v is visit else v for v in state.visits)
    return state.model_copy(update={"visits": visits, "status": "running"})


def _proposed_anew(
    state: RunState, pipeline: Pipeline, at: Instance, changes: tuple[AskedChange, ...]
) -> RunState:
    """The state in which a proposal is made again because somebody wants it otherwise: nothing was built on it yet.

    Raises:
        NotNow: there is no such result, or it was carried out.
    """
    visit = finished(state, at)
    _refuse_once_parted(state, pipeline, at)
    renewed = visit.model_copy(update={"changes": changes})
    visits = tuple(renewed if each is visit else each for each in state.visits)
    return _again(state.model_copy(update={"visits": visits}), pipeline, {at}, frozenset())


def _refuse_once_parted(state: RunState, pipeline: Pipeline, at: Instance) -> None:
    leads_to_parts = any(PARTS in pipeline.node(later).outputs for later in pipeline.downstream_of(at.node))
    # Issues that were made are people's from then on; another proposal would put others beside them.
    if state.parts and leads_to_parts:
        numbers = ", ".join(f"#{part.number}" for part in state.parts)
        raise NotNow(
            f"the issues that were made from {instance_name(at)} are there ({numbers}); edit or close those that are not wanted, "
            "or `/cogworks restart`"
        )


def revised(
    state: RunState,
    facts: Facts,
    pipeline: Pipeline,
    number: IssueNumber,
    *,
    reason: str,
    changes: tuple[AskedChange, ...],
    keeps_dependents: bool = False,
) -> RunState:
    """The state in which the work behind a pull request is done again, as a review or failed checks of it ask.

    Work that is to be done again anyway, or that failed, also reads what these ask for.

    Args:
        reason: in one line.
        keeps_dependents: what other sub-work-items built on it stays as it is.

    Raises:
        NotNow: nothing of this run made the pull request, or it is too late.
    """
    at = _maker_of(state, pipeline, number)
    if at is None:
        raise NotNow(f"this run cannot make pull request #{number} again; `/cogworks restart` begins anew")
    standing = state.latest(at)
    if standing is not None and standing.status == "succeeded":
        state = rejected(state, facts, pipeline, at, reason=reason, changes=changes)
    else:
        newest = next(visit for visit in reversed(state.visits) if visit.instance == at)
        renewed = newest.model_copy(update={"changes": (*newest.changes, *changes)})
        visits = tuple(renewed if visit is newest else visit for visit in state.visits)
        state = state.model_copy(update={"visits": visits})
    # What else failed or was rejected is no business of this review.
    return _again(state, pipeline, {at}, frozenset(), keeps_dependents=keeps_dependents)


def is_worked_on(state: RunState, pipeline: Pipeline, number: IssueNumber) -> bool:
    """Whether a node is at work on the sub-work-item behind a pull request; on anything, where it is the whole item's."""
    at = _maker_of(state, pipeline, number)
    return at is not None and any(at.sub_item in (None, lease.sub_item) for lease in state.leases)


def is_mended_by_code(state: RunState, pipeline: Pipeline, number: IssueNumber) -> bool:
    """Whether a pull request of the run holds code that may be written again, and no document that a plan is made from."""
    at = _maker_of(state, pipeline, number)
    return at is not None and (at.sub_item is not None or not _is_before_plan(at.node, pipeline))


def open_changes(state: RunState, pipeline: Pipeline, instance: Instance) -> tuple[AskedChange, ...]:
    """What people asked for when they rejected what an instance made, until work with it has reached its pull request again.

    Rework in between, e.g. since a review found something else, reads it too.
    """
    first, last = _writers(state, pipeline, instance)
    end = last if instance == first else instance
    own = [visit for visit in state.visits if visit.instance == instance]
    ends = [visit.index for visit in state.visits if visit.instance == end and _came_about(visit)]
    changes: list[AskedChange] = []
    for place, visit in enumerate(own):
        done = next((later.index for later in own[place + 1 :] if _came_about(later)), None)
        if visit.changes and (done is None or not any(index >= done for index in ends)):
            changes += visit.changes
    return tuple(changes)


def _came_about(visit: VisitRecord) -> bool:
    """Whether there was a result, be it that somebody rejected it later."""
    return visit.status == "succeeded" or (bool(visit.changes) and visit.has_output)


def answered_by(state: RunState, pipeline: Pipeline, instance: Instance) -> tuple[AskedChange, ...]:
    """What people asked for and this instance brings to its pull request, if it succeeds now."""
    first, last = _writers(state, pipeline, instance)
    return open_changes(state, pipeline, first) if instance == last else ()


def _writers(state: RunState, pipeline: Pipeline, instance: Instance) -> tuple[Instance, Instance]:
    """The first and the last node that write to the branch of an instance; itself where it has none."""
    node, sub_item = instance
    slug = slug_of(state, pipeline.node(node), sub_item) if pipeline.has(node) else ""
    same = [
        each
        for each in pipeline.topological_order
        if slug
        and pipeline.is_sub_item(each) == (sub_item is not None)
        and slug_of(state, pipeline.node(each), sub_item) == slug
    ]
    return (Instance(same[0], sub_item), Instance(same[-1], sub_item)) if same else (instance, instance)


def _maker_of(state: RunState, pipeline: Pipeline, number: IssueNumber) -> Instance | None:
    """The first node that wrote to the branch of a pull request: what follows it judges or publishes."""
    known = next((pull for pull in state.pull_requests if pull.number == number), None)
    if known is None:
        return None
    order = pipeline.topological_order
    makers = [
        visit.instance
        for visit in state.visits
        if pipeline.has(visit.node)
        and slug_of(state, pipeline.node(visit.node), visit.sub_item) == known.slug
    ]
    return min(makers, key=lambda at: order.index(at.node), default=None)


def finished(state: RunState, at: Instance) -> VisitRecord:
    visit = state.latest(at)
    if visit is None or visit.status == "failed" or state.lease_of(at) is not None:
        now = "is being worked on" if state.lease_of(at) else "has no finished result"
        raise NotNow(f"{instance_name(at)} {now}")
    return visit


def _is_before_plan(node: NodeId, pipeline: Pipeline) -> bool:
    return any(pipeline.is_sub_item(later) for later in pipeline.downstream_of(node))


def retried(state: RunState, facts: Facts, pipeline: Pipeline, *, must_exist: bool = False) -> RunState:
    """Without what failed or was rejected, and without everything built on that."""
    rejected = rejected_results(state, facts, pipeline)
    failed = {v.instance for v in state.visits if v.status == "failed" and not v.is_discarded}
    # Where no way led on from a node, asking again leads nowhere: the node itself is done again.
    wrong = failed | {place_of(at) for at in failed} | rejected.keys()
    stopped = any(left.stopped_short_of for left in state.given_back)
    # Visits that stopped short of a call may be claimed once more.
    tried = tuple(left.model_copy(update={"stopped_short_of": None}) for left in state.given_back)
    state = state.model_copy(update={"given_back": tried})
    if not wrong:
        if must_exist and not stopped:
            raise NotNow("nothing has failed, so there is nothing to do again")
        return state
    if any(at.sub_item is None and state.sub_items and _is_before_plan(at.node, pipeline) for at in rejected):
        raise NotNow(
            "the plan is already made from what was rejected; reopen the pull request, or `/cogworks restart`"
        )
    return _again(state, pipeline, wrong, rejected.keys())


def _again(
    state: RunState,
    pipeline: Pipeline,
    wrong: AbstractSet[Instance],
    rejected: AbstractSet[Instance],
    *,
    keeps_dependents: bool = False,
) -> RunState:
    """Without these, and without everything built on them; what was rejected is made anew on a pull request of its own."""
    undone = _built_on(state, pipeline, wrong, rejected, keeps_dependents=keeps_dependents)
    slugs = {slug_of(state, pipeline.node(at.node), at.sub_item) for at in rejected}
    marks = {edge_key(edge.id, at.sub_item) for at in undone for edge in pipeline.forward_from(at.node)}
    # A closed pull request is not used again: people have said no to it.
    kept = tuple(pull for pull in state.pull_requests if pull.slug not in slugs)
    after = state.discarding(frozenset(undone), frozenset(marks))
    return after.model_copy(update={"pull_requests": kept, "status": "running"})


def _built_on(
    state: RunState,
    pipeline: Pipeline,
    wrong: AbstractSet[Instance],
    rejected: AbstractSet[Instance],
    *,
    keeps_dependents: bool = False,
) -> set[Instance]:
    whole = {at.sub_item for at in rejected if at.sub_item is not None}
    wrong_items = {at.sub_item for at in wrong if at.sub_item is not None}
    below = set[SubItemKey]() if keeps_dependents else dependents_of(state, wrong_items)
    undone = set(wrong)
    for visit in state.visits:
        at = place_of(visit.instance)
        is_whole = at.sub_item is not None and (at.sub_item in whole or at.sub_item in below)
        if (
            at in wrong
            or is_whole
            or any(
                at.node in pipeline.downstream_of(cause.node) and at.sub_item in (None, cause.sub_item)
                for cause in wrong
            )
        ):
            # Both: a routing visit goes with the node whose edges it decides.
            undone |= {at, visit.instance}
    return undone


def read_again(state: RunState, pipeline: Pipeline, issue: str, *, first: Callable[[], Pipeline]) -> RunState:
    """The state in which the issue is read anew, since a model took it for orders and its text was changed before anything was
    built on it; the same state where that is not so.

    Args:
        issue: the digest of the issue as it is now.
        first: the pipeline on which a new run would begin.
    """
    newest = state.visits[-1] if state.visits else None
    is_at_rest = state.status == "running" and not (state.leases or state.given_back)
    # What failed is done again when people ask for it, and a text in doubt is nobody's.
    if newest is None or newest.status == "failed" or not is_at_rest or is_in_doubt(state, newest.instance):
        return state
    judged = {each.digest for each in state.inputs.reported if each.visit_key == newest.visit_key}
    if newest.is_discarded or not judged - {issue} or state.graph_hash != pipeline.graph_hash:
        return state
    again = _again(state, pipeline, {newest.instance}, frozenset())
    # The way was chosen for the other text.
    return switched(again, first()).model_copy(update={"issue_digest": issue})


def restarted(state: RunState, fresh: RunState) -> RunState:
    """A new run of the same item: nothing of the old one is adopted, what it cost and its comment stay."""
    if not state.visits and not state.leases:
        return state
    gone = state.spent
    for lease in state.leases:
        # Its runner may still be alive and spend it.
        gone = gone + lease.reserved
    return fresh.model_copy(
        update={
            "run_number": state.run_number + 1,
            "status_comment": _marked_comment(state),
            # What people said before is dealt with, and is not obeyed a second time.
            "inputs": state.inputs,
            "owed": state.owed,
            "identities": state.identities,
            # The branches of the old run stay, and are not somebody else's.
            "pushed": state.pushed,
            "asked_by": state.asked_by,
            "base": state.base,
            "earlier": EarlierRuns(
                last_index=state.next_index() - 1,
                # One more for the restart: a ledger whose revision falls looks set back.
                revision=state.earlier.revision + state.ended + 1,
                spend=state.earlier.spend + gone,
            ),
        }
    )


def _marked_comment(state: RunState) -> CommentRef | None:
    """The status comment, with the visit key of its marker: the visits that say it go with the old run."""
    comment = state.status_comment
    return comment and comment.model_copy(update={"visit_key": first_visit_key(state)})


def updated(
    state: RunState, facts: Facts, pipeline: Pipeline, *, by: str, number: IssueNumber | None
) -> RunState:
    """The state in which the base of a pull request is merged into its branch; of no number, of all that go to a branch of
    the repository's own.

    What other sub-work-items built on it stays: it meets the newer commits when its own pull request is merged.

    Raises:
        NotNow: there is no such pull request, it holds no code, or it is being worked on.
    """
    pulls = [pull for pull in state.pull_requests if number in (None, pull.number)]
    if number is not None and not pulls:
        raise NotNow(f"#{number} is no pull request of this item")
    ours = {pull.head for pull in state.pull_requests}
    chosen = [
        pull
        for pull in pulls
        if _is_open(facts, pull)
        and is_mended_by_code(state, pipeline, pull.number)
        and (number is not None or pull.base not in ours)
    ]
    if not chosen:
        one = f"#{number} is closed or holds no code"
        none = one if number is not None else "no pull request of this item is open and holds code"
        raise NotNow(f"{none}, so there is nothing to bring up to date")
    for pull in chosen:
        state = _with_base(state, facts, pipeline, pull, by)
    return state


def _with_base(state: RunState, facts: Facts, pipeline: Pipeline, pull: KnownPull, by: str) -> RunState:
    base_oid = facts.pulls[pull.number].base_oid
    if base_oid is None:
        raise NotNow(f"the base branch `{pull.base}` of #{pull.number} does not exist")
    if is_worked_on(state, pipeline, pull.number):
        raise NotNow(f"#{pull.number} is being worked on; ask again when that has ended")
    change = AskedChange(
        by=by,
        pull_request=pull.number,
        merges=base_oid,
        text=f"Merge its base branch at {base_oid[:12]}.",
    )
    reason = f"#{pull.number} is brought up to date with its base branch, as {by} asked"
    return revised(
        state, facts, pipeline, pull.number, reason=reason, changes=(change,), keeps_dependents=True
    )


def _is_open(facts: Facts, pull: KnownPull) -> bool:
    now = facts.pulls.get(pull.number)
    return now is not None and now.state == "open"

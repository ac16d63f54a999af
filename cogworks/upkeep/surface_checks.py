"""What GitHub must show of a run: its sub-issues and links, its pull requests, its comment and its labels."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cogworks.engine.consider import Considered
from cogworks.forge.bodies import Marker, parse_marker
from cogworks.forge.effects import CloseIssue, EditPullRequest, Effect, LinkDependency, SetLabels
from cogworks.forge.facts import Account, SubIssue
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import differences, project, status_comment
from cogworks.ledger.invariants import Finding
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import RunState, SubItem, first_visit_key
from cogworks.vocabulary import VisitKey


class SurfaceFinding(Finding):
    """A finding about what GitHub shows, with what puts it right."""

    effects: tuple[Effect, ...] = ()
    """In their order; empty where no writer can do it."""
    adds_sub_issue: str = ""
    """Node id of an issue that has to be put below the item again."""
    forgets_comment: bool = False
    """The status comment in the state is gone: a new one has to be recorded."""


@dataclass(frozen=True)
class Existing:
    """Which recorded objects are there, in the item's own repository, although the snapshot does not show them; by node id."""

    node_ids: Collection[str]


def unseen(seen: Considered) -> tuple[str, ...]:
    """Node ids in the state that the snapshot does not show: whether they exist has to be asked."""
    state, snapshot = seen.state, seen.snapshot
    shown = {comment.node_id for comment in snapshot.issue.comments}
    shown |= {issue.node_id for issue in snapshot.issue.sub_issues}
    recorded = [item.node_id for item in state.sub_items or () if item.node_id]
    recorded += [state.status_comment.node_id] if state.status_comment else []
    return tuple(node_id for node_id in recorded if node_id not in shown)


def check_surface(
    seen: Considered, existing: Existing, known_keys: Collection[VisitKey]
) -> tuple[SurfaceFinding, ...]:
    """Everything that people see and that differs from what the state says.

    Args:
        existing: of `unseen`.
        known_keys: every visit key in the ledger's history, earlier runs included.
    """
    return (
        *_check_pulls(seen),
        *_check_sub_issues(seen, existing),
        *_check_links(seen),
        *_check_markers(seen.snapshot, seen.state, known_keys),
        *_check_views(seen, existing),
    )


def _check_pulls(seen: Considered) -> Iterable[SurfaceFinding]:
    there = {pull.number: pull for pull in seen.snapshot.pulls}
    for known in seen.state.pull_requests:
        name = f"pull request #{known.number} ({known.slug})"
        pull = there.get(known.number)
        if pull is None:
            remedy = (
                "GitHub keeps pull requests for ever; check the repository and the token, or restart the item"
            )
            yield SurfaceFinding(
                kind="stray",
                rule="pull_request",
                object=name,
                problem="is recorded but not there",
                remedy=remedy,
            )
        elif (pull.node_id, pull.head) != (known.node_id, known.head):
            problem = f"is {pull.node_id} from {pull.head}, recorded is {known.node_id} from {known.head}"
            yield SurfaceFinding(
                kind="stray", rule="pull_request", object=name, problem=problem, remedy="restart the item"
            )


def _check_sub_issues(seen: Considered, existing: Existing) -> Iterable[SurfaceFinding]:
    below = {issue.number for issue in seen.snapshot.issue.sub_issues}
    for item in seen.state.sub_items or ():
        if item.number is None or item.node_id is None or item.number in below:
            continue
        name = f"sub-issue #{item.number} ({item.key})"
        if item.node_id in existing.node_ids:
            yield SurfaceFinding(
                kind="link",
                rule="sub_issue",
                object=name,
                problem=f"is not below #{seen.state.issue} any more",
                remedy="put it back as a sub-issue",
                adds_sub_issue=item.node_id,
            )
        else:
            remedy = "restart the item: its plan is gone"
            yield SurfaceFinding(
                kind="stray",
                rule="sub_issue",
                object=name,
                problem="was deleted, or is of another repository",
                remedy=remedy,
            )


def _check_links(seen: Considered) -> Iterable[SurfaceFinding]:
    below = {issue.number: issue for issue in seen.snapshot.issue.sub_issues}
    numbers = {item.key: item.number for item in seen.state.sub_items or ()}
    for item in seen.state.sub_items or ():
        issue = below.get(item.number) if item.number is not None else None
        if issue is None or issue.blocked_by is None:
            # Not there, or a GitHub that knows no dependencies: the plan in the ledger is enough.
            continue
        for key in item.depends_on:
            if numbers.get(key) is not None and numbers[key] not in issue.blocked_by:
                yield _missing_link(item, issue, SubItem(key=key, ordinal=1, title="", number=numbers[key]))


def _missing_link(item: SubItem, issue: SubIssue, blocking: SubItem) -> SurfaceFinding:
    return SurfaceFinding(
        kind="link",
        rule="dependency",
        object=f"sub-issue #{issue.number} ({item.key})",
        problem=f"is not marked as blocked by #{blocking.number} ({blocking.key})",
        remedy="link the two",
        effects=(LinkDependency(blocked=item.key, blocking=blocking.key),),
    )


def _check_markers(
    snapshot: Snapshot, state: RunState, known_keys: Collection[VisitKey]
) -> Iterable[SurfaceFinding]:
    """What carries our marker is of a visit that the ledger knows, and is there once."""
    ours = set(state.identities)
    markers: list[tuple[str, Marker]] = [
        (f"comment {comment.database_id}", marker)
        for comment in snapshot.issue.comments
        if (marker := parse_marker(comment.body)) is not None and _is_of(comment.author, ours)
    ]
    markers += [
        (f"sub-issue #{issue.number}", marker)
        for issue in snapshot.issue.sub_issues
        if (marker := parse_marker(issue.body)) is not None and _is_of(issue.author, ours)
    ]
    for name, marker in markers:
        if marker.visit_key not in known_keys:
            remedy = "look at it; it may be of a ledger that was deleted. Delete it if nobody needs it"
            problem = f"carries visit {marker.visit_key[:12]}, which the ledger does not know"
            yield SurfaceFinding(kind="stray", rule="marker", object=name, problem=problem, remedy=remedy)
    for (key, topic), count in Counter((m.visit_key, m.topic) for _, m in markers).items():
        if count > 1:
            names = ", ".join(name for name, m in markers if (m.visit_key, m.topic) == (key, topic))
            remedy = "keep the first and delete the others"
            problem = f"are all {topic!r} of visit {key[:12]}"
            yield SurfaceFinding(kind="stray", rule="duplicate", object=names, problem=problem, remedy=remedy)


def _is_of(author: Account | None, identities: Collection[int]) -> bool:
    return author is not None and author.id in identities


def _check_views(seen: Considered, existing: Existing) -> Iterable[SurfaceFinding]:
    state = seen.state
    if state.graph_hash != seen.pipeline.graph_hash or not (state.visits or state.leases):
        return
    surface = project(Standing(state, seen.facts, seen.pipeline), seen.config)
    shown = {comment.node_id for comment in seen.snapshot.issue.comments}
    comment = state.status_comment
    is_gone = (
        comment is not None and comment.node_id not in shown and comment.node_id not in existing.node_ids
    )
    if (comment is None and state.visits) or is_gone:
        post = status_comment(state, surface.comment, first_visit_key(state))
        yield SurfaceFinding(
            kind="view",
            rule="status_comment",
            object="status comment",
            problem="is not there",
            remedy="post it again",
            effects=(post,),
            forgets_comment=True,
        )
    for effect in differences(surface, seen.snapshot, state, seen.config):
        if isinstance(effect, CloseIssue):
            # What a step does once when it sees the last merge is no view that could be wrong.
            continue
        if isinstance(effect, SetLabels):
            yield _wrong_labels(effect)
        elif isinstance(effect, EditPullRequest):
            yield SurfaceFinding(
                kind="view",
                rule="closing_words",
                object=f"pull request #{effect.number}",
                problem="says wrongly whether its merge closes the issue",
                remedy="edit its first line",
                effects=(effect,),
            )
        elif not is_gone:
            yield SurfaceFinding(
                kind="view",
                rule="status_comment",
                object="status comment",
                problem="does not say what the state says",
                remedy="write it anew",
                effects=(effect,),
            )


def _wrong_labels(effect: SetLabels) -> SurfaceFinding:
    lacks = [f"lacks {name!r}" for name in effect.add]
    has = [f"has {name!r}, which is of another state" for name in effect.remove]
    return SurfaceFinding(
        kind="view",
        rule="labels",
        object=f"labels of #{effect.number}",
        problem="; ".join([*lacks, *has]),
        remedy="add and remove them",
        effects=(effect,),
    )

"""What people are owed, posted once: a lease of its own, the comments, the record."""

from collections.abc import Callable, Sequence
from typing import Protocol

from cogworks.errors import PermissionRefused
from cogworks.github.effects import PostComment
from cogworks.github.publication import PublicationContext, Published
from cogworks.github.surface import STATUS_TOPIC, project
from cogworks.ledger.keeper import Keeper
from cogworks.ledger.record import Change, change_for
from cogworks.ledger.store import LedgerCommit, Tip
from cogworks.nodes.considering import Considered
from cogworks.nodes.giving_back import give_back
from cogworks.nodes.visit import Tracker
from cogworks.pipeline.decision import INPUTS, Answer
from cogworks.pipeline.resting import rest_line
from cogworks.pipeline.state import MAX_ATTEMPTS, CommentRef, Lease, RunState, first_visit_key
from cogworks.vocabulary import BranchName, CommitOid, VisitKey


class MovingLedger(Protocol):
    """The ledger branch of the item."""

    def tip(self) -> Tip | None: ...
    def append(self, tip: CommitOid, change: Change, *, echoes: Sequence[str] = ()) -> LedgerCommit: ...


def inputs_lease(state: RunState, *, visit_key: VisitKey, holder: str, attempt: int = 1) -> Lease:
    """The lease under which people are answered; it belongs to no node and reserves nothing."""
    return Lease(
        visit_key=visit_key,
        index=0,
        node=INPUTS.node,
        sub_item=None,
        ordinal=1,
        holder=holder,
        attempt=attempt,
        graph_hash=state.graph_hash,
        input_digest=state.issue_digest,
    )


def answer(
    tracker: Tracker,
    ledger: MovingLedger,
    seen: Considered,
    move: Answer,
    *,
    holder: str,
    say: Callable[[str], None],
) -> RunState:
    """Post every comment that is owed, the status comment where it is gone included; the state after that.

    What was dealt with is in the commit of the claim, so a runner that dies here leaves nothing but comments to post.

    Raises:
        StaleTip: somebody else moved the ledger; nothing was done.
        CogworksError: GitHub failed; the comments stay owed.
    """
    if seen.snapshot.ledger is None:
        raise LookupError("a run without a ledger owes nothing")
    lease = inputs_lease(seen.state, visit_key=move.visit_key, holder=holder, attempt=move.attempt)
    held = seen.state.with_lease(lease, identity=seen.snapshot.viewer.id or 0)
    lease = next(taken for taken in held.leases if taken.visit_key == move.visit_key)
    commit = ledger.append(
        seen.snapshot.ledger.oid, change_for(held, lease, "claim", {}, sequence=held.inputs.times)
    )
    keeper = Keeper(ledger, state=held, tip=commit.oid, lease=lease)
    is_recorded = False
    try:
        published = _posted(tracker, seen, held, move, say)
        after = keeper.finish(
            lambda state: _answered(state, held, published),
            "answered",
            lambda _: {},
            waits_for=lambda state: rest_line(state, seen.facts, seen.pipeline),
        )
        is_recorded = True
        return after
    finally:
        if not is_recorded and not keeper.is_lost:
            give_back(keeper, say)


def _posted(
    tracker: Tracker, seen: Considered, state: RunState, move: Answer, say: Callable[[str], None]
) -> Published:
    if move.attempt > MAX_ATTEMPTS:
        say(f"{len(state.owed)} answer(s) were given up: their runner died {MAX_ATTEMPTS} times")
        return Published()
    if seen.facts.is_status_gone and state.status_comment is not None:
        say(
            f"no comment of this issue is the status comment that the ledger names ({state.status_comment.node_id}): it was "
            "deleted, or somebody wrote into the ledger; ours is looked for by its marker, else posted anew"
        )
    # A dead runner may have posted after our read.
    snapshot = tracker.read() if move.taken_over_from else seen.snapshot
    context = PublicationContext(identities=state.identities)
    try:
        return tracker.publish(_comments(seen, state), snapshot, context, _no_push)
    except PermissionRefused as error:
        # The answers are a courtesy: a locked issue must not stop the item.
        say(f"{len(state.owed)} answer(s) could not be posted: {error}")
        return Published()


def _comments(seen: Considered, state: RunState) -> tuple[PostComment, ...]:
    owed = [
        PostComment(number=state.issue, topic=each.topic, body=each.body, visit_key=each.visit_key)
        for each in state.owed
    ]
    if seen.facts.is_status_gone and state.status == "running":
        body = project(state, seen.facts, seen.pipeline, seen.config).comment
        owed.append(
            PostComment(number=state.issue, topic=STATUS_TOPIC, body=body, visit_key=first_visit_key(state))
        )
    return tuple(owed)


def _answered(state: RunState, held: RunState, published: Published) -> RunState:
    """What another runner came to owe meanwhile stays owed."""
    kept = tuple(lease for lease in state.leases if lease.instance != INPUTS)
    owed = tuple(each for each in state.owed if each not in held.owed)
    after = state.model_copy(update={"leases": kept, "owed": owed})
    status = next((made for made in published.comments if made.topic == STATUS_TOPIC), None)
    if status is None:
        return after
    ref = CommentRef(node_id=status.node_id, database_id=status.database_id, visit_key=first_visit_key(held))
    return after.model_copy(update={"status_comment": ref})


def _no_push(branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
    raise AssertionError(f"answering people pushes nothing, but {oid} was to go to {branch} over {expected}")

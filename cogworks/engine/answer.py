"""What people are owed, posted once: a lease of its own, the comments, the record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cogworks.engine.claim import give_back
from cogworks.engine.consider import Considered
from cogworks.engine.ports import MovingLedger, Tracker
from cogworks.errors import PermissionRefused
from cogworks.forge.bodies import STATUS_TOPIC
from cogworks.forge.effects import PostComment
from cogworks.forge.notices import owed_comment
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import project, status_comment
from cogworks.ledger.lease import Entry, VisitLease
from cogworks.ledger.record import change_for
from cogworks.pipeline.decision import INPUTS, Answer
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import CommentRef
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import RunState, first_visit_key
from cogworks.pipeline.visits import LEASE_TTL_S, MAX_ATTEMPTS, Lease
from cogworks.vocabulary import BranchName, CommitOid, VisitKey


class Correspondence(Tracker, Protocol):
    """GitHub, where the repository's first ledger may have to be made."""

    def create_root(self) -> CommitOid: ...


@dataclass(frozen=True)
class AnswerPorts:
    """The world as people are answered from it."""

    tracker: Correspondence
    holder: str
    monotonic: Callable[[], float]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Due:
    """What has to be posted under a lease, and how the end of that is recorded."""

    comments: tuple[PostComment, ...]
    verb: str
    waits_for: Callable[[RunState], str]
    asked_s: float
    """What the runner's clock said when the claim was sent."""
    is_heir: bool = False
    """The lease was a dead runner's, who may have posted."""
    is_given_up: bool = False
    """So many died that nobody posts any more."""


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


def held_by(state: RunState, lease: Lease, snapshot: Snapshot) -> tuple[RunState, Lease]:
    """The state with the lease in it, and the lease as it is there: what a dead runner left goes with it."""
    held = state.with_lease(lease, identity=snapshot.viewer.id or 0)
    return held, next(lease_held for lease_held in held.leases if lease_held.visit_key == lease.visit_key)


def answer(ports: AnswerPorts, ledger: MovingLedger, seen: Considered, move: Answer) -> RunState:
    """Post every comment that is owed, the status comment where it is gone included; the state after that.

    What was dealt with is in the commit of the claim, so a runner that dies here leaves nothing but comments to post.

    Raises:
        StaleTip: somebody else moved the ledger; nothing was done.
        CogworksError: GitHub failed; the comments stay owed.
    """
    if seen.snapshot.ledger is None:
        raise LookupError("a run without a ledger owes nothing")
    if seen.facts.is_status_gone and seen.state.status_comment is not None:
        ports.say(
            f"the status comment that the ledger names ({seen.state.status_comment.node_id}) is not on this "
            "issue. Somebody deleted it, or wrote into the ledger. cogworks looks for its own by the marker, "
            "and posts a new one if there is none."
        )
    lease = inputs_lease(seen.state, visit_key=move.visit_key, holder=ports.holder, attempt=move.attempt)
    held, lease = held_by(seen.state, lease, seen.snapshot)
    asked_s = ports.monotonic()
    commit = ledger.append(
        seen.snapshot.ledger.oid, change_for(held, lease, "claim", {}, sequence=held.inputs.times)
    )
    visit_lease = VisitLease(ledger, state=held, tip=commit.oid, lease=lease)
    due = Due(
        comments=_comments(seen, held),
        verb="answered",
        waits_for=lambda state: rest_line(Standing(state, seen.facts, seen.pipeline)),
        asked_s=asked_s,
        is_heir=move.taken_over_from is not None,
        # The status comment is no courtesy: who gave it up might post it a second time.
        is_given_up=move.attempt > MAX_ATTEMPTS and held.refusal is None,
    )
    return settle(ports, visit_lease, seen.snapshot, due)


def settle(ports: AnswerPorts, visit_lease: VisitLease, snapshot: Snapshot, due: Due) -> RunState:
    """Post what is due under the keeper's lease and record it; the lease is given back where that fails.

    Raises:
        LostRace: another runner has the lease; nothing was posted, or it is theirs to adopt.
        CogworksError: GitHub failed; the comments stay owed.
    """
    held = visit_lease.state
    is_recorded = False

    def ending(state: RunState) -> Entry:
        after = _answered(state, held, due, published)
        return Entry(state=after, verb=due.verb, waits_for=due.waits_for(after))

    try:
        published = _posted(ports, visit_lease, snapshot, due)
        ended = visit_lease.finish(ending)
        is_recorded = True
        return ended.state
    finally:
        if not is_recorded and not visit_lease.is_lost:
            give_back(visit_lease, ports.say)


def _posted(ports: AnswerPorts, visit_lease: VisitLease, snapshot: Snapshot, due: Due) -> Published:
    count = len(visit_lease.state.owed)
    if due.is_given_up:
        ports.say(f"gave up {count} answer(s), because their runner died {MAX_ATTEMPTS} times")
        return Published()
    if due.is_heir:
        # A dead runner may have posted after our read.
        snapshot = ports.tracker.read()
    if ports.monotonic() - due.asked_s > LEASE_TTL_S / 2:
        # A comment has no natural key: a runner that was held up must not post beside an heir.
        visit_lease.checkpoint()
        visit_lease.check()
    context = PublicationContext(identities=visit_lease.state.identities)
    try:
        return ports.tracker.publish(due.comments, snapshot, context, _no_push)
    except PermissionRefused as error:
        # The answers are a courtesy: a locked issue must not stop the item.
        ports.say(f"could not post {count} answer(s): {error}")
        return Published()


def _comments(seen: Considered, state: RunState) -> tuple[PostComment, ...]:
    def status(visit_key: VisitKey) -> PostComment:
        body = project(Standing(state, seen.facts, seen.pipeline), seen.config).comment
        return status_comment(state, body, visit_key)

    owed = [
        # What kept the item from beginning is mended by now: the comment that was to report it says where the run stands.
        status(each.visit_key) if each.topic == STATUS_TOPIC else owed_comment(each, seen.snapshot, state)
        for each in state.owed
    ]
    if seen.facts.is_status_gone and state.status == "running":
        owed.append(status(first_visit_key(state)))
    return tuple(owed)


def _answered(state: RunState, held: RunState, due: Due, published: Published) -> RunState:
    """What another runner came to owe meanwhile stays owed."""
    kept = tuple(lease for lease in state.leases if lease.instance != INPUTS)
    owed = tuple(each for each in state.owed if each not in held.owed)
    after = state.model_copy(update={"leases": kept, "owed": owed})
    status = next((comment for comment in published.comments if comment.topic == STATUS_TOPIC), None)
    if status is None:
        return after
    key = next(post.visit_key for post in due.comments if post.topic == STATUS_TOPIC)
    ref = CommentRef(node_id=status.node_id, database_id=status.database_id, visit_key=key)
    return after.model_copy(update={"status_comment": ref})


def _no_push(branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
    raise AssertionError(f"answering people pushes nothing, but {oid} was to go to {branch} over {expected}")

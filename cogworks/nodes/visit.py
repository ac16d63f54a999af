"""One claimed visit, S4 to S7: run the node under its lease, publish what it made, record how it ended."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import ValidationError

from cogworks.errors import CogworksError, InvalidReply, NodeFailed
from cogworks.github.effects import Effect, PostComment
from cogworks.github.publication import PublicationContext, Published
from cogworks.github.snapshot import Snapshot
from cogworks.github.surface import STATUS_TOPIC, project
from cogworks.ledger.heartbeat import Heartbeat
from cogworks.ledger.keeper import Keeper
from cogworks.ledger.record import LedgerUnreadable, output_sha256, reply_files, visit_files
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import ModelReply
from cogworks.nodes.contract import Failed, NodeProcedure, NodeShell, NodeTask, Outcome, Succeeded
from cogworks.nodes.tasks import slot_values
from cogworks.pipeline.decision import Run
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.position import Facts, PullFacts, locate
from cogworks.pipeline.resting import rest_line
from cogworks.pipeline.state import LEASE_TTL_S, CommentRef, KnownPull, RunState, Spend, VisitRecord
from cogworks.pipeline.transitions import learn_classification, learn_plan, settle
from cogworks.settings import Config
from cogworks.vocabulary import BranchName, CommitOid, NodeId, RunId

RENEWAL_S = 60.0
Push = Callable[[BranchName, CommitOid, CommitOid | None], None]


class Session(Protocol):
    """A node's world, open for one visit."""

    @property
    def shell(self) -> NodeShell: ...
    def push(self, branch: BranchName, oid: CommitOid, expected: CommitOid | None) -> None:
        """Push the working copy's commit; `expected` is the branch's head as last read, None = it must not exist."""


@dataclass(frozen=True)
class SessionOrder:
    """What a session is opened for."""

    run_id: RunId
    task: NodeTask
    config: Config
    files: Mapping[str, str]
    """The repository's files below `.cogworks`: path -> text."""
    budget_usd: float
    budget_tokens: int
    memory: Mapping[str, ModelReply]
    """Replies that an earlier attempt of this visit paid for, by request key."""
    on_reply: Callable[[ReplyRecord], None]
    keep: Callable[[str, str], None]
    """Has a file of the visit's folder kept: name and text."""
    check: Callable[[], None]
    """Raises when the visit has to stop; called between the node's moves."""


class Tracker(Protocol):
    """GitHub as a visit uses it."""

    def read(self) -> Snapshot: ...
    def publish(
        self,
        effects: Sequence[Effect],
        snapshot: Snapshot,
        context: PublicationContext,
        push: Push,
    ) -> Published: ...


@dataclass(frozen=True)
class VisitShell:
    """The world as a visit uses it."""

    tracker: Tracker
    nodes: Mapping[NodeId, NodeProcedure]
    session: Callable[[SessionOrder], AbstractContextManager[Session]]
    monotonic: Callable[[], float]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Claimed:
    """A visit that is ours."""

    keeper: Keeper
    move: Run
    task: NodeTask
    snapshot: Snapshot
    facts: Facts
    pipeline: Pipeline
    config: Config
    memory: Mapping[str, ModelReply]
    asked_s: float
    """What the runner's clock said when the claim was sent."""


@dataclass(frozen=True)
class Ended:
    """How a visit ended."""

    outcome: Outcome
    state: RunState
    facts: Facts
    """With the pull requests that the visit opened."""
    published: Published
    spend: Spend
    """What this attempt paid the model; earlier attempts are in the visit's record."""


def run_visit(shell: VisitShell, claimed: Claimed) -> Ended:
    """Run, publish, record. When it raises instead, the visit was given back and may be claimed at once.

    Raises:
        LostRace: another runner has the visit, or a person stopped the item; nothing was recorded.
        CogworksError: what the node, the model or GitHub raised.
    """
    keeper = claimed.keeper
    started_s = shell.monotonic()
    is_recorded = False
    try:
        snapshot = _adopted(shell, claimed)
        renew = _renewal(claimed)
        with (
            Heartbeat(renew, interval_s=RENEWAL_S, warn=shell.say),
            shell.session(_order(claimed, renew)) as session,
        ):
            outcome = _outcome(shell, claimed, session)
            keeper.check()
            record = _record(claimed, outcome, shell.monotonic() - started_s)
            effects = _effects(claimed, outcome, record)
            if effects:
                _fence(shell, claimed, renew)
            published = _publish(shell, claimed, snapshot, effects, session.push)
        facts = _with_published(claimed.facts, published)
        after = _transition(claimed, outcome, record, published, facts)
        state = keeper.finish(
            after,
            # A loop that is used up makes a failure of a node that succeeded.
            after(keeper.state).visits[-1].status,
            lambda state: visit_files(state, state.visits[-1], _kept_output(outcome)),
            waits_for=lambda state: rest_line(state, facts, claimed.pipeline),
        )
        is_recorded = True
        return Ended(
            outcome=outcome,
            state=state,
            facts=facts,
            published=published,
            spend=keeper.spent - keeper.lease.spent,
        )
    finally:
        if not is_recorded and not keeper.is_lost:
            give_back(keeper, shell.say)


def replies_in(folder: str, files: Mapping[str, str]) -> dict[str, ModelReply]:
    """The paid replies that a visit's folder holds, by request key.

    Raises:
        LedgerUnreadable: one of them is not a reply.
    """
    found: dict[str, ModelReply] = {}
    for path, text in files.items():
        if path.startswith(f"{folder}/reply-"):
            try:
                record = ReplyRecord.model_validate_json(text)
            except ValidationError as error:
                raise LedgerUnreadable(
                    f"`{path}` of the item's ledger is not a recorded reply ({error.error_count()} problem(s)). "
                    "Restore it with `git revert` on that branch; nothing was published."
                ) from None
            found[record.request_key] = record.reply
    return found


def _renewal(claimed: Claimed) -> Callable[[], None]:
    labels = claimed.config.labels
    # One that was there before the claim was obeyed or did not count.
    stop_labels = frozenset({labels.hold, labels.cancel}) - set(claimed.snapshot.issue.labels)

    def renew() -> None:
        claimed.keeper.checkpoint(stop_labels=stop_labels)

    return renew


def _fence(shell: VisitShell, claimed: Claimed, renew: Callable[[], None]) -> None:
    """Make sure that what is published now is published on a young lease, and that its content is in the ledger.

    A renewal counts from when it was sent: a runner that was stopped before it saw the answer has an old lease.

    Raises:
        LostRace: the lease is somebody else's, or a person stopped the item.
    """
    keeper, since_s = claimed.keeper, claimed.asked_s
    # Content first: whoever takes over after a crash later must make the very same effects.
    while keeper.has_pending or shell.monotonic() - since_s > LEASE_TTL_S / 2:
        since_s = shell.monotonic()
        renew()
        keeper.check()


def _adopted(shell: VisitShell, claimed: Claimed) -> Snapshot:
    if claimed.move.taken_over_from is None:
        return claimed.snapshot
    # The dead runner may have published after our read; nothing of its is made twice.
    return shell.tracker.read()


def _order(claimed: Claimed, renew: Callable[[], None]) -> SessionOrder:
    keeper, state, facts = claimed.keeper, claimed.keeper.state, claimed.facts
    folder = state.folder(claimed.move.index, claimed.move.instance)
    count = len(claimed.memory)

    def on_reply(record: ReplyRecord) -> None:
        nonlocal count
        count += 1
        dumped = record.model_dump(mode="json")
        manifest = dumped["manifest"]
        unrecorded = keeper.spend(_spend_of(record), reply_files(folder, count, dumped, manifest))
        if unrecorded.cost_usd >= claimed.config.ledger.checkpoint_usd:
            renew()
        # A hold that the renewal saw, or the heartbeat before it, ends the visit before it pays again.
        keeper.check()

    others_usd = state.reserved_usd - keeper.lease.reserved_usd
    spent = state.spent
    return SessionOrder(
        run_id=state.run_id,
        task=claimed.task,
        config=claimed.config,
        files=claimed.snapshot.repository.config_files,
        budget_usd=max(0.0, facts.max_cost_usd - spent.cost_usd - others_usd),
        budget_tokens=max(0, facts.max_tokens - spent.input_tokens - spent.output_tokens),
        memory=claimed.memory,
        on_reply=on_reply,
        keep=lambda name, text: keeper.keep({f"{folder}/{name}": text}),
        check=keeper.check,
    )


def _outcome(shell: VisitShell, claimed: Claimed, session: Session) -> Outcome:
    procedure = shell.nodes.get(claimed.move.instance.node)
    if procedure is None:
        known = ", ".join(shell.nodes)
        reason = f"node {claimed.move.instance.node!r} has no procedure in this version; there are: {known}"
        return Failed(reason=reason, category="escalated")
    try:
        return procedure(claimed.task, session.shell)
    except (NodeFailed, InvalidReply) as error:
        return Failed(reason=str(error), category="invalid_reply")


def _record(claimed: Claimed, outcome: Outcome, duration_s: float) -> VisitRecord:
    move = claimed.move
    succeeded = isinstance(outcome, Succeeded)
    return VisitRecord(
        index=move.index,
        node=move.instance.node,
        sub_item=move.instance.sub_item,
        visit_key=move.visit_key,
        ordinal=move.ordinal,
        attempt=move.attempt,
        status="succeeded" if succeeded else "failed",
        summary=outcome.summary if isinstance(outcome, Succeeded) else outcome.reason,
        spend=claimed.keeper.spent,
        duration_s=round(duration_s, 3),
        has_output=succeeded,
        output_sha256=output_sha256(_kept_output(outcome)),
    )


def _effects(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> tuple[Effect, ...]:
    wanted = outcome.effects if isinstance(outcome, Succeeded) else ()
    if claimed.keeper.state.status_comment is not None:
        return wanted
    return (*wanted, _first_status(claimed, outcome, record))


def _kept_output(outcome: Outcome) -> Mapping[str, Any] | None:
    """A success is read by later nodes, even an empty one; what a failure left is for people."""
    return outcome.output if isinstance(outcome, Succeeded) or outcome.output else None


def _publish(
    shell: VisitShell, claimed: Claimed, snapshot: Snapshot, effects: Sequence[Effect], push: Push
) -> Published:
    if not effects:
        return Published()
    state = claimed.keeper.state
    context = PublicationContext(
        identities=state.identities,
        sub_items={item.key: item.number for item in state.sub_items or () if item.number is not None},
    )
    return shell.tracker.publish(effects, snapshot, context, push)


def _first_status(claimed: Claimed, outcome: Outcome, record: VisitRecord) -> PostComment:
    after = _transition(claimed, outcome, record, Published(), claimed.facts)(claimed.keeper.state)
    surface = project(after, claimed.facts, claimed.pipeline, claimed.config)
    return PostComment(
        number=after.issue, topic=STATUS_TOPIC, body=surface.comment, visit_key=claimed.move.visit_key
    )


def _transition(
    claimed: Claimed, outcome: Outcome, record: VisitRecord, published: Published, facts: Facts
) -> Callable[[RunState], RunState]:
    node = claimed.pipeline.node(record.node)

    def after(state: RunState) -> RunState:
        view = {**claimed.task.inputs, "retry_count": record.ordinal - 1}
        if isinstance(outcome, Succeeded):
            slots = slot_values(node, outcome.output)
            view.update(slots)
            state = _learn(state, slots, published)
        settled = settle(_known(state, published), claimed.pipeline, record, view)
        gates = locate(settled, facts, claimed.pipeline)
        finished = gates.frontier.finished
        return settled.model_copy(
            update={"gates": gates.gates, "status": "done" if finished else settled.status}
        )

    return after


def _learn(state: RunState, slots: Mapping[str, Any], published: Published) -> RunState:
    if "classification" in slots:
        state = learn_classification(state, slots["classification"])
    if "plan" in slots and published.sub_issues:
        issues = {made.key: (made.number, made.node_id) for made in published.sub_issues}
        state = learn_plan(state, slots["plan"], issues)
    return state


def _known(state: RunState, published: Published) -> RunState:
    """The state with the ids that publishing taught."""
    pulls = {pull.slug: pull for pull in state.pull_requests}
    pulls.update(
        (p.slug, KnownPull(slug=p.slug, number=p.number, node_id=p.node_id, head=p.head, base=p.base))
        for p in published.pull_requests
    )
    comment = next((c for c in published.comments if c.topic == STATUS_TOPIC), None)
    update: dict[str, Any] = {"pull_requests": tuple(pulls.values())}
    if comment is not None:
        update["status_comment"] = CommentRef(node_id=comment.node_id, database_id=comment.database_id)
    return state.model_copy(update=update)


def _with_published(facts: Facts, published: Published) -> Facts:
    heads = {commit.branch: commit.oid for commit in published.commits}
    opened = {
        pull.number: PullFacts(
            number=pull.number, state="open", head_oid=heads.get(pull.head, CommitOid("")), url=pull.url
        )
        for pull in published.pull_requests
        if pull.number not in facts.pulls
    }
    return facts.model_copy(update={"pulls": {**facts.pulls, **opened}})


def _spend_of(record: ReplyRecord) -> Spend:
    usage = record.reply.usage
    return Spend(
        cost_usd=float(record.cost_usd),
        input_tokens=usage.total_input,
        output_tokens=usage.output_tokens,
        model_calls=1,
    )


def give_back(keeper: Keeper, say: Callable[[str], None]) -> None:
    """Release the lease so that nobody has to wait for it to grow old; never raises a deliberate failure."""
    spent = keeper.spent
    try:
        keeper.finish(
            lambda state: state.released(keeper.lease, spent),
            "released",
            lambda _: {},
            waits_for=lambda _: "",
        )
    except CogworksError as error:
        # What ended the visit matters more; a lease that stays is taken over when it is old enough.
        say(f"the lease could not be given back: {error}")

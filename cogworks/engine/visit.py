"""One claimed visit, S4 to S7: run the node under its lease, publish what it made, record how it ended."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from cogworks.engine.claim import asked_call, give_back, short_of
from cogworks.engine.packs import exemplars_of, shelf_of
from cogworks.engine.ports import Push, ReadsPermissions, Session, SessionOrder, Tracker, VisitPorts
from cogworks.engine.record import (
    Claimed,
    ending_of,
    frozen_after,
    kept_output,
    with_known_pipeline,
    with_published,
)
from cogworks.engine.remember import remembering, with_neighbours
from cogworks.engine.report import effects_of, forewarning, learn_where_it_stands, with_created
from cogworks.engine.route import answers_in, routing_procedure
from cogworks.engine.visit_limits import Deadline, Purse, outcome_within, purse_of
from cogworks.errors import ApprovalNeeded, BudgetReached
from cogworks.forge.effects import Effect, PushBranch
from cogworks.forge.inbox import objection
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.ledger.lease import Heartbeat, VisitLease
from cogworks.ledger.record import output_sha256, reply_files
from cogworks.llm.gateway import ReplyRecord
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.registry import procedure_for
from cogworks.packs.telling import for_people
from cogworks.pipeline.elements import is_routing, place_of
from cogworks.pipeline.graph import Node
from cogworks.pipeline.limits import calls_model, overdrawn, session_budget
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import AskedCall
from cogworks.pipeline.position import Standing
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.unmerged import about_to_push
from cogworks.pipeline.visits import (
    LEASE_TTL_S,
    MOST_CONTAMINATED,
    MOST_LOOKED,
    LookedAt,
    NextCall,
    VisitRecord,
)
from cogworks.pipeline.wording import remark
from cogworks.settings.config import Config
from cogworks.sight.seen import version_of

# Three of them fit into a lease: see `pipeline/visits.LEASE_TTL_S`.
RENEWAL_S = 60.0
MOST_STRETCHES = 6
"""Of one file that a visit records as looked at; the longest."""
LEAST_LINES = 3
"""A shorter stretch tells nothing of a definition."""
_DIGITS = 12


@dataclass(frozen=True)
class Ended:
    """How a visit ended."""

    outcome: Outcome
    standing: Standing
    """The run after it, on the pipeline it goes on with and with the pull requests that the visit opened."""
    published: Published
    spend: Spend
    """What this attempt paid the model; earlier attempts are in the visit's record."""


def run_visit(ports: VisitPorts, claimed: Claimed) -> Ended:
    """Run, publish, record. When it raises instead, the visit was given back and may be claimed at once.

    Raises:
        LostRace: another runner has the visit, or a person stopped the item; nothing was recorded.
        ApprovalNeeded: a person has to approve a call first; nobody may claim it before that.
        CogworksError: what the node, the model or GitHub raised.
    """
    visit_lease = claimed.visit_lease
    started_s = ports.monotonic()
    node = claimed.pipeline.node(place_of(claimed.move.instance).node)
    llm = claimed.config.llm.visiting(node.id, claimed.pipeline.name)
    claimed = replace(claimed, config=claimed.config.model_copy(update={"llm": llm}))
    purse = purse_of(claimed)
    # It runs from here on; the look at the base does not count (`not_yet`).
    deadline = Deadline(claimed.pipeline, node, monotonic=ports.monotonic)
    marked: dict[str, None] = {}
    is_recorded = False
    unaffordable: NextCall | None = None
    asks: AskedCall | None = None
    try:
        snapshot = _adopted(ports, claimed)
        with Heartbeat(purse.renew, interval_s=RENEWAL_S, warn=ports.say):
            # GitHub may take its time; the lease is renewed meanwhile.
            claimed = replace(claimed, task=remembering(ports.tracker, claimed, ports.say))
            claimed = replace(claimed, task=with_neighbours(ports.tracker, claimed, ports.say))
            with ports.session(_order(ports.tracker, claimed, purse, deadline, marked)) as session:
                _forewarn(ports, claimed, snapshot, session.push, purse.renew)
                # Before anything is paid for: what packs require may be malformed.
                head = claimed.snapshot.repository.head_oid
                shelf = shelf_of(node, claimed.move.instance, session.ports, claimed.config, head)
                claimed = replace(claimed, shelf=shelf)
                outcome = with_known_pipeline(claimed, _outcome(ports, claimed, node, session, deadline))
                claimed = with_packs_chosen(claimed, outcome, ports.tracker, ports.say)
                # A person may have stopped it while the node ran: then nothing is published.
                visit_lease.check()
                looked = looked_in(session.ports)
                record = _record(claimed, outcome, ports.monotonic() - started_s, marked, looked)
                effects = effects_of(claimed, outcome, record)
                if effects:
                    _announce(visit_lease, effects)
                    _fence(ports, claimed, purse.renew)
                published = _publish(ports, claimed, snapshot, effects, session.push)
        # The outcome names the issues that were made, so its record is made anew.
        outcome = with_created(outcome, published)
        record = _record(claimed, outcome, ports.monotonic() - started_s, marked, looked)
        facts = with_published(claimed.facts, claimed.visit_lease.state, claimed.snapshot, published)
        ending = visit_lease.finish(ending_of(claimed, outcome, record, published, facts))
        is_recorded = True
        return Ended(
            outcome=outcome,
            standing=ending.standing,
            published=published,
            spend=visit_lease.spent - visit_lease.lease.spent,
        )
    except BudgetReached as error:
        unaffordable = short_of(error)
        raise
    except ApprovalNeeded as error:
        asks = asked_call(error)
        raise
    finally:
        if not is_recorded and not visit_lease.is_lost:
            give_back(
                visit_lease,
                ports.say,
                short_of=unaffordable,
                asks=asks,
                # Else the next runner may claim it at once, so nothing is waited for.
                waits_for=lambda state: (
                    rest_line(Standing(state, claimed.facts, claimed.pipeline))
                    if unaffordable or asks
                    else ""
                ),
            )


def _forewarn(
    ports: VisitPorts, claimed: Claimed, snapshot: Snapshot, push: Push, renew: Callable[[], None]
) -> None:
    """Have people read before anything is paid for that a round of rework may not be affordable."""
    warning = forewarning(claimed)
    if warning is not None:
        (comment,) = _publish(ports, claimed, snapshot, (warning,), push).comments
        learn_where_it_stands(claimed, comment)
        # The end of the visit would post another one: the ledger knows this one before anything else happens.
        renew()
        claimed.visit_lease.check()


def _announce(visit_lease: VisitLease, effects: Sequence[Effect]) -> None:
    """Have the ledger say what is about to be pushed: a head that it does not name counts as somebody else's."""
    heads = {effect.branch: effect.oid for effect in effects if isinstance(effect, PushBranch)}
    if about_to_push(visit_lease.state, heads) != visit_lease.state:
        visit_lease.learn(lambda state: about_to_push(state, heads))


def _fence(ports: VisitPorts, claimed: Claimed, renew: Callable[[], None]) -> None:
    """Make sure that what is published now is published on a young lease, and that its content is in the ledger.

    A renewal counts from when it was sent: a runner that was stopped before it saw the answer has an old lease.

    Raises:
        LostRace: the lease is somebody else's, or a person stopped the item.
    """
    visit_lease, since_s = claimed.visit_lease, claimed.asked_s
    # Content first: a runner that takes over after a crash must make the very same effects.
    while visit_lease.has_pending or ports.monotonic() - since_s > LEASE_TTL_S / 2:
        since_s = ports.monotonic()
        renew()
        visit_lease.check()


def _adopted(ports: VisitPorts, claimed: Claimed) -> Snapshot:
    if claimed.move.taken_over_from is None:
        return claimed.snapshot
    # The dead runner may have published after our read; nothing of its is made twice.
    return ports.tracker.read()


def _order(
    tracker: Tracker, claimed: Claimed, purse: Purse, deadline: Deadline, marked: dict[str, None]
) -> SessionOrder:
    """Args:
    marked: takes the texts that give orders to the model, as far as its replies report them.
    """
    visit_lease, state, facts = claimed.visit_lease, claimed.visit_lease.state, claimed.facts
    folder = state.folder(claimed.move.index, claimed.move.instance)
    # Not by `memory`, which leaves out replies that broke off: their records are of paid calls and stay.
    count = sum(name.startswith("reply-") for name in claimed.kept)

    def on_reply(record: ReplyRecord) -> None:
        nonlocal count
        count += 1
        dumped = record.model_dump(mode="json")
        manifest = dumped["manifest"]
        marked.update(dict.fromkeys(record.manifest.contaminated))
        unrecorded = visit_lease.spend(_spend_of(record), reply_files(folder, count, dumped, manifest))
        if unrecorded.cost_usd >= claimed.config.ledger.checkpoint_usd:
            purse.renew()
        # A hold that the renewal saw, or the heartbeat before it, ends the visit before it pays again.
        visit_lease.check()
        # The session's budget was cut when it was opened; what others spend since, only the ledger records.
        if reason := overdrawn(visit_lease.state, facts, claimed.pipeline, unsaid=visit_lease.unrecorded):
            raise BudgetReached(reason)

    def check() -> None:
        visit_lease.check()
        if not is_routing(claimed.move.instance):
            deadline.check()

    def checkpoint() -> None:
        purse.renew()
        check()

    budget_usd, budget_tokens = session_budget(state, facts, claimed.pipeline, claimed.move.instance)
    return SessionOrder(
        run_id=state.run_id,
        task=claimed.task,
        config=claimed.config,
        files=claimed.snapshot.repository.config_files,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        memory=claimed.memory,
        on_reply=on_reply,
        keep=lambda name, text: visit_lease.keep({f"{folder}/{name}": text}),
        left_s=deadline.left_s,
        check=check,
        checkpoint=checkpoint,
        secure=purse.secure,
        # Asked only when a service is opened that could run code: the answer may cost a request.
        needs_walls=lambda: needs_walls(
            tracker,
            claimed.snapshot,
            claimed.config,
            is_safety_critical=state.is_safety_critical or facts.is_safety_critical,
        ),
        root_names=claimed.snapshot.repository.contents.root_names,
    )


def _outcome(
    ports: VisitPorts, claimed: Claimed, node: Node, session: Session, deadline: Deadline
) -> Outcome:
    # Where no model is asked nothing is paid for, so the base need not be looked at.
    if calls_model(claimed.move.instance, claimed.pipeline):
        with deadline.not_yet():
            refused = ports.check_base(claimed, session.ports)
        if refused is not None:
            return refused
    if is_routing(claimed.move.instance):
        # A question without an answer in time has one all the same: its fallback.
        return routing_procedure(claimed.pipeline, claimed.config.llm.model)(claimed.task, session.ports)
    return outcome_within(deadline, lambda: _done(ports, claimed, node, session))


def _done(ports: VisitPorts, claimed: Claimed, node: Node, session: Session) -> Outcome:
    procedure = procedure_for(node, claimed.snapshot.repository.config_files, ports.nodes)
    if procedure is None:
        known = ", ".join(ports.nodes)
        reason = f"node {node.id!r} has no procedure in this version; there are: {known}"
        return Failed(reason=reason, category="escalated")
    return procedure(claimed.task, session.ports)


def _record(
    claimed: Claimed, outcome: Outcome, duration_s: float, marked: Iterable[str], looked: tuple[LookedAt, ...]
) -> VisitRecord:
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
        code="" if isinstance(outcome, Succeeded) else outcome.code,
        caution=_caution(outcome, is_held=claimed.config.security.injection == "hold"),
        contaminated=tuple(islice(marked, MOST_CONTAMINATED)),
        looked=looked,
        spend=claimed.visit_lease.spent,
        duration_s=round(duration_s, 3),
        has_output=succeeded,
        is_empty=isinstance(outcome, Succeeded) and outcome.is_empty,
        answers=answers_in(outcome.output) if succeeded and is_routing(move.instance) else (),
        output_sha256=output_sha256(kept_output(outcome)),
    )


def looked_in(ports: NodePorts) -> tuple[LookedAt, ...]:
    """What the model looked at in a visit, the latest look last. Files that changed since are left out."""
    looked: list[LookedAt] = []
    for path, stretches in ports.looked().items():
        long = [each for each in stretches if each[1] - each[0] + 1 >= LEAST_LINES]
        text = ports.workspace().read(path) if long else None
        if text is not None:
            lines = sorted(sorted(long, key=lambda each: each[0] - each[1])[:MOST_STRETCHES])
            looked.append(LookedAt(path=path, version=version_of(text)[:_DIGITS], lines=tuple(lines)))
    return tuple(looked[-MOST_LOOKED:])


def _caution(outcome: Outcome, *, is_held: bool) -> str:
    caution = outcome.caution if isinstance(outcome, Succeeded) else ""
    # Where the item waits, the question quotes them.
    steering = "" if is_held else remark(outcome.orders)
    return f"{caution} {steering}".strip()


def _publish(
    ports: VisitPorts, claimed: Claimed, snapshot: Snapshot, effects: Sequence[Effect], push: Push
) -> Published:
    if not effects:
        return Published()
    state = claimed.visit_lease.state
    context = PublicationContext(
        identities=state.identities,
        sub_items={item.key: item.number for item in state.sub_items or () if item.number is not None},
        pushed=state.pushed,
    )
    published = ports.tracker.publish(effects, snapshot, context, push)
    for warning in published.warnings:
        ports.say(f"WARNING: {warning}")
    return published


def _spend_of(record: ReplyRecord) -> Spend:
    usage = record.reply.usage
    return Spend(
        cost_usd=float(record.cost_usd),
        input_tokens=usage.total_input,
        output_tokens=usage.output_tokens,
        model_calls=1,
    )


def with_packs_chosen(
    claimed: Claimed, outcome: Outcome, tracker: Tracker, say: Callable[[str], None]
) -> Claimed:
    """The visit together with the files that the packs it chose show; the choice is shown to people.

    They are read now and kept: what is edited later acts on later runs, and no later visit asks for them.
    """
    if (frozen := frozen_after(claimed, outcome)) is None:
        return claimed
    if exemplars := exemplars_of(frozen):
        claimed = replace(claimed, elsewhere=tracker.read_elsewhere(exemplars))
        frozen = frozen_after(claimed, outcome) or frozen
    for line in for_people(frozen):
        say(f"context packs: {line}")
    return claimed


def needs_walls(
    tracker: ReadsPermissions, snapshot: Snapshot, config: Config, *, is_safety_critical: bool
) -> bool:
    """Whether a service must refuse to run this item's code where it cannot wall it in.

    Costs a request where it depends on an author about whom nothing is known yet.
    """
    if is_safety_critical or config.isolation.require == "always":
        return True
    return not _is_trusted(tracker, snapshot, config)


def _is_trusted(tracker: ReadsPermissions, snapshot: Snapshot, config: Config) -> bool:
    """Whether the issue's author would be obeyed: what the issue asks for becomes code that runs."""
    author = snapshot.issue.author
    if author is None or not objection(author, snapshot, config):
        return author is not None
    if author.is_bot or author.login in snapshot.permissions:
        return False
    permissions = tracker.permissions(snapshot, [author.login])
    known = snapshot.model_copy(update={"permissions": {**snapshot.permissions, **permissions}})
    return not objection(author, known, config)

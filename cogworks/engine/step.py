"""One step of one work item, S1 to S8: read, decide, claim, adopt, run, publish, record, view."""

from dataclasses import replace

from cogworks.engine.answer import AnswerPorts, answer, inputs_lease
from cogworks.engine.claim import claimed, give_back, lease_for, stopped_by, too_few_points, with_expected
from cogworks.engine.consider import (
    Considered,
    NoSuchNode,
    ReadItem,
    Wanted,
    consider,
    read_item,
    refuse_lost_ledger,
    state_of,
)
from cogworks.engine.packs import MalformedPacks
from cogworks.engine.ports import StepPorts
from cogworks.engine.record import Claimed
from cogworks.engine.refuse import Refused, post_refusal
from cogworks.engine.report import StepReport, outcome_after, report
from cogworks.engine.tasks import missing_inputs, sources_of
from cogworks.engine.visit import Ended, run_visit
from cogworks.errors import (
    ApprovalNeeded,
    BudgetReached,
    CogworksError,
    ConfigurationError,
    LostRace,
    ToBeContinued,
    TryAgainLater,
    UsageError,
)
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.snapshot import Snapshot
from cogworks.forge.surface import comment_difference, differences, problem_comment, project
from cogworks.ledger.lease import VisitLease
from cogworks.ledger.record import Change, StaleTip, as_kept, change_for, visit_files
from cogworks.nodes.contract import Failed
from cogworks.pipeline import decision as move
from cogworks.pipeline.expected import came_to
from cogworks.pipeline.limits import calls_model, shortage
from cogworks.pipeline.noticing import rest_line
from cogworks.pipeline.people import BLOCKED
from cogworks.pipeline.position import Standing, instance_name, waiting_for
from cogworks.pipeline.state import RunState, visit_key
from cogworks.pipeline.visits import Lease, VisitRecord

MAX_CLAIMS = 3
CLAIM_PAUSE_S = 2.0


def take_step(ports: StepPorts, address: IssueAddress, wanted: Wanted) -> StepReport:
    """Do the next thing for one work item, or say why there is none.

    Raises:
        CogworksError: nothing could be decided, or the node could not run; the item stays resumable.
    """
    for claim in range(MAX_CLAIMS):
        if claim:
            # Either another runner claimed, or the read lagged behind our own last write.
            ports.sleep(CLAIM_PAUSE_S)
        item = read_item(ports.tracker)
        refuse_lost_ledger(item)
        try:
            return _act(ports, _consider(ports, item, wanted), wanted)
        except StaleTip:
            continue
    return StepReport(
        outcome="backed_off",
        message=f"{address.url}: other runners moved the ledger {MAX_CLAIMS} times in a row; nothing was done.",
        retry_in_s=CLAIM_PAUSE_S,
    )


def _consider(ports: StepPorts, item: ReadItem, wanted: Wanted) -> Considered:
    try:
        return consider(item, wanted, new_run_id=ports.new_run_id)
    except NoSuchNode:
        raise
    except (ConfigurationError, UsageError) as error:
        _post_refusal(ports, item.snapshot, str(error), wanted)
        raise


def _act(ports: StepPorts, seen: Considered, wanted: Wanted) -> StepReport:
    match seen.decision:
        case move.Run() as run:
            _check(ports, seen, run, wanted)
            return _visit(ports, with_expected(ports, seen, run), run, wanted)
        case move.Answer() as due:
            return _answer(ports, seen, due)
        case move.GiveUpOn(lease=lease, reason=reason):
            return _give_up(ports, seen, lease, reason)
        case move.Finish():
            return _finish(ports, seen)
        case move.Wait(waiting_for=waits) if _is_held_before_it_began(seen):
            # There is no ledger yet, or nothing in it but this.
            problem = "\n".join(f"{wait.line}\n{wait.paste}".strip() for wait in waits)
            _post_refusal(ports, seen.snapshot, problem, wanted, considered=seen.state)
            return report(
                "waiting", "; ".join(wait.line for wait in waits), seen, seen.state, waiting_for=waits
            )
        case rest:
            # Those above deal with what people said in the commit of their own work.
            _deal_with_inputs(ports, seen, rest)
            return _rest(ports, seen, rest)


def _is_held_before_it_began(seen: Considered) -> bool:
    """Whether other issues go first, or a text gives orders to the model and nothing was posted on the issue that could say so."""
    if isinstance(seen.decision, move.Wait) and seen.decision.waiting_for[0].kind == BLOCKED:
        return True
    is_mute = seen.known is None or (not seen.known.has_begun and seen.known.status_comment is None)
    return bool(seen.state.inputs.contaminated) and is_mute


def _rest(
    ports: StepPorts, seen: Considered, why: move.Wait | move.BackOff | move.Nothing | move.Stop
) -> StepReport:
    match why:
        case move.Wait(waiting_for=waits):
            warning = _show(ports, seen, seen.standing)
            asks = "; ".join(wait.line for wait in waits)
            return report("waiting", asks, seen, seen.state, waiting_for=waits, warning=warning)
        case move.BackOff(lease=lease, stealable_in_s=wait_s):
            message = f"{lease.node} is being worked on by {lease.holder}; its lease can be taken over in {wait_s:.0f} s"
            return report("backed_off", message, seen, seen.state, retry_in_s=wait_s)
        case move.Nothing(reason=reason):
            warning = _show(ports, seen, seen.standing)
            return report("done", reason, seen, seen.state, warning=warning)
        case move.Stop(is_about_item=False, outcome=outcome, reason=reason):
            return report(outcome, reason, seen, seen.state)
        case move.Stop(outcome="usage_error" | "configuration_error" as outcome, reason=reason):
            warning = _show_instead(ports, seen.snapshot, problem_comment(reason))
            return report(outcome, reason, seen, seen.state, warning=warning)
        case move.Stop(outcome=outcome, reason=reason):
            warning = _show(ports, seen, seen.standing)
            return report(outcome, reason, seen, seen.state, warning=warning)


def _deal_with_inputs(ports: StepPorts, seen: Considered, why: move.Decision) -> None:
    """Record what people asked for; and where the item rests, what else they did, so that no sweep wonders about it."""
    rests = isinstance(why, move.Wait | move.Nothing) or (
        isinstance(why, move.Stop) and why.outcome in ("failed", "rejected")
    )
    is_due = not seen.heard.is_empty or (seen.is_news and rests)
    if not is_due or seen.snapshot.ledger is None:
        return
    state = seen.state
    key = visit_key(state, move.INPUTS, state.inputs.times)
    lease = inputs_lease(state, visit_key=key, holder=ports.holder)
    _append(ports, seen, _obeyed(seen, lease))
    _forget_ended(ports, seen)


def _obeyed(seen: Considered, lease: Lease) -> Change:
    rests_on = rest_line(seen.standing)
    return change_for(seen.state, lease, "obeyed", {}, sequence=seen.state.inputs.times, waits_for=rests_on)


def _answer(ports: StepPorts, seen: Considered, due: move.Answer) -> StepReport:
    ledger = ports.ledger(seen.snapshot)
    state = answer(_answer_ports(ports), ledger, seen, due)
    _forget_ended(ports, seen)
    warning = _show(ports, seen, replace(seen.standing, state=state))
    done = report("succeeded", "people were answered", seen, state, warning=warning)
    return done.model_copy(update={"node": move.INPUTS.node, "visit_key": due.visit_key})


def _forget_ended(ports: StepPorts, seen: Considered) -> None:
    """Nobody works on a run any more that people cancelled or restarted."""
    before = seen.known
    if before is not None and (before.run_id != seen.state.run_id or seen.state.status == "cancelled"):
        ports.forget(before.run_id)


def _visit(ports: StepPorts, seen: Considered, run: move.Run, wanted: Wanted) -> StepReport:
    claimed = _claim(ports, seen, run)
    try:
        ended = run_visit(ports.visit, claimed)
    except LostRace as error:
        return report("backed_off", str(error), seen, claimed.visit_lease.state)
    except MalformedPacks as error:
        # The visit was given back without a word of what it waits for: a runner that dies before it posts the refusal leaves it to a sweep.
        _post_refusal(ports, read_item(ports.tracker).snapshot, str(error), wanted, has_claimed=True)
        raise
    except ApprovalNeeded as error:
        return _asking(ports, seen, run, claimed, str(error))
    except ToBeContinued as error:
        done = report("succeeded", f"{instance_name(run.instance)}: {error}", seen, claimed.visit_lease.state)
        return done.model_copy(update={"node": instance_name(run.instance), "visit_key": run.visit_key})
    except BudgetReached as error:
        state = claimed.visit_lease.state
        reason = shortage(state, seen.facts, seen.pipeline, run.instance)
        if not reason:
            _show_instead(ports, seen.snapshot, problem_comment(str(error)))
            raise
        _show(ports, seen, replace(seen.standing, state=state))
        # The visit saw only what was left for it; people know the budget of the whole item.
        raise BudgetReached(reason) from error
    return _ended(ports, seen, run, ended)


def _asking(ports: StepPorts, seen: Considered, run: move.Run, claimed: Claimed, problem: str) -> StepReport:
    """The visit was given back until a person approves one of its calls."""
    visit_lease = claimed.visit_lease
    now = replace(seen.standing, state=visit_lease.state)
    warning = _show(ports, seen, now)
    waits = waiting_for(now)
    # A node beside it may go on meanwhile.
    is_more = bool(now.position.ready)
    message = f"{instance_name(run.instance)}: {problem}"
    asking = report(
        "succeeded" if is_more else "waiting",
        message,
        seen,
        visit_lease.state,
        waiting_for=waits,
        warning=warning,
    )
    spend = visit_lease.spent - visit_lease.lease.spent
    ours = {"node": instance_name(run.instance), "visit_key": run.visit_key, "spend": spend}
    return asking.model_copy(update=ours)


def _answer_ports(ports: StepPorts) -> AnswerPorts:
    return AnswerPorts(
        tracker=ports.tracker, holder=ports.holder, monotonic=ports.visit.monotonic, say=ports.say
    )


def _check(ports: StepPorts, seen: Considered, run: move.Run, wanted: Wanted) -> None:
    if calls_model(run.instance, seen.pipeline) and (reason := too_few_points(seen.snapshot)):
        raise TryAgainLater(f"{instance_name(run.instance)}: {reason}")
    try:
        ports.check(seen.config, seen.snapshot.repository)
    except ConfigurationError as error:
        _post_refusal(ports, seen.snapshot, str(error), wanted)
        raise


def _claim(ports: StepPorts, seen: Considered, run: move.Run) -> Claimed:
    state, snapshot = seen.state, seen.snapshot
    lease = lease_for(seen, run, holder=ports.holder)
    sources = sources_of(state, seen.pipeline, run.instance, ordinal=run.ordinal)
    if missing := missing_inputs(seen.pipeline, run.instance, sources):
        raise CogworksError(
            f"{instance_name(run.instance)} needs {', '.join(missing)}, which no finished node produced."
        )
    newest = max((comment.database_id for comment in snapshot.issue.comments), default=0)
    reading = state.having_read(newest).model_copy(update={"refusal": None})
    held = as_kept(reading.with_lease(lease, identity=snapshot.viewer.id or 0))
    lease = next(lease_held for lease_held in held.leases if lease_held.visit_key == run.visit_key)
    folder = held.folder(run.index, run.instance)
    change = change_for(held, lease, "claim", {}, sequence=0)
    ledger = ports.ledger(snapshot)
    asked_s = ports.visit.monotonic()
    if snapshot.ledger is None:
        root = snapshot.root_oid or ports.tracker.create_root()
        commit = ledger.create(root, change)
    else:
        packs = (state.packs_at,) if state.packs_at else ()
        echoes = [*dict.fromkeys(source.path for source in sources), *packs, folder]
        commit = ledger.append(snapshot.ledger.oid, change, echoes=echoes)
    stop = stopped_by(seen, run)
    visit_lease = VisitLease(ledger, state=held, tip=commit.oid, lease=lease, stopped_by=stop)
    try:
        begun = claimed(seen, run, visit_lease, commit.echoed, asked_s=asked_s)
        _forget_ended(ports, seen)
        ports.say(f"{instance_name(run.instance)}: started (visit {run.index}, attempt {run.attempt})")
    except BaseException:
        # Whatever it is, also an interrupt: nobody shall wait for a lease under which nothing is done.
        give_back(visit_lease, ports.say)
        raise
    return begun


def _ended(ports: StepPorts, seen: Considered, run: move.Run, ended: Ended) -> StepReport:
    now = ended.standing
    warning = _show(ports, seen, now)
    waits = waiting_for(now)
    if ended.standing.state.status == "done":
        ports.forget(ended.standing.state.run_id)
    record = ended.standing.state.visits[-1]
    done = report(
        outcome_after(now, has_failed=isinstance(ended.outcome, Failed)),
        f"{instance_name(run.instance)}: {record.full_summary}",
        seen,
        ended.standing.state,
        waiting_for=waits,
        warning=warning,
        facts=ended.standing.facts,
    )
    ours = {"node": instance_name(run.instance), "visit_key": run.visit_key, "spend": ended.spend}
    return done.model_copy(update=ours)


def _give_up(ports: StepPorts, seen: Considered, lease: Lease, reason: str) -> StepReport:
    record = VisitRecord(
        index=lease.index,
        node=lease.node,
        sub_item=lease.sub_item,
        visit_key=lease.visit_key,
        ordinal=lease.ordinal,
        attempt=lease.attempt,
        status="failed",
        summary=reason,
        spend=lease.spent_at_most,
    )
    state = seen.state.recorded(record)
    now = replace(seen.standing, state=state)
    rest = rest_line(now)
    files = visit_files(state, record, None)
    _append(ports, seen, change_for(state, lease, "failed", files, sequence=0, waits_for=rest))
    warning = _show(ports, seen, now)
    return report("failed", f"{instance_name(lease.instance)}: {reason}", seen, state, warning=warning)


def _finish(ports: StepPorts, seen: Considered) -> StepReport:
    gates = seen.standing.position.gates
    cost = came_to(seen.state, seen.pipeline)
    state = seen.state.model_copy(update={"status": "done", "gates": gates, "came_to": cost})
    last = state.visits[-1]
    closing = Lease(
        visit_key=last.visit_key,
        index=last.index,
        node=last.node,
        sub_item=last.sub_item,
        ordinal=last.ordinal,
        holder=ports.holder,
        attempt=last.attempt,
        graph_hash=state.graph_hash,
        input_digest=state.issue_digest,
    )
    _append(ports, seen, change_for(state, closing, "done", {}, sequence=0))
    ports.forget(state.run_id)
    warning = _show(ports, seen, seen.standing.noting(state))
    return report("done", "every node is done and every gate is passed", seen, state, warning=warning)


def _append(ports: StepPorts, seen: Considered, change: Change) -> None:
    if seen.snapshot.ledger is None:
        raise CogworksError("a run without a ledger cannot end; run the command again.")
    ports.ledger(seen.snapshot).append(seen.snapshot.ledger.oid, change)


def _show(ports: StepPorts, seen: Considered, now: Standing) -> str:
    if now.state.graph_hash != now.pipeline.graph_hash:
        # Another graph would draw another picture; the run's own one stays as it was last shown.
        return ""
    effects = differences(project(now, seen.config), seen.snapshot, now.state, seen.config)
    return (ports.tracker.show(effects, seen.snapshot) or "") if effects else ""


def _post_refusal(
    ports: StepPorts,
    snapshot: Snapshot,
    problem: str,
    wanted: Wanted,
    *,
    has_claimed: bool = False,
    considered: RunState | None = None,
) -> None:
    """Say on the issue what a person has to mend in the repository, which text they have to answer for, or what goes first.

    Raises:
        StaleTip: the ledger moved meanwhile, so somebody else may have begun.
    """
    state = state_of(snapshot)
    refused = Refused(snapshot, state, problem, has_claimed or considered is not None, considered)
    if state is None or state.refusal is not None or has_claimed:
        ledger = ports.ledger(snapshot)
        try:
            post_refusal(
                _answer_ports(ports), ledger, refused, take_over=wanted.take_over, new_run_id=ports.new_run_id
            )
        except StaleTip:
            raise
        except CogworksError as error:
            # What is wrong with the repository matters more; the next step tries again.
            ports.say(f"could not report this on the issue: {error}")
    _show_instead(ports, snapshot, refused.comment)


def _show_instead(ports: StepPorts, snapshot: Snapshot, comment: str) -> str:
    try:
        state = state_of(snapshot)
    except CogworksError:
        return ""
    effects = comment_difference(comment, snapshot, state) if state else ()
    return (ports.tracker.show(effects, snapshot) or "") if effects else ""

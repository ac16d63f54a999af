"""The code and tests of one sub-work-item: proposed by the model, kept only when the whole suite is no worse.

On the short way the change has to stay within its bounds; where it does not, the item moves up.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from cogworks.canonical import canonical, digest
from cogworks.codegen.asides import audit_of, guarded, wishes
from cogworks.codegen.governed import GovernedActions
from cogworks.codegen.plan_bounds import as_output, file_actions, granted_before, without_object_names
from cogworks.codegen.proving import proof_output
from cogworks.codegen.suite import unrun
from cogworks.codegen.transaction import SCOPE_VIOLATION, Kept
from cogworks.codegen.updating import brought_up_to_date, is_all_that_is_asked, succeeded, wanted_merge
from cogworks.codegen.work import CodingWork
from cogworks.cycle.context import Task
from cogworks.cycle.eventlog import segments
from cogworks.cycle.events import CycleEnd, Event, Header, Limits
from cogworks.cycle.feedback import history, reason_to_stop
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.watchdogs import RunResult
from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface
from cogworks.errors import ApprovalNeeded
from cogworks.forge.effects import PushBranch
from cogworks.ledger.record import kept
from cogworks.nodes.artifacts import MENDING
from cogworks.nodes.contract import (
    BuiltIn,
    Failed,
    NodePorts,
    NodeProcedure,
    Outcome,
    Succeeded,
    Workspace,
    left_out,
)
from cogworks.nodes.replies import (
    CodeChange,
    DecidedDispute,
    Implementation,
    JudgedTests,
    ResolvedConflicts,
    WrittenTests,
)
from cogworks.nodes.task import NodeTask
from cogworks.repair.probe.recalling import PROBE_REPLIES
from cogworks.repair.proof import caution, summarised
from cogworks.repair.replies import PATCH_REPLIES
from cogworks.repair.transact.measure import file_of
from cogworks.sight.kinds import Kind, kind_of
from cogworks.tools.approvals import Approval
from cogworks.vocabulary import CommitOid

LIMITS = Limits(
    finalists=1,
    # A question to the model and a run of the suite have limits of their own, nearer to them; these are the last resort.
    cycle_timeout_s=3_600,
    total_timeout_s=14_400,
    test_timeout_s=3_600,
    other_timeout_s=3_600,
)


def within(limits: Limits) -> NodeProcedure:
    """The node, with these limits of its run and its actions."""
    return lambda task, ports: _run(task, ports, limits)


def _run(task: NodeTask, ports: NodePorts, limits: Limits) -> Outcome:
    """Ask for a change, try it, keep it or ask again with what went wrong; the branch is pushed when it is kept.

    Where the base branch moved it is merged in first; often that is all. Else runs the coding cycle. Each attempt is a transaction on the same clean tree. A change to a protected path and a
    missing capability end the node at once: a person has to decide on them. The log of events is kept beside the replies.

    Raises:
        VisitStopped: a person wants it; the cycle was ended by a signal, and its log says why.
        ApprovalNeeded: the repository's policy wants a person for an action; the next claim goes on from the replies.
    """
    if (oid := wanted_merge(task)) is not None:
        merged = brought_up_to_date(task, ports, oid)
        if isinstance(merged, Failed):
            return merged
        if is_all_that_is_asked(task):
            return succeeded(task, ports, oid, merged)
    work = CodingWork(task, ports)
    start = work.workspace.head
    audit = audit_of(task, ports)
    actions = GovernedActions(
        guarded(work.handlers(), ports),
        policy=task.conventions.coding_policy,
        trail=audit.trail,
        tree=work.workspace.tree_name,
        approved=frozenset(task.approved_calls),
    )
    cycle: CodingCycle | None = None

    def keep(event: Event) -> None:
        if cycle is not None and isinstance(event.body, CycleEnd):
            _keep_log(task, ports, cycle)

    cycle = CodingCycle(
        _header(task, work, limits=limits, prompts={name: ports.model.digest(name) for name in work.prompts}),
        CyclePorts(
            handlers=actions.handlers(),
            signals=lambda _: wishes(ports),
            now=ports.now,
            listeners=(keep,),
            identity={"visit_key": task.visit.visit_key, "attempt": task.visit.attempt},
        ),
    )
    try:
        result = cycle.run_until_done()
    finally:
        audit.close(success=cycle.result().success)
        _keep_log(task, ports, cycle)
    # What people stopped has not failed: the visit is given back, and goes on from its replies when they let it.
    ports.check()
    if actions.waiting_for is not None:
        raise _needed(task, work, actions.waiting_for)
    if work.disputes.waits is not None:
        raise work.disputes.waits
    return _outcome(task, ports, work, _Ran(cycle, result, start))


class _Ran(NamedTuple):
    """A cycle that came to its end."""

    cycle: CodingCycle
    result: RunResult
    start: CommitOid
    """Where the working copy stood before it."""


def _outcome(task: NodeTask, ports: NodePorts, work: CodingWork, ran: _Ran) -> Outcome:
    cycle_output, mender = _cycle_output(ran.cycle, ran.result), work.mender
    if ran.result.success and work.kept is not None:
        done = _succeeded(task, work, work.kept, cycle_output, dict(left_out(ports)))
        why = beyond(task, ports, start=ran.start)
        if mender is not None:
            return mender.left(why, start=ran.start) if why else mender.kept(done)
        return moving_up(why, done.output, diff=work.workspace.diff(task.base_branch)) if why else done
    if mender is not None:
        why = work.refusal.reason if work.refusal else ran.result.error
        return mender.left(why, start=ran.start)
    if work.refusal is not None and (why := needs_more(task, work.refusal)):
        return moving_up(why, {"sub_item": work.item.key, "notes": "", "cycle": cycle_output}, diff="")
    return _failed(task, work, ran.cycle, ran.result)


def _needed(task: NodeTask, work: CodingWork, call: Approval) -> ApprovalNeeded:
    return ApprovalNeeded(
        f"{work.item.key}: the policy `{call.profile}` wants a person to approve {call.tool}, call {call.hash}",
        tool=call.tool,
        call_hash=call.hash,
        shown=canonical(call.input_redacted),
        lapsed=task.lapsed_calls.get(call.hash, ""),
    )


def _header(task: NodeTask, work: CodingWork, *, limits: Limits, prompts: dict[str, str]) -> Header:
    return Header(
        item=f"{task.item.repository}#{task.item.number}",
        sub_item=work.item.key,
        task=Task(
            goal=kept(f"{work.item.key}: {work.item.title}"),
            wants_change=work.tests is None or not work.tests.is_all,
            has_validators=True,
            writes_tests=work.tests is not None and work.tests.is_due,
        ),
        limits=limits.model_copy(update={"max_patches": task.conventions.max_retries + 1}),
        config_digest=digest(task.conventions),
        prompt_digests=prompts,
        experience=task.experience,
    )


def _keep_log(task: NodeTask, ports: NodePorts, cycle: CodingCycle) -> None:
    texts = segments(cycle.events)
    # A dead runner may have got further and left a longer log, as may one that asked about a call: an empty segment ends
    # ours before the rest of it.
    asked_before = task.approved_calls or task.lapsed_calls
    end = ("",) if task.visit.attempt > 1 or asked_before else ()
    for number, text in enumerate((*texts, *end), 1):
        ports.keep(f"events-{number}.ndjson", text)


def moved(added: Collection[str], gone: Collection[str]) -> int:
    """How many cases of a table only have another id, for one was put in before them."""
    tests, others = (Counter(test.partition("[")[0] for test in ids if "[" in test) for ids in (added, gone))
    return (tests & others).total()


def _cycle_output(cycle: CodingCycle, result: RunResult) -> dict[str, Any]:
    """What the node's output says about the cycle; nothing in it depends on the clock."""
    fields = result.model_dump(mode="json", exclude={"history", "total_ms"})
    return {**fields, "events": len(cycle.events), "events_head": cycle.events[-1].hash}


def _succeeded(
    task: NodeTask, work: CodingWork, kept: Kept, cycle: dict[str, Any], gaps: dict[str, Any]
) -> Succeeded:
    # The whole branch, not only this visit: a reviewer sees the one pull request.
    files = file_actions(work.workspace.diff(task.base_branch))
    passed = [case.id for case in kept.after.cases if case.outcome == "passed"]
    before = work.suite.baseline.cases if work.suite.baseline else ()
    # On rework the suite "before" holds our own earlier tests; to a reviewer they are new all the same.
    known = {case.id for case in before}
    added = sorted(test for test in passed if test not in known or file_of(test) in work.own)
    fails_without = work.proof.having("fail_to_pass") if work.proof else ()
    passed_before = {case.id for case in before if case.outcome == "passed"}
    # They passed as they were, and as they are now they fail without the code.
    changed = sorted(test for test in fails_without if test in passed_before and test not in added)
    untried = unrun([path for path, action in files.items() if action != "delete"], kept.after)
    shifted = moved(added, known - {case.id for case in kept.after.cases})
    others = {"changed": len(changed), "under another id": shifted}
    counted = [f"{count} {what}" for what, count in others.items() if count]
    brought = ", ".join([f"{len(added) - shifted} new", *counted])
    return Succeeded(
        output={
            "sub_item": work.item.key,
            "head": kept.head,
            "summary": kept.reply.summary,
            "notes": kept.reply.notes,
            "files": [{"path": path, "action": action} for path, action in files.items()],
            "test_files": list(kept.reply.tests),
            "tests": {
                "passed": len(passed),
                "added": added,
                "changed": changed,
                **({"moved": shifted} if shifted else {}),
                "failed_before": sum(1 for case in before if case.outcome in ("failed", "error")),
            },
            **({"unrun": list(untried)} if untried else {}),
            "attempts": work.coder.requests,
            **as_output(granted_before(task, kept.replies), work.item, files),
            **_handed_over(work, kept),
            **({"proof": proof_output(work.proof)} if work.proof else {}),
            "cycle": cycle,
            **gaps,
        },
        effects=(PushBranch(branch=task.branch, oid=kept.head),),
        summary=f"{len(files)} files, {len(passed)} tests pass ({brought}), attempt {max(1, work.coder.requests)}",
        caution=caution(summarised(work.proof)) if work.proof else "",
    )


def _handed_over(work: CodingWork, kept: Kept) -> dict[str, Any]:
    handoff = work.tests.handoff if work.tests else None
    if handoff is None:
        return {}
    # Now that the code is there, every test can be collected.
    ids = tuple(case.id for case in kept.after.cases if file_of(case.id) in handoff.paths)
    return {"test_handoff": handoff.model_copy(update={"test_ids": ids}).as_json()}


def _failed(task: NodeTask, work: CodingWork, cycle: CodingCycle, result: RunResult) -> Failed:
    cycle_output = _cycle_output(cycle, result)
    attempts = cycle.context.attempts
    lines = history(attempts)
    output: dict[str, Any] = {"sub_item": work.item.key, "attempts": list(lines), "cycle": cycle_output}
    if work.refusal is not None:
        return work.refusal.model_copy(update={"output": output})
    if work.tests is not None and work.tests.sent_back is not None:
        given_up = work.tests.stopped("\n".join(work.tests.sent_back.problems))
        return given_up.model_copy(update={"output": output})
    item = work.item
    if not attempts:
        return Failed(
            reason=f"code_generation: {item.key} ({item.title}) was not solved: {result.error}.\n"
            "Look at the item with `cogworks log --events`, then remove the trigger label and set it again.",
            category="service_failed",
            output=output,
        )
    stop = reason_to_stop(attempts, max_retries=task.conventions.max_retries)
    listed = "\n".join(f"- {line}" for line in lines)
    last = "\n".join(attempts[-1].trial.problems)
    reason = (
        f"code_generation: {item.key} ({item.title}) was not solved: {stop.reason if stop else result.error}.\n"
        f"{listed}\n\nThe last attempt:\n```\n{last}\n```\n"
        f"{MENDING}"
    )
    failed = Failed(reason=reason, category="retry_exhausted", output=output)
    if attempts[-1].trial.category != SCOPE_VIOLATION:
        return failed
    return failed.model_copy(update={"reason": f"{SCOPE_VIOLATION}: {reason}", "code": SCOPE_VIOLATION})


run = within(LIMITS)


MAX_NAMES = 5
"""So many names that changed are listed."""
_VALUES = frozenset({"attribute", "alias", "constant", "variable", "static", "const"})
"""What these kinds say beside their name is a value, no promise to who calls."""


def beyond(task: NodeTask, ports: NodePorts, *, start: CommitOid) -> str:
    """Why a change that was kept does not belong on the short way, as the end of a sentence; empty: it does, or the item
    is on no such way.

    Args:
        start: where the working copy stood before the visit.
    """
    most = task.conventions.lane_files
    if not most:
        return ""
    workspace = ports.workspace()
    files = tuple(file_actions(workspace.diff(task.base_branch)))
    if len(files) > most:
        return f"the change touches {len(files)} files, and `small` is for at most {most}"
    names = _changed_names(ports, workspace, files, start)
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"the change alters public interfaces, which `small` leaves as they are: {listed}{more}"


def moving_up(why: str, output: Mapping[str, Any], *, diff: str) -> Succeeded:
    """The end of a visit on the short way that showed that the item needs the whole one; nothing is published.

    Args:
        output: what the visit would have put out.
        diff: the change that was made, empty where there is none.
    """
    return Succeeded(
        output={**output, "moves_up": why, "change": without_object_names(diff)},
        summary=f"moves up to `default`: {why}",
        moves_up=why,
    )


def needs_more(task: NodeTask, refusal: Failed) -> str:
    """Why a refusal is no end on the short way, but shows that the item needs the whole one; empty: it is an end."""
    if not task.conventions.lane_files or not refusal.missing:
        return ""
    return f"the work needs what `small` leaves as it is: {refusal.missing.rstrip('. ')}"


def _changed_names(
    ports: NodePorts, workspace: Workspace, files: Sequence[str], start: CommitOid
) -> tuple[str, ...]:
    """Public names outside of tests that are gone or have another signature; new ones are no promise that anybody relies on."""
    now = workspace.head
    source = [path for path in files if kind_of(path) is Kind.SOURCE]
    after = _offered(ports, workspace, source)
    workspace.settle(start)
    try:
        before = _offered(ports, workspace, source)
    finally:
        workspace.settle(now)
    if before is None or after is None:
        return ()
    return tuple(name for name, signature in before.items() if after.get(name) != signature)


def _offered(ports: NodePorts, workspace: Workspace, paths: Sequence[str]) -> Mapping[str, str] | None:
    """Name -> signature; None where no service can tell for sure."""
    there = [path for path in paths if workspace.read(path) is not None]
    if not there:
        return {}
    offered = ports.service.interfaces(workspace, there)
    if isinstance(offered, NotOffered) or offered.status == "incomplete":
        return None
    return {each.name: _signature(each) for each in offered.interfaces}


def _signature(each: Interface) -> str:
    return "" if each.kind in _VALUES else each.signature


NODE = BuiltIn(
    run=run,
    replies={
        "code_generation": CodeChange,
        "decide_dispute": DecidedDispute,
        "implementation": Implementation,
        "judge_tests": JudgedTests,
        "merge_conflicts": ResolvedConflicts,
        "write_tests": WrittenTests,
        **PATCH_REPLIES,
        **PROBE_REPLIES,
    },
    is_served=True,
)

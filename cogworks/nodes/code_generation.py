"""The code and tests of one sub-work-item: proposed by the model, kept only when the whole suite is no worse."""

from typing import Any

from cogworks.coding.canonical import digest
from cogworks.coding.comparison import file_of
from cogworks.coding.context import Task
from cogworks.coding.cycle import CodingCycle, Surroundings
from cogworks.coding.eventlog import segments
from cogworks.coding.events import CycleEnd, Event, Header
from cogworks.coding.feedback import history, reason_to_stop
from cogworks.coding.limits import Limits
from cogworks.coding.outcome import RunResult
from cogworks.coding.patches import file_actions
from cogworks.github.effects import PushBranch
from cogworks.nodes.coding_work import CodingWork, Kept
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Outcome, Succeeded
from cogworks.nodes.interface_design import left_out

LIMITS = Limits(
    finalists=1,
    # A question to the model and a run of the suite have limits of their own, nearer to them; these are the last resort.
    cycle_timeout_s=3_600,
    total_timeout_s=14_400,
    test_timeout_s=3_600,
    other_timeout_s=3_600,
)


def run(task: NodeTask, shell: NodeShell) -> Outcome:
    """Ask for a change, try it, keep it or ask again with what went wrong; the branch is pushed when it is kept.

    Runs the coding cycle. Each attempt is a transaction on the same clean tree. A change to a protected path and a
    missing capability end the node at once: a person has to decide on them. The log of events is kept beside the replies.
    """
    work = CodingWork(task, shell)
    cycle: CodingCycle | None = None

    def keep(event: Event) -> None:
        if cycle is not None and isinstance(event.body, CycleEnd):
            _keep_log(task, shell, cycle)

    cycle = CodingCycle(
        _header(task, work),
        Surroundings(
            handlers=work.handlers(),
            now=shell.now,
            listeners=(keep,),
            identity={"visit_key": task.visit.visit_key, "attempt": task.visit.attempt},
        ),
    )
    try:
        result = cycle.run_until_done()
    finally:
        _keep_log(task, shell, cycle)
    if result.success and work.kept is not None:
        return _succeeded(task, work, work.kept, _told(cycle, result), dict(left_out(shell)))
    return _failed(task, work, cycle, result)


def _header(task: NodeTask, work: CodingWork) -> Header:
    return Header(
        item=f"{task.item.repository}#{task.item.number}",
        sub_item=work.item.key,
        task=Task(goal=f"{work.item.key}: {work.item.title}", wants_change=True, has_validators=True),
        limits=LIMITS.model_copy(update={"max_patches": task.conventions.max_retries + 1}),
        config_digest=digest(task.conventions),
    )


def _keep_log(task: NodeTask, shell: NodeShell, cycle: CodingCycle) -> None:
    texts = segments(cycle.events)
    # A dead runner may have got further and left a longer log: an empty segment ends ours before the rest of it.
    end = ("",) if task.visit.attempt > 1 else ()
    for number, text in enumerate((*texts, *end), 1):
        shell.keep(f"events-{number}.ndjson", text)


def _told(cycle: CodingCycle, result: RunResult) -> dict[str, Any]:
    """What the node's output says about the cycle; nothing in it depends on the clock."""
    told = result.model_dump(mode="json", exclude={"history", "total_ms"})
    return {**told, "events": len(cycle.events), "events_head": cycle.events[-1].hash}


def _succeeded(
    task: NodeTask, work: CodingWork, kept: Kept, cycle: dict[str, Any], gaps: dict[str, Any]
) -> Succeeded:
    # The whole branch, not only this visit: a reviewer sees the one pull request.
    files = file_actions(work.workspace.diff(task.base_branch))
    passed = [case.id for case in kept.after.cases if case.outcome == "passed"]
    before = work.before.cases if work.before else ()
    # On rework the suite "before" holds our own earlier tests; to a reviewer they are new all the same.
    known = {case.id for case in before}
    added = sorted(test for test in passed if test not in known or file_of(test) in work.own)
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
                "failed_before": sum(1 for case in before if case.outcome in ("failed", "error")),
            },
            "attempts": work.requests,
            "cycle": cycle,
            **gaps,
        },
        effects=(PushBranch(branch=task.branch, oid=kept.head),),
        summary=f"{len(files)} files, {len(passed)} tests pass ({len(added)} new), attempt {work.requests}",
    )


def _failed(task: NodeTask, work: CodingWork, cycle: CodingCycle, result: RunResult) -> Failed:
    told = _told(cycle, result)
    attempts = cycle.context.attempts
    lines = history(attempts)
    output: dict[str, Any] = {"sub_item": work.item.key, "attempts": list(lines), "cycle": told}
    if work.refusal is not None:
        return work.refusal.model_copy(update={"output": output})
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
    return Failed(
        reason=f"code_generation: {item.key} ({item.title}) was not solved: {stop.reason if stop else result.error}.\n"
        f"{listed}\n\nThe last attempt:\n```\n{last}\n```\n"
        "Make the sub-issue or the specification more precise, then remove the trigger label and set it again.",
        category="retry_exhausted",
        output=output,
    )

"""The code and tests of one sub-work-item: proposed by the model, kept only when the whole suite is no worse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cogworks.codebase.changes import protected_touched
from cogworks.coding.comparison import Comparison, compare, file_of
from cogworks.coding.feedback import (
    Attempt,
    Trial,
    fingerprint,
    history,
    judge_comparison,
    judge_diagnostics,
    reason_to_stop,
)
from cogworks.coding.patches import added_files, file_actions
from cogworks.domain_services.messages import TestReport
from cogworks.github.effects import PushBranch
from cogworks.nodes.artifacts import planned_item
from cogworks.nodes.asking import as_previous, purpose_of, retry_variables
from cogworks.nodes.coding_prompt import coding_variables
from cogworks.nodes.contract import Failed, NodeShell, NodeTask, Outcome, Succeeded, Workspace
from cogworks.nodes.interface_design import changes
from cogworks.nodes.replies import CodeChange, PlannedItem
from cogworks.vocabulary import CommitOid


@dataclass(frozen=True)
class Job:
    """What stays the same over all attempts of one visit."""

    task: NodeTask
    shell: NodeShell
    workspace: Workspace
    item: PlannedItem
    before: TestReport
    """The suite as it was found."""
    own: frozenset[str]
    """Files that only this sub-work-item brought in, on an earlier visit."""


def run(task: NodeTask, shell: NodeShell) -> Outcome:
    """Ask for a change, try it, keep it or ask again with what went wrong; the branch is pushed when it is kept.

    Each attempt starts from the same clean tree. A change to a protected path and a missing capability end the node
    at once: a person has to decide on them.
    """
    job = _begin(task, shell)
    if job.before.timed_out:
        return Failed(
            reason="code_generation: the test suite did not finish in time before anything was changed. "
            "Make it faster or raise the service's time limit, then remove the trigger label and set it again.",
            category="service_failed",
        )
    variables = coding_variables(task, job.workspace, job.item)
    attempts: list[Attempt] = []
    again = retry_variables()
    while True:
        number = len(attempts) + 1
        shell.say(f"{job.item.key}: writing code and tests (attempt {number})")
        reply = shell.model.ask(
            "code_generation",
            {**variables, **again, "history": history(attempts)},
            CodeChange,
            purpose=purpose_of("code_generation", task.visit, number),
        )
        if refused := _reason_for_a_person(reply):
            return refused
        trial, after = try_change(job, reply)
        if trial.is_kept and after is not None:
            return _keep(job, reply, after, attempts=number)
        job.workspace.roll_back()
        shell.say(f"{job.item.key}: attempt {number} refused: {trial.problems[0].splitlines()[0]}")
        attempts.append(Attempt(fingerprint=_fingerprint(reply), trial=trial))
        if stop := reason_to_stop(attempts, max_retries=task.conventions.max_retries):
            return _give_up(job.item, attempts, stop.reason)
        again = retry_variables(as_previous(reply), trial.problems)


def try_change(job: Job, reply: CodeChange) -> tuple[Trial, TestReport | None]:
    """Apply a change and have it judged; the tree is left with the change in it.

    Returns the verdict, and the run of the suite if it came so far.
    """
    if reason := job.workspace.apply(changes(reply.files)):
        return Trial(category="refused_change", problems=(reason,)), None
    if problems := _missing_tests(reply, job.workspace):
        return Trial(category="missing_tests", problems=tuple(problems)), None
    if job.workspace.diff("HEAD") == "":
        return Trial(
            category="no_change", problems=("the files are the same as before; nothing would change",)
        ), None
    written = sorted(file.path for file in reply.files if file.action != "delete")
    verdict = judge_diagnostics(job.shell.service.validate(job.workspace, written))
    if not verdict.is_kept:
        return verdict, None
    job.shell.say(f"{job.item.key}: running the test suite")
    after = job.shell.service.simulate(job.workspace)
    return judge_comparison(_compared(job, reply, after)), after


def _begin(task: NodeTask, shell: NodeShell) -> Job:
    workspace = shell.workspace()
    workspace.roll_back()
    item = planned_item(task)
    shell.say(f"{item.key}: running the test suite as it is")
    return Job(
        task=task,
        shell=shell,
        workspace=workspace,
        item=item,
        before=shell.service.simulate(workspace),
        own=_own_files(task, workspace, item),
    )


def _own_files(task: NodeTask, workspace: Workspace, item: PlannedItem) -> frozenset[str]:
    if task.visit.ordinal == 1:
        return frozenset()
    added = added_files(workspace.diff(task.base_branch))
    # Merged dependencies are part of the same diff; their files are not ours.
    return added & frozenset(item.files) if task.merge_branches else added


def _compared(job: Job, reply: CodeChange, after: TestReport) -> Comparison:
    return compare(job.before, after, announced=reply.tests, own=job.own)


def _missing_tests(reply: CodeChange, workspace: Workspace) -> list[str]:
    if not reply.tests:
        return ["no test file is listed in `tests`; add tests that fail without the change and pass with it"]
    return [
        f"{path} is listed in `tests` and does not exist; give the path under which the tests were written"
        for path in reply.tests
        if workspace.read(path) is None
    ]


def _reason_for_a_person(reply: CodeChange) -> Failed | None:
    if reply.missing_capability:
        return Failed(
            reason=f"code_generation needs what specification and interfaces do not allow: {reply.missing_capability} "
            "Extend the specification, merge it, then remove the trigger label and set it again.",
            category="escalated",
        )
    if touched := protected_touched(changes(reply.files)):
        return Failed(
            reason=f"code_generation proposed to change protected path(s) {', '.join(touched)}; nothing was written. "
            "If that change is wanted, make it by hand.",
            category="refused_change",
        )
    return None


def _keep(job: Job, reply: CodeChange, after: TestReport, *, attempts: int) -> Succeeded:
    head = job.workspace.commit(_commit_message(job, reply))
    # The whole branch, not only this visit: a reviewer sees the one pull request.
    files = file_actions(job.workspace.diff(job.task.base_branch))
    passed = [case.id for case in after.cases if case.outcome == "passed"]
    # On rework the suite "before" holds our own earlier tests; to a reviewer they are new all the same.
    known = {case.id for case in job.before.cases}
    added = sorted(test for test in passed if test not in known or file_of(test) in job.own)
    return Succeeded(
        output={
            "sub_item": job.item.key,
            "head": head,
            "summary": reply.summary,
            "notes": reply.notes,
            "files": [{"path": path, "action": action} for path, action in files.items()],
            "test_files": list(reply.tests),
            "tests": {
                "passed": len(passed),
                "added": added,
                "failed_before": sum(1 for case in job.before.cases if case.outcome in ("failed", "error")),
            },
            "attempts": attempts,
        },
        effects=(PushBranch(branch=job.task.branch, oid=CommitOid(head)),),
        summary=f"{len(files)} files, {len(passed)} tests pass ({len(added)} new), attempt {attempts}",
    )


def _commit_message(job: Job, reply: CodeChange) -> str:
    body = [
        f"Sub-work-item {job.item.key} of #{job.task.item.number}: {job.item.title}",
        reply.notes,
        f"Cogworks-Visit: {job.task.visit.visit_key}",
    ]
    return "\n\n".join([reply.summary, *(part.strip() for part in body if part.strip())]) + "\n"


def _fingerprint(reply: CodeChange) -> str:
    files = [(file.path, file.action, file.content) for file in reply.files]
    return fingerprint([*files, *((path, "test", "") for path in reply.tests)])


def _give_up(item: PlannedItem, attempts: Sequence[Attempt], reason: str) -> Failed:
    lines = history(attempts)
    output: dict[str, Any] = {"sub_item": item.key, "attempts": list(lines)}
    listed = "\n".join(f"- {line}" for line in lines)
    last = "\n".join(attempts[-1].trial.problems)
    return Failed(
        reason=f"code_generation: {item.key} ({item.title}) was not solved: {reason}.\n{listed}\n\n"
        f"The last attempt:\n```\n{last}\n```\n"
        "Make the sub-issue or the specification more precise, then remove the trigger label and set it again.",
        category="retry_exhausted",
        output=output,
    )

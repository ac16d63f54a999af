"""Commit statuses and check runs, and what they add up to."""

from datetime import datetime
from typing import Any, Literal

from cogworks.hub.actions.access import Actor, require
from cogworks.hub.check_records import CheckRun, JobLog, Status
from cogworks.hub.node_ids import Role
from cogworks.hub.records import Repository
from cogworks.hub.refusals import Forbidden, NotFound, Unprocessable, invalid
from cogworks.hub.world import World

CONCLUSIONS = frozenset(
    {
        "action_required",
        "cancelled",
        "failure",
        "neutral",
        "success",
        "skipped",
        "stale",
        "timed_out",
        "startup_failure",
    }
)
_PASSED = frozenset({"success", "neutral", "skipped"})
MAX_ANNOTATIONS = 50
"""With one request."""
StatusState = Literal["error", "failure", "pending", "success"]
RollupState = Literal["SUCCESS", "FAILURE", "ERROR", "PENDING"]


def create_status(
    world: World,
    actor: Actor,
    repository: Repository,
    *,
    oid: str,
    state: StatusState,
    context: str = "default",
    description: str | None = None,
    target_url: str | None = None,
) -> Status:
    """A new status; the newest of each context counts. Raises `Unprocessable` for an unknown commit."""
    with world.changing():
        user = require(world, actor, repository, Role.WRITE, "statuses")
        if world.repository_git(repository).commit(oid) is None:
            raise Unprocessable(f"No commit found for SHA: {oid}")
        if state not in ("error", "failure", "pending", "success"):
            raise invalid("Status", "state", "custom", "state is not included in the list")
        return world.store.put(
            Status(
                id=world.store.next_id(),
                repository_id=repository.id,
                oid=oid,
                context=context,
                state=state,
                description=description,
                target_url=target_url,
                creator_id=user.id,
                created_at=world.clock.now(),
            )
        )


def create_check_run(
    world: World, actor: Actor, repository: Repository, *, oid: str, name: str, fields: dict[str, Any]
) -> CheckRun:
    """A new check run; only apps may. `fields` are those of `CheckRun` that the caller sets.

    Raises `Forbidden` for a person, `Unprocessable` for an unknown commit or conclusion.
    """
    with world.changing():
        user = require(world, actor, repository, Role.WRITE, "checks")
        if user.kind != "Bot":
            raise Forbidden("You must authenticate via a GitHub App.")
        if world.repository_git(repository).commit(oid) is None:
            raise Unprocessable(f"No commit found for SHA: {oid}")
        now = world.clock.now()
        run = CheckRun(
            id=world.store.next_id(),
            repository_id=repository.id,
            oid=oid,
            name=name,
            creator_id=user.id,
            started_at=now,
        )
        return world.store.put(_changed(run, fields, now))


def update_check_run(
    world: World, actor: Actor, repository: Repository, run: CheckRun, fields: dict[str, Any]
) -> CheckRun:
    """Change what `fields` name. Raises `Forbidden` for anyone but the app that made the run."""
    with world.changing():
        user = require(world, actor, repository, Role.WRITE, "checks")
        run = find_check_run(world, repository, run.id)
        if user.id != run.creator_id:
            raise Forbidden("Invalid app_id: check runs are changed by the app that made them.")
        return world.store.put(_changed(run, fields, world.clock.now()))


def keep_job_log(world: World, run: CheckRun, text: str) -> JobLog:
    """Keep what the job behind a check run wrote; no client of GitHub can do that."""
    with world.changing():
        return world.store.put(JobLog(id=run.id, text=text))


def job_log(world: World, repository: Repository, job_id: int) -> JobLog:
    """What a job wrote. Raises `NotFound`, as for a check run that no job is behind."""
    run = find_check_run(world, repository, job_id)
    log = world.store.get(JobLog, run.id)
    if log is None:
        raise NotFound
    return log


def _changed(run: CheckRun, fields: dict[str, Any], now: datetime) -> CheckRun:
    if len(fields.get("annotations", ())) > MAX_ANNOTATIONS:
        raise Unprocessable(f"Only {MAX_ANNOTATIONS} annotations are taken with one request.")
    conclusion = fields.get("conclusion", run.conclusion)
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise invalid("CheckRun", "conclusion")
    changes = dict(fields)
    # GitHub adds to what there is, fifty with each request.
    changes["annotations"] = (*run.annotations, *fields.get("annotations", ()))
    if conclusion is not None:  # a conclusion completes the run, whatever status was sent
        changes["status"] = "completed"
        changes.setdefault("completed_at", run.completed_at or now)
    elif changes.get("status") == "completed":
        raise invalid("CheckRun", "conclusion", "missing_field")
    return CheckRun.model_validate({**run.model_dump(), **changes})


def find_check_run(world: World, repository: Repository, run_id: int) -> CheckRun:
    """The check run with a database id. Raises `NotFound`."""
    run = world.store.get(CheckRun, run_id)
    if run is None or run.repository_id != repository.id:
        raise NotFound
    return run


def check_runs(world: World, repository_id: int, oid: str, *, only_latest: bool = True) -> list[CheckRun]:
    """The check runs of a commit, oldest first; by default only the newest of each name and app."""
    runs = world.store.children(CheckRun, repository_id, tag=oid)
    if not only_latest:
        return runs
    newest = {(run.creator_id, run.name): run.id for run in runs}
    return [run for run in runs if run.id in newest.values()]


def statuses(world: World, repository_id: int, oid: str, *, only_latest: bool = True) -> list[Status]:
    """The statuses of a commit, oldest first; by default only the newest of each context."""
    records = world.store.children(Status, repository_id, tag=oid)
    if not only_latest:
        return records
    newest = {status.context: status.id for status in records}
    return [status for status in records if status.id in newest.values()]


def rollup_state(world: World, repository_id: int, oid: str) -> RollupState | None:
    """What the newest statuses and check runs of a commit add up to; None when there are none."""
    words = [_run_word(run) for run in check_runs(world, repository_id, oid)]
    words += [status.state for status in statuses(world, repository_id, oid)]
    if not words:
        return None
    order: tuple[tuple[str, RollupState], ...] = (
        ("failure", "FAILURE"),
        ("error", "ERROR"),
        ("pending", "PENDING"),
    )
    return next((state for word, state in order if word in words), "SUCCESS")


def _run_word(run: CheckRun) -> str:
    if run.status != "completed":
        return "pending"
    return "success" if run.conclusion in _PASSED else "failure"

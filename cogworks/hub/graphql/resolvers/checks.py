"""What is answered about check runs and statuses of a commit, and what they add up to."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from cogworks.hub.actions.checks import check_runs, rollup_state, statuses
from cogworks.hub.check_records import Annotation, CheckRun, Status
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of
from cogworks.hub.graphql.resolvers.paths import repository_path
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Issue
from cogworks.hub.refusals import Forbidden

TABLE = Table()

Context = CheckRun | Status


@dataclass(frozen=True, slots=True)
class Rollup:
    """All checks of a commit that has some."""

    type_name = "StatusCheckRollup"
    commit: GitCommit
    state: str


@dataclass(frozen=True, slots=True)
class CombinedStatus:
    """The statuses of a commit that has some, without its check runs."""

    type_name = "Status"
    commit: GitCommit
    contexts: tuple[Status, ...]


def rollup_of(commit: GitCommit, request: Request) -> Rollup | None:
    """Null where there is no check. A token that may not read checks or statuses is refused, not told "none"."""
    for permission in ("checks", "statuses"):
        if not request.actor.holds(permission, "read"):
            raise Forbidden("Resource not accessible by integration")
    state = rollup_state(request.world, commit.repository.id, commit.oid)
    return None if state is None else Rollup(commit, state)


def _rollup_of_pull(pull: Issue, request: Request) -> Rollup | None:
    oid = None if pull.pull is None else pull.pull.head_oid
    head = commit_of(request.repository(pull.repository_id), request, oid)
    return None if head is None else rollup_of(head, request)


def status_of(commit: GitCommit, request: Request) -> CombinedStatus | None:
    records = statuses(request.world, commit.repository.id, commit.oid)
    return CombinedStatus(commit, tuple(records)) if records else None


TABLE.plain("Commit", GitCommit, {"statusCheckRollup": rollup_of, "status": status_of})
TABLE.plain("PullRequest", Issue, {"statusCheckRollup": _rollup_of_pull})
TABLE.plain(
    "StatusCheckRollup",
    Rollup,
    {
        "id": lambda rollup, _: node_id(rollup.type_name, rollup.commit.repository.id, rollup.commit.oid),
        "commit": lambda rollup, _: rollup.commit,
        "state": lambda rollup, _: rollup.state,
    },
)


@TABLE.field("StatusCheckRollup", "contexts")
def contexts(rollup: Rollup, request: Request, **paging: Any) -> Connection[Context]:
    """Check runs first, then statuses, the newest of each name."""
    where = (rollup.commit.repository.id, rollup.commit.oid)
    items: list[Context] = [*check_runs(request.world, *where), *statuses(request.world, *where)]
    return connect(items, paging, key=lambda context: context.id)


def _run_state(run: CheckRun) -> str:
    return (run.conclusion or run.status).upper()


def _counts(words: list[str]) -> list[dict[str, object]]:
    return [{"state": state, "count": count} for state, count in sorted(Counter(words).items())]


def _runs(page: Connection[Context]) -> list[CheckRun]:
    return [context for context in page.items if isinstance(context, CheckRun)]


def _statuses(page: Connection[Context]) -> list[Status]:
    return [context for context in page.items if isinstance(context, Status)]


TABLE.plain(
    "StatusCheckRollupContextConnection",
    Connection[Context],
    {
        "checkRunCount": lambda page, _: len(_runs(page)),
        "checkRunCountsByState": lambda page, _: _counts([_run_state(run) for run in _runs(page)]),
        "statusContextCount": lambda page, _: len(_statuses(page)),
        "statusContextCountsByState": lambda page, _: _counts([s.state.upper() for s in _statuses(page)]),
    },
)


def _worst(combined: CombinedStatus, _request: Request) -> str:
    words = {status.state for status in combined.contexts}
    return next((word.upper() for word in ("failure", "error", "pending") if word in words), "SUCCESS")


TABLE.plain(
    "Status",
    CombinedStatus,
    {
        "id": lambda status, _: node_id(status.type_name, status.commit.repository.id, status.commit.oid),
        "commit": lambda status, _: status.commit,
        "contexts": lambda status, _: list(status.contexts),
        "state": _worst,
    },
)


@TABLE.field("Status", "context")
def context(combined: CombinedStatus, _request: Request, name: str) -> Status | None:
    return next((status for status in combined.contexts if status.context == name), None)


@TABLE.field("Status", "combinedContexts")
def combined_contexts(combined: CombinedStatus, request: Request, **paging: Any) -> Connection[Context]:
    where = (combined.commit.repository.id, combined.commit.oid)
    items: list[Context] = [*check_runs(request.world, *where), *combined.contexts]
    return connect(items, paging, key=lambda each: each.id)


def _run_path(run: CheckRun, request: Request) -> str:
    return f"{repository_path(request.repository(run.repository_id))}/runs/{run.id}"


TABLE.plain(
    "CheckRun",
    CheckRun,
    {
        "id": lambda run, _: run.node_id,
        "databaseId": lambda run, _: run.id,
        "name": lambda run, _: run.name,
        "status": lambda run, _: run.status.upper(),
        "conclusion": lambda run, _: None if run.conclusion is None else run.conclusion.upper(),
        "externalId": lambda run, _: run.external_id,
        "detailsUrl": lambda run, _: run.details_url,
        "title": lambda run, _: run.title,
        "summary": lambda run, _: run.summary,
        "text": lambda run, _: run.text,
        "startedAt": lambda run, _: run.started_at,
        "completedAt": lambda run, _: run.completed_at,
        "repository": lambda run, request: request.repository(run.repository_id),
        "resourcePath": _run_path,
        "url": lambda run, request: request.url(_run_path(run, request)),
        "permalink": lambda run, request: request.url(_run_path(run, request)),
    },
)
TABLE.plain(
    "StatusContext",
    Status,
    {
        "id": lambda status, _: status.node_id,
        "context": lambda status, _: status.context,
        "state": lambda status, _: status.state.upper(),
        "description": lambda status, _: status.description,
        "targetUrl": lambda status, _: status.target_url,
        "createdAt": lambda status, _: status.created_at,
        "creator": lambda status, request: request.user(status.creator_id),
        "commit": lambda status, request: commit_of(
            request.repository(status.repository_id), request, status.oid
        ),
    },
)


@TABLE.field("StatusContext", "avatarUrl")
def avatar_url(status: Status, request: Request, size: int | None = None) -> str:
    return request.avatar(status.creator_id, size)


@TABLE.field("CheckRun StatusContext", "isRequired")
def is_required(
    _context: Context,
    _request: Request,
    pull_request_id: str | None = None,
    pull_request_number: int | None = None,
) -> bool:
    """The hub has no branch rules, so nothing is required."""
    del pull_request_id, pull_request_number
    return False


@dataclass(frozen=True, slots=True)
class RunAnnotation:
    """An annotation with the run that made it."""

    type_name = "CheckAnnotation"
    run: CheckRun
    place: int
    annotation: Annotation


@TABLE.field("CheckRun", "annotations")
def annotations(run: CheckRun, _request: Request, **paging: Any) -> Connection[RunAnnotation]:
    items = [RunAnnotation(run, place, annotation) for place, annotation in enumerate(run.annotations)]
    return connect(items, paging, key=lambda each: each.place)


def _blob_url(each: RunAnnotation, request: Request) -> str:
    path = repository_path(request.repository(each.run.repository_id))
    return request.url(f"{path}/blob/{each.run.oid}/{each.annotation.path}")


def _span(annotation: Annotation) -> dict[str, object]:
    return {
        "start": {"line": annotation.start_line, "column": annotation.start_column},
        "end": {"line": annotation.end_line, "column": annotation.end_column},
    }


TABLE.plain(
    "CheckAnnotation",
    RunAnnotation,
    {
        "annotationLevel": lambda each, _: each.annotation.level.upper(),
        "blobUrl": _blob_url,
        "databaseId": lambda each, _: each.run.id,
        "location": lambda each, _: _span(each.annotation),
        "message": lambda each, _: each.annotation.message,
        "path": lambda each, _: each.annotation.path,
        "rawDetails": lambda each, _: each.annotation.raw_details,
        "title": lambda each, _: each.annotation.title,
    },
)

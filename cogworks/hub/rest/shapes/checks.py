"""Statuses, check runs and suites, as REST writes them."""

from cogworks.hub.actions.access import repository_by_id
from cogworks.hub.actions.checks import check_runs, rollup_state, statuses
from cogworks.hub.check_records import Annotation, CheckRun, Status
from cogworks.hub.clock import iso
from cogworks.hub.gitobjects import Commit
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Issue, Repository
from cogworks.hub.rest.shapes.issues import moment
from cogworks.hub.rest.shapes.people import Json, integration, simple_user
from cogworks.hub.rest.shapes.pulls import pull_minimal
from cogworks.hub.rest.shapes.repositories import repository as repository_shape
from cogworks.hub.rest.shapes.repositories import repository_page, repository_url
from cogworks.hub.world import World


def status(world: World, record: Status) -> Json:
    user = simple_user(world, world.user(record.creator_id))
    return {**_status(world, record), "creator": user}


def _status(world: World, record: Status) -> Json:
    repository = repository_by_id(world, record.repository_id)
    return {
        "url": f"{repository_url(world, repository)}/statuses/{record.oid}",
        "avatar_url": f"{world.base_url}/avatars/u/{record.creator_id}",
        "id": record.id,
        "node_id": record.node_id,
        "state": record.state,
        "description": record.description,
        "target_url": record.target_url,
        "context": record.context,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.created_at),
    }


def combined_status(world: World, repository: Repository, oid: str) -> Json:
    """The newest status of each context and what they add up to; pending when there are none."""
    records = statuses(world, repository.id, oid)
    words = {record.state for record in records}
    if not records or "pending" in words:
        state = "pending"
    else:
        state = "failure" if words & {"failure", "error"} else "success"
    root = repository_url(world, repository)
    return {
        "state": state,
        "statuses": [_status(world, record) for record in records],
        "sha": oid,
        "total_count": len(records),
        "repository": repository_shape(world, repository),
        "commit_url": f"{root}/commits/{oid}",
        "url": f"{root}/commits/{oid}/status",
    }


def suite_id(world: World, run: CheckRun) -> int:
    """A suite gathers the runs of one app on one commit; it is named by the first of them."""
    return min(
        each.id
        for each in check_runs(world, run.repository_id, run.oid, only_latest=False)
        if each.creator_id == run.creator_id
    )


def check_run(world: World, record: CheckRun) -> Json:
    repository = repository_by_id(world, record.repository_id)
    url = f"{repository_url(world, repository)}/check-runs/{record.id}"
    page = f"{repository_page(world, repository)}/runs/{record.id}"
    return {
        "id": record.id,
        "name": record.name,
        "node_id": record.node_id,
        "head_sha": record.oid,
        "external_id": record.external_id or "",
        "url": url,
        "html_url": page,
        "details_url": record.details_url or page,
        "status": record.status,
        "conclusion": record.conclusion,
        "started_at": iso(record.started_at),
        "completed_at": moment(record.completed_at),
        "output": {
            "title": record.title,
            "summary": record.summary,
            "text": record.text,
            "annotations_count": len(record.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": suite_id(world, record)},
        "app": integration(world, world.user(record.creator_id)),
        "pull_requests": _pulls_at(world, record),
    }


def annotation(world: World, record: CheckRun, each: Annotation) -> Json:
    repository = repository_by_id(world, record.repository_id)
    return {
        "path": each.path,
        "blob_href": f"{repository_url(world, repository)}/git/blobs/{record.oid}:{each.path}",
        "start_line": each.start_line,
        "end_line": each.end_line,
        "start_column": each.start_column,
        "end_column": each.end_column,
        "annotation_level": each.level,
        "title": each.title,
        "message": each.message,
        "raw_details": each.raw_details,
    }


def _pulls_at(world: World, record: CheckRun) -> list[Json]:
    pulls = world.store.children(Issue, record.repository_id, tag="pull")
    return [
        pull_minimal(world, issue)
        for issue in pulls
        if issue.is_open and issue.pull is not None and issue.pull.head_oid == record.oid
    ]


def check_suite(world: World, repository: Repository, commit: Commit, runs: list[CheckRun]) -> Json:
    """The suite of one app's runs on a commit."""
    first = runs[0]
    done = all(run.status == "completed" for run in runs)
    state = rollup_state(world, repository.id, commit.oid)
    url = f"{repository_url(world, repository)}/check-suites/{first.id}"
    return {
        "id": first.id,
        "node_id": node_id("CheckSuite", first.id),
        "head_branch": None,
        "head_sha": commit.oid,
        "status": "completed" if done else "in_progress",
        "conclusion": ("success" if state == "SUCCESS" else "failure") if done else None,
        "url": url,
        "before": commit.parents[0] if commit.parents else None,
        "after": commit.oid,
        "pull_requests": _pulls_at(world, first),
        "app": integration(world, world.user(first.creator_id)),
        "repository": repository_shape(world, repository),
        "created_at": iso(first.started_at),
        "updated_at": iso(max(run.completed_at or run.started_at for run in runs)),
        "head_commit": {
            "id": commit.oid,
            "tree_id": commit.tree,
            "message": commit.message,
            "timestamp": iso(commit.committer.date),
            "author": {"name": commit.author.name, "email": commit.author.email},
            "committer": {"name": commit.committer.name, "email": commit.committer.email},
        },
        "latest_check_runs_count": len(runs),
        "check_runs_url": f"{url}/check-runs",
    }

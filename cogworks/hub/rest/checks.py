"""Statuses and check runs over REST."""

from datetime import datetime
from typing import Any

from cogworks.hub.actions.checks import (
    check_runs,
    create_check_run,
    create_status,
    find_check_run,
    job_log,
    statuses,
    update_check_run,
)
from cogworks.hub.check_records import Annotation, CheckRun
from cogworks.hub.job_logs import signed_address
from cogworks.hub.refusals import Unprocessable
from cogworks.hub.rest.exchange import Answer, Call, Fields, Route, created
from cogworks.hub.rest.gitdata import resolved
from cogworks.hub.rest.shapes.checks import annotation, check_run, check_suite, combined_status, status

_STATES = ("error", "failure", "pending", "success")
_LEVELS = ("notice", "warning", "failure")
_STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")


def get_combined(call: Call) -> Answer:
    return Answer(combined_status(call.world, call.repository(), resolved(call, call.path["ref"]).oid))


def list_statuses(call: Call) -> Answer:
    oid = resolved(call, call.path["ref"]).oid
    records = statuses(call.world, call.repository().id, oid, only_latest=False)
    return call.page(records[::-1], lambda each: status(call.world, each))


def post_status(call: Call) -> Answer:
    fields = call.fields
    word = fields.choice("state", _STATES) or fields.required("state")
    record = create_status(
        call.world,
        call.actor,
        call.repository(),
        oid=call.path["sha"],
        state="success"
        if word == "success"
        else "failure"
        if word == "failure"
        else "error"
        if word == "error"
        else "pending",
        context=fields.text("context") or "default",
        description=fields.text("description"),
        target_url=fields.text("target_url"),
    )
    return created(status(call.world, record))


def list_check_runs(call: Call) -> Answer:
    oid = resolved(call, call.path["ref"]).oid
    only_latest = call.query.get("filter", "latest") != "all"
    runs = check_runs(call.world, call.repository().id, oid, only_latest=only_latest)
    name, state = call.query.get("check_name"), call.query.get("status")
    shown = [run for run in runs if name in (None, run.name) and state in (None, run.status)]
    return call.page(shown, lambda run: check_run(call.world, run), "check_runs")


def list_check_suites(call: Call) -> Answer:
    repository, commit = call.repository(), resolved(call, call.path["ref"])
    by_app: dict[int, list[CheckRun]] = {}
    for run in check_runs(call.world, repository.id, commit.oid):
        by_app.setdefault(run.creator_id, []).append(run)
    suites = list(by_app.values())
    return call.page(suites, lambda runs: check_suite(call.world, repository, commit, runs), "check_suites")


def post_check_run(call: Call) -> Answer:
    fields = call.fields
    run = create_check_run(
        call.world,
        call.actor,
        call.repository(),
        oid=fields.required("head_sha"),
        name=fields.required("name"),
        fields=_run_fields(fields),
    )
    return created(check_run(call.world, run))


def get_check_run(call: Call) -> Answer:
    return Answer(
        check_run(call.world, find_check_run(call.world, call.repository(), call.path_number("check_run_id")))
    )


def patch_check_run(call: Call) -> Answer:
    repository = call.repository()
    run = find_check_run(call.world, repository, call.path_number("check_run_id"))
    changed = update_check_run(call.world, call.actor, repository, run, _run_fields(call.fields))
    return Answer(check_run(call.world, changed))


def list_annotations(call: Call) -> Answer:
    run = find_check_run(call.world, call.repository(), call.path_number("check_run_id"))
    return call.page(run.annotations, lambda each: annotation(call.world, run, each))


def get_job_log(call: Call) -> Answer:
    """Where the log is, for a minute, for everybody who has the address."""
    log = job_log(call.world, call.repository(), call.path_number("job_id"))
    return Answer(status=302, headers={"location": signed_address(call.world, log)})


def _run_fields(fields: Fields) -> dict[str, Any]:
    """What was sent, under the names of the record."""
    values: dict[str, Any] = {
        name: fields.text(name)
        for name in ("name", "conclusion", "external_id", "details_url")
        if name in fields
    }
    if "status" in fields:
        values["status"] = fields.choice("status", _STATUSES)
    for name in ("started_at", "completed_at"):
        if name in fields:
            values[name] = _moment(fields.required(name))
    output = fields.get("output")
    if isinstance(output, dict):
        values |= {name: Fields(output).text(name) for name in ("title", "summary", "text") if name in output}
        values["annotations"] = tuple(_annotation(each) for each in Fields(output).objects("annotations"))
    return values


def _annotation(fields: Fields) -> Annotation:
    start = fields.number("start_line")
    if start is None:
        raise Unprocessable('Invalid request.\n\n"start_line" wasn\'t supplied.')
    fields.required("annotation_level")
    return Annotation.model_validate(
        {
            "path": fields.required("path"),
            "start_line": start,
            "end_line": fields.number("end_line") or start,
            "start_column": fields.number("start_column"),
            "end_column": fields.number("end_column"),
            "level": fields.choice("annotation_level", _LEVELS),
            "message": fields.required("message"),
            "title": fields.text("title"),
            "raw_details": fields.text("raw_details"),
        }
    )


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unprocessable(f"Invalid request.\n\n{text} is not a valid ISO 8601 date.") from error


_ROOT = "/repos/{owner}/{repo}"
ROUTES = (
    Route("GET", f"{_ROOT}/commits/{{ref}}/status", get_combined),
    Route("GET", f"{_ROOT}/commits/{{ref}}/statuses", list_statuses),
    Route("POST", f"{_ROOT}/statuses/{{sha}}", post_status),
    Route("GET", f"{_ROOT}/commits/{{ref}}/check-runs", list_check_runs),
    Route("GET", f"{_ROOT}/commits/{{ref}}/check-suites", list_check_suites),
    Route("POST", f"{_ROOT}/check-runs", post_check_run),
    Route("GET", f"{_ROOT}/check-runs/{{check_run_id}}", get_check_run),
    Route("PATCH", f"{_ROOT}/check-runs/{{check_run_id}}", patch_check_run),
    Route("GET", f"{_ROOT}/check-runs/{{check_run_id}}/annotations", list_annotations),
    Route("GET", f"{_ROOT}/actions/jobs/{{job_id}}/logs", get_job_log),
)

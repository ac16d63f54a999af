"""`cogworks action`: what `action.yml` runs on GitHub Actions; people call `process` and `poll` instead."""

import json
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.action_outputs import as_file, ignored_summary, step_outputs, summary
from cogworks.cli.child_step import ChildSteps
from cogworks.errors import UsageError
from cogworks.forge.addresses import parse_issue_url, parse_repository
from cogworks.github.meter import Requests
from cogworks.leaving import in_log_of_actions
from cogworks.stopping import noted_signals
from cogworks.unfit import writing

if TYPE_CHECKING:
    from cogworks.forge.events import About, Ignored
    from cogworks.settings.action import ActionEnvironment

_VIEWER = "query Viewer { viewer { login databaseId } }"


@click.command("action", hidden=True)
def action() -> int:
    """Do one step for the event of a workflow run, or list the jobs of a sweep. Reads the environment of Actions.

    \b
    Example (in a workflow):
      - uses: OWNER/cogworks@COMMIT
        with: { llm-api-key: "${{ secrets.ANTHROPIC_API_KEY }}" }
    """
    from cogworks.forge.events import Ignored
    from cogworks.settings.action import read_action_environment

    given = read_action_environment()
    if given.mode == "matrix":
        return _list_jobs(given)
    if given.mode != "step":
        raise UsageError(f"input `mode` is {given.mode!r}; wanted is step or matrix.")
    wanted = _wanted(given)
    if isinstance(wanted, Ignored):
        click.echo(f"ignored: {in_log_of_actions(wanted.reason)}", err=True)
        _hand_on(given, step_outputs(None, {}), ignored_summary(wanted.reason))
        return 0
    report = _step(wanted.issue_url, given.node)
    number = parse_issue_url(wanted.issue_url).number
    _hand_on(given, step_outputs(number, report), summary(wanted.issue_url, report))
    code: int = report["exit_code"]
    return code


def _wanted(given: "ActionEnvironment") -> "About | Ignored":
    from cogworks.forge.events import About, Ignored, about, actor_id

    if given.issue_url:
        return About(issue_url=parse_issue_url(given.issue_url).url)
    payload = _payload(given)
    found = about(given.event, payload, trigger=given.trigger)
    if isinstance(found, About) and _is_ours(found, actor_id(payload)):
        return Ignored(reason="the event was caused by the account cogworks works under")
    return found


def _payload(given: "ActionEnvironment") -> Mapping[str, Any]:
    try:
        found = json.loads(Path(given.event_path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"`GITHUB_EVENT_PATH` {given.event_path!r} is not readable JSON ({error}). Run this in a workflow, or give the "
            "input `issue-url`."
        ) from None
    return found if isinstance(found, dict) else {}


def _is_ours(found: "About", actor: int | None) -> bool:
    from cogworks.settings.config import read_environment
    from cogworks.wiring.step import open_examination

    if actor is None:
        return False
    address = parse_issue_url(found.issue_url)
    opened = open_examination(read_environment(), address.server_url, address.repository, meter=Requests())
    with opened as (client, _, _):
        answer = client.query(_VIEWER, {})
    # In doubt it is somebody else's: a step too many costs one request.
    return (answer.data.get("viewer") or {}).get("databaseId") == actor


def _step(issue_url: str, node: str) -> dict[str, Any]:
    from cogworks.settings.config import child_environment

    # A cancelled job is told by SIGINT, then SIGTERM: the step gives its lease back.
    with noted_signals() as stop:
        steps = ChildSteps(
            child_environment(), lambda line: click.echo(in_log_of_actions(line), err=True), stop
        )
        report = steps.run(issue_url, ["--node", node] if node else [])
    click.echo(in_log_of_actions(f"{report['outcome']}: {report['message']}"), err=True)
    return report


def _list_jobs(given: "ActionEnvironment") -> int:
    from cogworks.settings.config import child_environment

    where = parse_repository(given.repository, server_url=given.server_url).url
    command = [sys.executable, "-P", "-m", "cogworks", "poll", where, "--matrix"]
    command += ["--max", str(given.max_jobs)]
    done = subprocess.run(command, env=child_environment(), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    jobs = len(json.loads(done.stdout)["include"])
    _hand_on(given, {"matrix": done.stdout.strip(), "jobs": str(jobs)}, f"### cogworks: {jobs} jobs\n")
    return 0


def _hand_on(given: "ActionEnvironment", outputs: Mapping[str, str], told: str) -> None:
    delimiter = f"cogworks_{secrets.token_hex(16)}"
    for path, text in (
        (given.output_path, as_file(outputs, delimiter=delimiter)),
        (given.summary_path, told),
    ):
        if path:
            with writing(Path(path)), Path(path).open("a", encoding="utf-8") as file:
                file.write(text)

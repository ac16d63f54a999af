"""`cogworks action`: what `action.yml` runs on GitHub Actions; people call `process` and `poll` instead."""

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.child_step import ChildSteps
from cogworks.errors import CogworksError, UsageError
from cogworks.forge.addresses import parse_issue_url, parse_repository
from cogworks.github.meter import Requests
from cogworks.leaving import in_log_of_actions, on_terminal
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

    inputs = read_action_environment()
    if inputs.mode == "matrix":
        return _list_jobs(inputs)
    if inputs.mode != "step":
        raise UsageError(f"input `mode` is {inputs.mode!r}. Set it to step or matrix.")
    target = _target(inputs)
    if isinstance(target, Ignored):
        click.echo(f"ignored: {in_log_of_actions(target.reason)}", err=True)
        _hand_on(inputs, step_outputs(None, {}), ignored_summary(target.reason))
        return 0
    report = _step(target.issue_url, inputs.node)
    number = parse_issue_url(target.issue_url).number
    _hand_on(inputs, step_outputs(number, report), summary(target.issue_url, report))
    code: int = report["exit_code"]
    return code


def _target(inputs: "ActionEnvironment") -> "About | Ignored":
    from cogworks.forge.events import About, Ignored, about, actor_id

    if inputs.issue_url:
        return About(issue_url=parse_issue_url(inputs.issue_url).url)
    payload = _payload(inputs)
    event = about(inputs.event, payload, trigger=inputs.trigger)
    if isinstance(event, About) and _is_ours(event, actor_id(payload)):
        return Ignored(reason="the event was caused by the account cogworks works under")
    return event


def _payload(inputs: "ActionEnvironment") -> Mapping[str, Any]:
    try:
        payload = json.loads(Path(inputs.event_path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"`GITHUB_EVENT_PATH` {inputs.event_path!r} is not readable JSON ({error}). Run this in a workflow, or give the "
            "input `issue-url`."
        ) from None
    return payload if isinstance(payload, dict) else {}


def _is_ours(event: "About", actor: int | None) -> bool:
    from cogworks.settings.config import read_environment
    from cogworks.wiring.step import open_examination

    if actor is None:
        return False
    address = parse_issue_url(event.issue_url)
    opened = open_examination(read_environment(), address.server_url, address.repository, meter=Requests())
    with opened as (client, _, _):
        answer = client.query(_VIEWER, {})
    # In doubt it is somebody else's: a step too many costs one request.
    return (answer.data.get("viewer") or {}).get("databaseId") == actor


def _step(issue_url: str, node: str) -> dict[str, Any]:
    from cogworks.settings.config import child_environment

    # A cancelled job gets SIGINT, then SIGTERM: the step gives its lease back.
    with noted_signals() as stop:
        steps = ChildSteps(
            child_environment(), lambda line: click.echo(in_log_of_actions(line), err=True), stop
        )
        report = steps.run(issue_url, ["--node", node] if node else [])
    click.echo(in_log_of_actions(f"{report['outcome']}: {report['message']}"), err=True)
    return report


def _list_jobs(inputs: "ActionEnvironment") -> int:
    from cogworks.settings.config import child_environment

    where = parse_repository(inputs.repository, server_url=inputs.server_url).url
    command = [sys.executable, "-P", "-m", "cogworks", "poll", where, "--matrix"]
    command += ["--max", str(inputs.max_jobs)]
    done = subprocess.run(command, env=child_environment(), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    jobs = len(json.loads(done.stdout)["include"])
    _hand_on(inputs, {"matrix": done.stdout.strip(), "jobs": str(jobs)}, f"### cogworks: {jobs} jobs\n")
    return 0


def _hand_on(inputs: "ActionEnvironment", outputs: Mapping[str, str], summary: str) -> None:
    delimiter = f"cogworks_{secrets.token_hex(16)}"
    for path, text in (
        (inputs.output_path, as_file(outputs, delimiter=delimiter)),
        (inputs.summary_path, summary),
    ):
        if path:
            with writing(Path(path)), Path(path).open("a", encoding="utf-8") as file:
                file.write(text)


MAX_MESSAGE = 20_000
_FENCE = re.compile(r"`{3,}")
_CELL = re.compile(r"[^\w@.:/#+ $-]")


def step_outputs(issue: int | None, report: Mapping[str, Any]) -> dict[str, str]:
    """The outputs of `action.yml` for a step's report; without an issue there was no step."""
    return {
        "issue": str(issue or ""),
        "outcome": str(report.get("outcome") or ("failed" if issue else "ignored")),
        "node": str(report.get("node") or ""),
        "waiting-for": json.dumps(report.get("waiting_for") or [], separators=(",", ":")),
        "cost-usd": f"{float(report.get('cost_usd') or 0.0):.6f}",
    }


def as_file(outputs: Mapping[str, str], *, delimiter: str) -> str:
    """Lines for `GITHUB_OUTPUT`, each value between two lines that nobody could foresee.

    Args:
        delimiter: drawn anew for every call.

    Raises:
        CogworksError: a value holds the delimiter, so it was foreseen.
    """
    if any(delimiter in value for value in outputs.values()):
        raise CogworksError("an output holds the delimiter that was just drawn; nothing was handed on.")
    return "".join(f"{name}<<{delimiter}\n{value}\n{delimiter}\n" for name, value in outputs.items())


def summary(issue_url: str, report: Mapping[str, Any]) -> str:
    """The step summary: what was done, what is waited for, what it cost. Texts of others stand in a code block."""
    requests, tokens = report.get("requests") or {}, report.get("tokens") or {}
    rows = [
        ("Outcome", report.get("outcome") or "failed"),
        ("Node", report.get("node") or "-"),
        (
            "Requests",
            f"{requests.get('graphql', 0)} GraphQL, {requests.get('rest', 0)} REST, {requests.get('git', 0)} git",
        ),
        ("Tokens", f"{tokens.get('input', 0)} in, {tokens.get('output', 0)} out"),
        ("Cost", f"${float(report.get('cost_usd') or 0.0):.4f}"),
    ]
    parts = [f"### cogworks: {_cell(issue_url)}", "| | |\n|---|---|"]
    parts[1] += "".join(f"\n| {name} | {_cell(str(value))} |" for name, value in rows)
    parts.append(_fenced(str(report.get("message") or "")))
    return "\n\n".join(parts) + "\n"


def ignored_summary(reason: str) -> str:
    """The step summary of an event that asked for nothing."""
    return f"### cogworks: nothing to do\n\n{_fenced(reason)}\n"


def _cell(text: str) -> str:
    return _CELL.sub(" ", text)


def _fenced(text: str) -> str:
    text = on_terminal(text)
    shown = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"
    longest = max((len(fence_marks) for fence_marks in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}"

"""`cogworks process`: one step of one work item."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from cogworks.commands.progress import progress_line
from cogworks.errors import CogworksError
from cogworks.github.addresses import parse_issue_url
from cogworks.github.meter import Requests
from cogworks.nodes.considering import Wanted
from cogworks.settings import Environment, read_environment
from cogworks.step import StepReport, take_step
from cogworks.wiring import open_shell

EXIT_CODES: Mapping[str, int] = {
    "succeeded": 0,
    "done": 0,
    "waiting": 0,
    "backed_off": 0,
    "failed": 1,
    "usage_error": 2,
    "configuration_error": 2,
    "budget_reached": 5,
}
DETAILED = {"waiting": 10, "backed_off": 11, "done": 12}


@click.command("process")
@click.argument("issue_url")
@click.option(
    "--node", default="", metavar="ID[@SUB]", help="Run this node, if it is ready, instead of the next one."
)
@click.option("--take-over", is_flag=True, help="Do not wait for another runner's lease: it is dead.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; everything else on stderr.")
@click.option("--detailed-exitcode", is_flag=True, help="10 waiting, 11 backed off, 12 nothing to do.")
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def process(
    issue_url: str, node: str, take_over: bool, as_json: bool, detailed_exitcode: bool, quiet: bool
) -> int:
    """Do one step of the work item at ISSUE_URL: read its state, run the next node, write the result, exit.

    \b
    Examples:
      cogworks process https://github.com/octo-org/hello/issues/42
      cogworks process https://github.com/octo-org/hello/issues/42 --json | jq .outcome
    """
    started_s = time.monotonic()
    meter = Requests()
    try:
        report = one_step(
            read_environment(), issue_url, Wanted(node=node, take_over=take_over), meter=meter, quiet=quiet
        )
    except CogworksError as error:
        if not as_json:
            raise
        failed = {"outcome": error.outcome, "message": str(error)}
        click.echo(json.dumps({**as_object(None, meter, time.monotonic() - started_s), **failed}))
        click.echo(f"cogworks: {error}", err=True)
        return error.exit_code
    if as_json:
        click.echo(json.dumps(as_object(report, meter, time.monotonic() - started_s)))
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
    code = EXIT_CODES[report.outcome]
    if not as_json:
        click.echo(f"{report.outcome}: {report.message}", err=code != 0)
    return DETAILED.get(report.outcome, code) if detailed_exitcode else code


def one_step(
    environment: Environment,
    issue_url: str,
    wanted: Wanted,
    *,
    meter: Requests,
    quiet: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> StepReport:
    """One step with real adapters, progress on stderr.

    Raises:
        CogworksError: as `take_step`.
    """
    address = parse_issue_url(issue_url)
    say = progress_line(quiet=quiet)
    with open_shell(environment, address, meter=meter, say=say, sleep=sleep) as shell:
        return take_step(shell, address, wanted)


def as_object(report: StepReport | None, meter: Requests, duration_s: float) -> dict[str, Any]:
    """The JSON form of a step's report."""
    spend = report.spend if report else None
    return {
        "outcome": report.outcome if report else "failed",
        "node": (report.node or None) if report else None,
        "visit_key": (report.visit_key or None) if report else None,
        "waiting_for": [wait.model_dump(mode="json") for wait in report.waiting_for] if report else [],
        "requests": {"graphql": meter.graphql, "rest": meter.rest, "git": meter.git},
        "tokens": {
            "input": spend.input_tokens if spend else 0,
            "output": spend.output_tokens if spend else 0,
        },
        "cost_usd": spend.cost_usd if spend else 0.0,
        "duration_s": round(duration_s, 3),
        "urls": dict(report.urls) if report else {},
        "message": report.message if report else "",
    }

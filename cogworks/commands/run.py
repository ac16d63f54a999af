"""`cogworks run`: step after step until the work item waits, fails or is done."""

import json
import time
from typing import Any

import click

from cogworks.commands.process import DETAILED, EXIT_CODES, as_object, one_step
from cogworks.commands.progress import progress_line
from cogworks.errors import CogworksError
from cogworks.github.meter import Requests
from cogworks.nodes.considering import Wanted
from cogworks.pipeline.state import Spend
from cogworks.settings import Environment, read_environment
from cogworks.step import StepReport

MAX_STEPS = 500
LONGEST_NAP_S = 15.0
GRACE_S = 2.0


@click.command("run")
@click.argument("issue_url")
@click.option("--take-over", is_flag=True, help="Do not wait for another runner's lease: it is dead.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout at the end; everything else on stderr."
)
@click.option("--detailed-exitcode", is_flag=True, help="10 waiting, 11 backed off, 12 nothing to do.")
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def run(issue_url: str, take_over: bool, as_json: bool, detailed_exitcode: bool, quiet: bool) -> int:
    """Work on the issue at ISSUE_URL until it waits for a person, fails or is done.

    A lease that a killed runner left is taken over when it is old enough; the time left is shown.

    \b
    Examples:
      cogworks run https://github.com/octo-org/hello/issues/42
      cogworks run --take-over https://github.com/octo-org/hello/issues/42
    """
    started_s = time.monotonic()
    meter = Requests()
    total = Spend()
    steps = 0
    try:
        report, total, steps = _until_it_rests(
            read_environment(), issue_url, Wanted(take_over=take_over), meter=meter, quiet=quiet
        )
    except CogworksError as error:
        if not as_json:
            raise
        failed = {"outcome": error.outcome, "message": str(error)}
        click.echo(
            json.dumps({**as_object(None, meter, time.monotonic() - started_s), **failed, "steps": steps})
        )
        click.echo(f"cogworks: {error}", err=True)
        return error.exit_code
    code = EXIT_CODES[report.outcome]
    if as_json:
        final: dict[str, Any] = as_object(
            report.model_copy(update={"spend": total}), meter, time.monotonic() - started_s
        )
        click.echo(json.dumps({**final, "steps": steps}))
    else:
        click.echo(f"{report.outcome}: {report.message}", err=code != 0)
    return DETAILED.get(report.outcome, code) if detailed_exitcode else code


def _until_it_rests(
    environment: Environment, issue_url: str, wanted: Wanted, *, meter: Requests, quiet: bool
) -> tuple[StepReport, Spend, int]:
    say = progress_line(quiet=quiet)
    total = Spend()
    count = 0
    while True:
        count += 1
        report = one_step(environment, issue_url, wanted, meter=meter, quiet=quiet)
        # Only the first step may assume that the other runner is dead.
        wanted = Wanted()
        total = total + report.spend
        if report.node:
            say(f"{report.outcome}: {report.message}")
        if report.outcome == "backed_off":
            report = _wait_for_lease(environment, issue_url, report, meter=meter, quiet=quiet)
            total = total + report.spend
        if report.outcome != "succeeded" or count == MAX_STEPS:
            return report, total, count


def _wait_for_lease(
    environment: Environment, issue_url: str, report: StepReport, *, meter: Requests, quiet: bool
) -> StepReport:
    """Wait out the other runner's lease. It is alive when the wait does not get shorter: then leave it to it."""
    say = progress_line(quiet=quiet)
    while report.outcome == "backed_off" and report.retry_in_s is not None:
        before_s = report.retry_in_s
        say(f"{report.message}; waiting (`--take-over` skips this)")
        _count_down(before_s + GRACE_S, quiet=quiet)
        report = one_step(environment, issue_url, Wanted(), meter=meter, quiet=quiet)
        if report.outcome == "backed_off" and (report.retry_in_s or 0.0) >= before_s:
            return report
    return report


def _count_down(wait_s: float, *, quiet: bool) -> None:
    say = progress_line(quiet=quiet)
    end_s = time.monotonic() + wait_s
    while (left_s := end_s - time.monotonic()) > 0:
        say(f"{left_s:.0f} s left")
        time.sleep(min(LONGEST_NAP_S, left_s))

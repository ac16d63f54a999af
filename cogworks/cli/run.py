"""`cogworks run`: step after step until the work item waits, fails or is done."""

import time
from typing import TYPE_CHECKING

import click

from cogworks.cli.process import one_step
from cogworks.cli.progress import progress_line
from cogworks.cli.reporting import Style, Tally, conclude

if TYPE_CHECKING:
    from cogworks.engine.report import StepReport

MAX_STEPS = 500
LONGEST_NAP_S = 15.0
GRACE_S = 2.0


@click.command("run")
@click.argument("issue_url")
@click.option(
    "--take-over", is_flag=True, help="Take the lease of another runner at once. Only if that runner is dead."
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout at the end; everything else on stderr."
)
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 10 when waiting, 11 when backed off, 12 when there is nothing to do.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def run(issue_url: str, take_over: bool, as_json: bool, detailed_exitcode: bool, quiet: bool) -> int:
    """Work on an issue until it waits for a person, fails or is done.

    If a killed runner left its lease, waits until the lease is old enough and takes it over. Shows the time left.

    \b
    Examples:
      cogworks run https://github.com/octo-org/hello/issues/42
      cogworks run --take-over https://github.com/octo-org/hello/issues/42
    """
    tally = Tally()
    work = _Work(issue_url, tally, quiet=quiet)
    style = Style(as_json=as_json, detailed_exitcode=detailed_exitcode, counts_steps=True)
    return conclude(issue_url, tally, lambda: work.until_it_rests(take_over=take_over), style)


class _Work:
    """Steps of one item, one after the other."""

    def __init__(self, issue_url: str, tally: Tally, *, quiet: bool) -> None:
        self._issue_url = issue_url
        self._tally = tally
        self._quiet = quiet
        self._say = progress_line(quiet=quiet)

    def until_it_rests(self, *, take_over: bool) -> "StepReport":
        """The report of the last step: the first that did not succeed."""
        report = self._step(take_over=take_over)
        while self._tally.steps < MAX_STEPS:
            if report.outcome == "backed_off":
                report = self._wait_for_lease(report)
            if report.outcome != "succeeded":
                break
            report = self._step()
        return report

    def _wait_for_lease(self, report: "StepReport") -> "StepReport":
        """Wait out the other runner's lease. It is alive when the wait does not get shorter: then leave it to it."""
        while report.outcome == "backed_off" and report.retry_in_s is not None:
            before_s = report.retry_in_s
            self._say(f"{report.message}; waiting (`--take-over` skips this)")
            self._count_down(before_s + GRACE_S)
            report = self._step()
            if report.outcome == "backed_off" and (report.retry_in_s or 0.0) >= before_s:
                break
        return report

    # Only the first step may assume that the other runner is dead.
    def _step(self, *, take_over: bool = False) -> "StepReport":
        report = one_step(self._issue_url, tally=self._tally, take_over=take_over, quiet=self._quiet)
        if report.node and report.outcome == "succeeded":
            self._say(f"{report.outcome}: {report.message}")
        return report

    def _count_down(self, wait_s: float) -> None:
        end_s = time.monotonic() + wait_s
        while (left_s := end_s - time.monotonic()) > 0:
            self._say(f"{left_s:.0f} s left")
            time.sleep(min(LONGEST_NAP_S, left_s))

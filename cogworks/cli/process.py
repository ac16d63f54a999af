"""`cogworks process`: one step of one work item."""

from typing import TYPE_CHECKING

import click

from cogworks.cli.admission import admitted
from cogworks.cli.progress import progress_line, ticking
from cogworks.cli.reporting import Style, Tally, conclude
from cogworks.cli.tables import show_line
from cogworks.forge.addresses import parse_issue_url

if TYPE_CHECKING:
    from cogworks.engine.report import StepReport


@click.command("process")
@click.argument("issue_url")
@click.option(
    "--node", default="", metavar="ID[@SUB]", help="Run this node instead of the next one, if it is ready."
)
@click.option(
    "--take-over", is_flag=True, help="Take the lease of another runner at once. Only if that runner is dead."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout; everything else on stderr.")
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 10 when waiting, 11 when backed off, 12 when there is nothing to do.",
)
@click.option("--dry-run", is_flag=True, help="Ask no model and write nothing. Print what would happen.")
@click.option("--staged", is_flag=True, help="Ask the model but write nothing. Print what would be written.")
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def process(
    issue_url: str,
    node: str,
    take_over: bool,
    as_json: bool,
    detailed_exitcode: bool,
    dry_run: bool,
    staged: bool,
    quiet: bool,
) -> int:
    """Take one step on an issue: run the next node, record the result.

    Reads the state of the work item at ISSUE_URL from GitHub, runs the next node, writes the result back and exits.

    \b
    Examples:
      cogworks process https://github.com/octo-org/hello/issues/42
      cogworks process https://github.com/octo-org/hello/issues/42 --json | jq .outcome
      cogworks process https://github.com/octo-org/hello/issues/42 --dry-run
    """
    if dry_run or staged:
        address = parse_issue_url(issue_url)
        from cogworks.cli import rehearsing
        from cogworks.engine.consider import Wanted

        wanted = Wanted(node=node, take_over=take_over)
        if dry_run:
            return rehearsing.dry_run(address.url, wanted, as_json=as_json)
        return rehearsing.staged(address, wanted, as_json=as_json, quiet=quiet)
    tally = Tally()

    def work() -> "StepReport":
        return one_step(issue_url, tally=tally, node=node, take_over=take_over, quiet=quiet)

    return conclude(issue_url, tally, work, Style(as_json=as_json, detailed_exitcode=detailed_exitcode))


def one_step(
    issue_url: str, *, tally: Tally, node: str = "", take_over: bool = False, quiet: bool = False
) -> "StepReport":
    """One step with real adapters, progress on stderr; what it used is added to the tally.

    Raises:
        UsageError: the URL names no issue; nothing is imported for that.
        CogworksError: as `take_step`.
    """
    address = parse_issue_url(issue_url)
    environment = admitted(address.repository)
    from cogworks.engine.consider import Wanted
    from cogworks.engine.step import take_step
    from cogworks.wiring.model import announced_while_waiting
    from cogworks.wiring.step import open_ports

    say = progress_line(quiet=quiet)
    waiting = ticking(say, only_long=True)
    with open_ports(
        environment,
        address,
        meter=tally.meter,
        say=say,
        during=ticking(say),
        open_model=announced_while_waiting(waiting),
        waiting=waiting,
    ) as ports:
        report = take_step(ports, address, Wanted(node=node, take_over=take_over))
    tally.add(report)
    for warning in report.warnings:
        show_line(f"warning: {warning}", err=True)
    return report

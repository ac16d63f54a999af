"""`cogworks poll`: look through a repository and take a step for every item that can move."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from cogworks.cli.admission import admitted
from cogworks.cli.child_step import ChildSteps
from cogworks.cli.looking import look_at
from cogworks.cli.progress import progress_line
from cogworks.cli.tables import Column, show_line, show_table
from cogworks.errors import CogworksError, Interrupted
from cogworks.forge.addresses import IssueAddress, RepositoryAddress, parse_repository
from cogworks.github.meter import Requests
from cogworks.stopping import Stop, noted_signals

if TYPE_CHECKING:
    from cogworks.engine.consider import Considered
    from cogworks.engine.poll import Pair, Row, StepDone, SweepReport
    from cogworks.forge.sweep import Listed, Seen
    from cogworks.github.client import GraphQLClient

TABLE = [Column(name) for name in ("item", "done", "node", "why", "title")]
MATRIX_JOBS = 256
"""GitHub Actions takes no larger matrix."""
SERVER = "https://github.com"


@click.command("poll")
@click.argument("repository")
@click.option(
    "--interval",
    type=click.FloatRange(min=1),
    metavar="S",
    help="Sweep again every S seconds, until stopped.",
)
@click.option("--once", is_flag=True, help="Sweep once. The default without --interval.")
@click.option(
    "--max",
    "max_steps",
    type=click.IntRange(min=0),
    metavar="N",
    help="Take at most N steps (or list N jobs) in a sweep.",
)
@click.option(
    "--milestone", default="", metavar="M", help="Only items in the milestone with this title or number."
)
@click.option(
    "--matrix",
    is_flag=True,
    help="Print the ready (item, node) pairs as a GitHub Actions matrix and run nothing.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a sweep on stdout; everything else on stderr."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress lines.")
def poll(
    repository: str,
    interval: float | None,
    once: bool,
    max_steps: int | None,
    milestone: str,
    matrix: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Take one step for every open work item that can move.

    REPOSITORY is owner/name or a URL. One request reads fifty items: labels, the tip of the ledger, pull requests.
    Those decide whether an item can move. Each step runs in its own process, so a failure does not stop the others.

    Ctrl-C or SIGTERM stops after the running step. A second one interrupts that step.

    \b
    Exit code:
      0    every step succeeded, waits or had nothing to do
      130  the sweep was cut short
      else the most serious code of a step, in the order 3, 4, 1, 2, 5, 130, 75

    \b
    Examples:
      cogworks poll octo-org/hello
      cogworks poll octo-org/hello --interval 60 --max 10
      cogworks poll https://github.example.com/octo-org/hello --matrix
    """
    if once and interval is not None:
        raise click.UsageError("--once and --interval exclude each other.")
    if matrix and interval is not None:
        raise click.UsageError("--matrix looks once; leave out --interval.")
    from cogworks.settings.config import read_environment

    environment = read_environment()
    address = parse_repository(repository, server_url=environment.github_server_url or SERVER)
    admitted(address.full_name)
    from cogworks.engine.poll import Poller, keep_sweeping
    from cogworks.wiring.step import open_examination

    meter = Requests()
    with open_examination(environment, address.server_url, address.full_name, meter=meter) as (client, _, _):
        if matrix:
            limit = MATRIX_JOBS if max_steps is None else min(max_steps, MATRIX_JOBS)
            return _print_matrix(client, address, meter, milestone=milestone, limit=limit, as_json=as_json)
        show = _Printer(address, meter, as_json=as_json)
        with noted_signals() as stop:
            world = PollingWorld(address, client, stop, milestone=milestone, quiet=quiet)
            poller = Poller(world, max_steps=max_steps)
            if interval is not None:
                last = keep_sweeping(poller, interval_s=interval, jitter=random.random, report=show)
                return last.exit_code if last else Interrupted.exit_code
            report = poller.sweep()
            show(report)
            return report.exit_code


class PollingWorld:
    """The sweeps' surroundings: a client that reads, and steps in child processes."""

    def __init__(
        self,
        address: RepositoryAddress,
        client: "GraphQLClient",
        stop: Stop,
        *,
        milestone: str,
        quiet: bool,
    ) -> None:
        from cogworks.settings.config import child_environment

        self._address = address
        self._client = client
        self._milestone = milestone
        self._stop = stop
        self.say = progress_line(quiet=quiet)
        # The first signal lets the running step finish, the second ends it.
        self._steps = ChildSteps(child_environment(), lambda line: self.say(f"  {line}"), stop, patience=1)

    def look(self, since: datetime | None) -> "Seen":
        from cogworks.github.sweeping import look_through

        return look_through(self._client, self._address, since=since, milestone=self._milestone)

    def step(self, item: "Listed") -> "StepDone":
        from cogworks.engine.poll import StepDone

        issue = IssueAddress(self._address.server_url, self._address.owner, self._address.name, item.number)
        report = self._steps.run(issue.url)
        return StepDone(
            exit_code=report["exit_code"],
            outcome=report.get("outcome", "failed"),
            node=report.get("node") or "",
            message=report.get("message", ""),
            requests=report.get("requests") or {},
            cost_usd=report.get("cost_usd", 0.0),
            duration_s=report.get("duration_s", 0.0),
        )

    def is_stopping(self) -> bool:
        return self._stop.times > 0

    def rest(self, pause_s: float) -> None:
        self._stop.wait(pause_s)


@dataclass
class _Printer:
    """Prints each sweep's report."""

    address: RepositoryAddress
    meter: Requests
    as_json: bool
    _started_s: float = field(default_factory=time.monotonic)
    _asked: int = 0

    def __call__(self, report: "SweepReport") -> None:
        from cogworks.engine.poll import as_object

        if report.problem:
            show_line(f"cogworks: {report.problem}", err=True)
        requests, self._asked = self.meter.graphql - self._asked, self.meter.graphql
        started_s, self._started_s = self._started_s, time.monotonic()
        if self.as_json:
            shown = {
                **as_object(report),
                "repository": self.address.url,
                "requests": _requests(report, requests),
                "duration_s": round(self._started_s - started_s, 3),
            }
            click.echo(json.dumps(shown))
            return
        _print_table(report)
        stepped = sum(row.step is not None for row in report.rows)
        show_line(
            f"{self.address.full_name}: {len(report.rows)} open items, {stepped} steps, {requests} requests to look"
            f"{'; cut short' if report.is_cut_short else ''}"
        )


def _print_table(report: "SweepReport") -> None:
    if report.rows:
        show_table(TABLE, [_cells(row) for row in report.rows])


def _cells(row: "Row") -> Sequence[str]:
    step = row.step
    why = f"{row.reason}: {_first_line(step.message)}" if step else row.reason
    return (f"#{row.number}", step.outcome if step else "skipped", step.node if step else "", why, row.title)


def _print_matrix(
    client: "GraphQLClient",
    address: RepositoryAddress,
    meter: Requests,
    *,
    milestone: str,
    limit: int,
    as_json: bool,
) -> int:
    from cogworks.engine.poll import pairs
    from cogworks.github.sweeping import look_through

    def read(issue: IssueAddress) -> "Considered | CogworksError":
        try:
            return look_at(issue.url, meter)
        except CogworksError as error:
            # One item that cannot be read must not keep the others from running.
            show_line(f"{issue.url} cannot be read: {error}", err=True)
            return error

    seen = look_through(client, address, since=None, milestone=milestone)
    jobs = {"include": [_job(pair) for pair in pairs(seen, read, address, limit=limit)]}
    printed = {"matrix": jobs, "requests": {"graphql": meter.graphql}} if as_json else jobs
    click.echo(json.dumps(printed, separators=(",", ":")))
    return 0


def _job(pair: "Pair") -> dict[str, str | int]:
    return {"issue": pair.issue, "issue-url": pair.url, "node": pair.node}


def _requests(report: "SweepReport", looking: int) -> dict[str, Any]:
    steps = [row.step.requests for row in report.rows if row.step]
    return {
        "looking": looking,
        **{kind: sum(step.get(kind, 0) for step in steps) for kind in ("graphql", "rest", "git")},
    }


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""

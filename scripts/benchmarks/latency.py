"""`scripts/bench latency`: what the way to GitHub adds to a step that finds nothing to do. Where the rest goes, `scripts/bench startup` says."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from cogworks.demo.person import Person
from cogworks.demo.stage import open_stage
from cogworks.settings.config import child_environment
from scripts.benchmarks.item import BenchItem
from scripts.benchmarks.proxy import Proxy

MAX_STEPS = 10


@dataclass(frozen=True)
class Timed:
    """The time of one no-op step in milliseconds, medians of several runs."""

    injected_ms: float
    """What every request took longer."""
    total_ms: float
    """From the start of the process to its end."""


def measure(item: BenchItem, *, injected_ms: Sequence[float], runs: int) -> tuple[Timed, ...]:
    """Step until the item waits, then time steps that find nothing to do."""
    for _ in range(MAX_STEPS):
        if item.step().outcome == "waiting":
            break
    else:
        raise click.ClickException("the item never came to wait for anybody")
    times = []
    for extra_ms in injected_ms:
        with Proxy(item.graphql_url, latency_s=extra_ms / 1000).serving() as url:
            command = ["-m", "cogworks", "process", item.url, "--json", "--quiet"]
            total_ms = _median_ms(command, item.environment(graphql_url=url), runs)
        times.append(Timed(extra_ms, total_ms))
    return tuple(times)


def _median_ms(arguments: Sequence[str], environment: Mapping[str, str], runs: int) -> float:
    taken = []
    for _ in range(runs):
        started_s = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], env=dict(environment), capture_output=True, text=True, check=False
        )
        taken.append(time.perf_counter() - started_s)
        if done.returncode:
            raise click.ClickException(f"`{' '.join(arguments)}` ended with {done.returncode}: {done.stderr}")
    return round(statistics.median(taken) * 1000, 1)


def table(times: Sequence[Timed]) -> str:
    """The figures as a Markdown table."""
    lines = ["| injected latency | total |", "|---|---|"]
    lines += [f"| {each.injected_ms:.0f} ms | {each.total_ms:.0f} ms |" for each in times]
    return "\n".join(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--runs", default=9, show_default=True, type=click.IntRange(min=1), help="Runs per figure.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of the table.")
def main(runs: int, as_json: bool) -> None:
    """The time of a step that finds nothing to do, with 0 and 100 ms more latency for each request."""
    with (
        tempfile.TemporaryDirectory(prefix="cogworks-bench-") as directory,
        open_stage(Path(directory), environment=child_environment(), keep=False) as stage,
        closing(Person(stage)) as person,
    ):
        times = measure(BenchItem(stage, person), injected_ms=(0, 100), runs=runs)
    if as_json:
        click.echo(json.dumps({"times": [asdict(each) for each in times]}))
    else:
        click.echo(table(times))


if __name__ == "__main__":
    main()

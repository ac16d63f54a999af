"""`scripts/bench startup`: what cogworks costs before it does anything, beside a program that only has click."""

import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import click

from scripts.benchmarks import waiting

BARE_CLICK = """
import click

@click.group()
def program(): "A program with one command."

@program.command()
@click.argument("url")
def process(url): "Process a URL."

program()
"""
BARE = ("-c", BARE_CLICK, "--help")
LINES: Sequence[tuple[str, float]] = (
    ("--version", 3.0),
    ("--help", 3.0),
    ("process --help", 4.0),
    ("process no-url", 4.0),
    ("process no-url --json", 4.0),
    ("status no-url", 4.0),
    ("poll no-repository", 4.0),
    ("statsu", 4.0),
    ("process https://github.com/octo-org/hello/issues/42", 4.0),
)
"""What is typed after `cogworks`, and how many times the processor time of bare click it may take; there is no token, so the last ends too."""


@dataclass(frozen=True)
class Start:
    """One command line, from the start of the interpreter to its end."""

    line: str
    processor_ms: float
    """Median of several runs."""
    ratio: float
    """To bare click."""
    limit: float
    modules: int
    """How many are imported; the same in every run."""

    @property
    def is_met(self) -> bool:
        return self.ratio <= self.limit


def measure(runs: int) -> tuple[Start, ...]:
    """Bare click first, then each line; the runs of all take turns, so that a busy moment meets them all alike."""
    commands = [BARE, *(("-m", "cogworks", *line.split()) for line, _ in LINES)]
    taken = [[_processor_ms(command) for command in commands] for _ in range(runs)]
    bare_ms, *others_ms = (statistics.median(of_one) for of_one in zip(*taken, strict=True))
    starts = [_start("bare click, --help", BARE, bare_ms, bare_ms, 1.0)]
    for (line, limit), command, own_ms in zip(LINES, commands[1:], others_ms, strict=True):
        starts.append(_start(f"cogworks {line}", command, own_ms, bare_ms, limit))
    return tuple(starts)


def _start(line: str, command: Sequence[str], own_ms: float, bare_ms: float, limit: float) -> Start:
    return Start(line, round(own_ms, 1), round(own_ms / bare_ms, 1), limit, imported_modules(command))


def _processor_ms(arguments: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def imported_modules(arguments: Sequence[str]) -> int:
    """How many modules Python imports for a command line."""
    told = _run(["-X", "importtime", *arguments]).stderr
    return sum(line.startswith("import time:") for line in told.splitlines()) - 1


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_TOKEN", "_APP_ID"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    # Nobody is logged in with `gh` where there is none.
    kept["PATH"] = os.devnull
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=kept)


def table(starts: Sequence[Start]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| command line | processor time | times bare click | limit | modules |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{each.line}` | {each.processor_ms:.0f} ms | {each.ratio} | {each.limit:g} | {each.modules} |"
        for each in starts
    ]
    return "\n".join(lines)


@click.command()
@click.option("--runs", type=click.IntRange(1), default=15, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(runs: int, as_json: bool) -> None:
    """Print what starting cogworks costs; ends with 1 where a limit is not kept."""
    starts, waits = measure(runs), waiting.measure(runs)
    if as_json:
        click.echo(json.dumps({"starts": [asdict(each) for each in starts], "waiting_ms": waits}))
    else:
        click.echo(f"{table(starts)}\n\n{waiting.table(waits)}")
    is_met = all(each.is_met for each in starts) and waiting.data_ms(waits) <= waiting.DATA_LIMIT_MS
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()

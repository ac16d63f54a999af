"""`scripts/bench graph`: what parsing, checking and deciding cost as a pipeline grows, counted and timed."""

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from types import FrameType
from typing import Any, TypeVar

import click

from cogworks.pipeline.decision import Run, decide
from cogworks.pipeline.parser import parse_pipelines
from cogworks.pipeline.position import Standing
from scripts.benchmarks.graphs import FACTS, SHAPES, half_done, pipeline_text

SIZES = (10, 100, 1_000)
T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What one phase took for one pipeline."""

    steps: int
    """Lines the interpreter went through: the same in every run."""
    cpu_ms: float
    """On this machine, at this hour."""


@dataclass(frozen=True)
class Row:
    """One pipeline."""

    shape: str
    nodes: int
    edges: int
    read: Cost
    """The text parsed and checked."""
    decide: Cost
    """The next move of a run that is half done."""

    @property
    def size(self) -> int:
        """What has to be looked at: nodes and edges."""
        return self.nodes + self.edges


@dataclass(frozen=True)
class Growth:
    """How one phase grows from one pipeline to a larger one, if its cost is the size to the power of `exponent`."""

    shape: str
    phase: str
    nodes: tuple[int, int]
    exponent: float
    """Of the steps."""
    cpu_exponent: float
    allowed: float
    """What n log n makes between the same sizes."""

    @property
    def is_met(self) -> bool:
        return self.exponent <= self.allowed


def measure(
    sizes: Sequence[int] = SIZES, *, shapes: Sequence[str] = tuple(SHAPES), runs: int = 3
) -> tuple[Row, ...]:
    """Every shape at every size.

    Args:
        runs: how often the time is taken; the shortest counts.
    """
    return tuple(_row(shape, size, runs) for shape in shapes for size in sizes)


def _row(shape: str, size: int, runs: int) -> Row:
    text = pipeline_text(shape, size)
    read, found = _cost(lambda: parse_pipelines(text, source="bench.toml"), runs)
    pipeline = found.choose()
    state = half_done(pipeline)
    decided, move = _cost(lambda: decide(Standing(state, FACTS, pipeline)), runs)
    if not isinstance(move, Run):
        raise click.ClickException(f"the {shape} of {size} nodes stands still: {move}")
    return Row(shape, size, len(pipeline.edges), read, decided)


def _cost(act: Callable[[], T], runs: int) -> tuple[Cost, T]:
    steps, result = counted(act)
    times = []
    for _ in range(runs):
        began = time.process_time()
        act()
        times.append(time.process_time() - began)
    return Cost(steps, round(1000 * min(times, default=0.0), 3)), result


def counted(act: Callable[[], T]) -> tuple[int, T]:
    """How many lines of Python an act goes through, loops and comprehensions included, and what it makes."""
    steps = 0

    def count(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        result = act()
    finally:
        sys.settrace(before)
    return steps, result


def growth(rows: Sequence[Row]) -> tuple[Growth, ...]:
    """Every phase of every shape, from each size to the next."""
    found = []
    for shape in dict.fromkeys(row.shape for row in rows):
        for small, large in pairwise(row for row in rows if row.shape == shape):
            for phase in ("read", "decide"):
                one, other = getattr(small, phase), getattr(large, phase)
                between = (small.size, large.size)
                found.append(
                    Growth(
                        shape,
                        phase,
                        nodes=(small.nodes, large.nodes),
                        exponent=_slope(between, (one.steps, other.steps)),
                        cpu_exponent=_slope(between, (one.cpu_ms, other.cpu_ms)),
                        allowed=_slope(between, (_n_log_n(small.size), _n_log_n(large.size))),
                    )
                )
    return tuple(found)


def _n_log_n(size: int) -> float:
    return size * math.log(size)


def _slope(sizes: tuple[int, int], costs: tuple[float, float]) -> float:
    if min(costs) <= 0:
        return math.nan
    return round(math.log(costs[1] / costs[0]) / math.log(sizes[1] / sizes[0]), 2)


def table(rows: Sequence[Row]) -> str:
    """The figures and the exponents as two Markdown tables."""
    lines = ["| shape | nodes | edges | parse and check | decide |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.shape} | {row.nodes} | {row.edges} | {_told(row.read)} | {_told(row.decide)} |"
        for row in rows
    ]
    lines += [
        "",
        "| shape | phase | nodes | exponent | n log n | exponent of CPU time |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.shape} | {'parse and check' if each.phase == 'read' else 'decide'} | {each.nodes[0]} to {each.nodes[1]} "
        f"| {each.exponent:.2f}{'' if each.is_met else ' ✗'} | {each.allowed:.2f} | {each.cpu_exponent:.2f} |"
        for each in growth(rows)
    ]
    return "\n".join(lines)


def _told(cost: Cost) -> str:
    return f"{cost.steps} steps, {cost.cpu_ms:.1f} ms"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of the tables.")
def main(as_json: bool) -> None:
    """What parsing, checking and deciding cost for pipelines of 10, 100 and 1000 nodes.

    Steps are lines of Python and the same in every run; milliseconds are CPU time, the best of three. Exits with 1 when
    the steps of a phase grow faster than n log n.
    """
    rows = measure()
    grown = growth(rows)
    if as_json:
        click.echo(
            json.dumps(
                {
                    "rows": list(map(asdict, rows)),
                    "growth": [{**asdict(each), "is_met": each.is_met} for each in grown],
                }
            )
        )
    else:
        click.echo(table(rows))
    sys.exit(0 if all(each.is_met for each in grown) else 1)


if __name__ == "__main__":
    main()

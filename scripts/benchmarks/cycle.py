"""`scripts/bench cycle`: what one decision costs, beside the action itself: proposals, arbiter, slot, events and log."""

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import CodeType
from typing import Any

import click

from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.events import Header, Limits
from cogworks.cycle.flow import Draft
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.proposing import Generator
from cogworks.cycle.results import Action, ActionResult, Outcome, Payload
from cogworks.pipeline.arbiter import Proposal, choose

SIZES = (10, 100, 1_000)


@dataclass(frozen=True)
class Cost:
    """One decision among so many proposals."""

    proposals: int
    arbiter_us: float
    """The choice alone."""
    arbiter_instructions: int
    cycle_us: float
    """The whole cycle with an action that does nothing; median."""
    cycle_instructions: int
    """Bytecode instructions of cogworks' own functions; the same on every machine with the same Python."""
    events: int


def measure(sizes: Sequence[int] = SIZES, *, cycles: int = 15) -> tuple[Cost, ...]:
    """The cost of a decision for each number of proposals."""
    return tuple(_cost(size, cycles) for size in sizes)


def _cost(size: int, cycles: int) -> Cost:
    proposals = [
        Proposal(f"{number:04d}", "bench", "LINT", 0.5 + number % 400 / 1000, payload_hash=str(number))
        for number in range(size)
    ]
    run = _run(size, cycles)
    run.run_cycle()
    events = len(run.events)
    cycle_us = _median_us(run.run_cycle, cycles - 3)
    return Cost(
        proposals=size,
        arbiter_us=_median_us(lambda: choose((), proposals), cycles),
        arbiter_instructions=_instructions(lambda: choose((), proposals)),
        cycle_us=cycle_us,
        cycle_instructions=_instructions(run.run_cycle),
        events=events - 1,
    )


def _run(size: int, cycles: int) -> CodingCycle:
    def ideas(context: CycleContext) -> Sequence[Draft]:
        del context
        return [
            Draft(
                Action.LINT,
                0.99 if number == 0 else 0.5,
                parameters={"file": f"src/{number}.py"},
                urgency=0.9,
            )
            for number in range(size)
        ]

    def nothing(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        del payload, context, deadline_ms
        return ActionResult(outcome=Outcome.DONE)

    header = Header(
        item="bench", task=Task(goal="measure"), limits=Limits(max_cycles=cycles * 2), config_digest=""
    )
    return CodingCycle(
        header, CyclePorts(handlers={Action.LINT: nothing}, generators=(Generator("bench", ideas),))
    )


def _median_us(work: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return round(statistics.median(taken) * 1_000_000, 1)


def _instructions(work: Callable[[], object]) -> int:
    """How many bytecode instructions cogworks itself executes; libraries written in C are not counted."""
    count = 0
    ours: dict[CodeType, bool] = {}

    def trace(frame: Any, event: str, argument: object) -> Any:
        nonlocal count
        del argument
        if event == "call":
            code = frame.f_code
            if ours.setdefault(code, "/cogworks/" in code.co_filename):
                frame.f_trace_opcodes, frame.f_trace_lines = True, False
                return trace
            return None
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def table(costs: Sequence[Cost]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| proposals | arbiter µs | arbiter instructions | whole cycle µs | whole cycle instructions | events |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {cost.proposals} | {cost.arbiter_us:g} | {cost.arbiter_instructions} | {cost.cycle_us:g} "
        f"| {cost.cycle_instructions} | {cost.events} |"
        for cost in costs
    ]
    return "\n".join(lines)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def main(as_json: bool) -> None:
    """What a decision of the coding cycle costs for 10, 100 and 1 000 proposals."""
    costs = measure()
    click.echo(json.dumps({"costs": [asdict(cost) for cost in costs]}) if as_json else table(costs))


if __name__ == "__main__":
    main()

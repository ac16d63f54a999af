"""`scripts/bench services`: what one call of a domain service costs over each transport, and the memory it takes."""

import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import click

from cogworks.domain_services.client import ServiceClient
from cogworks.domain_services.configuration import ServiceConfig
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.settings import child_environment


@dataclass(frozen=True)
class Copy:
    """A working copy, as far as a service needs one."""

    path: Path


@dataclass(frozen=True)
class Cost:
    """One way of reaching the Python service; medians of several runs in milliseconds."""

    way: str
    cold_ms: float
    """From nothing, or from no connection, to the handshake."""
    warm_ms: float
    """One `validate` of a file of one line: what the protocol itself costs."""
    memory_mb: float
    """Resident memory of the service after that, without the tests it runs."""


def measure(runs: int) -> tuple[Cost, ...]:
    """Time each transport on a service of its own."""
    folder = Path(tempfile.mkdtemp(prefix="cogworks-bench-"))
    (folder / "one.py").write_text("x = 1\n")
    try:
        started = [_started_each_time(folder, runs)]
        with _running(folder) as (socket_path, url, pid):
            ways = [ServiceConfig(name="socket", socket=socket_path), ServiceConfig(name="http", url=url)]
            return (*started, *(_existing(way, folder, pid, runs) for way in ways))
    finally:
        shutil.rmtree(folder)


def _started_each_time(folder: Path, runs: int) -> Cost:
    cold_ms = statistics.median(_cold_ms(BUNDLED) for _ in range(max(3, runs // 20)))
    with open_client(BUNDLED, environment=child_environment()) as client:
        warm_ms = _warm_ms(client, folder, runs)
    return Cost("command (a process per step)", round(cold_ms, 1), warm_ms, 0.0)


def _existing(way: ServiceConfig, folder: Path, pid: int, runs: int) -> Cost:
    cold_ms = statistics.median(_cold_ms(way) for _ in range(runs))
    with open_client(way, environment={}) as client:
        warm_ms = _warm_ms(client, folder, runs)
    return Cost(f"running service, {way.name}", round(cold_ms, 1), warm_ms, _memory_mb(pid))


def _cold_ms(way: ServiceConfig) -> float:
    with open_client(way, environment=child_environment()) as client:
        return _timed_ms(client.handshake)


def _warm_ms(client: ServiceClient, folder: Path, runs: int) -> float:
    client.handshake()
    taken = [_timed_ms(lambda: client.validate(Copy(folder), ["one.py"])) for _ in range(runs)]
    return round(statistics.median(taken), 2)


def _timed_ms(ask: Callable[[], object]) -> float:
    started_s = time.perf_counter()
    ask()
    return (time.perf_counter() - started_s) * 1000


@contextmanager
def _running(folder: Path) -> Iterator[tuple[str, str, int]]:
    command = [sys.executable, "-m", "cogworks", "service", "python", "--socket", str(folder / "socket")]
    process = subprocess.Popen(
        [*command, "--http", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True, env=child_environment()
    )
    with process:
        told = process.stdout or ()
        addresses = [line.removeprefix("listening at ").strip() for line in islice(told, 2)]
        try:
            yield addresses[0], addresses[1], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def _memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


def table(costs: Sequence[Cost]) -> str:
    """The figures as a Markdown table."""
    lines = ["| transport | first answer | one more call | memory of the service |", "|---|---|---|---|"]
    for cost in costs:
        memory = f"{cost.memory_mb} MB" if cost.memory_mb else "the same"
        lines.append(f"| {cost.way} | {cost.cold_ms} ms | {cost.warm_ms} ms | {memory} |")
    return "\n".join(lines)


@click.command()
@click.option("--runs", type=click.IntRange(1), default=100, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(runs: int, as_json: bool) -> None:
    """Print what one call of the Python service costs over each transport."""
    costs = measure(runs)
    click.echo(json.dumps([asdict(cost) for cost in costs]) if as_json else table(costs))


if __name__ == "__main__":
    main()

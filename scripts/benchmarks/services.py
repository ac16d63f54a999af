"""`scripts/bench services`: what one call of a domain service costs over each transport, and the memory it takes."""

import json
import os
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
from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.operations import INDEX
from cogworks.settings.config import child_environment


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
    """One `index` of a file of one line, which starts no tool: what the protocol itself costs."""
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


@dataclass(frozen=True)
class EnvironmentCost:
    """What the environment of a repository costs its test run, in seconds."""

    installer: str
    cold_s: float
    """Made from the package index, and one test run in it."""
    warm_s: float
    """There already, and one test run in it."""


def measure_environments() -> tuple[EnvironmentCost, ...]:
    """Run one test in an environment of two requirements, with each installer that is here."""
    own = Path(sys.executable).parent
    paths = [path for path in os.environ["PATH"].split(os.pathsep) if shutil.which("uv", path=path) is None]
    ways = {"pip": paths}
    if shutil.which("uv", path=str(own)):
        ways["uv"] = [str(own), *paths]
    return tuple(_environment(name, os.pathsep.join(way)) for name, way in ways.items())


def _environment(installer: str, search_path: str) -> EnvironmentCost:
    with tempfile.TemporaryDirectory(prefix="cogworks-bench-") as name:
        repository = Path(name, "repository")
        repository.mkdir()
        (repository / "requirements.txt").write_text("click\nhttpx\n")
        (repository / "test_one.py").write_text("import click, httpx\ndef test_one(): pass\n")
        command = (*BUNDLED.command, "--environments", str(Path(name, "environments")))
        service = BUNDLED.model_copy(update={"command": command})
        with open_client(service, environment={**child_environment(), "PATH": search_path}) as client:
            client.handshake()
            cold_s, warm_s = (_timed_ms(lambda: client.simulate(Copy(repository))) / 1000 for _ in range(2))
    return EnvironmentCost(installer, round(cold_s, 1), round(warm_s, 1))


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
    question = ExploreParams(artifacts=("one.py",))
    taken = [_timed_ms(lambda: client.call(INDEX, Copy(folder), question)) for _ in range(runs)]
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


def environment_table(costs: Sequence[EnvironmentCost]) -> str:
    """The figures as a Markdown table."""
    lines = ["| environment made by | cold | warm |", "|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| {each.installer} | {each.cold_s} s | {each.warm_s} s |" for each in costs)]
    )


@click.command()
@click.option("--runs", type=click.IntRange(1), default=100, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(runs: int, as_json: bool) -> None:
    """Print what one call of the Python service costs over each transport, and what an environment costs a test run."""
    costs, environments = measure(runs), measure_environments()
    if as_json:
        click.echo(json.dumps([*map(asdict, costs), *map(asdict, environments)]))
    else:
        click.echo(f"{table(costs)}\n\n{environment_table(environments)}")


if __name__ == "__main__":
    main()

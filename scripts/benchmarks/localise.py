"""`scripts/bench localise`: what knowing a repository's symbols and calls costs, beside parsing its files and nothing else."""

import ast
import json
import shutil
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from cogworks.services.python.code.files import Reading, Shelf, listing
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.code.relations import relations_of
from cogworks.services.python.code.repository import Code, read_code
from cogworks.services.python.operations import index_of

SIZES = (1_000, 10_000, 100_000)
COLD_LIMIT = 2.0
WARM_LIMIT = 0.1
"""Of the time that `ast.parse` takes for the same files."""
_LINES_PER_MODULE = 250
_LIBRARY = "standard library"
_NOT_MEASURED = ("test", "lib2to3", "idlelib", "site-packages")


@dataclass(frozen=True)
class Cost:
    """One repository; processor time in milliseconds, the least of several runs."""

    name: str
    files: int
    lines: int
    parse_ms: float
    """`ast.parse` alone, of contents that are in memory."""
    cold_ms: float
    """The index, from the files on the disk."""
    warm_ms: float
    """The same index again."""
    graph_ms: float
    """All relations, once the files are known."""

    @property
    def cold(self) -> float:
        return self.cold_ms / self.parse_ms

    @property
    def warm(self) -> float:
        return self.warm_ms / self.parse_ms

    @property
    def is_met(self) -> bool:
        return self.cold <= COLD_LIMIT and self.warm <= WARM_LIMIT


def measure(sizes: Sequence[int] = SIZES, *, library: bool = True, runs: int = 3) -> tuple[Cost, ...]:
    """Generated repositories of so many lines, and the standard library of this Python as real code."""
    folder = Path(tempfile.mkdtemp(prefix="cogworks-bench-"))
    try:
        costs = [
            _cost(f"{size:,} generated lines", _generated(folder / str(size), size), runs) for size in sizes
        ]
        if library:
            costs.append(_cost(_LIBRARY, _copied(folder / "library"), runs))
        return tuple(costs)
    finally:
        shutil.rmtree(folder)


def module_text(number: int, modules: int) -> str:
    """A module as people write them: imports, a class with annotated methods, functions that call each other."""
    other = (number * 7 + 1) % modules
    lines = [
        '"""Orders and their prices."""',
        "",
        "import math",
        f"from shop.part{other} import Order{other}",
        "",
    ]
    lines += [f"class Order{number}:", '    """What somebody bought."""', ""]
    lines += ["    def __init__(self, rows: list[int], rate: float = 0.2) -> None:"]
    lines += ["        self.rows = list(rows)", "        self.rate = rate", ""]
    member = 0
    while len(lines) < _LINES_PER_MODULE - 12:
        lines += [
            f"    def price{member}(self, count: int, *, limit: int | None = None) -> float:",
            f'        """The price of row {member} in cents."""',
            "        if limit is not None and count > limit:",
            '            raise ValueError(f"{count} is more than {limit}")',
            f"        total = sum(row * {member} for row in self.rows) + math.floor(count * self.rate)",
            f"        return max(0.0, total + self.price{max(0, member - 1)}(count - 1)) if count else 0.0",
            "",
        ]
        member += 1
    lines += [f"def order{number}(rows: list[int]) -> Order{number}:", f"    made = Order{number}(rows)"]
    lines += [f"    made.price0(Order{other}(rows).price1(3))", "    return made", ""]
    return "\n".join(lines)


def _generated(folder: Path, size: int) -> Path:
    package = folder / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    modules = max(1, size // _LINES_PER_MODULE)
    for number in range(modules):
        (package / f"part{number}.py").write_text(module_text(number, modules))
    return folder


def _copied(folder: Path) -> Path:
    source = sysconfig.get_path("stdlib")
    shutil.copytree(
        source, folder, ignore=shutil.ignore_patterns(*_NOT_MEASURED, "*.so", "*.pyc", "config-*")
    )
    return folder


def _cost(name: str, folder: Path, runs: int) -> Cost:
    contents = [(folder / path).read_bytes() for path in listing(folder).paths]
    known = Shelf(gather).facts
    code = _indexed(folder, known)
    return Cost(
        name=name,
        files=len(contents),
        lines=sum(data.count(b"\n") for data in contents),
        parse_ms=_least_ms(lambda: _parse(contents), runs),
        cold_ms=_least_ms(lambda: _indexed(folder, Shelf(gather).facts), runs),
        warm_ms=_least_ms(lambda: _indexed(folder, known), runs),
        graph_ms=_least_ms(lambda: relations_of(code), runs),
    )


def _parse(contents: Sequence[bytes]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in contents:
            ast.parse(data)


def _indexed(folder: Path, read: Reading) -> Code:
    code = read_code(folder, read)
    index_of(code)
    return code


def _least_ms(work: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        started_s = time.process_time()
        work()
        taken.append((time.process_time() - started_s) * 1000)
    return round(min(taken), 1)


def table(costs: Sequence[Cost]) -> str:
    """The figures as a Markdown table."""
    rows = [
        f"| {cost.name} | {cost.files} | {cost.lines:,} | {cost.parse_ms:.0f} ms | {cost.cold_ms:.0f} ms "
        f"({cost.cold:.2f} x) | {cost.warm_ms:.0f} ms ({cost.warm:.3f} x) | {cost.graph_ms:.0f} ms |"
        for cost in costs
    ]
    head = "| code | files | lines | `ast.parse` | index, first time | again | all relations |"
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


@click.command()
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(runs: int, as_json: bool) -> None:
    """Print what the index and the call graph cost; exit with 1 beyond the limits."""
    costs = measure(runs=runs)
    click.echo(json.dumps([asdict(cost) for cost in costs]) if as_json else table(costs))
    if not all(cost.is_met for cost in costs):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

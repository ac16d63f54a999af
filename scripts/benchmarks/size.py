"""`scripts/bench size`: what a repository costs by the number of its files, beside parsing each of them once.

Each item runs in a process of its own, git and services included. Ratios of one run can be compared between machines, seconds cannot.
"""

import ast
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from cogworks.codebase.git import Git, Identity
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import Patience, WorkingCopies
from cogworks.domain_services.answers import fields_of
from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.exploring import CallGraphParams, ExploreParams
from cogworks.domain_services.messages import Message, Repository, Request, frame
from cogworks.domain_services.parts import in_pages
from cogworks.services.python.answering import PythonService
from cogworks.services.python.machine import Machine
from cogworks.services.sandbox.probing import strongest
from cogworks.sight.index import Index
from cogworks.sight.looks.room import Room
from cogworks.sight.looks.schema import Look
from cogworks.sight.looks.showing import shown
from cogworks.sight.question import About
from cogworks.sight.store import Store
from cogworks.sight.view import first_view
from cogworks.vocabulary import BranchName, RunId

SIZES = (1_000, 10_000)
_BOT = Identity("bench", "bench@localhost")
_MAIN = BranchName("main")
_LIMIT_S = 3_600.0
_FILES_PER_FOLDER = 100
_MIB = 1024**2
_TESTS = "tests/test_two.py"
_REQUEST = About(
    title="The total of an order is wrong when a discount applies",
    text="`Order17.total` ignores the discount of `shop/area0/part17.py`: price_of_rows adds the tax twice.",
)
_LOOKS = (
    Look(look="read", target="shop/area0/part17.py"),
    Look(look="search", text="apply_discount"),
    Look(look="outline", target="shop/area0/part17.py"),
    Look(look="definition", target="Order17"),
    Look(look="references", target="Order17"),
    Look(look="tests_of", target="shop/area0/part17.py::Order17"),
    Look(look="list", target="shop/area0"),
    Look(look="history", target="shop/area0/part17.py"),
)


def module_text(number: int, files: int) -> str:
    """A module of a shop: a class and functions that use the module next to it and others' methods by common names."""
    other = (number * 7 + 1) % files
    rows = "\n".join(
        f"    def row_{part}(self, count: int, rate: float = 0.{part + 1}) -> float:\n"
        f'        """Row {part} of order {number} in cents."""\n'
        f"        if count > {number + part}:\n"
        f"            raise ValueError(count)\n"
        f"        return self.total(count) * rate + self.row_{max(0, part - 1)}(count - 1)\n"
        for part in range(4)
    )
    return (
        f'"""Orders of kind {number}."""\n\nimport math\n\n'
        f"from shop.area{other // _FILES_PER_FOLDER}.part{other} import Order{other}\n\n\n"
        f'class Order{number}:\n    """What somebody bought."""\n\n'
        f"    def __init__(self, rows: list[int]) -> None:\n        self.rows = list(rows)\n        self.taxes = {number}\n\n"
        f"    def total(self, count: int) -> float:\n"
        f"        return math.fsum(self.rows) * count + self.taxes\n\n{rows}\n\n"
        f"def apply_discount_{number}(order: Order{number}, share: float) -> float:\n"
        f"    other = Order{other}(order.rows)\n"
        f"    return order.total(2) * share + other.total(3) + other.row_1(2)\n"
    )


def _stream(files: int) -> str:
    """For `git fast-import`; the same for the same number."""
    head = f"commit refs/heads/{_MAIN}\ncommitter bench <bench@localhost> {{}} +0000\ndata 1\n{{}}\n"
    texts = {_place(number): module_text(number, files) for number in range(files)}
    texts[_TESTS] = (
        "from shop.area0.part0 import Order0\n\n\ndef test_total():\n    assert Order0([1]).total(1) == 1\n\n\n"
        "def test_no_rows():\n    assert Order0([]).total(1) == 0\n"
    )
    texts["pyproject.toml"] = '[project]\nname = "shop"\nversion = "1"\n'
    parts = [head.format(1_700_000_000, "a"), *(_inline(path, text) for path, text in texts.items())]
    for past in range(1, 20):
        parts.append(head.format(1_700_000_000 + past, "b"))
        parts.append(_inline(_place(past), f"{texts[_place(past)]}\n# {past}\n"))
    return "".join(parts)


def _place(number: int) -> str:
    return f"shop/area{number // _FILES_PER_FOLDER}/part{number}.py"


def _inline(path: str, text: str) -> str:
    return f"M 100644 inline {path}\ndata {len(text)}\n{text}\n"


def made_repository(folder: Path, files: int) -> str:
    """The address of a repository of so many modules, its history twenty commits long."""
    git = Git(environment=os.environ, home=folder, time_limit_s=_LIMIT_S)
    bare = folder / "remote.git"
    git.run("init", "--quiet", "--bare", str(bare), cwd=folder)
    git.run("fast-import", "--quiet", cwd=bare, stdin=_stream(files))
    return f"file://{bare}"


class Cost(NamedTuple):
    """Of one item."""

    cpu_s: float
    """Of the process and all that it started and waited for."""
    took_s: float
    """By the clock; whatever else the machine does counts."""
    rss_mib: float
    """The most that the process held, without those that it started."""
    answer_bytes: int = 0
    """Of the longest message of a service."""
    said: str = ""
    """What it gave, where that may be a refusal."""


class Site:
    """A repository and what is kept of it from one process to the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def copy(self) -> Iterator[WorkingCopy]:
        """The working copy, opened as a step opens it."""
        cache, url = self.folder / "cache", f"file://{self.folder / 'remote.git'}"
        patience = Patience(command_s=_LIMIT_S)
        with WorkingCopies(cache, identity=_BOT, environment=os.environ, patience=patience) as copies:
            yield copies.open(
                remote=Remote(url, None),
                run=RunId("bench"),
                name="item",
                branch=BranchName("work"),
                base=_MAIN,
            )

    def index(self, copy: WorkingCopy) -> Index:
        return Index(copy, Store(self.folder / "sight.sqlite3"))

    def asked(self, method: str, *params: Message) -> Cost:
        """Requests to the Python service in this process, and the first refusal."""
        with self.copy() as copy:
            service = PythonService(Machine(os.environ["PATH"], strongest(os.environ["PATH"])))
            repository = Repository(path=str(copy.path))
            requests = [
                Request(request_id="1", method=method, repository=repository, params=fields_of(each))
                for each in params
            ]
            sizes: list[int] = []
            refusals: list[str] = []

            def ask() -> None:
                for request in requests:
                    answer = service.answer(frame(request))
                    sizes.append(len(frame(answer)))
                    refusals.extend([answer.error.message] if answer.error else [])

            return _measured(ask)._replace(answer_bytes=max(sizes), said=next(iter(refusals), ""))


def _parsed(site: Site) -> Cost:
    with site.copy() as copy:
        texts = [text for path in copy.files() if path.endswith(".py") and (text := copy.read(path))]

    def parse() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for text in texts:
                ast.parse(text)

    return _measured(parse)


def _opened(site: Site) -> Cost:
    def opened() -> None:
        with site.copy():
            pass

    return _measured(opened)


def _named(site: Site) -> Cost:
    """Of a tree in which one file was changed."""
    with site.copy() as copy:
        (copy.path / _TESTS).write_text("def test_nothing():\n    pass\n")
        return _measured(copy.tree_name)


def _indexed(site: Site) -> Cost:
    with site.copy() as copy:
        return _measured(lambda: site.index(copy))


def _viewed(site: Site) -> Cost:
    with site.copy() as copy:
        index = site.index(copy)
        return _measured(lambda: first_view(index, _REQUEST))


def _looked(site: Site) -> Cost:
    """The dearest of all looks."""
    with site.copy() as copy:
        room = Room(site.index(copy), copy)
        costs = {look.look: _measured(lambda look=look: shown(look, room)) for look in _LOOKS}  # type: ignore[misc]  # mypy infers no type of a lambda with a default
        name, worst = max(costs.items(), key=lambda item: item[1].cpu_s)
        return worst._replace(said=name)


def _ran(site: Site) -> Cost:
    return site.asked("simulate", SimulateParams(tests=(_TESTS,)))


def _asked_index(site: Site) -> Cost:
    with site.copy() as copy:
        paths = tuple(path for path in copy.files() if path.endswith(".py"))
        asked = list(in_pages(ExploreParams(artifacts=paths), copy.path))
    return site.asked("index", *asked)


def _asked_graph(site: Site) -> Cost:
    return site.asked("call_graph", CallGraphParams(seeds=(f"{_place(17)}:12",)))


def _measured(work: Callable[[], object]) -> Cost:
    began_s, began_cpu_s = time.perf_counter(), _cpu_s()
    work()
    return Cost(_cpu_s() - began_cpu_s, time.perf_counter() - began_s, _rss_mib())


ITEMS: Mapping[str, tuple[str, Callable[[Site], Cost]]] = {
    "open_cold": ("opening the working copy, first time", _opened),
    "open_warm": ("opening it again", _opened),
    "parse": ("`ast.parse` of every file", _parsed),
    "tree_name": ("`tree_name`, one file changed", _named),
    "sight_cold": ("index of sight, first time", _indexed),
    "sight_same": ("index of sight, tree unchanged", _indexed),
    "view": ("a first view after that", _viewed),
    "looks": ("the dearest look", _looked),
    "run": ("a run of two tests", _ran),
    "index": ("`index` of every file", _asked_index),
    "call_graph": ("`call_graph` around one symbol", _asked_graph),
}
"""Name -> what it is called, and how it is measured; in this order, for later ones find what earlier ones kept."""


def measure(sizes: Sequence[int] = SIZES, items: Sequence[str] = tuple(ITEMS)) -> dict[int, dict[str, Cost]]:
    """The costs of repositories of so many files."""
    found: dict[int, dict[str, Cost]] = {}
    for size in sizes:
        with TemporaryDirectory(prefix="cogworks-bench-") as name:
            folder = Path(name)
            made_repository(folder, size)
            found[size] = {item: _in_process(item, folder) for item in items}
    return found


def _in_process(item: str, folder: Path) -> Cost:
    command = [sys.executable, "-m", "scripts.benchmarks.size", "--item", item, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=_LIMIT_S)
    return Cost(*json.loads(done.stdout))


def table(found: Mapping[int, Mapping[str, Cost]]) -> str:
    """The figures in Markdown, and by what the cost grew from the smallest to the largest repository."""
    sizes = sorted(found)
    lines = [
        f"| | {' | '.join(f'{size:,} files' for size in sizes)} | grows by |",
        f"|---|{'---|' * len(sizes)}---|",
    ]
    for item, (title, _) in ITEMS.items():
        costs = [found[size].get(item) for size in sizes]
        if any(cost is None for cost in costs):
            continue
        cells = [
            _cell(cost, found[size].get("parse")) for size, cost in zip(sizes, costs, strict=True) if cost
        ]
        first, last = costs[0], costs[-1]
        growth = f"{last.cpu_s / first.cpu_s:.1f} x" if first and last and first.cpu_s else ""
        lines.append(f"| {title} | {' | '.join(cells)} | {growth} |")
    return "\n".join(lines)


def _cell(cost: Cost, parse: Cost | None) -> str:
    parts = [f"{cost.cpu_s:.2f} s ({cost.took_s:.1f} by the clock)"]
    if parse and parse.cpu_s and parse is not cost:
        parts.append(
            f"{cost.cpu_s / parse.cpu_s:.2f} of parsing ({cost.took_s / parse.took_s:.2f} by the clock)"
        )
    parts.append(f"{cost.rss_mib:.0f} MiB")
    if cost.answer_bytes > _MIB:
        parts.append(f"answer {cost.answer_bytes / _MIB:.1f} MiB")
    if cost.said:
        parts.append(cost.said[:60])
    return ", ".join(parts)


def _cpu_s() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _rss_mib() -> float:
    # Unlike what `getrusage` tells this has nothing of the process that started us.
    told = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM")) / 1024


@click.command()
@click.option(
    "--files", "sizes", type=click.IntRange(100), multiple=True, help="1 000 and 10 000 by default."
)
@click.option("--only", "items", type=click.Choice(list(ITEMS)), multiple=True, help="All by default.")
@click.option("--json", "as_json", is_flag=True)
@click.option("--item", hidden=True, type=click.Choice(list(ITEMS)))
@click.option("--folder", hidden=True, type=click.Path(path_type=Path))
def main(
    sizes: tuple[int, ...], items: tuple[str, ...], as_json: bool, item: str | None, folder: Path | None
) -> None:
    """Print what generated repositories of so many files cost."""
    if item is not None and folder is not None:
        click.echo(json.dumps(ITEMS[item][1](Site(folder))))
        return
    found = measure(sizes or SIZES, items or tuple(ITEMS))
    if as_json:
        click.echo(
            json.dumps(
                {size: {name: cost._asdict() for name, cost in each.items()} for size, each in found.items()}
            )
        )
    else:
        click.echo(table(found))


if __name__ == "__main__":
    main()

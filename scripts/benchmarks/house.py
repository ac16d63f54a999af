"""`scripts/bench house`: how far one has to walk in the code, as counts that are the same on every machine.

A step is taken in this process with the fakes of the tests: a GitHub in memory and nodes that only answer. What is counted are the
files of `cogworks/` that its calls enter, how often they change from one file to another, and how often the position of a run is
computed. The rest is read from the sources: their shape, and how many files name the newest of its kind, which is how many the
next one of that kind touches. `--root` measures another checkout that has the same fakes.
"""

import ast
import io
import json
import os
import re
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import click

LEFT_OUT = ("bundled", "sample", "__pycache__")
MARKS: Mapping[str, str] = {
    "files of a node": r"\binterface_design\b",
    "files of a provider": r"\bbedrock\b",
    "files of the retry policy": r"\bjitter\b",
    "files of a language": r"\bruby\b",
    "files of the status text": r"merge or approve pull request",
}
"""What names one thing of a kind: a change of that kind touches the files that hold it."""
KINDS = (".py", ".toml", ".json")
NO_CODE = ("bundled", "sample", "cassettes", "data")
HOTTEST = 40
"""The files that a step calls most often: there a newcomer reads first."""


@dataclass
class Walk:
    """What one step entered."""

    package: str
    calls: Counter[str] = field(default_factory=Counter)
    """File -> how many calls enter it."""
    switches: int = 0
    positions: int = 0
    last: str = ""

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """A profile function; a module that is only being imported does not count, nor do the bodies of its classes."""
        file = frame.f_code.co_filename
        is_function = bool(frame.f_code.co_flags & CO_OPTIMIZED)
        if event != "call" or not file.startswith(self.package) or not is_function:
            return
        self.calls[file] += 1
        self.switches += file != self.last
        self.last = file
        self.positions += frame.f_code.co_name == "locate" and file.endswith("position.py")


@dataclass(frozen=True)
class Sources:
    """The shape of the package."""

    modules: int
    lines: int
    median_function: float
    p90_function: float
    comments_per_100_lines: float
    small_with_one_importer: int
    """Modules of at most 70 lines that one other module imports."""
    deepest_imports: int
    """Modules in the longest chain of imports."""


def walk(package: Path) -> Walk:
    """One first step of a work item."""
    from tests.step_fakes import Runner  # noqa: PLC0415  # of the checkout that `--root` names
    from tests.world import World  # noqa: PLC0415  # as above

    runner, seen = Runner(World()), Walk(f"{package}{os.sep}")
    sys.setprofile(seen.note)
    try:
        runner.step()
    finally:
        sys.setprofile(None)
    return seen


def sources(package: Path) -> Sources:
    """Read from the files; nothing is imported."""
    texts = dict(_texts(package))
    trees = {name: ast.parse(text) for name, text in texts.items()}
    sizes = [size for tree in trees.values() for size in _sizes(tree)]
    imports = {name: _imports(tree, trees) - {name} for name, tree in trees.items()}
    lines = {name: text.count("\n") for name, text in texts.items()}
    total = sum(lines.values())
    return Sources(
        modules=len(texts),
        lines=total,
        median_function=statistics.median(sizes),
        p90_function=statistics.quantiles(sizes, n=10)[-1],
        comments_per_100_lines=_comment_rate(texts.values()),
        small_with_one_importer=sum(
            1 for name in texts if lines[name] <= 70 and sum(name in used for used in imports.values()) == 1
        ),
        deepest_imports=_deepest(imports),
    )


def _texts(package: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(package.rglob("*.py")):
        if not {*path.relative_to(package).parts} & {*LEFT_OUT}:
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path.read_text("utf-8")


def _sizes(tree: ast.Module) -> Iterator[int]:
    """Lines of each function without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = node.body[0] if ast.get_docstring(node) is not None else None
            described = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
            yield (node.end_lineno or node.lineno) - node.lineno + 1 - described


def _imports(tree: ast.Module, known: Mapping[str, object]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            below = (f"{node.module}.{each.name}" for each in node.names)
            found |= {each if each in known else node.module for each in below}
    return found & known.keys()


def files_of_changes(package: Path) -> dict[str, int]:
    """How many files hold what `MARKS` names of each kind of change."""
    texts = [
        path.read_text("utf-8")
        for path in package.rglob("*")
        if path.suffix in KINDS and not {*path.relative_to(package).parts} & {*LEFT_OUT, *NO_CODE}
    ]
    return {kind: sum(bool(re.search(mark, text)) for text in texts) for kind, mark in MARKS.items()}


def _comment_rate(texts: Iterable[str]) -> float:
    """Comments in 100 lines."""
    known = tuple(texts)
    return round(100 * sum(map(_comments, known)) / sum(text.count("\n") for text in known), 1)


def _comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and "noqa" not in token.string for token in tokens)


def _deepest(imports: Mapping[str, set[str]]) -> int:
    depths: dict[str, int] = {}

    def depth(name: str, above: frozenset[str]) -> int:
        if name not in depths:
            # Imports inside of functions may lead back.
            below = [depth(each, above | {name}) for each in sorted(imports[name] - above)]
            depths[name] = 1 + max(below, default=0)
        return depths[name]

    return max(depth(name, frozenset()) for name in sorted(imports))


@click.command()
@click.option("--root", default=".", type=click.Path(exists=True, file_okay=False), help="Another checkout.")
@click.option("--json", "as_json", is_flag=True, help="The figures as one JSON object.")
def main(root: str, as_json: bool) -> None:
    """Count what one step enters, and measure the shape of the package."""
    folder = Path(root).resolve()
    sys.path.insert(0, str(folder))
    package = folder / "cogworks"
    seen = walk(package)
    figures: dict[str, Any] = {
        "files_entered": len(seen.calls),
        "file_switches": seen.switches,
        "positions_computed": seen.positions,
        **asdict(sources(package)),
        "comments_in_hottest": _comment_rate(
            Path(file).read_text("utf-8") for file, _ in seen.calls.most_common(HOTTEST)
        ),
        **{kind.replace(" ", "_"): count for kind, count in files_of_changes(package).items()},
    }
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, value in figures.items():
        click.echo(
            f"{name.replace('_', ' '):26} {value:g}"
            if value != int(value)
            else f"{name.replace('_', ' '):26} {int(value)}"
        )


if __name__ == "__main__":
    main()

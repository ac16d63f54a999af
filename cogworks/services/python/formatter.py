"""Which formatter a repository uses, judged by its files and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.services.python.settings_files import PYPROJECT, RUFF_NAMES, read_toml, tool_table
from cogworks.vocabulary import Value

_PLACES = (
    ".pre-commit-config.yaml", "Makefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "scripts/check",
    "scripts/format", "scripts/lint",
)  # fmt: skip
_WORKFLOWS = ".github/workflows"
_USES = {
    "ruff": re.compile(r"\bruff[\"', ]+format\b|\bid: *ruff-format\b"),
    "black": re.compile(r"\bid: *black\b|\bblack +(?:--check\b|--diff\b|\.|src\b)|\bpsf/black\b"),
}


class Formatter(Value):
    """The formatter of a repository."""

    name: str
    """`ruff` or `black`."""
    place: str
    """The file that shows it."""


def used_formatter(root: Path) -> Formatter | None:
    """The formatter that the settings name, else the one that hooks, scripts or workflows call; None: none shows."""
    place = _with_ruff_format(root)
    if place is not None:
        return Formatter(name="ruff", place=place)
    tables = read_toml(root, PYPROJECT)
    if not isinstance(tables, str) and tool_table(tables, "black") is not None:
        return Formatter(name="black", place=PYPROJECT)
    for name, use in _USES.items():
        for path, text in _texts(root):
            if use.search(text):
                return Formatter(name=name, place=path)
    return None


def _with_ruff_format(root: Path) -> str | None:
    for place in RUFF_NAMES:
        tables = read_toml(root, place)
        if isinstance(tables, str):
            continue
        own = tool_table(tables, "ruff") if place == PYPROJECT else tables
        if own is not None and "format" in own:
            return place
    return None


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    folder = root / _WORKFLOWS
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    for place in (*_PLACES, *(f"{_WORKFLOWS}/{name}" for name in names if name.endswith((".yml", ".yaml")))):
        file = read_file(root, place)
        if file is not None:
            yield place, file.data.decode(errors="replace")

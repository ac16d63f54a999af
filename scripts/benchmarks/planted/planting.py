"""Ten bugs of differing kinds, each planted into one of two small libraries that work."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from cogworks.vocabulary import Value

_HERE = Path(__file__).parent
LIBRARIES = _HERE / "libraries"


class PlantedBug(Value):
    """A mistake at one place of a library."""

    kind: str
    library: str
    file: str
    symbol: str
    """The function that is wrong."""
    old: str
    """As it has to be; stands once in the file."""
    new: str
    """As it is."""
    tests: tuple[str, ...]
    """Exactly these fail with it; their names say nothing of the function."""


def planted_bugs() -> tuple[PlantedBug, ...]:
    """All of them."""
    told = tomllib.loads((_HERE / "bugs.toml").read_text("utf-8"))
    return tuple(PlantedBug(kind=kind, **bug) for kind, bug in told.items())


def library(name: str) -> dict[str, str]:
    """The files of a library that works: path -> text."""
    root = LIBRARIES / name
    files = (path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".toml"))
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in files}


def with_bug(bug: PlantedBug) -> dict[str, str]:
    """The files of its library with the bug."""
    files = library(bug.library)
    return {**files, bug.file: files[bug.file].replace(bug.old, bug.new)}


def lay_out(files: Mapping[str, str], folder: Path) -> Path:
    """The files below a new folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder

"""What a finished build left, and what it adds to the Python that runs the tests."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement

from cogworks.services.python.pythons import Interpreter

SITE, LAYER, PROGRAMS = "site", "layer", "bin"
"""Folders of a build: metadata, files that only the build makes, console programs."""


class Built(NamedTuple):
    """A finished build."""

    folder: Path
    sources: tuple[str, ...]
    """Folders of the repository that its modules are imported from; none: unknown."""
    requires: tuple[str, ...] = ()
    """What the metadata says of dependencies, extras as markers."""
    unplaced: tuple[str, ...] = ()
    """Modules whose sources lie nowhere below a folder of their name."""
    is_compiled: bool = False
    """Whether it holds what a compiler made, so that sources other than Python's count as well."""

    def added_to(self, interpreter: Interpreter) -> Interpreter:
        """The interpreter with what the build left."""
        notes = tuple(
            f"the build puts `{each}` together from other folders, so the tests cannot import it from their copy"
            for each in self.unplaced
        )
        return interpreter._replace(
            layers=(*interpreter.layers, self.folder / LAYER),
            paths=(*interpreter.paths, self.folder / SITE),
            sources=self.sources or None,
            programs=(self.folder / PROGRAMS, *interpreter.programs),
            notes=(*interpreter.notes, *notes),
        )

    def dependencies(self, extras: Iterable[str], python: str) -> tuple[str, ...]:
        """The requirements of the metadata that hold for a version of Python, those of some extras included.

        They come without what they hold under: an installer knows nothing of the extras of this project.
        """
        extra_names = ("", *extras)
        return tuple(each for text in self.requires if (each := _held(text, extra_names, python)))


def read_built(folder: Path, noted: Mapping[str, Any]) -> Built:
    """A build from what was noted when it was made."""
    sources, requires, unplaced = (
        tuple(str(each) for each in noted.get(key, ())) for key in ("sources", "requires", "unplaced")
    )
    return Built(folder, sources, requires, unplaced, bool(noted.get("compiled")))


def _held(text: str, extras: Iterable[str], python: str) -> str:
    """A requirement without its marker; empty: it does not hold."""
    here = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
    try:
        requirement = Requirement(text)
        marker, requirement.marker = requirement.marker, None
        holds = marker is None or any(marker.evaluate({**here, "extra": extra}) for extra in extras)
    except (InvalidRequirement, UndefinedEnvironmentName):
        return ""
    return str(requirement) if holds else ""

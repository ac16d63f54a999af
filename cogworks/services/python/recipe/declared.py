"""What a project declares of itself: its dependencies, and the extras and groups one may choose."""

from collections.abc import Mapping
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from cogworks.services.python.recipe.texts import canonical


class Option(NamedTuple):
    """An extra or a dependency group."""

    place: str
    """E.g. `pyproject.toml, extra 'dev'`."""
    lines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    """Other groups that belong to it."""
    files: tuple[str, ...] = ()
    """Requirements files that its lines stand in."""
    is_optional: bool = True
    """Of a group: whether its tool installs it only when asked to."""
    requires_python: str = ""
    """Of a group: the versions that uv installs it with, where the project says so."""

    def fits(self, python: str) -> bool:
        """Whether it may be installed with a version such as `3.12`."""
        try:
            return SpecifierSet(self.requires_python).contains(python, prereleases=True)
        except InvalidSpecifier:
            return True


class Declared(NamedTuple):
    """Everything, by kinds; names are normal."""

    name: str = ""
    requires_python: str = ""
    dependencies: tuple[tuple[str, str], ...] = ()
    """Place and requirement."""
    files: tuple[tuple[str, str], ...] = ()
    """Place, and the requirements file that dependencies stand in."""
    extras: Mapping[str, Option] = {}
    groups: Mapping[str, Option] = {}
    default_groups: tuple[str, ...] | None = None
    """Groups that uv installs without being asked to, where the project says which."""
    are_all_default: bool = False
    """Whether it says so of all of them, with one word."""
    for_tests: tuple[tuple[str, str], ...] = ()
    """Place and requirement of `tests_require`."""
    dynamic: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def with_more(self, other: "Declared") -> "Declared":
        """What another file of the same project adds; of what both say, this one counts."""
        return Declared(
            name=self.name or other.name,
            requires_python=self.requires_python or other.requires_python,
            dependencies=(*self.dependencies, *other.dependencies),
            files=(*self.files, *other.files),
            extras=_both(self.extras, other.extras),
            groups=_both(self.groups, other.groups),
            default_groups=self.default_groups if other.default_groups is None else other.default_groups,
            are_all_default=self.are_all_default or other.are_all_default,
            for_tests=(*self.for_tests, *other.for_tests),
            dynamic=self.dynamic or other.dynamic,
            left_out=(*self.left_out, *other.left_out),
        )


def option(kind: str, file: str, name: str, lines: tuple[str, ...], **more: object) -> Option:
    """One with its usual place.

    Args:
        kind: `extra` or `dependency group`.
    """
    return Option(f"{file}, {kind} {name!r}", lines, **more)  # type: ignore[arg-type]  # fields of `Option`, by their names


def _both(first: Mapping[str, Option], second: Mapping[str, Option]) -> dict[str, Option]:
    options = dict(first)
    for name, other in second.items():
        mine = options.get(name)
        if mine is None:
            options[name] = other
        else:
            options[name] = mine._replace(
                lines=(*mine.lines, *other.lines),
                files=(*mine.files, *other.files),
                includes=(*mine.includes, *other.includes),
                requires_python=mine.requires_python or other.requires_python,
            )
    return {canonical(name): value for name, value in options.items()}

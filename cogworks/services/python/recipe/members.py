"""Which distributions stand in the extras, groups and requirements files that one may choose."""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from cogworks.services.python.recipe.declared import Declared, Option
from cogworks.services.python.recipe.requirement_files import for_development, for_tests, purposes
from cogworks.services.python.recipe.texts import canonical, logical_lines


class Member(NamedTuple):
    """A distribution in one of them."""

    kind: Literal["extra", "group", "file"]
    name: str
    """Of the extra or group, or the path of the file."""
    distribution: str
    line: str
    """As it is written there."""
    place: str


def members_of(declared: Declared, files: Mapping[str, str], taken: Collection[str]) -> list[Member]:
    """All, but of the requirements files only those that were not taken anyway."""
    found: list[Member] = []
    for name, option in declared.extras.items():
        found += [Member("extra", name, *each, option.place) for each in _of_option(option, files)]
    for name, option in declared.groups.items():
        found += [Member("group", name, *each, option.place) for each in _of_option(option, files)]
    for path in purposes(files):
        if path not in taken:
            lines = (line for _, line in logical_lines(files[path]))
            found += [Member("file", path, *each, path) for each in _read(lines)]
    return found


def best(members: Collection[Member]) -> Member:
    """The one whose line is taken where several have it: for tests, then for development, then by name."""

    def rank(each: Member) -> tuple[int, str, str]:
        name = each.name if each.kind != "file" else each.name.rsplit("/", 1)[-1].split(".")[0]
        return (0 if for_tests([name]) else 1 if for_development([name]) else 2, each.kind, each.name)

    return min(members, key=rank)


def _of_option(option: Option, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from _read(option.lines)
    for path in option.files:
        yield from _read(line for _, line in logical_lines(files.get(path, "")))


def _read(lines: Collection[str] | Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        try:
            requirement = Requirement(line.split(" --")[0])
        except (InvalidRequirement, RecursionError):
            continue
        if not requirement.url:
            yield canonical(requirement.name), str(requirement)

"""Which files of a repository are lists of requirements, and which distributions stand in those that one may choose."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from cogworks.services.python.recipe.declared import Declared, Option
from cogworks.services.python.recipe.texts import canonical, logical_lines

_FOLDERS = "requirements|requirement|reqs|requires|deps|dependencies"
_STEM = r"(?:requirements|requirement|reqs|requires)"
_FILE = re.compile(
    rf"(?:{_STEM}(?:[-_.](?P<after>[\w-]+))?|(?P<before>[\w-]+)[-_.]{_STEM}|(?:{_FOLDERS})/(?:{_STEM}[-_.])?(?P<below>[\w-]+?)(?:[-_.]{_STEM})?"
    rf"|(?P<tests>tests?)/(?:{_STEM}(?:[-_.][\w-]+)?|requirements/[\w-]+))\.(?:txt|in|pip)"
)
_READ = re.compile(
    rf"(?:(?:{_FOLDERS}|tests?|\.github|ci|etc|tools)/)?(?:requirements/)?[\w.-]+\.(?:txt|in|pip)"
)
BASE = ("", "base", "main", "requirements", "common", "prod", "production", "runtime", "install", "core")
EXACT = ("test", "tests", "testing")
DEVELOPMENT = ("dev", "develop", "development", "devel", "dev-dependencies")
_FOR_TESTS = frozenset({"test", "tests", "testing", "unittest", "unittests", "pytest", "unit"})
_NOT = frozenset(
    [
        "integration",
        "e2e",
        "docs",
        "doc",
        "typing",
        "mypy",
        "lint",
        "perf",
        "bench",
        "benchmark",
        "benchmarks",
        "gpu",
        "slow",
        "extra",
        "min",
        "minimal",
        "oldest",
        "release",
        "style",
        "types",
        "system",
        "live",
    ]
)


def is_list(path: str) -> bool:
    """Whether a file may be a list of requirements, or what one refers to."""
    return _READ.fullmatch(path) is not None


def purposes(paths: Iterable[str]) -> dict[str, str]:
    """The requirements files, each with what it is for; empty: for the code. Of `a.in` and `a.txt` only the second counts."""
    all_paths = set(paths)
    purpose_by_path = {}
    for path in all_paths:
        stem, ending = posixpath.splitext(path)
        if ending == ".in" and f"{stem}.txt" in all_paths:
            continue
        if (match := _FILE.fullmatch(path)) is not None:
            purpose_by_path[path] = (
                next(filter(None, match.groupdict().values()), "").lower().replace("_", "-")
            )
    return purpose_by_path


def for_tests(names: Iterable[str]) -> list[str]:
    """Of some extras, groups or files, those that are named for tests: `test` and its like, else `unit-tests` and its like."""
    known = list(names)
    exact = [name for name in known if name in EXACT]
    return exact or [
        name for name in known if (words := set(re.split(r"[-_.]", name))) & _FOR_TESTS and not words & _NOT
    ]


def for_development(names: Iterable[str]) -> list[str]:
    """Those that hold what tests need as well, where nothing is there for tests alone."""
    return [name for name in names if name in DEVELOPMENT]


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
    members: list[Member] = []
    for name, option in declared.extras.items():
        members += [Member("extra", name, *each, option.place) for each in _of_option(option, files)]
    for name, option in declared.groups.items():
        members += [Member("group", name, *each, option.place) for each in _of_option(option, files)]
    for path in purposes(files):
        if path not in taken:
            lines = (line for _, line in logical_lines(files[path]))
            members += [Member("file", path, *each, path) for each in _read(lines)]
    return members


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

"""Which packages a repository's manifest asks for, for its code and its tests; read, never run."""

import configparser
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from cogworks.vocabulary import Value

TEST_GROUPS = ("test", "tests", "testing")
DEVELOPMENT = "dev"
"""Holds what tests need as well where nothing is there for tests alone."""
_FILE = re.compile(
    r"requirements([-_.](?P<after>[a-z]+))?\.txt|(?P<before>[a-z]+)[-_.]requirements\.txt|requirements/(?P<below>[a-z]+)\.txt"
)
_ALWAYS = ("base", "main")
_READ = re.compile(r"pyproject\.toml|setup\.(cfg|py)|(requirements/)?[\w.-]+\.txt")
_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--hash[ =]\S+")
_FILE_OPTION = re.compile(r"(?:(?P<included>-r|--requirement)|-c|--constraint)[ =]?\s*(?P<path>\S+)")
_OWN_PROJECT = re.compile(r"(-e|--editable)[ =]?\s*\.(\[.*\])?|\.(\[.*\])?")


class Manifest(Value):
    """What has to be installed, in an order that does not depend on the order of the files."""

    requirements: tuple[str, ...] = ()
    """Names with versions and markers, no addresses and no paths."""
    constraints: tuple[str, ...] = ()
    requires_python: str = ""
    left_out: tuple[str, ...] = ()
    """What could not be read or is not obeyed, each with its place."""


def is_manifest(path: str) -> bool:
    """Whether a file of the repository may say what is installed; includes what such files may refer to."""
    return _READ.fullmatch(path) is not None


def read_manifest(files: Mapping[str, str]) -> Manifest:
    """The requirements of the files: dependencies of the project, and those of its tests.

    Args:
        files: repository-relative path -> text, of every file that `is_manifest`.
    """
    found = _Found(files)
    if "pyproject.toml" in files:
        _read_pyproject(files["pyproject.toml"], found)
    if "setup.cfg" in files:
        _read_setup_cfg(files["setup.cfg"], found)
    for path in _requirements_files(files):
        found.read_file(path)
    if not found.requirements and "setup.py" in files:
        found.left_out.append("setup.py would have to be run to know what it asks for; use pyproject.toml")
    return Manifest(
        requirements=tuple(sorted(found.requirements)),
        constraints=tuple(sorted(found.constraints)),
        requires_python=found.requires_python,
        left_out=tuple(dict.fromkeys(found.left_out)),
    )


def place_for_tests(files: Mapping[str, str]) -> str:
    """Where one more package for the tests has to be named so that it is installed with all that is installed now.

    Args:
        files: as for `read_manifest`.
    """
    try:
        data = tomllib.loads(files.get("pyproject.toml", ""))
    except tomllib.TOMLDecodeError:
        data = {}
    groups = _named(_table(data, "dependency-groups"))
    extras = _named(_table(_table(data, "project"), "optional-dependencies"))
    purposes = _purposes(files)
    # A group for tests keeps one for development from being read, so a new one is only proposed where there is neither.
    for names in (TEST_GROUPS, (DEVELOPMENT,)):
        places = [f"`{name}` of `[dependency-groups]` in pyproject.toml" for name in names if name in groups]
        places += [
            f"`{name}` of `[project.optional-dependencies]` in pyproject.toml"
            for name in names
            if name in extras
        ]
        places += [path for path, purpose in sorted(purposes.items()) if purpose in names]
        if places:
            return places[0]
    return (
        "`test` of `[dependency-groups]` in pyproject.toml"
        if "pyproject.toml" in files
        else "requirements-test.txt"
    )


def _purposes(files: Iterable[str]) -> dict[str, str]:
    """The requirements files, each with what it is for; empty: for the code."""
    return {
        path: next(filter(None, match.groupdict().values()), "")
        for path in files
        if (match := _FILE.fullmatch(path))
    }


def _requirements_files(files: Iterable[str]) -> list[str]:
    """Those of the code and of its tests."""
    purposes = _purposes(files)
    wanted = {"", *_ALWAYS, *_for_tests(purposes.values())}
    return sorted(path for path, purpose in purposes.items() if purpose in wanted)


def _for_tests(names: Iterable[str]) -> list[str]:
    """Of some groups, those that tests need."""
    known = set(names)
    return [name for name in TEST_GROUPS if name in known] or [
        name for name in (DEVELOPMENT,) if name in known
    ]


class _Found:
    """Collects what one file after another says."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._seen: set[tuple[str, bool]] = set()
        self.requirements: set[str] = set()
        self.constraints: set[str] = set()
        self.requires_python = ""
        self.left_out: list[str] = []

    def add(self, place: str, text: str, *, is_constraint: bool = False) -> None:
        """Take a requirement, or say why not."""
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            self.left_out.append(f"{place}: {text!r} is no requirement: {str(error).splitlines()[0]}")
            return
        if requirement.url:
            self.left_out.append(f"{place}: {text!r} names an address; only the package index is asked")
            return
        (self.constraints if is_constraint else self.requirements).add(str(requirement))

    def read_file(self, path: str, *, is_constraint: bool = False) -> None:
        """Take the lines of a requirements file and of those it refers to, each once."""
        if (path, is_constraint) in self._seen:
            return
        self._seen.add((path, is_constraint))
        for number, line in _logical_lines(self._files[path]):
            self._read_line(path, f"{path}, line {number}", line, is_constraint=is_constraint)

    def refer(self, place: str, path: str, *, is_constraint: bool = False) -> None:
        """Take the file that is referred to, or say that it is not there."""
        if path in self._files:
            self.read_file(path, is_constraint=is_constraint)
        else:
            self.left_out.append(f"{place}: {path!r} is not among the requirements files that were read")

    def _read_line(self, path: str, place: str, line: str, *, is_constraint: bool) -> None:
        if (option := _FILE_OPTION.fullmatch(line)) is not None:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(path), option["path"]))
            self.refer(place, other, is_constraint=is_constraint or not option["included"])
        elif _OWN_PROJECT.fullmatch(line):
            # The project itself is on the path of its tests.
            return
        elif line.startswith("-"):
            self.left_out.append(f"{place}: the option {line.split(maxsplit=1)[0]!r} is not obeyed")
        else:
            self.add(place, line, is_constraint=is_constraint)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and hashes, continued ones joined, each with the number it begins at."""
    begun, kept = 0, ""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        begun = begun if kept else number
        bare = _COMMENT.sub("", line)
        if bare.endswith("\\"):
            kept += bare[:-1] + " "
            continue
        whole = _HASH.sub("", kept + bare).strip()
        kept = ""
        if whole:
            yield begun, whole
    if whole := _HASH.sub("", kept).strip():
        yield begun, whole


def _read_pyproject(text: str, found: _Found) -> None:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found.left_out.append(f"pyproject.toml is not TOML: {error}")
        return
    project = _table(data, "project")
    if isinstance(project.get("requires-python"), str):
        found.requires_python = project["requires-python"]
    _add_all("pyproject.toml, dependencies", project.get("dependencies", ()), found)
    _read_extras(project, found)
    _read_groups(_table(data, "dependency-groups"), found)
    if "dependencies" in _texts(project.get("dynamic")):
        _read_dynamic(_table(_table(_table(data, "tool"), "setuptools"), "dynamic"), found)
    if "dependencies" in _table(_table(data, "tool"), "poetry") and "dependencies" not in project:
        found.left_out.append("pyproject.toml: [tool.poetry] is not read; name dependencies in [project]")


def _read_extras(project: Mapping[str, Any], found: _Found) -> None:
    """The extras for tests, and those of the project's own that they ask for."""
    extras = _named(_table(project, "optional-dependencies"))
    own = canonicalize_name(str(project.get("name", "")))

    def included(extra: str) -> list[str]:
        return [name for text in _texts(extras.get(extra)) for name in _own_extras(text, own) or ()]

    for extra in _reached(extras, included):
        for text in _texts(extras.get(extra)):
            if _own_extras(text, own) is None:
                found.add(f"pyproject.toml, extra {extra!r}", text)


def _own_extras(text: str, own: str) -> list[str] | None:
    """The extras of the project itself that a requirement names; None: it is of another project."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    if not own or canonicalize_name(requirement.name) != own:
        return None
    return sorted(str(canonicalize_name(extra)) for extra in requirement.extras)


def _read_groups(declared: Mapping[str, Any], found: _Found) -> None:
    groups = _named(declared)

    def included(group: str) -> list[str]:
        entries = groups.get(group)
        tables = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
        return [str(canonicalize_name(str(each.get("include-group", "")))) for each in tables]

    for group in _reached(groups, included):
        _add_all(f"pyproject.toml, dependency group {group!r}", groups.get(group), found)


def _named(table: Mapping[str, Any]) -> dict[str, Any]:
    return {str(canonicalize_name(name)): value for name, value in table.items()}


def _reached(declared: Mapping[str, Any], included: Callable[[str], list[str]]) -> list[str]:
    """The groups that tests need and those they include, each once."""
    waiting, reached = _for_tests(declared), list[str]()
    while waiting:
        name = waiting.pop(0)
        if name not in reached:
            reached.append(name)
            waiting += included(name)
    return reached


def _read_dynamic(dynamic: Mapping[str, Any], found: _Found) -> None:
    """Dependencies that setuptools reads from files."""
    files = _table(dynamic, "dependencies").get("file", ())
    paths = [files] if isinstance(files, str) else _texts(files)
    for path in paths:
        found.refer("pyproject.toml, dynamic dependencies", path)
    if not paths:
        found.left_out.append("pyproject.toml: `dependencies` is dynamic, and only a build would tell them")


def _read_setup_cfg(text: str, found: _Found) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        found.left_out.append(f"setup.cfg cannot be read: {str(error).splitlines()[0]}")
        return
    found.requires_python = (
        found.requires_python or parser.get("options", "python_requires", fallback="").strip()
    )
    wanted = [("options", "install_requires"), ("options", "tests_require")]
    extras = "options.extras_require"
    wanted += [
        (extras, name) for name in _for_tests(parser.options(extras) if parser.has_section(extras) else ())
    ]
    for section, option in wanted:
        for _, line in _logical_lines(parser.get(section, option, fallback="")):
            if line.startswith("file:"):
                found.refer("setup.cfg", line.removeprefix("file:").strip())
            else:
                found.add(f"setup.cfg, {option}", line)


def _add_all(place: str, texts: Any, found: _Found) -> None:
    for text in _texts(texts):
        found.add(place, text)


def _texts(value: Any) -> list[str]:
    """The strings of a list, whatever somebody wrote there."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = data.get(key)
    return found if isinstance(found, dict) else {}

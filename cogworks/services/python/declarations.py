"""Which dependencies a repository declares, read from its manifests; nothing of it is run."""

import ast
import configparser
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Unread
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

MAX_INCLUDES = 20
_UNKNOWN = ("Pipfile", "environment.yml", "environment.yaml", "conda.yaml", "pixi.toml")
_FOR_DEVELOPMENT = ("dev", "test", "doc", "lint", "check", "type", "typing", "ci", "build")


class Declared(Value):
    """One dependency as a manifest declares it."""

    name: str
    """In its canonical spelling."""
    requirement: str
    """As the manifest writes it."""
    place: str
    """The manifest."""
    group: str = ""
    """The extra or group that it belongs to; empty: the code itself needs it."""

    @property
    def is_for_development(self) -> bool:
        """Whether users of the code do without it."""
        return any(word in self.group.lower() for word in _FOR_DEVELOPMENT)


class Declarations(Value):
    """All that the manifests of a repository declare."""

    places: tuple[str, ...] = ()
    """The manifests that were read."""
    declared: tuple[Declared, ...] = ()
    unread: tuple[Unread, ...] = ()
    """What could not be made sense of: there may be further dependencies."""


Entry = Declared | Unread
_Text = tuple[str, str]


def read_declarations(root: Path) -> Declarations:
    """The dependencies in `pyproject.toml`, `setup.cfg`, `setup.py` and `requirements*.txt`."""
    names = sorted(path.name for path in root.iterdir() if path.name.endswith(".txt"))
    requirements = [name for name in names if name.startswith("requirements")]
    places = [name for name in (*_READERS, *requirements) if (root / name).exists()]
    entries: list[Entry] = [
        Unread(artifact=name, reason="this service does not read such manifests")
        for name in _UNKNOWN
        if (root / name).exists()
    ]
    for place in places:
        file = read_file(root, place)
        if file is None:
            entries.append(Unread(artifact=place, reason="it is no regular file of the repository"))
            continue
        reader = _READERS.get(place)
        try:
            text = file.data.decode()
            entries += _requirements(root, place) if reader is None else reader(text, place)
        except (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error) as error:
            entries.append(Unread(artifact=place, reason=f"it cannot be read: {error}"))
    return Declarations(
        places=tuple(places),
        declared=tuple(each for each in entries if isinstance(each, Declared)),
        unread=tuple(each for each in entries if isinstance(each, Unread)),
    )


def declared(written: str, place: str, group: str = "") -> Entry:
    """One requirement as a dependency, or why it is none."""
    try:
        requirement = Requirement(written)
    except (InvalidRequirement, RecursionError) as error:
        return Unread(artifact=place, reason=f"{written!r} is no requirement: {str(error).splitlines()[0]}")
    return Declared(name=canonicalize_name(requirement.name), requirement=written, place=place, group=group)


def _pyproject(text: str, place: str) -> Iterator[Entry]:
    tables = tables_in(text)
    project = _table(tables, "project")
    yield from _each(project.get("dependencies"), place)
    for extra, requirements in _table(project, "optional-dependencies").items():
        yield from _each(requirements, place, extra)
    for group, requirements in _table(tables, "dependency-groups").items():
        yield from _each(requirements, place, group)
    yield from _each(_table(tables, "build-system").get("requires"), place, "build")
    yield from _poetry(_table(_table(tables, "tool"), "poetry"), place)
    if "dependencies" in str(project.get("dynamic", "")):
        # Requirements files of the usual names are read in any case; what else it takes over is unknown.
        yield Unread(artifact=place, reason="its dependencies are put together when it is built")


def _poetry(poetry: Mapping[str, Any], place: str) -> Iterator[Entry]:
    groups = {"": _table(poetry, "dependencies"), "dev": _table(poetry, "dev-dependencies")}
    for group, content in _table(poetry, "group").items():
        groups[group] = _table(content, "dependencies") if isinstance(content, Mapping) else {}
    for group, dependencies in groups.items():
        for name in dependencies:
            if name.lower() != "python":
                # Poetry's own signs for versions mean nothing to others; the name is what counts.
                yield declared(name, place, group)


def _setup_cfg(text: str, place: str) -> Iterator[Entry]:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    if parser.has_section("options"):
        for name in ("install_requires", "setup_requires", "tests_require"):
            group = "" if name == "install_requires" else name
            yield from _each(parser["options"].get(name, "").splitlines(), place, group)
    if parser.has_section("options.extras_require"):
        for extra, lines in parser["options.extras_require"].items():
            yield from _each(lines.splitlines(), place, extra)


def _setup_py(text: str, place: str) -> Iterator[Entry]:
    """Only what is written down in the call of `setup`: the file is never run."""
    for call in (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)):
        for keyword in call.keywords:
            if keyword.arg in ("install_requires", "extras_require", "tests_require"):
                yield from _literal(keyword, place)


def _literal(keyword: ast.keyword, place: str) -> Iterator[Entry]:
    try:
        value = ast.literal_eval(keyword.value)
    except (ValueError, TypeError, MemoryError, RecursionError):
        yield Unread(artifact=place, reason=f"`{keyword.arg}` is computed, and the file is not run")
        return
    groups = (
        value if isinstance(value, dict) else {"" if keyword.arg == "install_requires" else "test": value}
    )
    for group, requirements in groups.items():
        yield from _each(requirements, place, str(group))


_READERS: Mapping[str, Callable[[str, str], Iterator[Entry]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}


def _requirements(root: Path, first: str) -> Iterator[Entry]:
    """A requirements file and those it includes; options of pip, paths and addresses are passed over by name."""
    waiting, seen = [first], set[str]()
    group = posixpath.splitext(first)[0].removeprefix("requirements").strip("-_.")
    while waiting and len(seen) < MAX_INCLUDES:
        place = waiting.pop(0)
        file = read_file(root, place) if path_problem(place) is None else None
        seen.add(place)
        if file is None:
            yield Unread(artifact=place, reason="it is included and no regular file of the repository")
            continue
        for line in _lines(file.data.decode()):
            option, _, value = line.partition(" ")
            if option in ("-r", "--requirement"):
                included = posixpath.normpath(posixpath.join(posixpath.dirname(place), value.strip()))
                waiting += [] if included in seen else [included]
            elif not line.startswith("-"):
                yield declared(line, place, group)
            elif option in ("-e", "--editable") and not value.strip().startswith("."):
                yield Unread(artifact=place, reason=f"{line!r} names no distribution")


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        plain = line.split(" #", maxsplit=1)[0].split(" --", maxsplit=1)[0].strip()
        if plain and not plain.startswith("#"):
            yield plain


def _each(requirements: Any, place: str, group: str = "") -> Iterator[Entry]:
    items = requirements.splitlines() if isinstance(requirements, str) else requirements
    if items is None:
        return
    # A group of `pyproject.toml` may include another one, which is listed itself.
    if not isinstance(items, Sequence) or not all(isinstance(each, str | Mapping) for each in items):
        yield Unread(artifact=place, reason=f"{items!r} is no list of requirements")
        return
    for each in (each for each in items if isinstance(each, str)):
        if each.strip() and not each.strip().startswith("#"):
            yield declared(each.strip(), place, group)


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = tables.get(name)
    return table if isinstance(table, Mapping) else {}

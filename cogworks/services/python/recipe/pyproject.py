"""What `pyproject.toml` declares in the standard's own tables, and in those of setuptools, PDM, uv, flit and Poetry."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from cogworks.services.python.recipe.declared import Declared, Option, option
from cogworks.services.python.recipe.texts import canonical, named, one_or_more, strings, table, toml

_FILE = "pyproject.toml"
_SHORT = re.compile(r"(?P<sign>\^|~)(?!=)\s*(?P<version>\S+)")
_ADDRESSES = ("git", "url", "path", "file")


def poetry_of(poetry: Mapping[str, Any], *, beside_project: bool) -> Declared:
    """The table `[tool.poetry]`.

    Args:
        beside_project: whether `[project]` is there too; then only that says what the project depends on.
    """
    if not poetry:
        return Declared()
    notes: list[str] = []
    dependencies = table(poetry, "dependencies")
    required: dict[str, tuple[str, ...]] = {}
    optional: dict[str, tuple[str, ...]] = {}
    for name, value in {} if beside_project else dependencies.items():
        if name.lower() == "python":
            continue
        lines = tuple(_lines(name, value, "dependencies", notes))
        is_optional = isinstance(value, dict) and value.get("optional") is True
        (optional if is_optional else required)[canonical(name)] = lines
    return Declared(
        name=poetry["name"] if isinstance(poetry.get("name"), str) else "",
        requires_python="" if beside_project else _python(dependencies.get("python")),
        dependencies=tuple(
            (f"{_FILE}, [tool.poetry.dependencies]", line) for lines in required.values() for line in lines
        ),
        extras={
            name: option("extra", _FILE, name, tuple(_of_extra(members, {**required, **optional})))
            for name, members in named(table(poetry, "extras")).items()
        },
        groups=_poetry_groups(poetry, notes),
        left_out=tuple(notes),
    )


def translated(constraint: str) -> str:
    """A constraint of Poetry as a specifier of PEP 440; alternatives become the range around them.

    Raises:
        ValueError: it is none.
    """
    sets = [_conjunction(part) for part in constraint.split("||")] if "||" in constraint else None
    if sets is None:
        sets = [_conjunction(part) for part in re.split(r"\s*\|\s*", constraint)]
    if len(sets) == 1:
        return str(SpecifierSet(",".join(sets[0])))
    lower = [spec[2:] for part in sets for spec in part if spec.startswith((">=", "=="))]
    if len(lower) < len(sets):
        return ""
    first = min(map(Version, (each.removesuffix(".*") for each in lower)))
    upper = [spec[1:] for spec in sets[-1] if spec.startswith("<") and not spec.startswith("<=")]
    return str(SpecifierSet(f">={first}" + (f",<{upper[0]}" if upper else "")))


def _conjunction(text: str) -> list[str]:
    parts = re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!~^])", text.strip())
    translated_parts = [_one(part.strip()) for part in parts if part]
    return [each for part in translated_parts for each in part.split(",") if each]


def _one(part: str) -> str:
    if part in ("*", ""):
        return ""
    if (short := _SHORT.fullmatch(part)) is not None:
        version = Version(short["version"].removesuffix(".*"))
        return f">={version},<{_next(version, short['sign'])}"
    if part[0] in "<>=!~":
        return part if not re.match(r"=[^=]", part) else f"={part}"
    return f"=={part}"


def _next(version: Version, sign: str) -> str:
    """What a caret or a tilde ends before."""
    parts = list(version.release)
    if sign == "~":
        place = min(1, len(parts) - 1)
    else:
        place = next((at for at, each in enumerate(parts) if each), len(parts) - 1)
    return ".".join(map(str, [*parts[:place], parts[place] + 1]))


def _poetry_groups(poetry: Mapping[str, Any], notes: list[str]) -> dict[str, Option]:
    groups = {}
    if old := table(poetry, "dev-dependencies"):
        groups["dev"] = option("dependency group", _FILE, "dev", _all(old, "dev", notes), is_optional=False)
    for name, group in named(table(poetry, "group")).items():
        lines = _all(table(group, "dependencies"), name, notes)
        before = groups.get(name)
        groups[name] = option(
            "dependency group",
            _FILE,
            name,
            (*(before.lines if before else ()), *lines),
            includes=tuple(canonical(each) for each in strings(table(group).get("include-groups"))),
            is_optional=table(group).get("optional") is True,
        )
    return groups


def _all(declared: Mapping[str, Any], where: str, notes: list[str]) -> tuple[str, ...]:
    return tuple(line for name, value in declared.items() for line in _lines(name, value, where, notes))


def _of_extra(members: Any, lines: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for member in strings(members):
        bare = re.split(r"[\s\[<>=!~;(]", member, maxsplit=1)[0]
        yield from lines.get(canonical(bare), (member,))


def _lines(name: str, value: Any, where: str, notes: list[str]) -> Iterator[str]:
    place = f"{_FILE}, [tool.poetry] {where}"
    for each in value if isinstance(value, list) else [value]:
        about = {"version": each} if isinstance(each, str) else table({"": each}, "")
        if any(key in about for key in _ADDRESSES):
            notes.append(f"{place}: {name!r} names an address or a path; only the package index is asked")
            continue
        try:
            yield _line(name, about)
        except (ValueError, InvalidSpecifier, InvalidVersion, TypeError):
            notes.append(
                f"{place}: {name!r} has a version that cannot be read: {str(about.get('version'))[:80]!r}"
            )


def _line(name: str, about: Mapping[str, Any]) -> str:
    version = about.get("version", "*")
    extras = f"[{','.join(strings(about.get('extras')))}]" if strings(about.get("extras")) else ""
    markers = [f"({about['markers']})"] if isinstance(about.get("markers"), str) else []
    if isinstance(about.get("python"), str) and (specifier := translated(about["python"])):
        markers += [f"python_full_version {_spaced(each)}" for each in sorted(specifier.split(","))]
    return f"{name}{extras}{translated(version)}" + (f" ; {' and '.join(markers)}" if markers else "")


def _spaced(specifier: str) -> str:
    sign = re.match(r"[<>=!~]+", specifier)
    begun = sign.end() if sign else 0
    return f"{specifier[:begun]} '{specifier[begun:]}'"


def _python(value: Any) -> str:
    try:
        return translated(value) if isinstance(value, str) else ""
    except ValueError:
        return ""


FILE = "pyproject.toml"


def pyproject_of(text: str) -> Declared:
    """All of the file."""
    data, problem = toml(text)
    if problem:
        return Declared(left_out=(f"{FILE} is not TOML: {problem}",))
    project = table(data, "project")
    standard = Declared(
        name=_text(project.get("name")),
        requires_python=_text(project.get("requires-python")),
        dependencies=_placed("dependencies", project.get("dependencies")),
        extras={
            name: option("extra", FILE, name, strings(lines))
            for name, lines in named(table(project, "optional-dependencies")).items()
        },
        groups=_groups(data),
        default_groups=_default_groups(data),
        are_all_default=table(data, "tool", "uv").get("default-groups") == "all",
    )
    declared = standard.with_more(_dynamic(data)).with_more(_flit(data))
    return declared.with_more(poetry_of(table(data, "tool", "poetry"), beside_project=bool(project)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _placed(where: str, value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((f"{FILE}, {where}", each) for each in strings(value))


def _groups(data: Mapping[str, Any]) -> dict[str, Option]:
    """PEP 735, then what PDM and uv had before it."""
    tool = {**table(data, "tool", "pdm", "dev-dependencies")}
    if isinstance(uv := table(data, "tool", "uv").get("dev-dependencies"), list):
        tool["dev"] = [*uv, *strings(tool.get("dev"))]
    groups: dict[str, Option] = {}
    for name, entries in [*named(tool).items(), *named(table(data, "dependency-groups")).items()]:
        groups[name] = _group(name, entries, groups.get(name))
    for name, about in named(table(data, "tool", "uv", "dependency-groups")).items():
        if name in groups:
            groups[name] = groups[name]._replace(requires_python=_text(table(about).get("requires-python")))
    return groups


def _default_groups(data: Mapping[str, Any]) -> tuple[str, ...] | None:
    value = table(data, "tool", "uv").get("default-groups")
    if value == "all":
        return tuple(_groups(data))
    return tuple(canonical(each) for each in strings(value)) if isinstance(value, list) else None


def _group(name: str, entries: Any, before: Option | None) -> Option:
    tables = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    includes = tuple(
        canonical(each["include-group"]) for each in tables if isinstance(each.get("include-group"), str)
    )
    lines = (*(before.lines if before else ()), *strings(entries))
    return option("dependency group", FILE, name, lines, includes=includes, is_optional=False)


def _dynamic(data: Mapping[str, Any]) -> Declared:
    """What the build backend adds: setuptools reads files; what others add only a build says."""
    dynamic_fields = [
        each
        for each in strings(table(data, "project").get("dynamic"))
        if each in ("dependencies", "optional-dependencies", "requires-python")
    ]
    declared = table(data, "tool", "setuptools", "dynamic")
    files = one_or_more(table(declared, "dependencies").get("file"))
    extras = {
        name: Option(f"{FILE}, extra {name!r}", files=one_or_more(table(value).get("file")))
        for name, value in named(table(declared, "optional-dependencies")).items()
    }
    read = Declared(
        files=tuple((f"{FILE}, dynamic dependencies", path) for path in files)
        if "dependencies" in dynamic_fields
        else (),
        extras=extras if "optional-dependencies" in dynamic_fields else {},
    )
    read_fields = {*(["dependencies"] if files else []), *(["optional-dependencies"] if extras else [])}
    return read._replace(dynamic=tuple(each for each in dynamic_fields if each not in read_fields))


def _flit(data: Mapping[str, Any]) -> Declared:
    """The table that flit had before the standard."""
    metadata = table(data, "tool", "flit", "metadata")
    return Declared(
        name=_text(metadata.get("dist-name")) or _text(metadata.get("module")),
        requires_python=_text(metadata.get("requires-python")),
        dependencies=_placed("[tool.flit.metadata] requires", metadata.get("requires")),
        extras={
            name: option("extra", FILE, name, strings(lines))
            for name, lines in named(table(metadata, "requires-extra")).items()
        },
    )

"""What `[tool.poetry]` declares, with its versions in the words of the standard."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from cogworks.services.python.recipe.declared import Declared, Option, option
from cogworks.services.python.recipe.texts import canonical, named, strings, table

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
        groups=_groups(poetry, notes),
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


def _groups(poetry: Mapping[str, Any], notes: list[str]) -> dict[str, Option]:
    found = {}
    if old := table(poetry, "dev-dependencies"):
        found["dev"] = option("dependency group", _FILE, "dev", _all(old, "dev", notes), is_optional=False)
    for name, group in named(table(poetry, "group")).items():
        lines = _all(table(group, "dependencies"), name, notes)
        before = found.get(name)
        found[name] = option(
            "dependency group",
            _FILE,
            name,
            (*(before.lines if before else ()), *lines),
            includes=tuple(canonical(each) for each in strings(table(group).get("include-groups"))),
            is_optional=table(group).get("optional") is True,
        )
    return found


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
    if isinstance(about.get("python"), str) and (wanted := translated(about["python"])):
        markers += [f"python_full_version {_spaced(each)}" for each in sorted(wanted.split(","))]
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

"""What `pyproject.toml` declares in the standard's own tables, and in those of setuptools, PDM, uv and flit."""

from collections.abc import Mapping
from typing import Any

from cogworks.services.python.recipe.declared import Declared, Option, option
from cogworks.services.python.recipe.poetry import poetry_of
from cogworks.services.python.recipe.texts import canonical, named, one_or_more, strings, table, toml

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
    )
    found = standard.with_more(_dynamic(data)).with_more(_flit(data))
    return found.with_more(poetry_of(table(data, "tool", "poetry"), beside_project=bool(project)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _placed(where: str, value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((f"{FILE}, {where}", each) for each in strings(value))


def _groups(data: Mapping[str, Any]) -> dict[str, Option]:
    """PEP 735, then what PDM and uv had before it."""
    tool = {**table(data, "tool", "pdm", "dev-dependencies")}
    if isinstance(uv := table(data, "tool", "uv").get("dev-dependencies"), list):
        tool["dev"] = [*uv, *strings(tool.get("dev"))]
    found: dict[str, Option] = {}
    for name, entries in [*named(tool).items(), *named(table(data, "dependency-groups")).items()]:
        found[name] = _group(name, entries, found.get(name))
    return found


def _default_groups(data: Mapping[str, Any]) -> tuple[str, ...] | None:
    said = table(data, "tool", "uv").get("default-groups")
    if said == "all":
        return tuple(_groups(data))
    return tuple(canonical(each) for each in strings(said)) if isinstance(said, list) else None


def _group(name: str, entries: Any, before: Option | None) -> Option:
    tables = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    includes = tuple(
        canonical(each["include-group"]) for each in tables if isinstance(each.get("include-group"), str)
    )
    lines = (*(before.lines if before else ()), *strings(entries))
    return option("dependency group", FILE, name, lines, includes=includes, is_optional=False)


def _dynamic(data: Mapping[str, Any]) -> Declared:
    """What the build backend adds: setuptools reads files, of others only a build tells."""
    wanted = [
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
    found = Declared(
        files=tuple((f"{FILE}, dynamic dependencies", path) for path in files)
        if "dependencies" in wanted
        else (),
        extras=extras if "optional-dependencies" in wanted else {},
    )
    known = {*(["dependencies"] if files else []), *(["optional-dependencies"] if extras else [])}
    return found._replace(dynamic=tuple(each for each in wanted if each not in known))


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

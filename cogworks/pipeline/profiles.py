"""Which tools a node may use: the known tools, the built-in profiles, and how a profile is read from a table."""

import re
from collections.abc import Mapping
from typing import Literal

from cogworks.pipeline.elements import ScopeValue, ToolProfile
from cogworks.pipeline.tables import Shape, Table, meant, shown

_Kind = Literal["texts", "text", "integer", "boolean"]
_READ: Mapping[str, _Kind] = {
    "allowed_read_paths": "texts",
    "denied_read_paths": "texts",
    "max_file_size_bytes": "integer",
}
_WRITE: Mapping[str, _Kind] = {"allowed_write_paths": "texts", "denied_write_paths": "texts"}
_FIND: Mapping[str, _Kind] = {"allowed_search_paths": "texts"}
_GIT: Mapping[str, _Kind] = {"branch_pattern": "text", "allowed_commit_paths": "texts"}
_DOMAIN: Mapping[str, _Kind] = {"allowed_services": "texts", "allowed_methods": "texts"}
_SEARCH: Mapping[str, _Kind] = {"allowed_search_scope": "texts"}

TOOLS: Mapping[str, Mapping[str, _Kind]] = {
    "fs.read": _READ,
    "fs.list": _READ,
    "fs.write": _WRITE,
    "fs.create": _WRITE,
    "fs.delete": _WRITE,
    "fs.search": _FIND,
    "fs.glob": _FIND,
    "git.status": _GIT,
    "git.diff": _GIT,
    "git.commit": _GIT,
    "git.branch": _GIT,
    "git.log": _GIT,
    "domain.validate": _DOMAIN,
    "domain.simulate": _DOMAIN,
    "domain.normalise": _DOMAIN,
    "domain.review_rules": _DOMAIN,
    "domain.extract_interfaces": _DOMAIN,
    "shell.run_restricted": {
        "allowed_commands": "texts",
        "working_directory": "text",
        "max_execution_time_seconds": "integer",
        "network_access": "boolean",
    },
    "search.code": _SEARCH,
    "search.docs": _SEARCH,
    "net.fetch": {"allowed_urls": "texts", "max_response_size_bytes": "integer"},
}
"""tool -> its scope parameters and what kind of value each takes."""

_READING = ("fs.read", "fs.list", "search.code", "search.docs")
_WRITES: Mapping[str, ScopeValue] = {"allowed_write_paths": ("{{affected_modules}}/**",)}
_COMMITS: Mapping[str, ScopeValue] = {"branch_pattern": r"^cogworks/\d+/swi-\d+$"}

BUILT_IN_PROFILES: Mapping[str, ToolProfile] = {
    "reader": ToolProfile(tools=_READING),
    "generator": ToolProfile(
        tools=(
            *_READING,
            "fs.write",
            "fs.create",
            "fs.delete",
            "git.commit",
            "git.branch",
            "domain.*",
            "shell.run_restricted",
        ),
        scope={"fs.write": _WRITES, "fs.create": _WRITES, "fs.delete": _WRITES, "git.commit": _COMMITS},
    ),
    "reviewer": ToolProfile(tools=(*_READING, "domain.validate", "domain.review_rules", "domain.simulate")),
    "integrator": ToolProfile(tools=("git.status", "git.diff", "git.branch", "git.log", "fs.read")),
}
"""There without being declared; a file may redefine them."""
DEFAULT_PROFILE = "reader"

PROFILE_NAME = Shape(re.compile(r"[a-z][a-z0-9_-]{0,39}"), "a name of small letters, digits, '-' and '_'")
_TOOL_NAME = Shape(re.compile(r"[a-z_]+\.([a-z_]+|\*)"), "a tool such as fs.read, or domain.*")
_VARIABLE = re.compile(r"\{\{([^{}]*)\}\}")
_VARIABLE_NAME = re.compile(r"\s*[a-z_][a-z0-9_]*(\.[a-z0-9_]+)*\s*")


def read_profile(table: Table, warnings: list[str]) -> ToolProfile:
    """The profile a `[tool_profiles.<name>]` table declares; an unknown tool is a warning and is dropped."""
    table.need("tools")
    named = table.texts("tools", _TOOL_NAME)
    warnings.extend(
        f"{table.where}: `tools` holds {tool!r}, which is no tool{meant(tool, TOOLS)}; dropped"
        for tool in named
        if not _covered(tool)
    )
    tools = tuple(tool for tool in named if _covered(tool))
    scope = table.table("scope")
    table.close()
    return ToolProfile(tools=tools, scope={} if scope is None else read_scopes(scope, tools))


def read_scopes(table: Table, tools: tuple[str, ...]) -> dict[str, dict[str, ScopeValue]]:
    """Scope values per tool; every tool must be one of `tools` and every parameter one of the tool's own."""
    covered = [tool for tool in TOOLS if allows(tools, tool)]
    scopes: dict[str, dict[str, ScopeValue]] = {}
    for tool in table.data:
        if tool not in covered:
            table.problems.append(
                f"{table.where}: {shown(tool)} is not a tool of this profile{meant(tool, covered)}"
            )
        elif (values := table.table(tool)) is not None:
            scopes[tool] = _read_scope(values, tool)
    return scopes


def allows(tools: tuple[str, ...], tool: str) -> bool:
    """Whether a profile's list names the tool, by name or as `<category>.*`."""
    return tool in tools or f"{tool.partition('.')[0]}.*" in tools


def _covered(pattern: str) -> bool:
    category, _, name = pattern.partition(".")
    return pattern in TOOLS or (name == "*" and any(tool.startswith(f"{category}.") for tool in TOOLS))


def _read_scope(table: Table, tool: str) -> dict[str, ScopeValue]:
    values: dict[str, ScopeValue] = {}
    for parameter, kind in TOOLS[tool].items():
        value = _read_value(table, parameter, kind)
        if value is not None:
            values[parameter] = value
            _check_variables(table, parameter, value)
    pattern = values.get("branch_pattern")
    if isinstance(pattern, str):
        _check_pattern(table, pattern)
    table.close()
    return values


def _read_value(table: Table, parameter: str, kind: _Kind) -> ScopeValue | None:
    match kind:
        case "texts":
            texts = table.texts(parameter)
            return texts if parameter in table else None
        case "text":
            return table.text(parameter)
        case "integer":
            return table.integer(parameter, minimum=0, maximum=10**12)
        case "boolean":
            return table.boolean(parameter)


def _check_variables(table: Table, parameter: str, value: ScopeValue) -> None:
    for text in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
        names = _VARIABLE.findall(text)
        rest = _VARIABLE.sub("", text)
        if "{{" in rest or "}}" in rest or not all(_VARIABLE_NAME.fullmatch(name) for name in names):
            table.refuse(parameter, f"holds {shown(text)}, wanted variables written as {{{{name}}}}")
        if ".." in text.split("/"):
            table.refuse(parameter, f"holds {shown(text)}, which leaves the repository by '..'")


def _check_pattern(table: Table, pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        table.refuse("branch_pattern", f"is not a regular expression: {error}")

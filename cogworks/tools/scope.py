"""How far a call may reach: the paths in its input against the scope that a policy gives the tool."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from cogworks.tools.schemas import Schema

ALLOWED, DENIED = "allowed_paths", "denied_paths"


def scope_problems(given: Mapping[str, Any], schema: Schema, scope: Mapping[str, Any]) -> tuple[str, ...]:
    """Why paths of an input lie outside: every key whose schema says `format = "path"`, alone or in a list.

    A path is relative to the repository, never leads out of it or into `.git`, fits one of the scope's `allowed_paths`
    where there are any, and none of its `denied_paths`.
    """
    problems = []
    for key, path in _paths(given, schema):
        if reason := _reason(path, scope):
            problems.append(f"$.{key}: {reason}")
    return tuple(problems)


def _paths(given: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, str]]:
    for key, part in sorted(schema.get("properties", {}).items()):
        if key not in given or not isinstance(part, Mapping):
            continue
        if part.get("format") == "path" and isinstance(given[key], str):
            yield key, given[key]
        items = part.get("items")
        if isinstance(items, Mapping) and items.get("format") == "path" and isinstance(given[key], list):
            for number, each in enumerate(given[key]):
                if isinstance(each, str):
                    yield f"{key}[{number}]", each


def _reason(path: str, scope: Mapping[str, Any]) -> str | None:
    parts = path.split("/")
    # Also `src/./x` and `src//x`: one file has one name, or a pattern could be walked around.
    if "\\" in path or "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        return "a path has to be relative to the repository, in its plain form, and stay in it"
    if ".git" in (part.casefold() for part in parts):
        return "the path leads into .git, which no tool may touch"
    if any(fnmatchcase(path, pattern) for pattern in scope.get(DENIED, ())):
        return f"the path is among the scope's `{DENIED}`"
    if ALLOWED in scope and not any(fnmatchcase(path, pattern) for pattern in scope[ALLOWED]):
        return f"the path is not among the scope's `{ALLOWED}`"
    return None

"""Does a value fit a JSON Schema, and where exactly does it not?

How far a call may reach: the paths in its input against the scope that a policy gives the tool.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jsonschema

Schema = Mapping[str, Any]
MAX_PROBLEMS = 20
_MAX_SHOWN_CHARS = 80
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def schema_problem(schema: Schema) -> str | None:
    """Why a document is not a schema that can be used here, None when it is one."""
    if (path := _reference(schema, "$")) is not None:
        # A reference can lead to the network or into a circle.
        return f"{path} is a reference; write that part of the schema out"
    text = _text_of(schema)
    return _unusable(schema) if text is None else _known_unusable(text)


def _text_of(schema: Schema) -> str | None:
    """What stands for it, whole; None: nothing does."""
    with suppress(TypeError, ValueError, RecursionError):
        text = json.dumps(schema)
        return text if json.loads(text) == schema else None
    return None


@lru_cache(maxsize=512)
def _known_unusable(text: str) -> str | None:
    """Many tools have the same schemas, and all runs the same tools."""
    return _unusable(json.loads(text))


def _unusable(schema: Schema) -> str | None:
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        return f"{error.json_path} {error.message}"
    return None


def misfits(value: object, schema: Schema) -> tuple[str, ...]:
    """Where a value does not fit, in the order of its fields: the path, what is wanted, what is there.

    No text of the value is repeated: it may be a secret. True and false are no integers.
    """
    import jsonschema

    errors = jsonschema.Draft202012Validator(dict(schema)).iter_errors(value)
    problems = sorted({_description(error) for error in errors})
    more = len(problems) - MAX_PROBLEMS
    return (*problems[:MAX_PROBLEMS], f"and {more} more") if more > 0 else tuple(problems)


def fields(schema: Schema) -> frozenset[str]:
    """The keys that an object of the schema may have by name."""
    return frozenset(schema.get("properties", {}))


def required(schema: Schema) -> frozenset[str]:
    """The keys that an object of the schema must have."""
    return frozenset(schema.get("required", ()))


def without(schema: Schema, names: Collection[str]) -> dict[str, Any]:
    """The schema as it holds for objects whose keys `names` are not known yet."""
    less = dict(schema)
    if "required" in less:
        less["required"] = [name for name in less["required"] if name not in names]
    if "allOf" in less:
        less["allOf"] = [without(part, names) for part in less["allOf"]]
    return less


def both(first: Schema | None, second: Schema | None) -> dict[str, Any] | None:
    """What fits both; a schema that is not there refuses nothing."""
    schemas = [dict(each) for each in (first, second) if each is not None]
    return {"allOf": schemas} if len(schemas) > 1 else next(iter(schemas), None)


def _description(error: "jsonschema.ValidationError") -> str:
    path = error.json_path
    match error.validator:
        case "required":
            # The message alone knows which of the required keys it is about.
            return f"{path}: {error.message.partition(' ')[0]} is wanted and missing"
        case "additionalProperties" | "unevaluatedProperties":
            schema = error.schema if isinstance(error.schema, Mapping) else {}
            known = ", ".join(sorted(fields(schema))) or "none"
            return f"{path}: has a key that is not known; known are {known}"
        case "type":
            return f"{path}: wanted {_shown(error.validator_value)}, got {_kind(error.instance)}"
        case _:
            wanted = f"{error.validator} {_shown(error.validator_value)}"
            return f"{path}: wanted {wanted}, got {_kind(error.instance)}"


def _shown(wanted: object) -> str:
    text = str(wanted)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean {str(value).lower()}"
        case int() | float():
            return f"number {_shown(value)}"
        case str():
            return f"string of {len(value)} characters"
        case Mapping():
            return f"object with {len(value)} keys"
        case _:
            return "array" if isinstance(value, Sequence) else type(value).__name__


def _reference(part: object, path: str) -> str | None:
    return next(_references(part, path), None)


def _references(part: object, path: str) -> Iterator[str]:
    if isinstance(part, Mapping):
        for key, value in part.items():
            if key in _REFERENCES:
                yield f"{path}.{key}"
            yield from _references(value, f"{path}.{key}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from _references(value, f"{path}[{number}]")


ALLOWED, DENIED = "allowed_paths", "denied_paths"


def scope_problems(
    parameters: Mapping[str, Any], schema: Schema, scope: Mapping[str, Any]
) -> tuple[str, ...]:
    """Why paths of an input lie outside: every key whose schema says `format = "path"`, alone or in a list.

    A path is relative to the repository, never leads out of it or into `.git`, fits one of the scope's `allowed_paths`
    where there are any, and none of its `denied_paths`.
    """
    problems = []
    for key, path in _paths(parameters, schema):
        if reason := _reason(path, scope):
            problems.append(f"$.{key}: {reason}")
    return tuple(problems)


def _paths(parameters: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, str]]:
    for key, part in sorted(schema.get("properties", {}).items()):
        if key not in parameters or not isinstance(part, Mapping):
            continue
        if part.get("format") == "path" and isinstance(parameters[key], str):
            yield key, parameters[key]
        items = part.get("items")
        if isinstance(items, Mapping) and items.get("format") == "path" and isinstance(parameters[key], list):
            for number, each in enumerate(parameters[key]):
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

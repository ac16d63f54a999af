"""Does a reply fit what was asked for, and what exactly is wrong with it?"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar

import jsonschema
from pydantic import BaseModel, ValidationError

from cogworks.canonical import canonical_text

MAX_PROBLEMS = 20
"""So many are told to the model at once; a reply with more is wrong in kind, not in detail."""
MAX_PROBLEM_CHARS = 300

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True)
class Fits(Generic[Reply]):
    """The typed reply."""

    value: Reply


@dataclass(frozen=True)
class Misfits:
    """Every problem found, in the reply's own order, each one line."""

    problems: tuple[str, ...]


def read_reply(text: str, schema: Mapping[str, Any], reply_type: type[Reply]) -> Fits[Reply] | Misfits:
    """Check a reply against its JSON Schema first, then against the typed model. Never raises."""
    try:
        value = parse_json(text)
    except ValueError as error:
        return Misfits((f"the reply is not one JSON value: {error}",))
    problems = schema_problems(value, schema)
    if problems:
        return Misfits(problems)
    try:
        return Fits(reply_type.model_validate_json(text))
    except ValidationError as error:
        return Misfits(_limited(_model_problems(error)))


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises: ValueError when it is not JSON, holds NaN, an infinity or half a surrogate pair, names a key twice
    or is nested too deeply to read.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
        canonical_text(value).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half a surrogate pair, which is no character") from None
    return value


def schema_problems(value: object, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a value does not fit a JSON Schema, in the order of the value's fields; empty when it fits."""
    validator = jsonschema.Draft202012Validator(schema)
    found = sorted(
        validator.iter_errors(value), key=lambda error: [str(step) for step in error.absolute_path]
    )
    return _limited(f"{error.json_path}: {error.message}" for error in found)


def _model_problems(error: ValidationError) -> Iterable[str]:
    for each in error.errors(include_url=False, include_context=False):
        yield f"{_json_path(each['loc'])}: {each['msg']}"


def _json_path(steps: Iterable[int | str]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def _limited(problems: Iterable[str]) -> tuple[str, ...]:
    listed = [" ".join(problem.split()) for problem in problems]
    short = [line if len(line) <= MAX_PROBLEM_CHARS else f"{line[:MAX_PROBLEM_CHARS]}…" for line in listed]
    more = len(short) - MAX_PROBLEMS
    return (*short[:MAX_PROBLEMS], f"and {more} more") if more > 0 else tuple(short)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"key {twice[0]!r} stands twice in one object")
    return found

"""How a TOML file below `.cogworks` becomes one value, with every problem named by its key."""

import difflib
import tomllib
from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from cogworks.errors import ConfigurationError
from cogworks.toml_text import tables_in
from cogworks.vocabulary import Value

Declared = TypeVar("Declared", bound=Value)


def read_declaration(text: str, kind: type[Declared], *, source: str) -> Declared:
    """The value that a file declares.

    Raises:
        ConfigurationError: every problem at once.
    """
    try:
        data = tables_in(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"not TOML: {error}"]) from None
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(source, [_problem(dict(each), kind) for each in error.errors()]) from None


def _problem(found: dict[str, Any], kind: type[BaseModel]) -> str:
    place = ".".join(str(part) for part in found["loc"])
    match found["type"]:
        case "extra_forbidden":
            known = _known(kind, found["loc"])
            close = difflib.get_close_matches(str(found["loc"][-1]), known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known)}"
            return f"`{place}` is not a key cogworks knows; {hint}"
        case "missing":
            return f"`{place}` is missing"
        case "value_error":
            reason = found["msg"].removeprefix("Value error, ")
            return f"`{place}`: {reason}" if place else reason
        case _:
            return f"`{place}` is {found['input']!r}: {found['msg']}"


def _known(kind: type[BaseModel], place: tuple[Any, ...]) -> list[str]:
    models = [kind]
    if len(place) > 1 and (field := kind.model_fields.get(str(place[0]))):
        # A table of tables, e.g. `tools.<name>`.
        models = list(_models(field.annotation)) or models
    return sorted(models[0].model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)

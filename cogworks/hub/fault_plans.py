"""A fault plan as text: TOML from a file, JSON from the admin endpoint; every problem is reported at once."""

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from cogworks.errors import ConfigurationError
from cogworks.hub.faults import FaultPlan, Rule


def plan_from_toml(text: str, *, source: str) -> FaultPlan:
    """The plan of a file with `[[fault]]` tables.

    Raises:
        ConfigurationError: everything that is wrong with it, by table and key.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(source, [f"it is no TOML: {error}"]) from error
    return plan_from_object(found, source=source, name="fault")


def plan_from_object(found: Any, *, source: str, name: str = "faults") -> FaultPlan:
    """The plan of `{name: [rule, …]}`. Raises `ConfigurationError` as `plan_from_toml`."""
    if not isinstance(found, Mapping):
        raise ConfigurationError(source, [f"wanted an object with {name!r}, found {type(found).__name__}"])
    problems = [f"{key}: there is only {name!r}" for key in found if key != name]
    tables = found.get(name, [])
    if not isinstance(tables, list):
        problems.append(f"{name}: wanted a list of tables, found {type(tables).__name__}")
        tables = []
    rules: list[Rule] = []
    for number, table in enumerate(tables, start=1):
        try:
            rules.append(Rule.model_validate(table))
        except ValidationError as error:
            problems += [_problem(f"{name} {number}", each) for each in error.errors()]
    if problems:
        raise ConfigurationError(source, problems)
    return FaultPlan(faults=tuple(rules))


def _problem(where: str, error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = f"there is no such key; there are {', '.join(sorted(Rule.model_fields))}"
    return f"{where}{', ' + place if place else ''}: {message}"

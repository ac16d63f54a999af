"""The recipe as configuration: a block of TOML that comes to the same when it is written."""

import shlex
from typing import Any

import tomli_w

from cogworks.services.python.recipe.result import Recipe

_WIDTH = 100


def configuration(recipe: Recipe) -> str:
    """For `.cogworks/config.toml`; the comments say where each choice comes from."""
    environment: dict[str, Any] = {
        "extras": list(recipe.extras),
        "groups": list(recipe.groups),
        "requirements": list(recipe.files),
    }
    if recipe.packages:
        environment["packages"] = list(recipe.packages)
    if recipe.python:
        environment["python"] = recipe.python
    if recipe.variables:
        environment["variables"] = dict(sorted(recipe.variables.items()))
    document: dict[str, Any] = {"environment": environment}
    if recipe.command:
        document["tests"] = {"command": shlex.join(recipe.command)}
    return "".join(f"# {line}\n" for line in _comments(recipe)) + tomli_w.dumps(document)


def _comments(recipe: Recipe) -> list[str]:
    told = [
        " ".join(f"{each.what}: {each.source or 'a default'} ({each.why})".split()) for each in recipe.choices
    ]
    return [line[: _WIDTH * 2] for line in told]

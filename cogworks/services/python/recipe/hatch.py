"""What Hatch's settings say about the environment of the tests."""

import re
from collections.abc import Mapping
from typing import Any

from cogworks.services.python.recipe.commands import pip_needs, script_needs
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.texts import canonical, one_or_more, strings, table, toml

_ENVIRONMENTS = ("hatch-test", "test", "tests", "testing", "pytest", "dev", "default")
_SCRIPTS = ("test", "tests", "run", "pytest", "unit", "test-cov", "cov", "all")
_DEEPEST = 4


def hatch_asked(files: Mapping[str, str]) -> Asked | None:
    """What the environment of the tests needs; None: Hatch's settings say nothing of tests."""
    if "hatch.toml" in files:
        place, environments = "hatch.toml [envs", table(toml(files["hatch.toml"])[0], "envs")
    else:
        data = toml(files.get("pyproject.toml", ""))[0]
        place, environments = "pyproject.toml [tool.hatch.envs", table(data, "tool", "hatch", "envs")
    for name in _ENVIRONMENTS:
        if not table(environments, name):
            continue
        needs = _of(environments, name)
        mentions = any("pytest" in each for each in needs.requirements)
        if name in _ENVIRONMENTS[:5] or needs.runner or mentions:
            update = {"source": f"{place}.{name}]", "why": f"Hatch's environment {name!r} runs the tests"}
            return needs.model_copy(update=update)
    return None


def _of(environments: Mapping[str, Any], name: str, depth: int = 0) -> Asked:
    options = table(environments, name)
    needs = Asked(
        extras=tuple(canonical(each) for each in strings(options.get("features"))),
        groups=tuple(canonical(each) for each in strings(options.get("dependency-groups"))),
        variables={
            key: value
            for key, value in table(options, "env-vars").items()
            if isinstance(value, str) and "{" not in value
        },
    )
    for key in ("dependencies", "extra-dependencies"):
        for line in strings(options.get(key)):
            needs = needs.joined(pip_needs([line]))
    if name == "hatch-test":
        # It runs pytest by itself, and has more than pytest without being asked.
        needs = needs.joined(Asked(requirements=("pytest-mock",), runner="pytest"))
    scripts = table(options, "scripts")
    script = next((each for each in _SCRIPTS if each in scripts), "")
    if script:
        needs = needs.joined(_runs(scripts, script))
    template = options.get("template", "default" if name not in ("default", "hatch-test") else "")
    if isinstance(template, str) and template not in ("", name) and depth < _DEEPEST:
        needs = needs.joined(_of(environments, template, depth + 1))
    return needs


def _runs(scripts: Mapping[str, Any], name: str, depth: int = 0) -> Asked:
    """How a script runs tests; one may name another."""
    for line in one_or_more(scripts.get(name)):
        plain = re.sub(r"\{args(?::([^{}]*))?\}", lambda match: match[1] or "", line)
        asked = script_needs(plain)
        if asked.runner:
            return Asked(
                runner=asked.runner, command=asked.command, paths=asked.paths, variables=asked.variables
            )
        first = plain.split()[:1]
        if first and first[0] in scripts and first[0] != name and depth < _DEEPEST:
            return _runs(scripts, first[0], depth + 1)
    return Asked()

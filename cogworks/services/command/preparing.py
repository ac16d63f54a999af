"""The operation `prepare`: says which commands were chosen and why, and refuses where a program of theirs is missing."""

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import MappingProxyType

from cogworks.domain_services.checking import Choice, Prepared, PrepareParams
from cogworks.domain_services.messages import Request, Response
from cogworks.services.answers import answered
from cogworks.services.command.ground import (
    CONFIGURED,
    Ground,
    Machine,
    NotReady,
    ground_of,
    refuse_missing,
    text_at,
    with_words,
)
from cogworks.services.command.provision import Provision, provided
from cogworks.services.command.rooms import hints_about, open_room
from cogworks.services.sandbox.isolation import refusal
from cogworks.services.setup.setups import SCRIPT

_KEYED = (
    "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock",
    "pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile", "Gemfile.lock",
    "composer.json", "composer.lock",
)  # fmt: skip
_CONFIGURED = "[tests] command"
"""Where a command of the user's stands."""
_REPORTED = MappingProxyType(
    {"node-test": "a line for each test, by a reporter of ours in the form of node's own"}
)
"""Format whose name says little -> what it is elsewhere."""


def prepare(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = PrepareParams.model_validate(request.params)
    plain = ground_of(request, folder, machine)
    ground = with_words(plain, params.command)
    if (reason := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        raise NotReady(reason)
    # Before the long setup: what that cannot bring.
    refuse_missing(plain, brought=plain.recipe.manager.program)
    hints = partial(hints_about, ground, machine)
    with provided(request, ground, machine, limit_s=params.timeout_s, hints=hints) as provision:
        refuse_missing(plain, brought=provision.setup.brings)
        with open_room(ground, provision, machine) as room:
            room.run(":", machine, timeout_s=params.timeout_s)
            versions = room.versions()
        result = _prepared(ground, plain, provision, versions)
    return answered(request, (), result.model_dump(mode="json"), counts={}, versions=versions)


def _prepared(ground: Ground, plain: Ground, provision: Provision, versions: dict[str, str]) -> Prepared:
    recipe = ground.recipe
    tools = ", ".join(f"{tool} {version}" for tool, version in versions.items())
    content = [f"{name}\0{text_at(ground.place, name)}" for name in _KEYED]
    key = json.dumps([recipe, content, sorted(versions.items()), provision.key, provision.variables])
    return Prepared(
        described=f"{recipe.runner or 'nothing'} on this machine{f' with {tools}' if tools else ''}",
        key=hashlib.sha256(key.encode()).hexdigest(),
        choices=tuple(_choices(ground, plain, provision)),
        command=("/bin/sh", "-c", recipe.test) if recipe.test else (),
        runner=recipe.runner,
        # Beside a command of the user's nothing that the manifests say of the tests counts.
        configuration=_configuration(ground, provision) if ground is plain else "",
        notes=(*recipe.notes, *provision.notes),
        # Without setup everything was on this machine before.
        is_reused=provision.is_reused,
        seconds=provision.seconds,
        disk_bytes=provision.disk_bytes,
    )


def _choices(ground: Ground, plain: Ground, provision: Provision) -> Iterator[Choice]:
    """Args:
    plain: without a command of the user's.
    """
    recipe = ground.recipe
    setup_source = provision.setup.source
    source = plain.outward(setup_source) if plain.recipe.source.startswith(setup_source) else setup_source
    for number, line in enumerate(provision.setup.lines):
        yield Choice(what=f"setup `{line}`", source=source, why="" if number else provision.setup.why)
    if provision.setup.script.strip():
        yield Choice(what="setup", source=SCRIPT)
    test_source = plain.source if ground is plain else _CONFIGURED
    if recipe.test:
        yield Choice(what=f"test `{recipe.test}`", source=test_source)
    for name in ("lint", "format"):
        if line := getattr(recipe, name):
            yield Choice(what=f"{name} `{line}`", source=plain.source.partition(",")[0])
    why = "" if recipe.language == "typescript" else _REPORTED.get(recipe.report, "")
    yield Choice(what=f"report `{recipe.report}`", source=test_source, why=why)


def _configuration(ground: Ground, provision: Provision) -> str:
    recipe = ground.recipe
    if not recipe.test or recipe.source == CONFIGURED:
        return ""
    lines = [
        "[[services]]",
        f'name = "{recipe.language or "tests"}"',
        'kind = "command"',
    ]
    lines += [f"language = {json.dumps(recipe.language)}"] if recipe.language else []
    if ground.root:
        lines.append(f"root = {json.dumps(ground.root)}")
    # One that does not run here (packages are there, or no registry has them) is not to be written down.
    if recipe.setup and provision.setup.lines == recipe.setup:
        lines.append(f"setup = {json.dumps(list(recipe.setup))}")
    for name in ("test", "lint", "format", "report", "report_file"):
        if value := getattr(recipe, name):
            lines.append(f"{name} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"

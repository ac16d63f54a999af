"""The operation `prepare`: tell which commands were chosen and why, and refuse where a program of theirs is missing."""

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

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
)
from cogworks.services.command.provision import Provision, provided
from cogworks.services.command.rooms import open_room
from cogworks.services.command.toolchains import ASKING, too_old
from cogworks.services.sandbox.isolation import refusal
from cogworks.services.setup.setups import SCRIPT

_KEYED = (
    "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock",
    "pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile", "Gemfile.lock",
    "composer.json", "composer.lock",
)  # fmt: skip
_VERSIONS_S = 60.0
"""How long programs may take to say their versions."""


def prepare(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = PrepareParams.model_validate(request.params)
    ground = ground_of(request, folder, machine)
    if (reason := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        raise NotReady(reason)
    refuse_missing(ground)
    old = partial(_too_old, ground, machine)
    with provided(request, ground, machine, limit_s=params.timeout_s, too_old=old) as provision:
        with open_room(ground, provision, machine) as room:
            room.run(":", machine, timeout_s=params.timeout_s)
            versions = room.versions()
        result = _prepared(ground, provision, versions)
    return answered(request, (), result.model_dump(mode="json"), counts={}, versions=versions)


def _too_old(ground: Ground, machine: Machine) -> tuple[str, ...]:
    with open_room(ground, Provision(), machine) as room:
        room.run(":", machine, timeout_s=_VERSIONS_S)
        return too_old({name: text_at(ground.place, name) for name in ASKING}, room.versions())


def _prepared(ground: Ground, provision: Provision, versions: dict[str, str]) -> Prepared:
    recipe = ground.recipe
    tools = ", ".join(f"{tool} {version}" for tool, version in versions.items())
    content = [f"{name}\0{text_at(ground.place, name)}" for name in _KEYED]
    key = json.dumps([recipe, content, sorted(versions.items()), provision.key, provision.variables])
    return Prepared(
        described=f"{recipe.runner or 'nothing'} on this machine{f' with {tools}' if tools else ''}",
        key=hashlib.sha256(key.encode()).hexdigest(),
        choices=tuple(_choices(ground, provision)),
        command=("/bin/sh", "-c", recipe.test) if recipe.test else (),
        runner=recipe.runner,
        configuration=_configuration(ground, provision),
        notes=(*recipe.notes, *provision.notes),
        # Without setup everything was on this machine before.
        is_reused=provision.is_reused,
        seconds=provision.seconds,
        disk_bytes=provision.disk_bytes,
    )


def _choices(ground: Ground, provision: Provision) -> Iterator[Choice]:
    recipe = ground.recipe
    told = provision.setup.source
    source = ground.outward(told) if recipe.source.startswith(told) else told
    for line in provision.setup.lines:
        yield Choice(what=f"setup `{line}`", source=source)
    if provision.setup.script.strip():
        yield Choice(what="setup", source=SCRIPT)
    for name in ("test", "lint", "format"):
        if line := getattr(recipe, name):
            told_by = ground.source if name == "test" else ground.source.partition(",")[0]
            yield Choice(what=f"{name} `{line}`", source=told_by)
    yield Choice(what=f"report `{recipe.report}`", source=ground.source)


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

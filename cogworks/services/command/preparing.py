"""The operation `prepare`: tell which commands were chosen and why, and refuse where a program of theirs is missing."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

from cogworks.domain_services.messages import Request, Response
from cogworks.domain_services.preparing import Choice, Prepared, PrepareParams
from cogworks.services.answers import answered
from cogworks.services.command.ground import Ground, NotReady, ground_of, refuse_missing, text_at
from cogworks.services.command.machine import Machine
from cogworks.services.command.provision import Provision, provided
from cogworks.services.command.reports.cases import plain
from cogworks.services.command.rooms import open_room
from cogworks.services.sandbox.isolation import refusal

_KEYED = (
    "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock",
    "pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "Makefile", "Gemfile", "Gemfile.lock",
    "composer.json", "composer.lock",
)  # fmt: skip


def prepare(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = PrepareParams.model_validate(request.params)
    ground = ground_of(request, folder, machine)
    if request.caller.needs_walls and (reason := refusal(machine.isolation)) is not None:
        raise NotReady(reason)
    refuse_missing(ground)
    started_s = time.monotonic()
    provision = provided(request, ground)
    with open_room(ground, provision, machine) as room:
        for line in (*provision.before, ":"):
            said = room.run(line, machine, timeout_s=params.timeout_s)
            if said.ended.code != 0:
                words = "\n".join(plain(room.without_places(said.text)).splitlines()[-12:])
                raise NotReady(f"the setup `{line}` failed:\n{words}")
        versions = room.versions()
    seconds = round(time.monotonic() - started_s, 3) if provision.before else 0.0
    result = _prepared(ground, provision, versions).model_copy(update={"seconds": seconds})
    return answered(request, (), result.model_dump(mode="json"), counts={}, versions=versions)


def _prepared(ground: Ground, provision: Provision, versions: dict[str, str]) -> Prepared:
    recipe = ground.recipe
    tools = ", ".join(f"{tool} {version}" for tool, version in versions.items())
    content = [f"{name}\0{text_at(ground.place, name)}" for name in _KEYED]
    key = json.dumps([recipe, content, sorted(versions.items()), provision.before, provision.variables])
    return Prepared(
        described=f"{recipe.runner or 'nothing'} on this machine{f' with {tools}' if tools else ''}",
        key=hashlib.sha256(key.encode()).hexdigest(),
        choices=tuple(_choices(ground, provision)),
        command=("/bin/sh", "-c", recipe.test) if recipe.test else (),
        runner=recipe.runner,
        configuration=_configuration(ground),
        notes=recipe.notes,
        # Without setup everything was on this machine before; a setup runs anew in every copy.
        is_reused=not provision.before,
    )


def _choices(ground: Ground, provision: Provision) -> Iterator[Choice]:
    recipe = ground.recipe
    for line in provision.before:
        yield Choice(what=f"setup `{line}`", source=ground.source)
    for name in ("test", "lint", "format"):
        if line := getattr(recipe, name):
            yield Choice(what=f"{name} `{line}`", source=ground.source)
    yield Choice(what=f"report `{recipe.report}`", source=ground.source)


def _configuration(ground: Ground) -> str:
    recipe = ground.recipe
    if not recipe.test or recipe.runner == "command":
        return ""
    lines = [
        "# .cogworks/services.toml",
        "[[services]]",
        f'name = "{recipe.language or "tests"}"',
        'kind = "command"',
    ]
    lines += [f"language = {json.dumps(recipe.language)}"] if recipe.language else []
    if ground.root:
        lines.append(f"root = {json.dumps(ground.root)}")
    if recipe.setup:
        lines.append(f"setup = {json.dumps(list(recipe.setup))}")
    for name in ("test", "lint", "format", "report", "report_file"):
        if value := getattr(recipe, name):
            lines.append(f"{name} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"

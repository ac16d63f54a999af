"""The operation `normalise`: files as the configured formatter leaves them; nothing is written into the repository."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Artifacts, Normalised, NormalisedFile
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.answers import answered, outside
from cogworks.services.command.ground import Ground, ground_of
from cogworks.services.command.machine import Machine
from cogworks.services.command.provision import provided
from cogworks.services.command.rooms import open_room
from cogworks.services.command.validating import for_files, is_ours
from cogworks.services.python.checked import left_out, told
from cogworks.services.python.syntax import missing
from cogworks.services.sandbox.isolation import refusal
from cogworks.vocabulary import Severity

MAX_BYTES = 8 * 1024**2
FORMAT_LIMIT_S = 120.0


def normalise(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    ground = ground_of(request, folder, machine)
    asked = tuple(dict.fromkeys(params.artifacts))
    before = {path: file.data for path in asked if (file := read_file(ground.folder, path)) is not None}
    problems = [missing(path) for path in asked if path not in before]
    ours = [path for path in before if is_ours(path, machine) and ground.inward(path) is not None]
    after, doubts, tools = _formatted(request, ground, ours, machine)
    texts, unsent = _changed(before, after)
    files = [
        NormalisedFile(artifact=path, changed=path in texts, content=texts.get(path))
        for path in asked
        if path in before
    ]
    result = Normalised(files=tuple(files)).model_dump(mode="json", exclude_none=True)
    counts = {"artifacts": len(files), "changed": len(texts)}
    return answered(request, told([*problems, *doubts, *unsent]), result, counts=counts, versions=tools)


def _formatted(
    request: Request, ground: Ground, paths: Sequence[str], machine: Machine
) -> tuple[Mapping[str, bytes], list[Diagnostic], Mapping[str, str]]:
    line = ground.recipe.format
    if not line or not paths:
        return {}, [] if line else [_said("unchanged: no formatter is configured")], {}
    if ground.toolchain.missing:
        return (
            {},
            [left_out(".", f"unchanged: {', '.join(ground.toolchain.missing)} is not on this machine")],
            {},
        )
    if (reason := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        return {}, [left_out(".", f"unchanged: {reason}")], {}
    with provided(request, ground, machine) as provision, open_room(ground, provision, machine) as room:
        inner = [path for each in paths if (path := ground.inward(each)) is not None]
        said = room.run(for_files(line, inner), machine, timeout_s=FORMAT_LIMIT_S)
        if said.ended.code != 0:
            words = room.without_places(said.text).strip()[-500:]
            return (
                {},
                [left_out(".", f"unchanged: `{line.split(' ')[0]}` ended with {said.ended.code}: {words}")],
                {},
            )
        after = {path: file.data for path in paths if (file := read_file(room.copy, path)) is not None}
        return after, [], room.versions()


def _changed(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[Mapping[str, str], Sequence[Diagnostic]]:
    """The new texts, by path, and what cannot be sent."""
    texts: dict[str, str] = {}
    unsent: list[Diagnostic] = []
    room = MAX_BYTES
    for path in (each for each in after if before[each] != after[each]):
        room -= len(after[path])
        try:
            text = after[path].decode()
        except UnicodeDecodeError:
            unsent.append(left_out(path, "unchanged: the file is not in UTF-8"))
            continue
        if room < 0:
            unsent.append(left_out(path, f"unchanged: the answer would be longer than {MAX_BYTES} bytes"))
        else:
            texts[path] = text
    return texts, unsent


def _said(text: str) -> Diagnostic:
    return Diagnostic(artifact=".", severity=Severity.INFORMATIONAL, category="completeness", message=text)

"""The operation `normalise`: files in the project's own formatting; nothing is written into the repository."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Artifacts, Normalised, NormalisedFile
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.python.checked import left_out, told
from cogworks.services.python.formatter import Formatter, used_formatter
from cogworks.services.python.linting import installed_version, ruff_program
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside
from cogworks.services.python.settings_files import PYPROJECT, by_settings
from cogworks.services.python.syntax import is_python, missing, syntax_problems
from cogworks.services.python.workroom import ToolCall, Workroom, workroom
from cogworks.vocabulary import Severity

MAX_BYTES = 8 * 1024**2
"""So much new text one answer carries; files beyond it stay as they are, and a warning names them."""
_LIST = ".cogworks-files"
_BLACK = (sys.executable, "-I", "-m", "black", "--quiet", "--workers=1")


def normalise(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    root = folder.resolve()
    asked = tuple(dict.fromkeys(params.artifacts))
    problems: list[Diagnostic] = []
    sources: dict[str, bytes] = {}
    for path in asked:
        file = read_file(root, path)
        if file is None:
            problems.append(missing(path))
        elif is_python(path):
            sources[path] = file.data
    formatted, doubts, tools = _formatted(root, sources, machine)
    texts, left = _as_text(sources, formatted)
    gone = {each.artifact for each in problems}
    files = [
        NormalisedFile(artifact=path, changed=path in texts, content=texts.get(path))
        for path in asked
        if path not in gone
    ]
    result = Normalised(files=tuple(files)).model_dump(mode="json", exclude_none=True)
    counts = {"artifacts": len(files), "changed": len(texts)}
    return found(request, told([*problems, *doubts, *left]), result, counts=counts, tools=tools)


def _formatted(
    root: Path, sources: Mapping[str, bytes], machine: Machine
) -> tuple[Mapping[str, bytes], Sequence[Diagnostic], Mapping[str, str]]:
    """Every file after formatting, what was left out, and the version of the formatter."""
    formatter = used_formatter(root)
    if formatter is None:
        return sources, [_said(".", "unchanged: no formatter is configured")], {}
    found_version = installed_version(formatter.name)
    if found_version is None:
        text = f"unchanged: {formatter.name} is used and not installed beside cogworks"
        return sources, [left_out(formatter.place, text)], {}
    doubts = []
    whole: dict[str, bytes] = {}
    for path, data in sources.items():
        broken = [each for each in syntax_problems(path, data) if each.severity is Severity.BLOCKING]
        doubts += [left_out(path, f"unchanged: {each.message}") for each in broken]
        whole |= {} if broken else {path: data}
    with workroom() as room:
        for path, data in whole.items():
            room.put(path, data)
        if whole:
            doubts += _FORMATTERS[formatter.name](room, root, formatter, tuple(whole), machine)
        after = {path: room.read(path) for path in whole}
    formatted = {path: after.get(path) or data for path, data in sources.items()}
    return formatted, doubts, {formatter.name: found_version}


def _with_ruff(
    room: Workroom, root: Path, formatter: Formatter, paths: Sequence[str], machine: Machine
) -> Iterator[Diagnostic]:
    for settings, group in by_settings(root, paths).items():
        if settings is not None and settings.problem:
            yield left_out(settings.path, f"files below it are unchanged: {settings.problem}")
            continue
        for path in settings.chain if settings else ():
            _lay_out(room, root, path)
        # Behind `./` no file name is taken for an option.
        room.put(_LIST, "".join(f"./{path}\n" for path in group).encode())
        own = "--force-exclude" if settings else "--isolated"
        call = ToolCall((*ruff_program(), "format", "--no-cache", "--quiet", own, f"@{_LIST}"))
        yield from _complaint(room, call, settings.path if settings else formatter.place, machine)


def _with_black(
    room: Workroom, root: Path, formatter: Formatter, paths: Sequence[str], machine: Machine
) -> Iterator[Diagnostic]:
    del paths
    # Where the project says nothing, the search for its settings must not leave the room.
    if not _lay_out(room, root, PYPROJECT):
        room.put(PYPROJECT, b"[tool.black]\n")
    call = ToolCall((*_BLACK, f"--config={PYPROJECT}", "."))
    yield from _complaint(room, call, formatter.place, machine)


_FORMATTERS = {"ruff": _with_ruff, "black": _with_black}


def _lay_out(room: Workroom, root: Path, path: str) -> bool:
    file = read_file(root, path)
    if file is not None:
        room.put(path, file.data)
    return file is not None


def _complaint(room: Workroom, call: ToolCall, place: str, machine: Machine) -> Iterator[Diagnostic]:
    said = room.run(call, machine)
    if said.code != 0:
        yield left_out(place, f"not everything was formatted: {said.complaint or said.code}")


def _as_text(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[Mapping[str, str], Sequence[Diagnostic]]:
    """The new texts, by path, and what cannot be sent."""
    texts: dict[str, str] = {}
    left: list[Diagnostic] = []
    room = MAX_BYTES
    for path in (each for each in before if before[each] != after[each]):
        room -= len(after[path])
        try:
            text = after[path].decode()
        except UnicodeDecodeError:
            left.append(left_out(path, "unchanged: the file is not in UTF-8"))
            continue
        if room < 0:
            left.append(left_out(path, f"unchanged: the answer would be longer than {MAX_BYTES} bytes"))
        else:
            texts[path] = text
    return texts, left


def _said(place: str, text: str) -> Diagnostic:
    return Diagnostic(artifact=place, severity=Severity.INFORMATIONAL, category="completeness", message=text)

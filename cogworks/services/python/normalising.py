"""The operation `normalise`: files as the repository's own formatter leaves them; nothing is written into the repository."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Artifacts, Normalised, NormalisedFile
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.python.linting import installed_version, ruff_program
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import left_out, outside, response_of, sorted_findings
from cogworks.services.python.settings_files import PYPROJECT, RUFF_NAMES, by_settings, read_toml, tool_table
from cogworks.services.python.syntax import is_python, missing, syntax_problems
from cogworks.services.python.workroom import ToolCall, Workroom, workroom
from cogworks.vocabulary import Severity, Value

_PLACES = (
    ".pre-commit-config.yaml", "Makefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "scripts/check",
    "scripts/format", "scripts/lint",
)  # fmt: skip
_WORKFLOWS = ".github/workflows"
_USES = {
    "ruff": re.compile(r"\bruff[\"', ]+format\b|\bid: *ruff-format\b"),
    "black": re.compile(r"\bid: *black\b|\bblack +(?:--check\b|--diff\b|\.|src\b)|\bpsf/black\b"),
}


class Formatter(Value):
    """The formatter of a repository."""

    name: str
    """`ruff` or `black`."""
    place: str
    """The file that shows it."""


def used_formatter(root: Path) -> Formatter | None:
    """The formatter that the settings name, else the one that hooks, scripts or workflows call; None: none shows."""
    place = _with_ruff_format(root)
    if place is not None:
        return Formatter(name="ruff", place=place)
    tables = read_toml(root, PYPROJECT)
    if not isinstance(tables, str) and tool_table(tables, "black") is not None:
        return Formatter(name="black", place=PYPROJECT)
    for name, use in _USES.items():
        for path, text in _texts(root):
            if use.search(text):
                return Formatter(name=name, place=path)
    return None


def _with_ruff_format(root: Path) -> str | None:
    for place in RUFF_NAMES:
        tables = read_toml(root, place)
        if isinstance(tables, str):
            continue
        own = tool_table(tables, "ruff") if place == PYPROJECT else tables
        if own is not None and "format" in own:
            return place
    return None


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    folder = root / _WORKFLOWS
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    for place in (*_PLACES, *(f"{_WORKFLOWS}/{name}" for name in names if name.endswith((".yml", ".yaml")))):
        file = read_file(root, place)
        if file is not None:
            yield place, file.data.decode(errors="replace")


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
    return response_of(
        request, sorted_findings([*problems, *doubts, *left]), result, counts=counts, tools=tools
    )


def _formatted(
    root: Path, sources: Mapping[str, bytes], machine: Machine
) -> tuple[Mapping[str, bytes], Sequence[Diagnostic], Mapping[str, str]]:
    """Every file after formatting, what was left out, and the version of the formatter."""
    formatter = used_formatter(root)
    if formatter is None:
        return sources, [_note(".", "unchanged: no formatter is configured")], {}
    installed = installed_version(formatter.name)
    if installed is None:
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
    return formatted, doubts, {formatter.name: installed}


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
    result = room.run(call, machine)
    if result.code != 0:
        yield left_out(place, f"not everything was formatted: {result.complaint or result.code}")


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


def _note(place: str, text: str) -> Diagnostic:
    return Diagnostic(artifact=place, severity=Severity.INFORMATIONAL, category="completeness", message=text)

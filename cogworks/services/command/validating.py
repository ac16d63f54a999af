"""The operations `validate` and `normalise`: what grammars and linters say of files, and files as the configured formatter leaves them."""

import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Artifacts, Normalised, NormalisedFile, ToolRun, ValidateParams
from cogworks.domain_services.languages import patterns_of
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.facts import FileFacts
from cogworks.services.answers import answered, outside
from cogworks.services.command.compiled import kept_for
from cogworks.services.command.compilers import Finding, findings_in
from cogworks.services.command.grammars.files import own
from cogworks.services.command.grammars.indexing import versions as parsers
from cogworks.services.command.grammars.validating import absent, facts_of, problems_of
from cogworks.services.command.ground import Ground, Machine, ground_of
from cogworks.services.command.provision import provided
from cogworks.services.command.rooms import open_room
from cogworks.services.python.responses import (
    Checked,
    left_out,
    skipped,
    sorted_findings,
    tool_runs,
    versions,
)
from cogworks.services.python.syntax import missing
from cogworks.services.sandbox.isolation import refusal
from cogworks.vocabulary import Severity

FILES = "{files}"
LINT_LIMIT_S = 240.0
_TYPES = re.compile(
    r"undefined|undeclared|cannot (?:use|find|assign)|not assignable|mismatched types|TS2\d{3}"
)


def validate(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ValidateParams.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    ground = ground_of(request, folder, machine)
    ours = [path for path in dict.fromkeys(params.artifacts) if is_ours(path, machine)]
    problems = [missing(path) for path in ours if read_file(ground.folder, path) is None]
    gone = {each.artifact for each in problems}
    there = [path for path in ours if path not in gone]
    parsed = _parsed(folder, there, params.interfaces, machine)
    part = _linted(request, ground, there, machine)
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    parts = [*parsed, part]
    result = tool_runs(parts).model_dump(mode="json")
    findings = [finding for each in parts for finding in each.findings]
    return answered(
        request, sorted_findings([*problems, *findings]), result, counts=counts, versions=versions(parts)
    )


def _parsed(folder: Path, paths: Sequence[str], interfaces: Sequence[str], machine: Machine) -> list[Checked]:
    """What the grammars say: mistakes, and agreed names that are nowhere declared."""
    paths_with_grammar = own(paths)
    facts = {path: facts_of(folder.resolve(), path, machine.source_facts) for path in paths_with_grammar}
    read = {path: each for path, each in facts.items() if isinstance(each, FileFacts)}
    findings = [problem for path, content in facts.items() for problem in problems_of(path, content)]
    findings += absent(interfaces, read)
    tools = parsers(paths_with_grammar)
    if not tools:
        return []
    first, *others = tools.items()
    return [
        Checked(run=ToolRun(tool=first[0]), version=first[1], findings=tuple(findings)),
        *(Checked(run=ToolRun(tool=tool), version=version) for tool, version in others),
    ]


def is_ours(path: str, machine: Machine) -> bool:
    """Whether a file is of a language of this service."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in patterns_of(machine.commands.language))


def for_files(line: str, paths: Sequence[str]) -> str:
    """A command for these files."""
    return line.replace(FILES, shlex.join(paths))


def tool_of(line: str) -> str:
    """The program that a line runs, also where Yarn starts it."""
    return line.removeprefix("yarn ").partition(" ")[0]


_WITHOUT_TYPES = frozenset({"standard", "semistandard"})
"""Linters that take each file for JavaScript."""
_TYPED = (".ts", ".tsx", ".mts", ".cts")


def _linted(request: Request, ground: Ground, paths: Sequence[str], machine: Machine) -> Checked:
    recipe = ground.recipe
    inner = [path for each in paths if (path := ground.inward(each)) is not None]
    if tool_of(recipe.lint) in _WITHOUT_TYPES:
        inner = [path for path in inner if not path.endswith(_TYPED)]
    if not recipe.lint or not inner:
        reason = "no linter is configured" if not recipe.lint else "none of its files was asked about"
        return skipped(tool_of(recipe.lint) or "lint", reason)
    tool = tool_of(recipe.lint)
    if missing := ground.missing(recipe.manager.program):
        return skipped(tool, f"{', '.join(missing)} is not on this machine")
    if (why := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        return skipped(tool, why)
    with (
        provided(request, ground, machine) as provision,
        kept_for(request, ground, machine) as kept,
        open_room(ground, provision, machine, kept=kept) as room,
    ):
        result = room.run(for_files(recipe.lint, inner), machine, timeout_s=LINT_LIMIT_S)
        reported = findings_in(room.without_places(result.text))
        diagnostics = [_diagnostic(ground, each) for each in reported]
        of_paths = tuple(each for each in diagnostics if each.artifact in paths)
        if result.ended.code is None or (result.ended.code != 0 and not reported):
            text = "it did not finish in time" if result.ended.timed_out else result.complaint.strip()[-500:]
            return skipped(tool, text or f"it ended with {result.ended.code}", place=ground.source)
        version = next(iter(room.versions().values()), "")
    return Checked(run=ToolRun(tool=tool), version=version, findings=of_paths)


def _diagnostic(ground: Ground, finding: Finding) -> Diagnostic:
    category = "type_error" if _TYPES.search(finding.message) else "syntax_error"
    return Diagnostic(
        artifact=ground.outward(finding.file.removeprefix("./")),
        line=finding.line,
        severity=Severity.BLOCKING if finding.is_error else Severity.WARNING,
        category=category if finding.is_error else "style_violation",
        message=finding.message,
    )


MAX_BYTES = 8 * 1024**2
FORMAT_LIMIT_S = 120.0


def normalise(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (no := outside(request, params.artifacts)) is not None:
        return no
    ground = ground_of(request, folder, machine)
    paths = tuple(dict.fromkeys(params.artifacts))
    before = {path: file.data for path in paths if (file := read_file(ground.folder, path)) is not None}
    problems = [missing(path) for path in paths if path not in before]
    ours = [path for path in before if is_ours(path, machine) and ground.inward(path) is not None]
    after, doubts, tools = _formatted(request, ground, ours, machine)
    texts, unsent = _changed(before, after)
    files = [
        NormalisedFile(artifact=path, changed=path in texts, content=texts.get(path))
        for path in paths
        if path in before
    ]
    result = Normalised(files=tuple(files)).model_dump(mode="json", exclude_none=True)
    counts = {"artifacts": len(files), "changed": len(texts)}
    return answered(
        request, sorted_findings([*problems, *doubts, *unsent]), result, counts=counts, versions=tools
    )


def _formatted(
    request: Request, ground: Ground, paths: Sequence[str], machine: Machine
) -> tuple[Mapping[str, bytes], list[Diagnostic], Mapping[str, str]]:
    line = ground.recipe.format
    if not line or not paths:
        return {}, [] if line else [_note("unchanged: no formatter is configured")], {}
    if missing := ground.missing(ground.recipe.manager.program):
        return {}, [left_out(".", f"unchanged: {', '.join(missing)} is not on this machine")], {}
    if (reason := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        return {}, [left_out(".", f"unchanged: {reason}")], {}
    with provided(request, ground, machine) as provision, open_room(ground, provision, machine) as room:
        inner = [path for each in paths if (path := ground.inward(each)) is not None]
        result = room.run(for_files(line, inner), machine, timeout_s=FORMAT_LIMIT_S)
        if result.ended.code != 0:
            words = room.without_places(result.text).strip()[-500:]
            return (
                {},
                [left_out(".", f"unchanged: `{tool_of(line)}` ended with {result.ended.code}: {words}")],
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


def _note(text: str) -> Diagnostic:
    return Diagnostic(artifact=".", severity=Severity.INFORMATIONAL, category="completeness", message=text)

"""The operation `validate`: what the grammar of a language and the configured linter say of files."""

import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ToolRun, ValidateParams
from cogworks.domain_services.languages import patterns_of
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.facts import FileFacts
from cogworks.services.answers import answered, outside
from cogworks.services.command.compilers import Finding, findings_in
from cogworks.services.command.grammars.files import own
from cogworks.services.command.grammars.reading import versions as parsers
from cogworks.services.command.grammars.validating import absent, facts_of, problems_of
from cogworks.services.command.ground import Ground, ground_of
from cogworks.services.command.machine import Machine
from cogworks.services.command.provision import provided
from cogworks.services.command.rooms import open_room
from cogworks.services.python.checked import Checked, skipped, told, tool_runs, versions
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
    return answered(request, told([*problems, *findings]), result, counts=counts, versions=versions(parts))


def _parsed(folder: Path, paths: Sequence[str], interfaces: Sequence[str], machine: Machine) -> list[Checked]:
    """What the grammars say: mistakes, and agreed names that are nowhere declared."""
    known = own(paths)
    facts = {path: facts_of(folder.resolve(), path, machine.source_facts) for path in known}
    read = {path: each for path, each in facts.items() if isinstance(each, FileFacts)}
    findings = [problem for path, found in facts.items() for problem in problems_of(path, found)]
    findings += absent(interfaces, read)
    tools = parsers(known)
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


def _linted(request: Request, ground: Ground, paths: Sequence[str], machine: Machine) -> Checked:
    recipe = ground.recipe
    inner = [path for each in paths if (path := ground.inward(each)) is not None]
    if not recipe.lint or not inner:
        reason = "no linter is configured" if not recipe.lint else "none of its files was asked about"
        return skipped(recipe.lint.split(" ")[0] or "lint", reason)
    tool = recipe.lint.split(" ")[0]
    if ground.toolchain.missing:
        return skipped(tool, f"{', '.join(ground.toolchain.missing)} is not on this machine")
    if (why := refusal(machine.isolation, needs_walls=request.caller.needs_walls)) is not None:
        return skipped(tool, why)
    with provided(request, ground, machine) as provision, open_room(ground, provision, machine) as room:
        said = room.run(for_files(recipe.lint, inner), machine, timeout_s=LINT_LIMIT_S)
        found = findings_in(room.without_places(said.text))
        diagnostics = [_diagnostic(ground, each) for each in found]
        kept = tuple(each for each in diagnostics if each.artifact in paths)
        if said.ended.code is None or (said.ended.code != 0 and not found):
            text = "it did not finish in time" if said.ended.timed_out else said.complaint.strip()[-500:]
            return skipped(tool, text or f"it ended with {said.ended.code}", place=ground.source)
        version = next(iter(room.versions().values()), "")
    return Checked(run=ToolRun(tool=tool), version=version, findings=kept)


def _diagnostic(ground: Ground, finding: Finding) -> Diagnostic:
    category = "type_error" if _TYPES.search(finding.message) else "syntax_error"
    return Diagnostic(
        artifact=ground.outward(finding.file.removeprefix("./")),
        line=finding.line,
        severity=Severity.BLOCKING if finding.is_error else Severity.WARNING,
        category=category if finding.is_error else "style_violation",
        message=finding.message,
    )

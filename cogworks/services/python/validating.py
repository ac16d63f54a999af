"""The operation `validate`: what is wrong with files, without running them."""

from collections.abc import Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ValidateParams
from cogworks.domain_services.messages import Caller, Diagnostic, Request, Response
from cogworks.services.python.checked import Checked, told, tool_runs, versions
from cogworks.services.python.declaring import absent
from cogworks.services.python.linting import lint
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside
from cogworks.services.python.syntax import is_python, missing, syntax_problems
from cogworks.services.python.typechecking import check_types
from cogworks.vocabulary import Severity


def validate(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ValidateParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    root = folder.resolve()
    ours = [path for path in dict.fromkeys(params.artifacts) if is_python(path)]
    problems: list[Diagnostic] = []
    there: dict[str, bytes] = {}
    for path in ours:
        file = read_file(root, path)
        if file is None:
            problems.append(missing(path))
        else:
            problems += syntax_problems(path, file.data)
            there[path] = file.data
    problems += absent(params.interfaces, there)
    parts = _by_tools(root, tuple(there), machine, request.caller)
    problems += _beyond_syntax(parts, broken={each.artifact for each in problems if _is_broken(each)})
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    result = tool_runs(parts).model_dump(mode="json")
    return found(request, told(problems), result, counts=counts, tools=versions(parts))


def _by_tools(root: Path, paths: Sequence[str], machine: Machine, caller: Caller) -> Sequence[Checked]:
    return (*lint(root, paths, machine), *check_types(root, paths, machine, caller=caller)) if paths else ()


def _is_broken(found: Diagnostic) -> bool:
    return found.category == "syntax_error" and found.severity is Severity.BLOCKING


def _beyond_syntax(parts: Sequence[Checked], *, broken: set[str]) -> list[Diagnostic]:
    """Without what several tools say once more of a file that does not even compile."""
    return [each for part in parts for each in part.findings if each.artifact not in broken]

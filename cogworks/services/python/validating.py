"""The operation `validate`: what is wrong with files, without running them."""

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import ValidateParams
from cogworks.domain_services.messages import Caller, Diagnostic, Request, Response
from cogworks.services.python.linting import lint
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import (
    Checked,
    blocking,
    outside,
    response_of,
    sorted_findings,
    tool_runs,
    versions,
)
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
    return response_of(request, sorted_findings(problems), result, counts=counts, tools=versions(parts))


def _by_tools(root: Path, paths: Sequence[str], machine: Machine, caller: Caller) -> Sequence[Checked]:
    return (*lint(root, paths, machine), *check_types(root, paths, machine, caller=caller)) if paths else ()


def _is_broken(finding: Diagnostic) -> bool:
    return finding.category == "syntax_error" and finding.severity is Severity.BLOCKING


def _beyond_syntax(parts: Sequence[Checked], *, broken: set[str]) -> list[Diagnostic]:
    """Without what several tools say once more of a file that does not even compile."""
    return [each for part in parts for each in part.findings if each.artifact not in broken]


def absent(interfaces: Sequence[str], sources: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """One blocking diagnostic for each name that none of the files declares.

    A name stands by itself (`Cart.add`) or behind its module (`shop.cart.Cart.add`).

    Args:
        sources: path -> text; files that do not parse declare nothing.
    """
    declared = {name for path, source in sources.items() for name in _spellings(path, source)}
    place = min(sources, default=".")
    return tuple(
        blocking(place, "interface_mismatch", f"{name!r} is expected and none of the files declares it")
        for name in dict.fromkeys(interfaces)
        if name not in declared
    )


def _spellings(path: str, source: bytes) -> Iterator[str]:
    module = posixpath.splitext(path)[0].removesuffix("/__init__").split("/")
    prefixes = ["", *(f"{'.'.join(module[start:])}." for start in range(len(module)))]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for name in _names(tree.body):
        yield from (f"{prefix}{name}" for prefix in prefixes)


def _names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield statement.name
            case ast.ClassDef():
                yield statement.name
                yield from (f"{statement.name}.{name}" for name in _names(statement.body))
            case ast.Assign():
                yield from (each.id for each in statement.targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom() | ast.Import():
                # What a package hands on is declared by it as well.
                yield from (each.asname or each.name for each in statement.names)
            case _:
                pass

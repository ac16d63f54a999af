"""The operation `validate_deps`: whether what the code imports is declared, and what is declared fits together."""

from collections.abc import Sequence
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Dependencies, Unread, ValidateDepsParams
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Request, Response
from cogworks.services.python.checked import left_out, told
from cogworks.services.python.code.files import listing
from cogworks.services.python.code.modules import Modules
from cogworks.services.python.declarations import Declarations, Declared, declared, read_declarations
from cogworks.services.python.dependency_rules import (
    PROPOSED,
    Standing,
    Use,
    looked_up,
    standing,
    unavailable,
)
from cogworks.services.python.distributions import Catalogue
from cogworks.services.python.imports import imports_in, is_standard
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import blocking, found, outside, refused
from cogworks.services.python.syntax import is_python, missing


def validate_deps(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`; only the package index that it names is asked."""
    del machine
    params = ValidateDepsParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    if params.index and (problem := _index_problem(params.index)) is not None:
        text = f"params.index {params.index!r}: {problem}"
        return refused(request.request_id, ErrorCode.INVALID_REQUEST, text)
    root = folder.resolve()
    there = listing(root)
    asked = (
        [path for path in dict.fromkeys(params.artifacts) if is_python(path)]
        if params.artifacts
        else there.paths
    )
    uses, problems = _uses(root, asked, Modules(there.paths))
    if not params.artifacts:
        problems += [left_out(path, f"its imports are not known: {odd.reason}") for path, odd in there.unread]
    declarations, doubts = _with_proposal(read_declarations(root), params)
    result = standing(declarations, uses, Catalogue(), is_whole=not params.artifacts)
    if params.index:
        result = _with_index(result, declarations, params.index)
    diagnostics = [*problems, *doubts, *result.problems]
    counts = {"artifacts": len(asked), "dependencies": len(result.dependencies)}
    answer = Dependencies(dependencies=result.dependencies).model_dump(mode="json")
    return found(request, told(diagnostics), answer, counts=counts)


def _uses(root: Path, paths: Sequence[str], modules: Modules) -> tuple[list[Use], list[Diagnostic]]:
    uses: list[Use] = []
    problems: list[Diagnostic] = []
    for path in paths:
        file = read_file(root, path)
        if file is None:
            problems.append(missing(path))
            continue
        try:
            imports = imports_in(file.data)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problems.append(left_out(path, f"its imports are not known: {error}"))
            continue
        uses += [
            Use(artifact=path, imported=each)
            for each in imports
            if not is_standard(each) and modules.find(each.top, asking=path) is None
        ]
    return uses, problems


def _index_problem(address: str) -> str | None:
    from cogworks.services.python.index_versions import address_problem  # noqa: PLC0415 - slow, and seldom needed

    return address_problem(address)


def _with_index(result: Standing, declarations: Declarations, address: str) -> Standing:
    """What can be had of what is declared; an index that fails is asked no further."""
    from cogworks.services.python.index_versions import (  # noqa: PLC0415 - slow, and seldom needed
        IndexUnusable,
        PackageIndex,
    )

    problems = list(result.problems)
    dependencies = list(result.dependencies)
    with PackageIndex(address) as index:
        for place, dependency in enumerate(result.dependencies):
            found = [each for each in declarations.declared if each.name == dependency.name]
            if not found or dependency.status == "conflict":
                continue
            try:
                known = looked_up(dependency, found, index.versions(dependency.name))
            except IndexUnusable as error:
                problems.append(left_out(".", f"the package index {address} was left out: {error}"))
                break
            dependencies[place] = known
            if known.status == "unavailable":
                problems.append(unavailable(known, found[-1].place))
    return Standing(dependencies=tuple(dependencies), problems=tuple(problems))


def _with_proposal(
    declarations: Declarations, params: ValidateDepsParams
) -> tuple[Declarations, list[Diagnostic]]:
    """The manifest as it would be, and what is wrong with either part of it."""
    problems = [
        left_out(each.artifact, f"the manifest was not read whole: {each.reason}")
        for each in declarations.unread
    ]
    proposed: list[Declared] = []
    for each in params.declarations:
        read = declared(each.requirement or each.name, PROPOSED)
        if isinstance(read, Unread):
            problems.append(
                blocking(".", "dependency_error", f"proposed dependency {each.name}: {read.reason}")
            )
        else:
            proposed.append(read)
    places = (*declarations.places, PROPOSED) if proposed else declarations.places
    update = {"declared": (*declarations.declared, *proposed), "places": places}
    return declarations.model_copy(update=update), problems

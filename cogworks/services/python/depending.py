"""The operation `validate_deps`: whether what the code imports is declared, and how declared dependencies stand to one another."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Dependencies, Dependency, Unread, ValidateDepsParams
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Request, Response
from cogworks.services.python.code.files import listing
from cogworks.services.python.code.modules import Modules
from cogworks.services.python.code.repository import is_test_file
from cogworks.services.python.declarations import Declarations, Declared, declared, read_declarations
from cogworks.services.python.distributions import Catalogue
from cogworks.services.python.imports import Imported, imports_in, is_standard
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import (
    blocking,
    left_out,
    outside,
    refused,
    response_of,
    sorted_findings,
)
from cogworks.services.python.syntax import is_python, missing
from cogworks.vocabulary import Severity, Value

PROPOSED = "the proposal"
"""Stands for the manifest of what is not in one yet."""
_NOT_LOOKED_UP = "declared and used; whether it can be had was not looked up"


class Use(Value):
    """One import of a module that neither Python nor the repository brings along."""

    artifact: str
    imported: Imported


class Standing(Value):
    """How the dependencies stand, and what is wrong with them."""

    dependencies: tuple[Dependency, ...]
    problems: tuple[Diagnostic, ...]


def standing(
    declarations: Declarations, uses: Sequence[Use], catalogue: Catalogue, *, is_whole: bool
) -> Standing:
    """How each dependency stands.

    Args:
        declarations: with what is proposed, under the place `PROPOSED`.
        is_whole: whether `uses` are those of the whole repository; only then can anything be called unused.
    """
    by_name: dict[str, list[Declared]] = {}
    for each in declarations.declared:
        by_name.setdefault(each.name, []).append(each)
    users: dict[str, list[Use]] = {}
    strangers: dict[str, list[Use]] = {}
    for use in uses:
        names = _bringing(use, by_name, catalogue)
        for name in names:
            users.setdefault(name, []).append(use)
        if not names:
            strangers.setdefault(use.imported.top, []).append(use)
    idle = [name for name in by_name if name not in users]
    dependencies: list[Dependency] = []
    problems: list[Diagnostic] = []
    for name, places in by_name.items():
        dependency = _declared(name, places, users.get(name, ()), is_whole=is_whole)
        dependencies += [dependency] if dependency else []
        problems += _problems_of(places, users.get(name, ()), dependency)
    for top, uses_of_top in strangers.items():
        doubt = _unread(declarations)
        if not doubt and not catalogue.bringing(top):
            # Of a well-known module it is beyond doubt who brings it.
            doubt = _obscure(idle, catalogue)
        dependency = _undeclared(top, uses_of_top, doubt, catalogue)
        dependencies.append(dependency)
        problems += _strange(dependency, uses_of_top)
    ordered = sorted(dependencies, key=lambda each: (each.name, each.status))
    return Standing(dependencies=tuple(ordered), problems=tuple(problems))


def looked_up(dependency: Dependency, entries: Sequence[Declared], versions: Sequence[Version]) -> Dependency:
    """A declared dependency with what a package index has of it.

    Args:
        versions: all that can be had.
    """
    requirements = [Requirement(each.requirement) for each in entries]
    if any(each.url for each in requirements):
        return dependency.model_copy(update={"message": "it comes from an address of its own"})
    # One by one: which of them hold together depends on markers and groups.
    unmet = [str(each) for each in requirements if not any(each.specifier.filter(versions))]
    if not unmet:
        fitting = requirements[0].specifier.filter(versions)
        return dependency.model_copy(update={"message": f"the index has {max(fitting)}"})
    reason = (
        f"none of its {len(versions)} versions in the index fits"
        if versions
        else "the index does not have it"
    )
    message = f"{reason}: {', '.join(unmet)}"
    return dependency.model_copy(update={"status": "unavailable", "message": message})


def unavailable(dependency: Dependency, place: str) -> Diagnostic:
    """What is wrong with a dependency that cannot be had."""
    return _diagnostic(place, None, Severity.BLOCKING, f"{dependency.name}: {dependency.message}")


def _bringing(use: Use, by_name: Mapping[str, object], catalogue: Catalogue) -> list[str]:
    """The declared distributions that bring a module: those known to, else those whose names suggest it."""
    certain = sorted(catalogue.bringing(use.imported.top) & by_name.keys())
    return certain or [name for name in by_name if catalogue.may_bring(name, use.imported.module)]


def _unread(declarations: Declarations) -> str:
    """Why not all that is declared is known; empty: it is."""
    if not declarations.places:
        return "the repository has no manifest"
    if declarations.unread:
        return f"{declarations.unread[0].artifact} may declare it: {declarations.unread[0].reason}"
    return ""


def _obscure(idle: Sequence[str], catalogue: Catalogue) -> str:
    """Which declared distributions, of those that nothing seems to use, may bring a module for all that is known."""
    names = sorted(name for name in idle if not catalogue.is_known(name))
    return f"it may come with {', '.join(names[:5])}, of which nothing is known here" if names else ""


def _declared(
    name: str, entries: Sequence[Declared], uses: Sequence[Use], *, is_whole: bool
) -> Dependency | None:
    requirement = ", ".join(dict.fromkeys(each.requirement for each in entries))
    is_proposed = any(each.place == PROPOSED for each in entries)
    artifacts = tuple(sorted({use.artifact for use in uses}))
    if (reason := _at_odds(entries)) is not None:
        status, message = "conflict", reason
    elif uses:
        status, message = "satisfied", _NOT_LOOKED_UP
    elif not is_whole and not is_proposed:
        return None
    elif is_whole and any(not each.group for each in entries):
        status, message = "unused", "no file imports it; it may be a plugin or a program"
    else:
        status, message = "not_checked", "none of the files imports it"
    return Dependency.model_validate(
        {
            "name": name,
            "status": status,
            "requirement": requirement,
            "artifacts": artifacts,
            "message": message,
        }
    )


def _at_odds(entries: Sequence[Declared]) -> str | None:
    """Why no version satisfies all that the code itself needs; what only holds somewhere or for some is left aside."""
    needed = [each for each in entries if not each.group and Requirement(each.requirement).marker is None]
    combined = SpecifierSet()
    for each in needed:
        combined &= Requirement(each.requirement).specifier
    if not combined.is_unsatisfiable():
        return None
    return "no version satisfies " + " and ".join(f"{each.requirement} ({each.place})" for each in needed)


def _problems_of(
    entries: Sequence[Declared], uses: Sequence[Use], dependency: Dependency | None
) -> Iterator[Diagnostic]:
    if dependency is not None and dependency.status == "conflict":
        yield _diagnostic(entries[0].place, None, Severity.BLOCKING, dependency.message)
    if not all(each.is_for_development for each in entries):
        return
    group = entries[0].group
    for use in uses:
        if not is_test_file(use.artifact) and not use.imported.is_optional:
            text = f"{entries[0].name} is declared only for development ({group}), and this file imports it"
            yield _diagnostic(use.artifact, use.imported.line, Severity.WARNING, text)


def _undeclared(top: str, uses: Sequence[Use], doubt: str, catalogue: Catalogue) -> Dependency:
    bringing = sorted(catalogue.bringing(top))
    name = bringing[0] if bringing else canonicalize_name(top)
    artifacts = tuple(sorted({use.artifact for use in uses}))
    if doubt:
        message = f"imported as {top!r}, and seems not to be declared; {doubt}"
        return Dependency(name=name, status="not_checked", artifacts=artifacts, message=message)
    message = f"imported as {top!r}, and no manifest declares it; declare {name}, or do without"
    return Dependency(name=name, status="undeclared", artifacts=artifacts, message=message)


def _strange(dependency: Dependency, uses: Sequence[Use]) -> Iterator[Diagnostic]:
    """Tests, and code that goes on without the module, may import what nobody declares; the rest may not."""
    for use in uses:
        blocks = not use.imported.is_optional and not is_test_file(use.artifact)
        is_sure = dependency.status == "undeclared"
        severity = Severity.BLOCKING if is_sure and blocks else Severity.WARNING
        yield _diagnostic(use.artifact, use.imported.line, severity, dependency.message)


def _diagnostic(artifact: str, line: int | None, severity: Severity, message: str) -> Diagnostic:
    return Diagnostic(
        artifact=artifact, line=line, severity=severity, category="dependency_error", message=message
    )


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
    chosen = (
        [path for path in dict.fromkeys(params.artifacts) if is_python(path)]
        if params.artifacts
        else there.paths
    )
    uses, problems = _uses(root, chosen, Modules(there.paths))
    if not params.artifacts:
        problems += [left_out(path, f"its imports are not known: {odd.reason}") for path, odd in there.unread]
    declarations, doubts = _with_proposal(read_declarations(root), params)
    result = standing(declarations, uses, Catalogue(), is_whole=not params.artifacts)
    if params.index:
        result = _with_index(result, declarations, params.index)
    diagnostics = [*problems, *doubts, *result.problems]
    counts = {"artifacts": len(chosen), "dependencies": len(result.dependencies)}
    answer = Dependencies(dependencies=result.dependencies).model_dump(mode="json")
    return response_of(request, sorted_findings(diagnostics), answer, counts=counts)


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
    from cogworks.services.python.package_index import address_problem  # noqa: PLC0415 - slow, and seldom needed

    return address_problem(address)


def _with_index(result: Standing, declarations: Declarations, address: str) -> Standing:
    """The standing with what the index has of what is declared; an index that fails is asked no further."""
    from cogworks.services.python.package_index import (  # noqa: PLC0415 - slow, and seldom needed
        IndexUnusable,
        PackageIndex,
    )

    problems = list(result.problems)
    dependencies = list(result.dependencies)
    with PackageIndex(address) as index:
        for place, dependency in enumerate(result.dependencies):
            entries = [each for each in declarations.declared if each.name == dependency.name]
            if not entries or dependency.status == "conflict":
                continue
            try:
                checked = looked_up(dependency, entries, index.versions(dependency.name))
            except IndexUnusable as error:
                problems.append(left_out(".", f"the package index {address} was left out: {error}"))
                break
            dependencies[place] = checked
            if checked.status == "unavailable":
                problems.append(unavailable(checked, entries[-1].place))
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

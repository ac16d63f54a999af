"""The operations that grammars answer, in the form every bundled service dispatches them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from cogworks.domain_services.checking import Artifacts, DependencyGraph, Interface, InterfaceMap
from cogworks.domain_services.exploring import CallGraphParams, ExploreParams, Signature, Signatures
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.facts import Definition
from cogworks.grammars.testing import is_test_file
from cogworks.services.answers import outside
from cogworks.services.call_graph import call_graph_of
from cogworks.services.command.grammars.code import Code, Reads
from cogworks.services.command.grammars.indexing import code_of, index, kind_of, response_of, symbols_of
from cogworks.services.command.grammars.relations import relations_of
from cogworks.services.command.grammars.validating import validate
from cogworks.vocabulary import Severity


def call_graph(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = CallGraphParams.model_validate(request.params)
    code = code_of(request, folder, machine)
    missing = [
        Diagnostic(
            artifact=each.artifact,
            severity=Severity.INFORMATIONAL,
            category="completeness",
            message=f"not in the graph: {each.reason}",
        )
        for each in code.unread
    ]
    symbols = (symbol for path in code.files for symbol in symbols_of(code, path))
    return response_of(request, code, call_graph_of(symbols, relations_of(code), params), missing)


def dependency_graph(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    return response_of(request, code, dependencies_of(code).model_dump(mode="json"))


def dependencies_of(code: Code) -> DependencyGraph:
    """What each file imports, as far as that is decidable; a package of several files is used with all of them."""
    uses: dict[str, tuple[str, ...]] = {}
    external: dict[str, tuple[str, ...]] = {}
    modules: dict[str, str] = {}
    for path, facts in code.files.items():
        own, foreign = set[str](), set[str]()
        for imported in facts.imports:
            files = code.resolved(path, imported)
            own |= set(files)
            if not files:
                foreign.add(imported.module)
        own.discard(path)
        modules |= {code.modules[each]: each for each in (path, *own)}
        uses[code.modules[path]] = tuple(sorted(code.modules[each] for each in own))
        if foreign:
            external[code.modules[path]] = tuple(sorted(foreign))
    return DependencyGraph(
        modules=dict(sorted(modules.items())),
        uses=dict(sorted(uses.items())),
        external=dict(sorted(external.items())),
        unread=code.unread,
    )


def extract_interfaces(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    doubts = tuple(_doubts(code))
    result = InterfaceMap(
        status="incomplete" if doubts or code.unread else "complete",
        interfaces=tuple(_interfaces(code)),
        unread=code.unread,
    )
    return response_of(request, code, result.model_dump(mode="json"), doubts)


def _interfaces(code: Code) -> Iterator[Interface]:
    for path, facts in code.files.items():
        if is_test_file(code.spec(path), path):
            continue
        for place, each in enumerate(facts.definitions):
            if not each.is_public or each.is_test:
                continue
            kind = kind_of(code, path, place)
            yield Interface(
                name=code.ids[path][place],
                # `function` in an `impl` is a method; else the language's own word.
                kind=kind if each.kind == "function" else each.kind,
                artifact=path,
                line=each.line,
                signature=each.signature,
                documentation=each.documentation,
            )


def _doubts(code: Code) -> Iterator[Diagnostic]:
    for path, facts in code.files.items():
        reasons = list(facts.doubts)
        if facts.mistakes:
            reasons.append(f"cannot be read from line {facts.mistakes[0].line} on, names may be missing")
        for reason in reasons:
            yield Diagnostic(
                artifact=path, severity=Severity.INFORMATIONAL, category="completeness", message=reason
            )


_Kind = Literal["function", "method", "static_method", "class_method", "property", "class"]


def signatures(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    return response_of(request, code, signatures_of(code).model_dump(mode="json"))


def signatures_of(code: Code) -> Signatures:
    """The public names of all files but tests, sorted by artifact and id; variables and namespaces have none."""
    entries = [
        _signature(code, path, place, each)
        for path, facts in code.files.items()
        if not is_test_file(code.spec(path), path)
        for place, each in enumerate(facts.definitions)
        if each.is_public and not each.is_test and kind_of(code, path, place) not in ("variable", "module")
    ]
    entries.sort(key=lambda each: (each.artifact, each.id))
    return Signatures(signatures=tuple(entries), unread=code.unread)


def _signature(code: Code, path: str, place: int, own: Definition) -> Signature:
    named = [each for each in own.parameters if not each.is_variadic]
    variadic = next((each.name for each in own.parameters if each.is_variadic), None)
    return Signature(
        id=code.ids[path][place],
        kind=_kind(own, kind_of(code, path, place)),
        artifact=path,
        line=own.line,
        is_async="async " in own.signature.partition("(")[0] or "async (" in own.signature,
        decorators=own.decorators,
        positional=tuple(each.name for each in named),
        var_positional=variadic,
        with_default=tuple(each.name for each in named if each.has_default),
        bases=own.bases,
        annotations={each.name: each.annotation for each in own.parameters if each.annotation},
    )


def _kind(own: Definition, kind: str) -> _Kind:
    if own.kind == "property":
        return "property"
    if kind == "class":
        return "class"
    if kind != "method":
        return "function"
    is_static = "static" in own.signature.partition("(")[0].split() or own.signature.startswith("def self.")
    return "static_method" if is_static else "method"


METHODS: Mapping[str, Callable[[Request, Path, Reads], Response]] = MappingProxyType(
    {
        "validate": validate,
        "extract_interfaces": extract_interfaces,
        "dependency_graph": dependency_graph,
        "index": index,
        "call_graph": call_graph,
        "signatures": signatures,
    }
)
"""Who answers what; each is handed the request, the repository's directory and the machine, and may raise `OSError` and
the `ValidationError` of its parameters. `validate` knows syntax and names; a service that runs a linter adds its findings."""

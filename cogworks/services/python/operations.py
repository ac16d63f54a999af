"""The operations that are answered from source texts alone: `index`, `call_graph`, `dependency_graph`, `extract_interfaces`, `signatures`, `instrument`."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cogworks.codebase.confined import read_file
from cogworks.domain_services.checking import Artifacts, DependencyGraph, InterfaceMap
from cogworks.domain_services.exploring import (
    CallGraphParams,
    ExploreParams,
    Instrumented,
    InstrumentParams,
    Signature,
    Signatures,
)
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.call_graph import call_graph_of
from cogworks.services.python.code.facts import MODULE, Definition, Imported
from cogworks.services.python.code.insertion import Body, Misfit, body_at, checking, noting, shortened
from cogworks.services.python.code.modules import Modules
from cogworks.services.python.code.publicity import constructor_of, kind_of, public_places, settled
from cogworks.services.python.code.relations import relations_of
from cogworks.services.python.code.repository import Code, collector_at_rest, is_test_file, read_code
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import outside, response_of
from cogworks.vocabulary import Severity


def index(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return response_of(request, (), index_of(code), counts=counts)


def index_of(code: Code) -> dict[str, Any]:
    """The fields of a `SymbolIndex`; plain mappings, for there may be a hundred thousand of them."""
    return {
        "symbols": [symbol for path in code.files for symbol in symbols_of(code, path)],
        "calls": [call for path in code.files for call in _calls_of(code, path)],
        "imports": [imported for path in code.files for imported in _imports_of(code, path)],
        "unread": [each.model_dump(mode="json") for each in code.unread],
    }


def symbols_of(code: Code, path: str) -> list[dict[str, Any]]:
    """The fields of the `Symbol`s of one file, in the order of their lines; the module itself first."""
    ids, facts, module = code.ids[path], code.files[path], code.modules.names[path]
    is_test = is_test_file(path)

    def symbol(name: str, kind: str, lines: tuple[int, int], parent: str | None) -> dict[str, Any]:
        return {
            "id": name,
            "kind": kind,
            "artifact": path,
            "lines": lines,
            "parent": parent,
            "is_test": is_test,
        }

    def parent_of(definition: Definition) -> str:
        return module if definition.parent == MODULE else ids[definition.parent]

    inner = [
        symbol(name, definition.kind, definition.lines, parent_of(definition))
        for name, definition in zip(ids, facts.definitions, strict=True)
    ]
    inner.sort(key=lambda each: (each["lines"], each["id"]))
    return [symbol(module, "module", (1, facts.line_count), None), *inner]


def _calls_of(code: Code, path: str) -> Iterator[dict[str, Any]]:
    # The module last: its place is -1.
    callers = (*code.ids[path], code.modules.names[path])
    for call in code.files[path].calls:
        yield {"name": call.name, "caller": callers[call.scope], "artifact": path, "line": call.line}


def _imports_of(code: Code, path: str) -> Iterator[dict[str, Any]]:
    for each in code.files[path].imports:
        module = code.modules.spelled(each, asking=path)
        yield {
            "artifact": path,
            "line": each.line,
            "module": module,
            "name": each.name,
            "alias": each.alias,
        }


def call_graph(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = CallGraphParams.model_validate(request.params)
    code = read_code(folder, machine.facts_of)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    missing = [
        Diagnostic(
            artifact=each.artifact,
            severity=Severity.INFORMATIONAL,
            category="completeness",
            message=f"not in the graph: {each.reason}",
        )
        for each in code.unread
    ]
    with collector_at_rest():
        symbols = (symbol for path in code.files for symbol in symbols_of(code, path))
        graph = call_graph_of(symbols, relations_of(code), params)
    return response_of(request, missing, graph, counts=counts)


def dependency_graph(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return response_of(request, (), dependencies_of(code).model_dump(mode="json"), counts=counts)


def dependencies_of(code: Code) -> DependencyGraph:
    """What each module imports, wherever in the file the import stands; what a program imports by a text is not seen."""
    names = code.modules.names
    uses: dict[str, tuple[str, ...]] = {}
    external: dict[str, tuple[str, ...]] = {}
    artifacts: dict[str, str] = {}
    for path, facts in code.files.items():
        own: set[str] = set()
        foreign: set[str] = set()
        for imported in facts.imports:
            files = _files(code.modules, imported, path)
            own |= set(files)
            if not files:
                foreign.add(code.modules.spelled(imported, asking=path))
        own.discard(path)
        artifacts |= {names[each]: each for each in (path, *own)}
        uses[names[path]] = tuple(sorted(names[each] for each in own))
        if foreign:
            external[names[path]] = tuple(sorted(foreign))
    return DependencyGraph(
        modules=dict(sorted(artifacts.items())),
        uses=dict(sorted(uses.items())),
        external=dict(sorted(external.items())),
        unread=code.unread,
    )


def _files(modules: Modules, imported: Imported, path: str) -> list[str]:
    """The file that an import uses: the submodule it names, or the module it takes a name from."""
    stem = modules.origin(imported, asking=path)
    if stem is None:
        return []
    below = modules.inside(stem, imported.name) if imported.name else None
    candidates = (modules.file(each) for each in (below, stem) if each is not None)
    return [file for file in candidates if file is not None][:1]


def extract_interfaces(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    from cogworks.services.python.code.offers import offer_of  # noqa: PLC0415 - griffe would slow every start down

    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    offer = offer_of(code, folder)
    is_complete = not offer.unread and not offer.doubts
    result = InterfaceMap(
        status="complete" if is_complete else "incomplete", interfaces=offer.interfaces, unread=offer.unread
    )
    counts = {"artifacts": len(code.files), "unread": len(offer.unread)}
    tools = {"griffe": version("griffelib")}
    return response_of(request, offer.doubts, result.model_dump(mode="json"), counts=counts, tools=tools)


def signatures(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return response_of(request, (), signatures_of(code).model_dump(mode="json"), counts=counts)


def signatures_of(code: Code) -> Signatures:
    """The public names of all files, sorted by artifact and id."""
    listed = [
        _signature(code.ids[path][place], path, facts.definitions[place])
        for path, facts in code.files.items()
        for place in public_places(facts)
    ]
    listed.sort(key=lambda each: (each.artifact, each.id))
    return Signatures(signatures=tuple(listed), unread=code.unread)


def _signature(name: str, path: str, definition: Definition) -> Signature:
    kind = kind_of(definition)
    parameters = constructor_of(definition) if kind == "class" else definition.parameters
    return Signature(
        id=name,
        kind=kind,
        artifact=path,
        line=definition.line,
        is_async=definition.is_async,
        decorators=tuple(settled(text) for text in definition.decorators),
        positional_only=parameters.positional_only,
        positional=parameters.positional,
        var_positional=parameters.var_positional,
        keyword_only=parameters.keyword_only,
        var_keyword=parameters.var_keyword,
        with_default=parameters.with_default,
        bases=tuple(settled(text) for text in definition.bases),
        annotations={each: settled(text) for each, text in parameters.annotations},
    )


def instrument(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    del machine
    params = InstrumentParams.model_validate(request.params)
    if (refusal := outside(request, (params.artifact,))) is not None:
        return refusal
    file = read_file(folder.resolve(), params.artifact)
    result = _instrumented(params, None if file is None else file.data)
    return response_of(request, (), result.model_dump(mode="json"), counts={"artifacts": 1})


def _instrumented(params: InstrumentParams, data: bytes | None) -> Instrumented:
    if data is None:
        return Instrumented(reason=f"{params.artifact} is no file of the working copy")
    try:
        body = body_at(data, params.line)
    except Misfit as error:
        return Instrumented(reason=f"{params.artifact}:{params.line}: {error}")
    try:
        content = _content(body, params)
    except Misfit as error:
        return Instrumented(reason=f"{params.artifact}:{params.line}: {error}", statements=body.statements)
    first, last = body.statements[0][0], body.statements[-1][1]
    grown = content.count("\n") - body.text.count("\n")
    return Instrumented(content=content, lines=(first, max(first, last + grown)), statements=body.statements)


def _content(body: Body, params: InstrumentParams) -> str:
    match params.mode:
        case "note":
            return noting(body)
        case "check":
            return checking(body, params.allowed)
        case "shorten":
            return shortened(body, params.without)

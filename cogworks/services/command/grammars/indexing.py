"""The operation `index`: definitions, calls by name and imports."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cogworks.domain_services.exploring import ExploreParams, SymbolKind
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.facts import TYPES
from cogworks.grammars.testing import is_test_file
from cogworks.services.answers import answered, outside
from cogworks.services.command.grammars.code import Code, Reads, read_code


def code_of(request: Request, folder: Path, machine: Reads, *, only: Sequence[str] = ()) -> Code:
    """The code a request is about, below the folder its repository names as root."""
    root = request.repository.root if request.repository else ""
    return read_code(folder, machine.source_facts, only=only, root=root, patterns=machine.patterns)


def response_of(
    request: Request, code: Code, result: Mapping[str, Any], diagnostics: Sequence[Diagnostic] = ()
) -> Response:
    """The answer, with what was read and with which grammars."""
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return answered(request, diagnostics, result, counts=counts, versions=versions(code.files))


def versions(paths: Sequence[str] | Mapping[str, Any]) -> dict[str, str]:
    """Distribution -> version of the grammars that these files were read with."""
    from cogworks.grammars.languages.registry import language_of  # noqa: PLC0415 - keeps `spec` free of it

    modules = {spec.grammar.partition(":")[0] for path in paths if (spec := language_of(path)) is not None}
    names = sorted(each.replace("_", "-") for each in modules)
    return {name: _version(name) for name in ("tree-sitter", *names)}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


_KINDS: dict[str, SymbolKind] = {
    "namespace": "module",
    "module": "module",
    "function": "function",
    "macro": "function",
    "test": "function",
    "method": "method",
    "property": "method",
    "constant": "variable",
    "variable": "variable",
}


def index(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    return response_of(request, code, index_of(code))


def index_of(code: Code) -> dict[str, Any]:
    """The fields of a `SymbolIndex`; plain mappings, for there may be a hundred thousand of them."""
    return {
        "symbols": [symbol for path in code.files for symbol in symbols_of(code, path)],
        "calls": [call for path in code.files for call in _calls_of(code, path)],
        "imports": [imported for path in code.files for imported in _imports_of(code, path)],
        "unread": [each.model_dump(mode="json") for each in code.unread],
    }


def symbols_of(code: Code, path: str) -> list[dict[str, Any]]:
    """The fields of the `Symbol`s of one file, in the order of their lines; the file itself first."""
    facts, ids, module = code.files[path], code.ids[path], code.modules[path]
    known_ids = {module, *ids}
    in_tests = is_test_file(code.spec(path), path)

    def symbol(
        name: str, kind: str, lines: tuple[int, int], parent: str | None, is_test: bool
    ) -> dict[str, Any]:
        fields = {"id": name, "kind": kind, "artifact": path, "lines": lines, "parent": parent}
        return {**fields, "is_test": is_test or in_tests}

    symbols = [symbol(module, "module", (1, facts.line_count), None, False)]
    tested: set[int] = set()
    for place, (name, each) in enumerate(zip(ids, facts.definitions, strict=True)):
        around = ".".join((code.id_of(path, each.parent), *each.owner))
        # The type of a method that stands outside of it may be in another file.
        parent = around if around in known_ids else code.id_of(path, each.parent)
        if each.is_test or each.parent in tested:
            tested.add(place)
        symbols.append(symbol(name, kind_of(code, path, place), each.lines, parent, place in tested))
    return symbols


def kind_of(code: Code, path: str, place: int) -> SymbolKind:
    """The kind of a definition in the words of the Extension API."""
    definitions = code.files[path].definitions
    own = definitions[place]
    kind = _KINDS.get(own.kind, "class")
    if kind == "function" and own.kind == "function":
        owned = bool(own.owner) or (own.parent >= 0 and definitions[own.parent].kind in TYPES)
        return "method" if owned else "function"
    return kind


def _calls_of(code: Code, path: str) -> Iterator[dict[str, Any]]:
    for call in code.files[path].calls:
        yield {"name": call.name, "caller": code.id_of(path, call.scope), "artifact": path, "line": call.line}


def _imports_of(code: Code, path: str) -> Iterator[dict[str, Any]]:
    for each in code.files[path].imports:
        files = code.resolved(path, each)
        yield {
            "artifact": path,
            "line": each.line,
            # One file is named as its ids are; a package of many, and what comes from elsewhere, as it is written.
            "module": code.modules[files[0]] if len(files) == 1 else each.module,
            "name": each.name,
            "alias": each.alias,
        }

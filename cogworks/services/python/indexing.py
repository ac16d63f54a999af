"""The operation `index`: definitions, calls by name and imports."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cogworks.domain_services.exploring import ExploreParams
from cogworks.domain_services.messages import Request, Response
from cogworks.services.python.code.facts import MODULE, Definition
from cogworks.services.python.code.repository import Code, is_test_file, read_code
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside


def index(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return found(request, (), index_of(code), counts=counts)


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

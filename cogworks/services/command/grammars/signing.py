"""The operation `signatures`: how public names may be used, for the comparison of two states of the code."""

from pathlib import Path
from typing import Literal

from cogworks.domain_services.exploring import ExploreParams, Signature, Signatures
from cogworks.domain_services.messages import Request, Response
from cogworks.grammars.facts import Definition
from cogworks.grammars.testing import is_test_file
from cogworks.services.answers import outside
from cogworks.services.command.grammars.code import Code
from cogworks.services.command.grammars.indexing import kind_of
from cogworks.services.command.grammars.knowledge import Reads
from cogworks.services.command.grammars.reading import code_of, told

_Kind = Literal["function", "method", "static_method", "class_method", "property", "class"]


def signatures(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    return told(request, code, signatures_of(code).model_dump(mode="json"))


def signatures_of(code: Code) -> Signatures:
    """The public names of all files but tests, sorted by artifact and id; variables and namespaces have none."""
    found = [
        _signature(code, path, place, each)
        for path, facts in code.files.items()
        if not is_test_file(code.spec(path), path)
        for place, each in enumerate(facts.definitions)
        if each.is_public and not each.is_test and kind_of(code, path, place) not in ("variable", "module")
    ]
    found.sort(key=lambda each: (each.artifact, each.id))
    return Signatures(signatures=tuple(found), unread=code.unread)


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

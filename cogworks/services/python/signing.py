"""The operation `signatures`: how public names may be used, for the comparison of two states of the code."""

from pathlib import Path

from cogworks.domain_services.exploring import ExploreParams, Signature, Signatures
from cogworks.domain_services.messages import Request, Response
from cogworks.services.python.code.facts import Definition
from cogworks.services.python.code.publicity import constructor_of, kind_of, public_places, settled
from cogworks.services.python.code.repository import Code, read_code
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside


def signatures(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ExploreParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return found(request, (), signatures_of(code).model_dump(mode="json"), counts=counts)


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

"""The operation `instrument`: a file with something to look at built in, for a run that is thrown away."""

from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.domain_services.exploring import Instrumented, InstrumentParams
from cogworks.domain_services.messages import Request, Response
from cogworks.services.python.code.insertion import Body, Misfit, body_at, checking, noting, shortened
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside


def instrument(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    del machine
    params = InstrumentParams.model_validate(request.params)
    if (refusal := outside(request, (params.artifact,))) is not None:
        return refusal
    file = read_file(folder.resolve(), params.artifact)
    result = _instrumented(params, None if file is None else file.data)
    return found(request, (), result.model_dump(mode="json"), counts={"artifacts": 1})


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

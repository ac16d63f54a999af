"""The operation `extract_interfaces`: the names, types and signatures that files offer, read without importing them."""

from importlib.metadata import version
from pathlib import Path

from cogworks.domain_services.checking import Artifacts, InterfaceMap
from cogworks.domain_services.messages import Request, Response
from cogworks.services.python.code.repository import read_code
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside


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
    return found(request, offer.doubts, result.model_dump(mode="json"), counts=counts, tools=tools)

"""What files declare, as a domain service reads it: shown to the model, and held against what it claims."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from cogworks.domain_services.answers import NotOffered
from cogworks.domain_services.checking import Interface, InterfaceMap
from cogworks.nodes.contract import NodeShell, Workspace
from cogworks.nodes.excerpts import RepositoryView, unshown
from cogworks.nodes.replies import InterfaceName
from cogworks.vocabulary import Value

MAX_FILES = 200
"""So many files that a prompt does not show are asked about."""
MAX_CHARS = 40_000
"""All declarations of one prompt together; about 13 000 tokens."""
_WORD = re.compile(r"\w+")
_TAKES = re.compile(r"[(\[<]")


class Declared(Value):
    """What files that a prompt does not show offer."""

    text: str = ""
    is_partial: bool = False

    def variables(self) -> Mapping[str, Any]:
        """What a prompt needs."""
        return {"declared": self.model_dump(mode="json")}


def further_interfaces(
    workspace: Workspace, shell: NodeShell, view: RepositoryView, *, wanted: Sequence[str], text: str
) -> Declared:
    """What the service says of the files that the view leaves out, those that matter most first."""
    paths = unshown(workspace, view, wanted=wanted, text=text)
    if not paths:
        return Declared()
    found = shell.service.interfaces(workspace, paths[:MAX_FILES])
    if isinstance(found, NotOffered):
        shell.say(f"files that are not shown stay unknown: {found}")
        return Declared()
    return listed(found, paths, is_partial=len(paths) > MAX_FILES)


def listed(found: InterfaceMap, order: Sequence[str], *, is_partial: bool = False) -> Declared:
    """Declarations file by file in this order, as many whole files as there is room for."""
    places = {path: place for place, path in enumerate(order)}
    known = sorted(
        (each for each in found.interfaces if each.artifact in places), key=lambda each: places[each.artifact]
    )
    blocks: list[str] = []
    room = MAX_CHARS
    is_partial = is_partial or found.status == "incomplete"
    for path, interfaces in groupby(known, key=lambda each: each.artifact):
        block = "\n".join([path, *(f"  {_line(each)}" for each in interfaces)])
        if len(block) > room:
            is_partial = True
            continue
        room -= len(block)
        blocks.append(block)
    return Declared(text="\n".join(blocks), is_partial=is_partial)


def undeclared(claimed: Sequence[InterfaceName], found: InterfaceMap | NotOffered) -> list[str]:
    """The names that are said to be declared in a file and are not; nothing of files of which the service says nothing."""
    if isinstance(found, NotOffered) or found.status == "incomplete":
        return []
    names: dict[str, set[str]] = {}
    for each in found.interfaces:
        names.setdefault(each.artifact, set()).add(_last(each.name))
    return [
        f"interface {each.name!r} {_why(each)} {each.path!r}, which offers {', '.join(sorted(names[each.path]))}"
        for each in claimed
        if each.path in names and _last(each.name) not in names[each.path]
    ]


def _why(claimed: InterfaceName) -> str:
    if _last(claimed.name).startswith("_"):
        return "is private, and what is private is no interface of"
    return "is not declared in"


def _line(interface: Interface) -> str:
    signature = " | ".join(interface.signature.splitlines())
    summary = interface.documentation.strip().partition("\n")[0]
    return interface.name + (f": {signature}" if signature else "") + (f" - {summary}" if summary else "")


def _last(name: str) -> str:
    """The name itself, without what it belongs to and what it takes: `Cart.add(row)` is `add`."""
    words = _WORD.findall(_TAKES.split(name, maxsplit=1)[0])
    return words[-1] if words else name

"""What every operation of this package does first: its files read, and their versions told."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.services.answers import answered
from cogworks.services.command.grammars.code import Code, read_code
from cogworks.services.command.grammars.knowledge import Reads


def code_of(request: Request, folder: Path, machine: Reads, *, only: Sequence[str] = ()) -> Code:
    """The code a request is about, below the folder its repository names as root."""
    root = request.repository.root if request.repository else ""
    return read_code(folder, machine.source_facts, only=only, root=root, patterns=machine.patterns)


def told(
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

"""The operation `extract_interfaces`: the names that files offer, with signature and documentation."""

from collections.abc import Iterator
from pathlib import Path

from cogworks.domain_services.checking import Artifacts, Interface, InterfaceMap
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.testing import is_test_file
from cogworks.services.answers import outside
from cogworks.services.command.grammars.code import Code
from cogworks.services.command.grammars.indexing import kind_of
from cogworks.services.command.grammars.knowledge import Reads
from cogworks.services.command.grammars.reading import code_of, told
from cogworks.vocabulary import Severity


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
    return told(request, code, result.model_dump(mode="json"), doubts)


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

"""The operation `validate` as far as grammars know: what a language cannot read, and agreed names that are not there."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cogworks.domain_services.checking import ToolRun, ToolRuns, ValidateParams
from cogworks.domain_services.messages import Diagnostic, Request, Response
from cogworks.grammars.facts import FILE, FileFacts, Unreadable
from cogworks.grammars.languages.registry import language_of
from cogworks.services.answers import answered, blocking, outside
from cogworks.services.command.grammars.code import Reading, Reads
from cogworks.services.command.grammars.files import contents, own
from cogworks.services.command.grammars.indexing import versions
from cogworks.vocabulary import Severity


def validate(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = ValidateParams.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    ours = own(params.artifacts)
    facts = {path: facts_of(folder.resolve(), path, machine.source_facts) for path in ours}
    read = {path: each for path, each in facts.items() if isinstance(each, FileFacts)}
    problems = [each for path, content in facts.items() for each in problems_of(path, content)]
    problems += absent(params.interfaces, read)
    counts = {"artifacts": len(ours), "skipped": len(params.artifacts) - len(ours)}
    result = ToolRuns(tools=tuple(ToolRun(tool=tool) for tool in versions(ours)))
    return answered(request, problems, result.model_dump(mode="json"), counts=counts, versions=versions(ours))


def problems_of(path: str, content: FileFacts | Unreadable) -> Iterator[Diagnostic]:
    """What is wrong with one file.

    A mistake blocks where the grammar knows the whole language; where macros may stand for anything, and where the
    grammar is known to lag behind, it is a warning. What cannot be read for its length is a warning of completeness.
    """
    spec = language_of(path)
    if isinstance(content, Unreadable):
        is_missing = "no such file" in content.reason
        severity = Severity.BLOCKING if is_missing else Severity.WARNING
        yield Diagnostic(artifact=path, severity=severity, category="completeness", message=content.reason)
        return
    severity = Severity.BLOCKING if spec is not None and spec.is_exact else Severity.WARNING
    for each in content.mistakes:
        yield Diagnostic(
            artifact=path, line=each.line, severity=severity, category="syntax_error", message=each.message
        )


def absent(interfaces: Sequence[str], files: Mapping[str, FileFacts]) -> tuple[Diagnostic, ...]:
    """One blocking diagnostic for each name that none of the files declares.

    A name stands by itself (`Cart.add`, `Cart::add`) or behind whatever is around it (`src.shop.Cart.add`).
    """
    declared = {name for path, facts in files.items() for name in _endings(path, facts)}
    place = min(files, default=".")
    return tuple(
        blocking(place, "interface_mismatch", f"{name!r} is expected and none of the files declares it")
        for name in dict.fromkeys(interfaces)
        if _plain(name) not in declared
    )


def _endings(path: str, facts: FileFacts) -> Iterator[str]:
    module = path.rpartition(".")[0].split("/")
    package = _plain(facts.package).split(".") if facts.package else []
    names: list[tuple[str, ...]] = []
    for each in facts.definitions:
        around = () if each.parent == FILE else names[each.parent]
        names.append((*around, *each.owner, each.name))
        for before in (module, package):
            whole = [*before, *names[-1]]
            yield from (".".join(whole[start:]) for start in range(max(0, len(whole) - 20), len(whole)))


def _plain(name: str) -> str:
    for sign in ("::", "\\", "#", "->", "/"):
        name = name.replace(sign, ".")
    return name.strip(".")


def facts_of(root: Path, path: str, read: Reading) -> FileFacts | Unreadable:
    """What a file of a known language says, or why it is not read."""
    data, spec = contents(root, path), language_of(path)
    return (
        read(spec, data)
        if isinstance(data, bytes) and spec is not None
        else Unreadable(str(getattr(data, "reason", "")))
    )

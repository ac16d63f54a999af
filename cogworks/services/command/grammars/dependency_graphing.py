"""The operation `dependency_graph`: which file uses which."""

from pathlib import Path

from cogworks.domain_services.checking import Artifacts, DependencyGraph
from cogworks.domain_services.messages import Request, Response
from cogworks.services.answers import outside
from cogworks.services.command.grammars.code import Code
from cogworks.services.command.grammars.knowledge import Reads
from cogworks.services.command.grammars.reading import code_of, told


def dependency_graph(request: Request, folder: Path, machine: Reads) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = code_of(request, folder, machine, only=params.artifacts)
    return told(request, code, dependencies_of(code).model_dump(mode="json"))


def dependencies_of(code: Code) -> DependencyGraph:
    """What each file imports, as far as that is decidable; a package of several files is used with all of them."""
    uses: dict[str, tuple[str, ...]] = {}
    external: dict[str, tuple[str, ...]] = {}
    modules: dict[str, str] = {}
    for path, facts in code.files.items():
        own, foreign = set[str](), set[str]()
        for imported in facts.imports:
            files = code.resolved(path, imported)
            own |= set(files)
            if not files:
                foreign.add(imported.module)
        own.discard(path)
        modules |= {code.modules[each]: each for each in (path, *own)}
        uses[code.modules[path]] = tuple(sorted(code.modules[each] for each in own))
        if foreign:
            external[code.modules[path]] = tuple(sorted(foreign))
    return DependencyGraph(
        modules=dict(sorted(modules.items())),
        uses=dict(sorted(uses.items())),
        external=dict(sorted(external.items())),
        unread=code.unread,
    )

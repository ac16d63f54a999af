"""The operation `dependency_graph`: which module uses which."""

from pathlib import Path

from cogworks.domain_services.checking import Artifacts, DependencyGraph
from cogworks.domain_services.messages import Request, Response
from cogworks.services.python.code.facts import Imported
from cogworks.services.python.code.modules import Modules
from cogworks.services.python.code.repository import Code, read_code
from cogworks.services.python.machine import Machine
from cogworks.services.python.responses import found, outside


def dependency_graph(request: Request, folder: Path, machine: Machine) -> Response:
    """The answer to a request whose repository is in `folder`."""
    params = Artifacts.model_validate(request.params)
    if (refusal := outside(request, params.artifacts)) is not None:
        return refusal
    code = read_code(folder, machine.facts_of, only=params.artifacts)
    counts = {"artifacts": len(code.files), "unread": len(code.unread)}
    return found(request, (), dependencies_of(code).model_dump(mode="json"), counts=counts)


def dependencies_of(code: Code) -> DependencyGraph:
    """What each module imports, wherever in the file the import stands; what a program imports by a text is not seen."""
    names = code.modules.names
    uses: dict[str, tuple[str, ...]] = {}
    external: dict[str, tuple[str, ...]] = {}
    artifacts: dict[str, str] = {}
    for path, facts in code.files.items():
        own: set[str] = set()
        foreign: set[str] = set()
        for imported in facts.imports:
            files = _files(code.modules, imported, path)
            own |= set(files)
            if not files:
                foreign.add(code.modules.spelled(imported, asking=path))
        own.discard(path)
        artifacts |= {names[each]: each for each in (path, *own)}
        uses[names[path]] = tuple(sorted(names[each] for each in own))
        if foreign:
            external[names[path]] = tuple(sorted(foreign))
    return DependencyGraph(
        modules=dict(sorted(artifacts.items())),
        uses=dict(sorted(uses.items())),
        external=dict(sorted(external.items())),
        unread=code.unread,
    )


def _files(modules: Modules, imported: Imported, path: str) -> list[str]:
    """The file that an import uses: the submodule it names, or the module it takes a name from."""
    stem = modules.origin(imported, asking=path)
    if stem is None:
        return []
    below = modules.inside(stem, imported.name) if imported.name else None
    candidates = (modules.file(each) for each in (below, stem) if each is not None)
    return [file for file in candidates if file is not None][:1]

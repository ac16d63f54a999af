"""Where localisation looks for a fault in a folder, with and without coverage: `localise` on the real Python service."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.reading import read_text
from cogworks.codebase.treefacts import PastCommit
from cogworks.codegen.suitability import failing_targets
from cogworks.domain_services.exploring import CallGraph, Coverage, SymbolIndex
from cogworks.domain_services.messages import Caller
from cogworks.errors import CogworksError
from cogworks.repair.consulting import Consulted
from cogworks.repair.instance import Instance
from cogworks.repair.localise.localising import Explorer, Localised, Reach, localise
from cogworks.settings.config import Environment
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from cogworks.wiring.services import open_panel

LIMIT_S = 600.0


class Tree(NamedTuple):
    """A folder, as far as a service needs one."""

    path: Path


class Folder:
    """The files of a folder without a history, for an index of their words."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def files(self) -> Sequence[str]:
        found = (each.relative_to(self._path) for each in self._path.rglob("*") if each.is_file())
        return sorted(each.as_posix() for each in found if each.parts[0] != ".git")

    def read(self, path: str) -> str | None:
        return read_text(self._path, path)

    def contents(self) -> Mapping[str, str]:
        return {}

    def attributes(self) -> Mapping[str, Collection[str]]:
        return {}

    def past(self, limit: int) -> Sequence[PastCommit]:
        del limit
        return ()


class Unmeasured:
    """The same worktree where nobody measures coverage, as for most languages."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    def text(self, path: str) -> str | None:
        return self._explorer.text(path)

    def coverage(self, *, timeout_s: float, steps_of: str = "") -> Coverage | None:
        del timeout_s, steps_of
        return None

    def call_graph(self, seeds: Sequence[str], *, hops: int, most: int) -> CallGraph | None:
        return self._explorer.call_graph(seeds, hops=hops, most=most)

    def index(self, artifacts: Sequence[str]) -> SymbolIndex | None:
        return self._explorer.index(artifacts)

    def words(self) -> Index | None:
        return self._explorer.words()


class Places(NamedTuple):
    """What localisation comes to."""

    measured: Localised
    unmeasured: Localised
    """Where coverage cannot be had."""


def places(folder: Path, tests: Sequence[str], environment: Environment) -> Places:
    """Where the fault behind these failing tests may be.

    Raises:
        CogworksError: none of them fails.
    """
    instance = Instance(instance_id=folder.name, failing_tests=tuple(tests))
    with open_panel({}, environment, caller=Caller(node="fix"), warn=lambda _: None) as panel:
        words = Index(Folder(folder), Store())
        consulted = Consulted(Tree(folder), panel, words=lambda: words)
        failing = failing_targets(consulted.run(tests, timeout_s=LIMIT_S), instance)
        if failing is None:
            raise CogworksError(f"none of {', '.join(tests)} fails")
        reach = Reach(timeout_s=LIMIT_S)
        return Places(
            measured=localise(failing, consulted, reach=reach),
            unmeasured=localise(failing, Unmeasured(consulted), reach=reach),
        )

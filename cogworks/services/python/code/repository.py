"""What all files of a repository say together, each definition under a name of its own."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from cogworks.domain_services.checking import Unread
from cogworks.services.python.code.facts import MODULE, FileFacts, Unreadable
from cogworks.services.python.code.files import Reading, contents, listing, own
from cogworks.services.python.code.modules import Modules

_TEST_FOLDERS = frozenset({"test", "tests"})


class Code:
    """The Python files of a repository that could be understood."""

    def __init__(
        self, files: Mapping[str, FileFacts], unread: Mapping[str, str], *, others: Sequence[str] = ()
    ) -> None:
        """Args:
        files: by path.
        unread: path -> reason of what could not be understood.
        others: further Python files, which imports may mean.
        """
        self.files = {path: files[path] for path in sorted(files)}
        self.unread = tuple(Unread(artifact=path, reason=unread[path]) for path in sorted(unread))
        self.modules = Modules([*files, *others])

    @cached_property
    def ids(self) -> Mapping[str, tuple[str, ...]]:
        """Path -> the id of each of its definitions: the qualified name, unique in the repository.

        The second of one name in one scope is `name#2`; so is a definition in a package whose submodule has its name.
        """
        modules = frozenset(self.modules.names.values())
        return {path: _ids(facts, self.modules.names[path], modules) for path, facts in self.files.items()}

    def id_of(self, path: str, place: int) -> str:
        """The id of one definition, or of the module itself."""
        return self.modules.names[path] if place == MODULE else self.ids[path][place]


def read_code(folder: Path, read: Reading, *, only: Sequence[str] = ()) -> Code:
    """The code below a directory.

    Args:
        only: paths of the repository, as a request names them; none: all Python files that no tool made.
    """
    tree = listing(folder)
    chosen = own(only) if only else tree.paths
    unread = {} if only else {path: why.reason for path, why in tree.unread}
    files: dict[str, FileFacts] = {}
    with collector_at_rest():
        for path in chosen:
            data = contents(folder, path)
            facts = read(data) if isinstance(data, bytes) else data
            if isinstance(facts, Unreadable):
                unread[path] = facts.reason
            else:
                files[path] = facts
    return Code(files, unread, others=tree.paths)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Syntax trees, facts and relations hold no cycles; looking for some would take as long as most of the parsing."""
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


@lru_cache(maxsize=100_000)
def is_test_file(path: str) -> bool:
    """Whether a file is part of the tests: by its name, or because a directory above it is called `test` or `tests`."""
    parts = PurePosixPath(path)
    stem = parts.stem
    is_named_so = stem.startswith("test_") or stem.endswith("_test") or stem in ("conftest", "tests")
    return is_named_so or not _TEST_FOLDERS.isdisjoint(parts.parts[:-1])


def _ids(facts: FileFacts, module: str, modules: frozenset[str]) -> tuple[str, ...]:
    ids: list[str] = []
    taken: set[str] = set()
    for each in facts.definitions:
        plain = f"{module if each.parent == MODULE else ids[each.parent]}.{each.name}"
        number, name = each.ordinal, plain if each.ordinal == 1 else f"{plain}#{each.ordinal}"
        while name in modules or name in taken:
            number += 1
            name = f"{plain}#{number}"
        taken.add(name)
        ids.append(name)
    return tuple(ids)

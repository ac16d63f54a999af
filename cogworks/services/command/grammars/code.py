"""What all files of a repository say together, each definition under a name of its own."""

import gc
import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Protocol

from cogworks.domain_services.checking import Unread
from cogworks.grammars.facts import FILE, FileFacts, Imported, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.resolving.tree import Resolve, Resolving, Tree
from cogworks.grammars.spec import LanguageSpec
from cogworks.services.command.grammars.files import contents, listing, own, text
from cogworks.services.shelf import MAX_KEPT_BYTES, ContentShelf

Reading = Callable[[LanguageSpec, bytes], FileFacts | Unreadable]


class Reads(Protocol):
    """What an operation needs of the service's machine."""

    @property
    def source_facts(self) -> Reading:
        """What a file says: `gather`, or `Shelf().facts` for a process that answers more than once."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """Of the names of the files that are answered for; none: every file of a known language."""


class Shelf:
    """Reads each file once, by its content."""

    def __init__(self, read: Reading = gather, *, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._read = read
        self._kept = ContentShelf[FileFacts | Unreadable](max_bytes=max_bytes)

    def facts(self, spec: LanguageSpec, data: bytes) -> FileFacts | Unreadable:
        """What a file with this content says."""
        return self._kept.facts(spec.name, data, lambda: self._read(spec, data))


class Code:
    """The source files of a repository that could be understood."""

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        unread: Mapping[str, str],
        *,
        others: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Args:
        files: by path.
        unread: path -> reason of what could not be understood.
        others: further source files, which imports may mean.
        settings: path -> text of manifests that say where imports lead.
        """
        self.files = {path: files[path] for path in sorted(files)}
        self.unread = tuple(Unread(artifact=path, reason=unread[path]) for path in sorted(unread))
        self._settings = dict(settings or {})
        self._all = frozenset((*files, *others))
        self._resolvers: dict[Resolving, Resolve] = {}

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """Path -> the name its ids begin with: the path without ending, with dots.

        Where two files would have one name (`cart.c`, `cart.h`), both keep their endings.
        """
        short = {path: posixpath.splitext(path)[0].replace("/", ".") for path in sorted(self._all)}
        times = Counter(short.values())
        path_by_name: dict[str, str] = {}
        for path, name in short.items():
            plain = name if times[name] == 1 else path.replace("/", ".")
            # `a.b/c.ts` and `a/b/c.ts` are still the same.
            path_by_name[plain if plain not in path_by_name else f"{plain}#{len(path_by_name)}"] = path
        return {path: name for name, path in path_by_name.items()}

    @cached_property
    def ids(self) -> Mapping[str, tuple[str, ...]]:
        """Path -> the id of each of its definitions, unique in the repository; the second of one name is `name#2`."""
        taken = set(self.modules.values())
        return {path: self._ids(path, taken) for path in self.files}

    def _ids(self, path: str, taken: set[str]) -> tuple[str, ...]:
        ids: list[str] = []
        times: Counter[str] = Counter()
        for each in self.files[path].definitions:
            around = self.modules[path] if each.parent == FILE else ids[each.parent]
            plain = ".".join((around, *each.owner, each.name))
            times[plain] += 1
            name = plain if times[plain] == 1 else f"{plain}#{times[plain]}"
            while name in taken:
                times[plain] += 1
                name = f"{plain}#{times[plain]}"
            taken.add(name)
            ids.append(name)
        return tuple(ids)

    def id_of(self, path: str, place: int) -> str:
        """The id of one definition, or of the file itself."""
        return self.modules[path] if place == FILE else self.ids[path][place]

    def spec(self, path: str) -> LanguageSpec:
        """The language of one of the files."""
        spec = language_of(path)
        assert spec is not None, path  # noqa: S101 - only files of known languages are ever read
        return spec

    def resolved(self, asking: str, imported: Imported) -> tuple[str, ...]:
        """The files of the repository that an import means; none: it comes from elsewhere."""
        way = self.spec(asking).resolving
        if way not in self._resolvers:
            self._resolvers[way] = way(self.tree)
        return self._resolvers[way](asking, imported)

    @cached_property
    def tree(self) -> Tree:
        """What resolving may look at."""
        packages = {path: facts.package for path, facts in self.files.items()}
        return Tree(
            paths=self._all,
            text=self._settings.get,
            packages=lambda path: packages.get(path, ""),
            listed=tuple(self._settings),
        )


def read_code(
    folder: Path, read: Reading, *, only: Sequence[str] = (), root: str = "", patterns: Sequence[str] = ()
) -> Code:
    """The code below a directory.

    Args:
        only: paths of the repository, as a request names them; none: all files of known languages that no tool made.
        root: only what is below this folder.
        patterns: only files whose names fit one of these; none: all.
    """
    tree = listing(folder, root)
    chosen = [path for path in (own(only) if only else tree.paths) if _fits(path, patterns)]
    unread = {} if only else {path: why.reason for path, why in tree.unread if _fits(path, patterns)}
    files: dict[str, FileFacts] = {}
    with _collector_at_rest():
        for path in chosen:
            facts = _facts(folder, path, read)
            if isinstance(facts, Unreadable):
                unread[path] = facts.reason
            else:
                files[path] = facts
    texts = {path: text(folder, path) for path in tree.settings}
    settings = {path: each for path, each in texts.items() if each is not None}
    return Code(files, unread, others=tree.paths, settings=settings)


def _fits(path: str, patterns: Sequence[str]) -> bool:
    name = posixpath.basename(path)
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _facts(folder: Path, path: str, read: Reading) -> FileFacts | Unreadable:
    spec = language_of(path)
    if spec is None:
        return Unreadable("is in no language that is known here")
    data = contents(folder, path)
    return read(spec, data) if isinstance(data, bytes) else data


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Facts hold no cycles; looking for some would take as long as most of the parsing."""
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()

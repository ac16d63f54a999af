"""One tree, ready to be searched: what it says is read once for each content, whichever branch or visit asks."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from cogworks.canonical import sha256
from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.batches import Unread, in_batches
from cogworks.sight.cards import Card, is_searchable
from cogworks.sight.kinds import Kind, kind_of, suffix_of, without_suffix
from cogworks.sight.ranking import Document
from cogworks.sight.store import Known, Store
from cogworks.sight.workers import read_along, workers_for

MAX_PAST = 2_000
"""So many commits of the past are looked at."""
_TOLD_FROM, _TOLD_EVERY = 2_000, 4_000
"""Files: about a second, and two."""
HIDDEN = (".cogworks/", ".git/")
"""Configuration of the pipeline and held-out scenarios are no model's business."""


class Tree(Protocol):
    """The files of a repository at one moment."""

    def files(self) -> Sequence[str]:
        """Paths, sorted."""

    def read(self, path: str) -> str | None:
        """Its text; None where it has none."""

    def contents(self) -> Mapping[str, str]:
        """Path -> what names its content; a file that is not among them is read to see."""

    def attributes(self) -> Mapping[str, Collection[str]]:
        """Path -> those of `generated` and `vendored` that the repository says of it."""

    def past(self, limit: int) -> Sequence[PastCommit]:
        """Commits before this state, the newest first, merges left out."""


class Index:
    """What a tree says; a corpus for `ranking.rank`."""

    def __init__(
        self,
        tree: Tree,
        store: Store,
        *,
        say: Callable[[str], None] = lambda _: None,
        cores: int | None = None,
    ) -> None:
        """Args:
        say: hears how far it has come, where so many files are new that people wait for it.
        cores: for reading what is new; None: as many as this process may use.
        """
        self._tree = tree
        self._store = store
        self.documents: Sequence[Document] = self._documents(say, cores)
        self._by_path = {each.path: each for each in self.documents}

    def postings(self, term: str) -> Iterable[tuple[int, int, int]]:
        return self._store.postings(term)

    def defining(self, name: str) -> Iterable[int]:
        return self._store.defining(name)

    def past(self) -> Sequence[PastCommit]:
        return self._past

    @cached_property
    def _past(self) -> Sequence[PastCommit]:
        return self._tree.past(MAX_PAST)

    def imports(self, paths: Sequence[str]) -> Mapping[str, Collection[str]]:
        return {path: self._imported(path, card) for path, card in self.cards(paths).items()}

    def cards(self, paths: Sequence[str]) -> Mapping[str, Card]:
        """What files say, without their terms."""
        numbers = {path: self._by_path[path].card for path in paths if path in self._by_path}
        cards = self._store.cards(filter(None, numbers.values()))
        return {path: cards[number] for path, number in numbers.items() if number in cards}

    def text(self, path: str) -> str:
        """The text of a file; empty where it has none."""
        return self._tree.read(path) or ""

    def paths_defining(self, name: str) -> tuple[str, ...]:
        """The files with a definition of a name."""
        cards = frozenset(self._store.defining(name))
        return tuple(each.path for each in self.documents if each.card in cards)

    def has_words(self, path: str) -> bool:
        """Whether a file says anything; a font, an image and an empty file do not."""
        document = self._by_path.get(path)
        return document is not None and document.length > 0

    def kind(self, path: str) -> Kind | None:
        """What a file is; None: there is none."""
        document = self._by_path.get(path)
        return document.kind if document else None

    def _documents(self, say: Callable[[str], None], cores: int | None) -> tuple[Document, ...]:
        paths = [path for path in self._tree.files() if not path.startswith(HIDDEN)]
        names, attributes = self._tree.contents(), self._tree.attributes()
        kinds = {path: _kind(path, attributes.get(path, ())) for path in paths}
        keys = {
            path: f"{names.get(path) or sha256(self._tree.read(path) or '')}{suffix_of(path).lower()}"
            for path in paths
            if is_searchable(kinds[path])
        }
        known = self._store.known(dict.fromkeys(keys.values()))
        missing = {key: path for path, key in keys.items() if key not in known}
        self._read(missing, say, cores)
        known |= self._store.known(missing)
        return tuple(_document(path, kinds[path], known.get(keys.get(path, ""))) for path in paths)

    def _read(self, missing: Mapping[str, str], say: Callable[[str], None], cores: int | None) -> None:
        files = (Unread(key, path, self._tree.read(path) or "") for key, path in missing.items())
        count, done = len(missing), 0
        if count >= _TOLD_FROM:
            say(f"reading {count} files that are new here")
        with workers_for(count, cores) as workers:
            for batch in read_along(in_batches(files), workers):
                self._store.add(batch)
                before, done = done, done + len(batch.rows)
                if before // _TOLD_EVERY < done // _TOLD_EVERY and done < count:
                    say(f"read {done} of {count} files")

    def _imported(self, path: str, card: Card) -> Collection[str]:
        return {file for module, name in card.imports for file in self._modules.get_files(path, module, name)}

    @cached_property
    def _modules(self) -> "_Modules":
        return _Modules([each.path for each in self.documents if each.kind in (Kind.SOURCE, Kind.TEST)])


class _Modules:
    """To which files an import leads, by their names alone."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._files: dict[str, list[str]] = {}
        for path in paths:
            stem = without_suffix(path)
            for suffix in ("", "/__init__", "/index", "/mod"):
                if stem.endswith(suffix):
                    parts = stem.removesuffix(suffix).split("/")
                    for start in range(max(0, len(parts) - 4), len(parts)):
                        self._files.setdefault("/".join(parts[start:]), []).append(path)

    def get_files(self, path: str, module: str, name: str) -> Iterator[str]:
        """The files that a module, or a name of it, stands for; those nearest first."""
        around = PurePosixPath(path).parent
        dots = len(module) - len(module.lstrip("."))
        plain = module.strip("\"'<>")
        if plain.startswith(("./", "../")):
            plain = _joined(around, plain)
        elif dots and "/" not in plain:
            for _ in range(dots - 1):
                around = around.parent
            plain = f"{around.as_posix()}/{plain.lstrip('.').replace('.', '/')}".strip("/")
        else:
            plain = plain.replace("::", "/").replace(".", "/") if "/" not in plain else plain
        for module_path in (f"{plain}/{name}" if name else "", plain):
            tail = "/".join(module_path.split("/")[-4:])
            if module_path and (paths := [each for each in self._files.get(tail, ()) if each != path]):
                yield from paths[:3]
                return


def _joined(around: PurePosixPath, relative: str) -> str:
    parts = list(around.parts)
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join((*parts[:-1], parts[-1].partition(".")[0])) if parts else ""


def _kind(path: str, attributes: Collection[str]) -> Kind:
    return kind_of(path, is_generated="generated" in attributes, is_vendored="vendored" in attributes)


def _document(path: str, kind: Kind, known: Known | None) -> Document:
    if known is None:
        return Document(path, kind, 0, 0)
    is_generated = known.is_generated and kind in (Kind.SOURCE, Kind.TEST)
    return Document(path, Kind.GENERATED if is_generated else kind, known.number, known.length)

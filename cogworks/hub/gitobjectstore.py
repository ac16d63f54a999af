"""The objects of one bare repository: read through a long-lived process and kept, written as loose files."""

import zlib
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock

from cogworks.hub.gitobjects import (
    EMPTY_TREE,
    Commit,
    NewFile,
    Signature,
    TreeEntry,
    edit_tree,
    format_commit,
    format_tree,
    oid_of,
    parse_commit,
    parse_tree,
)
from cogworks.hub.gitprocess import GitProcess, ObjectReader

_KEPT_OBJECTS = 8000
_KEPT_SIZE = 128 * 1024


class ObjectStore:
    """Objects never change, so what was read once is kept in memory."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self.path = path
        self.git = GitProcess(path, environment)
        self._reader = ObjectReader(self.git)
        self._lock = RLock()
        self._objects: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def close(self) -> None:
        self._reader.close()

    def object(self, oid: str) -> tuple[str, bytes] | None:
        """Type (commit, tree, blob, tag) and content of a full object name; None when missing."""
        with self._lock:
            known = self._objects.get(oid)
        if known is not None:
            return known
        answer = self._reader.read(oid) if len(oid) == 40 else None
        return None if answer is None else self._keep(oid, answer[1], answer[2])

    def resolve(self, name: str) -> str | None:
        """The full oid of a branch, tag, oid or prefix of one; an expression such as `main:dir` works as well."""
        if not name or "\n" in name or name.startswith("-"):
            return None
        answer = self._reader.read(name)
        return None if answer is None else answer[0]

    def commit(self, oid: str) -> Commit | None:
        """The commit, also through an annotated tag; None when missing or of another type."""
        found = self.object(oid)
        if found is not None and found[0] == "tag":
            target = found[1].decode("utf-8", "replace").partition("\n")[0].removeprefix("object ")
            return self.commit(target)
        return parse_commit(oid, found[1]) if found is not None and found[0] == "commit" else None

    def tree(self, oid: str) -> tuple[TreeEntry, ...] | None:
        if oid == EMPTY_TREE:
            return ()
        found = self.object(oid)
        return parse_tree(found[1]) if found is not None and found[0] == "tree" else None

    def blob(self, oid: str) -> bytes | None:
        found = self.object(oid)
        return found[1] if found is not None and found[0] == "blob" else None

    def entry(self, tree_oid: str, path: str) -> TreeEntry | None:
        """What lies at a repository-relative path below a tree; the empty path is the tree itself."""
        here = TreeEntry(name="", mode="040000", oid=tree_oid)
        for part in [part for part in path.split("/") if part]:
            entries = self.tree(here.oid) if here.type == "tree" else None
            found = next((entry for entry in entries or () if entry.name == part), None)
            if found is None:
                return None
            here = found
        return here

    def walk(self, tree_oid: str, prefix: str = "") -> list[tuple[str, TreeEntry]]:
        """Every entry below a tree with its path, trees before what is in them."""
        rows: list[tuple[str, TreeEntry]] = []
        for entry in self.tree(tree_oid) or ():
            path = f"{prefix}{entry.name}"
            rows.append((path, entry))
            if entry.type == "tree":
                rows += self.walk(entry.oid, f"{path}/")
        return rows

    def size(self, oid: str) -> int:
        found = self.object(oid)
        return 0 if found is None else len(found[1])

    def write(self, kind: str, data: bytes) -> str:
        """Store an object as git's own loose file and return its name; an existing one is left alone."""
        oid = oid_of(kind, data)
        directory = self.path / "objects" / oid[:2]
        if not (directory / oid[2:]).exists():
            directory.mkdir(exist_ok=True)
            # Written aside and renamed: a kill leaves a stray temporary file, never half an object.
            with NamedTemporaryFile(dir=directory, prefix="tmp_obj_", delete=False) as file:
                file.write(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, 1))
            written = Path(file.name)
            written.chmod(0o444)
            written.replace(directory / oid[2:])
        self._keep(oid, kind, data)
        return oid

    def write_tree(self, entries: tuple[TreeEntry, ...]) -> str:
        return self.write("tree", format_tree(entries))

    def write_commit(
        self, *, tree: str, parents: tuple[str, ...], author: Signature, committer: Signature, message: str
    ) -> str:
        return self.write(
            "commit",
            format_commit(tree=tree, parents=parents, author=author, committer=committer, message=message),
        )

    def edited_tree(self, base: str | None, changes: Mapping[str, NewFile | None]) -> str | None:
        """Write the tree that `changes` make of `base`; None when nothing is left."""
        return edit_tree(base, changes, read=lambda oid: self.tree(oid) or (), write=self.write_tree)

    def _keep(self, oid: str, kind: str, data: bytes) -> tuple[str, bytes]:
        found = (kind, data)
        if len(data) <= _KEPT_SIZE:
            with self._lock:
                self._objects[oid] = found
                if len(self._objects) > _KEPT_OBJECTS:
                    self._objects.popitem(last=False)
        return found

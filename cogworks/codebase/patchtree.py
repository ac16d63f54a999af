"""A worktree in which small diffs are tried one after the other: each is kept whole, or nothing of it remains."""

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cogworks.codebase.changes import path_problem
from cogworks.codebase.disktree import KnownStaged, KnownTrees, Lying
from cogworks.codebase.failures import CodebaseError, GitFailed, RollbackFailed
from cogworks.codebase.git import (
    Git,
    Identity,
    authorship,
    blobs_of,
    break_locks,
    detached_head,
    spare_index,
    zsplit,
)
from cogworks.codebase.making import content_digest, parents_of, remove_folder, walked
from cogworks.codebase.unwritable import SUBMODULE, in_words, sets_rules, unwritable
from cogworks.vocabulary import CommitOid, Value

_JOURNAL = "cogworks-transaction.json"
_LOCK = "cogworks-transaction.lock"
_SAVEPOINT = "cogworks-savepoint"
_ABSENT = "000000"
# What a repository configures must change neither what is read nor what is written.
_DIFF = (
    *("-c", "diff.suppressBlankEmpty=false", "diff", "--cached", "--no-renames", "--full-index"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"),
)
_RAW = ("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev")
_APPLY = ("apply", "--index", "--whitespace=nowarn", "--no-ignore-whitespace")


class TreeState(Value):
    """A state of the worktree to come back to."""

    head: CommitOid
    tree: str
    """Of the commit, and of every tracked file on the disk."""
    manifest: str
    """Digest of everything that is not tracked, ignored or not."""
    untracked: tuple[str, ...]
    """What that is; directories end with a slash."""


class StagedFile(NamedTuple):
    """One file whose staged state differs from the last commit."""

    path: str
    old_mode: str | None
    """None: it is new."""
    new_mode: str | None
    """None: it is gone."""
    text: str | None
    """What is staged; None when it is gone."""


class TreeView(NamedTuple):
    """What the last commit says of some paths."""

    sources: Mapping[str, str]
    """Path -> text of those that are files."""
    existing: frozenset[str]
    """Every tracked path."""
    links: frozenset[str]
    """Those of the paths that are, or lie behind, a symbolic link."""
    unwritable: Mapping[str, str] = MappingProxyType({})
    """Those of the paths that no change may hold, each with the reason in words."""


class PatchTree:
    """The transactions' view of one git worktree; obeys the Protocol `Tree`. One process at a time holds it.

    A state that is being left is written beside the index first, so that the successor of a killed process finds the
    way back.
    """

    def __init__(self, path: Path, git: Git, *, identity: Identity, lock_wait_s: float = 5.0) -> None:
        """Args:
        lock_wait_s: how long a git command that a killed process left running may go on before its locks are broken.
        """
        self._path = path
        self._run = partial(git.run, cwd=path)
        self._identity = identity
        self._lock_wait_s = lock_wait_s
        self._folder = Path(self._run("rev-parse", "--absolute-git-dir").removesuffix("\n"))
        self._known, self._diffs = KnownTrees(path, self._folder), KnownStaged[str](self._folder)
        self._staged = KnownStaged[tuple[StagedFile, ...]](self._folder)
        self._digests: dict[str, tuple[tuple[int, ...], str]] = {}
        self._trees: dict[str, str] = {}

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """Whether the worktree is ours, until the block ends."""
        descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def recover(self) -> bool:
        """Whether a transaction had died here; the tree is that of the last commit again, and nothing else of it remains.

        Raises:
            CodebaseError: the tree cannot be brought back; nothing in it may be trusted.
        """
        state = self._journal()
        if state is None:
            return False
        break_locks(self._folder, self._run, wait_s=self._lock_wait_s)
        if (head := self._head()) != state.head and self._run("rev-parse", "HEAD^").strip() != state.head:
            raise CodebaseError(
                f"{self._path}: HEAD is {head}, neither the commit a transaction started from ({state.head}) nor one "
                "after it. Remove the worktree and start again."
            )
        self._restore(self._run("rev-parse", "HEAD^{tree}").strip(), state)
        self.finish()
        return True

    def dirt(self) -> tuple[str, ...]:
        """What is neither committed nor ignored, as git's short status shows it: what is staged, what is not, a path."""
        status = self._run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal")
        return tuple(zsplit(status))

    def checkpoint(self) -> TreeState:
        """The state now, to which `roll_back` comes back, also after this process was killed. Raises as `state`."""
        state = self.state()
        self._write_journal(state)
        return state

    def state(self) -> TreeState:
        """The state now; nothing is written down.

        Raises:
            CodebaseError: git's view of the tree is not what is on the disk.
        """
        head = self._head()
        tree = self._tree_at(head)
        entries = self._entries()
        if self._tree_of(entries) != tree:
            raise CodebaseError(f"{self._path}: the files on the disk are not those of {head}")
        untracked = tuple(entries.untracked)
        return TreeState(head=head, tree=tree, manifest=self._manifest(untracked), untracked=untracked)

    def view_of(self, paths: Sequence[str]) -> TreeView:
        """What a diff that names these paths is judged against; a path that cannot be one has no source."""
        sane = [path for path in dict.fromkeys(paths) if path_problem(path) is None]
        texts = self._blobs([f"HEAD:{path}" for path in sane])
        links = frozenset(path for path in sane if self._is_behind_link(path))
        return TreeView(
            sources={path: text for path, text in zip(sane, texts, strict=True) if text is not None},
            existing=frozenset(zsplit(self._run("ls-files", "-z"))),
            links=links,
            unwritable=unwritable(self._run, [path for path in sane if path not in links]),
        )

    def apply(self, diff: str) -> str | None:
        """Write and stage a diff exactly as it says; why git refuses it, and then nothing is written."""
        # `apply` takes a file whose time stamps are not the index's for a changed one, whatever is in it.
        self._run("update-index", "-q", "--refresh", ok=(0, 1))
        for options in (("--check",), ()):
            try:
                self._run(*_APPLY, *options, "-", stdin=diff)
            except GitFailed as error:
                if error.kind != "other":
                    raise
                return error.stderr.strip()
        changed = [file for file in self.staged() if file.new_mode is not None]
        if not sets_rules(file.path for file in changed):
            return None
        return in_words(unwritable(self._run, [file.path for file in changed if file.old_mode is None]))

    def staged(self) -> tuple[StagedFile, ...]:
        """What differs between the last commit and what is staged."""
        return self._staged.since(self._head(), self._read_staged)

    def _read_staged(self) -> tuple[StagedFile, ...]:
        fields = zsplit(self._run(*_RAW, "HEAD"))
        pairs = zip(fields[::2], fields[1::2], strict=True)
        entries = [(*about.removeprefix(":").split(" "), path) for about, path in pairs]
        texts = self._blobs([entry[3] for entry in entries])
        return tuple(
            StagedFile(
                entry[5],
                None if entry[0] == _ABSENT else entry[0],
                None if entry[1] == _ABSENT else entry[1],
                text,
            )
            for entry, text in zip(entries, texts, strict=True)
        )

    def settle(self, state: TreeState) -> None:
        """Undo what was written since the checkpoint besides what is staged.

        Raises:
            RollbackFailed: the tree still differs; nothing in it may be trusted.
        """
        self._restore(self._run("write-tree").strip(), state)

    def diff_from(self, base: CommitOid) -> str:
        """Unified diff from a commit to what is staged."""
        return self._diffs.since(base, partial(self._run, *_DIFF, base))

    def commit(self, message: str, state: TreeState) -> CommitOid:
        """Commit what is staged and nothing else; what was written besides since the checkpoint is removed first.

        Both dates are the parent's committer date, so the same change on the same parent is the same commit.

        Raises:
            CodebaseError: nothing is staged, or somebody else moved the branch.
        """
        tree = self._run("write-tree").strip()
        if tree == state.tree:
            raise CodebaseError(f"{self._path}: nothing is staged")
        self._restore(tree, state)
        seconds = self._run("show", "--no-patch", "--format=%ct", state.head).strip()
        extra = authorship(self._identity, seconds)
        oid = self._run("commit-tree", tree, "-p", state.head, extra=extra, stdin=message).strip()
        self._run("update-ref", "-m", "transaction", "HEAD", oid, state.head)
        self._trees[oid] = tree
        return CommitOid(oid)

    def roll_back(self, state: TreeState) -> None:
        """Make the worktree what it was at the checkpoint, a commit since then undone and every file verified.

        Raises:
            RollbackFailed: the tree still differs; nothing in it may be trusted.
        """
        if (head := self._head()) != state.head:
            self._run("update-ref", "-m", "transaction undone", "HEAD", state.head, head)
        self._restore(state.tree, state)

    def take_back(self) -> CommitOid:
        """Undo the last commit, every file verified; the commit that is the last one now. Nothing may be staged.

        Raises:
            CodebaseError: the tree is not that of the last commit, or there is none before it.
            RollbackFailed: the tree still differs; nothing in it may be trusted.
        """
        state = self.checkpoint()
        head, tree = self._run("rev-parse", "HEAD^", "HEAD^^{tree}").split()
        before = state.model_copy(update={"head": CommitOid(head), "tree": tree})
        # From here on the successor of a killed process finds a state that it can come back to.
        self._write_journal(before)
        self.roll_back(before)
        self.finish()
        return before.head

    def save(self) -> None:
        """Remember the last commit until `release`, also beyond the end of this process."""
        fresh = self._folder / f"{_SAVEPOINT}.new"
        fresh.write_text(self._head())
        fresh.replace(self._folder / _SAVEPOINT)

    def release(self) -> None:
        """What was committed since the savepoint stays."""
        (self._folder / _SAVEPOINT).unlink(missing_ok=True)

    def go_back(self) -> int:
        """Undo every commit since the savepoint, every file verified; how many there were, 0 without a savepoint.

        Raises: as `recover` and `take_back`.
        """
        try:
            savepoint = (self._folder / _SAVEPOINT).read_text()
        except FileNotFoundError:
            return 0
        self.recover()
        count = int(self._run("rev-list", "--count", f"{savepoint}..HEAD"))
        if self._run("rev-parse", f"HEAD~{count}").strip() != savepoint:
            raise CodebaseError(f"{self._path}: HEAD does not come after the savepoint {savepoint}")
        for _ in range(count):
            self.take_back()
        self.release()
        return count

    def finish(self) -> None:
        """The way back is not needed any more."""
        (self._folder / _JOURNAL).unlink(missing_ok=True)

    def _restore(self, tree: str, state: TreeState) -> None:
        """Make tracked files those of a tree, and the others those of the checkpoint."""
        try:
            paths = zsplit(self._run("ls-tree", "-r", "-z", "--name-only", tree))
            self._remove_new(frozenset(paths), frozenset(state.untracked))
            self._run("read-tree", "--reset", "-u", tree)
            entries = self._entries()
            tree_now, manifest = self._tree_of(entries), self._manifest(entries.untracked)
        except OSError as error:
            raise RollbackFailed(
                f"{self._path}: rolling back failed: {error}. Remove the worktree."
            ) from error
        if tree_now != tree or manifest != state.manifest:
            changed = sorted({*entries.untracked} ^ {*state.untracked})[:5]
            what = f"left tree {tree_now}, not {tree}" if tree_now != tree else "left other files than before"
            raise RollbackFailed(
                f"{self._path}: rolling back {what}{': ' + ', '.join(changed) if changed else ''}. Look at the "
                "worktree, then remove it."
            )

    def _remove_new(self, tracked: frozenset[str], untracked: frozenset[str]) -> None:
        """Remove what was neither tracked nor there; a file or link in the place of a directory as well."""
        folders = {f"{parent}/" for path in (*tracked, *untracked) for parent in parents_of(path)}
        for path in list(walked(self._path)):
            place = self._path / path.removesuffix("/")
            if path.endswith("/"):
                if path not in folders and path not in untracked and place.is_dir():
                    remove_folder(place)
            elif path not in tracked and path not in untracked:
                place.unlink(missing_ok=True)

    def _entries(self) -> Lying:
        """What is on the disk: tracked files, and everything else; folders that hold tracked files are neither."""
        index = zsplit(self._run("ls-files", "--stage", "-z"))
        tracked = frozenset(entry.partition("\t")[2] for entry in index)
        folders = {f"{parent}/" for path in tracked for parent in parents_of(path)}
        there = list(walked(self._path))
        return Lying(
            tracked=sorted(path for path in there if path in tracked),
            submodules=[entry for entry in index if entry.startswith(SUBMODULE)],
            untracked=sorted(path for path in there if path not in tracked and path not in folders),
        )

    def _tree_of(self, entries: Lying) -> str:
        """The tree of the tracked files as they are on the disk, read afresh: time stamps prove nothing."""
        return self._known.tree_of(entries, partial(self._made_of, entries))

    def _made_of(self, entries: Lying) -> str:
        with spare_index() as extra:
            listed = "".join(f"{path}\0" for path in entries.tracked)
            self._run("update-index", "--add", "-z", "--stdin", extra=extra, stdin=listed)
            if entries.submodules:
                listed = "".join(f"{entry}\0" for entry in entries.submodules)
                self._run("update-index", "-z", "--index-info", extra=extra, stdin=listed)
            return self._run("write-tree", extra=extra).strip()

    def _manifest(self, untracked: Sequence[str]) -> str:
        digest = hashlib.sha256()
        for path in untracked:
            digest.update(f"{path}\0{self._digest(path)}\0".encode(errors="surrogateescape"))
        return digest.hexdigest()

    def _digest(self, path: str) -> str:
        """Mode and content of what is not tracked; read again only when its time stamps or size changed."""
        place = self._path / path
        status = place.lstat()
        marks = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        known = self._digests.get(path)
        if known is None or known[0] != marks or path.endswith("/"):
            known = (marks, content_digest(place, status.st_mode))
            self._digests[path] = known
        return f"{stat.S_IFMT(status.st_mode)} {stat.S_IMODE(status.st_mode)} {known[1]}"

    def _blobs(self, names: Sequence[str]) -> list[str | None]:
        """The text of each object; None where there is none, or it is no file."""
        if not names:
            return []
        return blobs_of(self._run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in names)))

    def _is_behind_link(self, path: str) -> bool:
        return any((self._path / part).is_symlink() for part in (*parents_of(path), path))

    def _head(self) -> CommitOid:
        return CommitOid(detached_head(self._folder) or self._run("rev-parse", "HEAD").strip())

    def _tree_at(self, head: str) -> str:
        """The tree of a commit, which never has another."""
        if head not in self._trees:
            self._trees[head] = self._run("rev-parse", f"{head}^{{tree}}").strip()
        return self._trees[head]

    def _journal(self) -> TreeState | None:
        try:
            return TreeState.model_validate(json.loads((self._folder / _JOURNAL).read_bytes()))
        except FileNotFoundError:
            return None

    def _write_journal(self, state: TreeState) -> None:
        fresh = self._folder / f"{_JOURNAL}.new"
        with fresh.open("wb") as file:
            file.write(json.dumps(state.model_dump()).encode())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._folder / _JOURNAL)

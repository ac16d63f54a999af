"""Throw-away worktrees in which something may be tried that must not be kept.

A throw-away copy of a worktree in which some files have other texts.
"""

import shutil
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import StoredFile, delete_file, write_file
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.places import Places
from cogworks.codebase.reading import read_text
from cogworks.folders import copy_folder
from cogworks.own_folders import own_folder
from cogworks.removal import remove_tree, temporary_folder
from cogworks.vocabulary import CommitOid

_APPLY = ("apply", "--index", "--whitespace=nowarn", "--no-ignore-whitespace")
_LOCKS = "locks"


class Hit(NamedTuple):
    """A line in which a word stands."""

    path: str
    line: int
    text: str


class Sandbox:
    """One such worktree; what runs in it runs elsewhere, on a copy."""

    def __init__(self, path: Path, git: Git, *, base: CommitOid) -> None:
        self.path = path
        self._git = git
        self._base = base

    def base(self) -> str:
        """The commit whose manifests say what its tests need; nothing that is tried here can change that."""
        return self._base

    def text(self, path: str) -> str | None:
        """A file as it lies there; None when there is none that is text."""
        return read_text(self.path, path)

    def apply(self, diff: str) -> str | None:
        """Write a diff exactly as it says, in place of what was applied before; why git refuses it, and nothing is written."""
        self.reset()
        try:
            self._git.run(*_APPLY, "-", cwd=self.path, stdin=diff)
        except GitFailed as error:
            if error.kind != "other":
                raise
            return error.stderr.strip()
        return None

    def reset(self) -> None:
        """Make the files those of the commit."""
        self._git.run("reset", "--quiet", "--hard", cwd=self.path)

    def grep(self, word: str, *, most: int) -> Sequence[Hit]:
        """The first lines of tracked text files in which a whole word stands, by path and line."""
        options = ("-I", "-n", "-F", "-w", "--null", "--no-color", "--full-name", "-m", str(most))
        output = self._git.run("grep", *options, "-e", word, cwd=self.path, ok=(0, 1))
        return [_hit(row) for row in output.split("\n") if row][:most]


class Sandboxes:
    """Makes them in one folder, from the objects of one repository; several threads may use it.

    What a killed process left behind there goes when the next one begins.
    """

    def __init__(self, repository: Path, git: Git, folder: Path) -> None:
        """Args:
        repository: a worktree or a bare repository; only its list of worktrees changes, and only for a time.
        folder: for the worktrees and their locks, outside of the repository; made when it is not there.
        """
        self._repository = repository
        self._git = git
        self._folder = folder
        self._places = Places(folder)
        self._mutex = threading.Lock()
        own_folder(folder)
        self.sweep()

    @contextmanager
    def at(self, commit: CommitOid, *, base: CommitOid) -> Iterator[Sandbox]:
        """A worktree of a commit until the block ends, however it ends; nothing of it remains in the repository.

        Raises:
            GitFailed: it cannot be made.
        """
        path = self._folder / uuid.uuid4().hex
        try:
            with self._mutex:
                self._places.hold(path)
                self._git.run(
                    "worktree", "add", "--quiet", "--detach", str(path), commit, cwd=self._repository
                )
            yield Sandbox(path, self._git, base=base)
        finally:
            with self._mutex:
                try:
                    self._remove(path)
                finally:
                    self._places.release(path)

    def sweep(self) -> None:
        """Remove what processes left that are no more."""
        with self._mutex:
            paths = [path for path in sorted(self._folder.iterdir()) if path.name != _LOCKS]
            for path in self._places.each_free(paths):
                self._remove(path)

    def _remove(self, path: Path) -> None:
        remove_tree(path, ignore_errors=True)
        # By what is there, not by name: the entry of a worktree that is gone goes with it.
        self._git.run("worktree", "prune", "--expire=now", cwd=self._repository)
        (self._folder / _LOCKS / f"{path.name}.lock").unlink(missing_ok=True)


def _hit(row: str) -> Hit:
    path, _, rest = row.partition("\0")
    number, _, text = rest.replace("\0", ":", 1).partition(":")
    return Hit(path, int(number), text)


class Shadow(NamedTuple):
    """Where the copy is."""

    path: Path


@contextmanager
def shadow_of(worktree: Path, images: Mapping[str, str | None]) -> Iterator[Shadow]:
    """The files of a worktree without its history, some of them with these texts (None: deleted), until the block ends.

    Raises:
        OSError: a file cannot be written, or lies behind a symbolic link.
    """
    with temporary_folder("cogworks-shadow-") as folder:
        copy = folder / "copy"
        copy_folder(worktree, copy, left_out=shutil.ignore_patterns(".git"))
        _write(copy, images)
        yield Shadow(copy)


def _write(folder: Path, texts: Mapping[str, str | None]) -> None:
    for path, text in texts.items():
        if text is None:
            delete_file(folder, path)
        else:
            write_file(folder, path, StoredFile(text.encode(errors="surrogateescape"), 0o644))

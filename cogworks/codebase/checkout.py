"""What the checked-out commit of a clone holds, as an index of its words reads it."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from cogworks.codebase import treefacts
from cogworks.codebase.git import Git
from cogworks.codebase.plumbing import zsplit
from cogworks.codebase.reading import read_text

_REGULAR = ("100644", "100755")


class Checkout:
    """A worktree that is as its last commit has it, or was when it was looked at."""

    def __init__(self, path: Path, git: Git) -> None:
        self._path = path
        self._run = partial(git.run, cwd=path)

    def files(self) -> Sequence[str]:
        """The regular files of the commit, sorted."""
        return sorted(self.contents())

    def read(self, path: str) -> str | None:
        """Its text; None where it has none."""
        return read_text(self._path, path)

    def contents(self) -> Mapping[str, str]:
        """Path -> object id of its content in the commit."""
        found = {}
        for entry in zsplit(self._run("ls-tree", "-r", "-z", "HEAD")):
            facts, path = entry.split("\t", 1)
            mode, _, oid = facts.split(" ")
            if mode in _REGULAR and path.encode(errors="replace").decode() == path:
                found[path] = oid
        return found

    def attributes(self) -> Mapping[str, Collection[str]]:
        """Path -> `generated`, `vendored`, as the repository says of it."""
        return treefacts.attributes(self._run, self.files)

    def past(self, limit: int) -> Sequence[treefacts.PastCommit]:
        """The commits that the head stands on, the newest first, without merges."""
        return treefacts.past(self._run, limit)

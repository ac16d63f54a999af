"""Copies of a hub's whole store under a name, taken and put back while nothing is being handled."""

import os
import re
import shutil
from pathlib import Path

from cogworks.hub.refusals import NotFound, Unprocessable
from cogworks.hub.world import World
from cogworks.own_folders import closed_folder
from cogworks.removal import remove_tree

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_STORE = "hub.sqlite3"
_REPOSITORIES = "repos"
_UNFINISHED = "restoring"


class Snapshots:
    """The snapshots of one hub, below `snapshots/` in its directory. The caller sees to it that nobody writes meanwhile."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._root = world.directory / "snapshots"

    def names(self) -> list[str]:
        """Every snapshot, sorted."""
        if not self._root.is_dir():
            return []
        return sorted(each.name for each in self._root.iterdir() if _NAME.fullmatch(each.name))

    def take(self, name: str) -> None:
        """Keep everything as it is now; an older snapshot of that name is replaced.

        Raises:
            Unprocessable: the name is no plain word.
        """
        if not _NAME.fullmatch(name):
            raise Unprocessable(
                f"{name!r} is no name for a snapshot: wanted letters, digits, '.', '_' and '-'"
            )
        aside = self._root / f"{_UNFINISHED}~{name}"
        remove_tree(aside, ignore_errors=True)
        closed_folder(self._root)
        aside.mkdir()
        with self._world.reading():
            self._world.store.copy_to(aside / _STORE)
            copy_repositories(self._world.git.root, aside / _REPOSITORIES)
        remove_tree(self._root / name, ignore_errors=True)
        aside.rename(self._root / name)

    def restore(self, name: str) -> None:
        """Put everything back as it was; everybody's hour of rate limits starts anew, the clock goes on.

        Raises:
            NotFound: there is no such snapshot.
        """
        kept = self._kept(name)
        note = self._world.directory / _UNFINISHED
        with self._world.reading():
            note.write_text(name)
            self._world.git.close()
            replace_repositories(self._world.git.root, kept / _REPOSITORIES)
            self._world.store.load_from(kept / _STORE)
            note.unlink()
            self._world.seen_merge_states.clear()
            self._world.limits.refill()

    def remove(self, name: str) -> None:
        """Forget a snapshot. Raises `NotFound`."""
        remove_tree(self._kept(name))

    def finish(self) -> None:
        """Put back what a killed hub was putting back. Call before serving."""
        note = self._world.directory / _UNFINISHED
        if note.exists():
            self.restore(note.read_text())

    def _kept(self, name: str) -> Path:
        if name not in self.names():
            raise NotFound(f"there is no snapshot {name!r}; there are: {', '.join(self.names()) or 'none'}")
        return self._root / name


def copy_repositories(source: Path, target: Path) -> None:
    """Copy bare repositories. Objects never change, so they are linked; everything else is copied."""

    def copy(original: str, duplicate: str) -> None:
        if "/objects/" in original:
            os.link(original, duplicate)
        else:
            shutil.copy2(original, duplicate)

    shutil.copytree(source, target, copy_function=copy)  # noqa: TID251 - bare repositories of our own


def replace_repositories(root: Path, kept: Path) -> None:
    """Make the repositories those that were kept."""
    fresh, old = root.with_name(f"{root.name}.new"), root.with_name(f"{root.name}.old")
    remove_tree(fresh, ignore_errors=True)
    copy_repositories(kept, fresh)
    remove_tree(old, ignore_errors=True)
    if root.exists():
        root.rename(old)
    fresh.rename(root)
    remove_tree(old)

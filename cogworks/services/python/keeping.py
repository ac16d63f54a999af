"""Folders below one directory, each made once under a key, kept while somebody uses it, and never changed; and what an environment says of itself."""

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.codebase.places import Places
from cogworks.folders import walk
from cogworks.own_folders import own_folder
from cogworks.removal import remove_tree
from cogworks.services.python.pythons import NotBuilt

SOURCES = "SOURCES_UNDER_TEST"
"""The variable that names the folders of modules of a run, for a Python that has to obey none of its own (`-I`, `-E`)."""
_FINDS = "import os, sys; sys.path += [each for each in os.environ.get({name!r}, '').split(os.pathsep) if each and each not in sys.path]\n"
READY = "ready.json"
"""The file whose presence says that an environment is finished."""


class MadeEnvironment(NamedTuple):
    """As its maker wrote it down."""

    key: str
    seconds: float = 0.0
    disk_bytes: int = 0
    made_at: float = 0.0
    """Seconds since the epoch."""


def let_sources_be_found(prefix: Path) -> None:
    """Make the Python of a bare environment look into the folders of `SOURCES`, behind its own packages.

    Has to be done before anything is installed: packages may put links there.
    """
    for folder in prefix.glob("lib/python*/site-packages"):
        (folder / "cogworks_sources.pth").write_text(_FINDS.format(name=SOURCES), encoding="utf-8")


def measured(prefix: Path, seconds: float) -> dict[str, float | int]:
    """What is written down of an environment that was just made."""
    return {"seconds": round(seconds, 3), "disk_bytes": _disk_bytes(prefix), "made_at": time.time()}


def made_environment(prefix: Path) -> MadeEnvironment | None:
    """The environment that has its packages here; None: nothing says that it was made."""
    for place in list(prefix.parents)[:3]:
        try:
            about = json.loads((place / READY).read_text(encoding="utf-8"))
            numbers = float(about["seconds"]), int(about["disk_bytes"]), float(about["made_at"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return MadeEnvironment(place.name, *numbers)
    return None


def _disk_bytes(folder: Path) -> int:
    """Of the files themselves; nothing that a link leads to."""
    total = 0
    for place, _, names in walk(folder):
        for name in names:
            total += os.lstat(Path(place) / name).st_blocks * 512
    return total


_KEY = re.compile(r"[0-9a-f]{40}")
_CONTENT = "environment"
_UNUSED_DAYS = 30
_PAUSE_S = 0.2


class Kept:
    """The folders below one directory; any number of services may share it."""

    def __init__(self, folder: Path, what: str) -> None:
        """Args:
        what: one of them is, for messages, e.g. `environment`.
        """
        self._folder = folder
        self._what = what
        self._places = Places(folder)

    def ready(self, key: str) -> Path | None:
        """The finished folder under a key, None when there is none."""
        place = self._folder / key
        mark = place / READY
        try:
            content = place / str(json.loads(mark.read_text(encoding="utf-8"))[_CONTENT])
            if not content.is_dir():
                return None
            # Shows that it is in use, to a process that looks for those that are not.
            os.utime(mark)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return content

    def noted(self, key: str) -> Mapping[str, Any]:
        """What `make` noted of a finished folder; empty when there is none."""
        try:
            noted = json.loads((self._folder / key / READY).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def made(self, key: str, make: Callable[[Path, float], Mapping[str, Any]], *, limit_s: float) -> Path:
        """The folder under a key, made if it is not there.

        Args:
            make: fills a folder that does not exist yet within so many seconds, and returns the notes about it.

        Raises:
            NotBuilt: another service takes too long over it, or what `make` raises.
            OSError: the directory cannot be written to.
        """
        if (folder := self.ready(key)) is not None:
            return folder
        deadline = time.monotonic() + limit_s
        place = self._folder / key
        own_folder(self._folder)
        with self._alone(place, limit_s=limit_s):
            # The process that held it may have made it meanwhile.
            if (folder := self.ready(key)) is not None:
                return folder
            self._remove_unused()
            remove_tree(place, ignore_errors=True)
            # A setup may have laid files of a private repository in there, and people may share the folder above.
            place.mkdir(mode=0o700)
            # A name nobody used before: a process that outlived its service may still be writing into the last one.
            # It stays where it is made, for its programs know their place.
            content = Path(tempfile.mkdtemp(prefix="made-", dir=place)) / _CONTENT
            with ExitStack() as stack:
                stack.callback(remove_tree, place, ignore_errors=True)
                noted = make(content, max(deadline - time.monotonic(), 1.0))
                _mark_ready(place, content, noted)
                # It is there to stay.
                stack.pop_all()
        return content

    @contextmanager
    def _alone(self, place: Path, *, limit_s: float) -> Iterator[None]:
        """Hold a place; waits for the one who does."""
        deadline = time.monotonic() + limit_s
        while not self._places.hold(place):
            if time.monotonic() > deadline:
                text = f"another service has been making the {self._what} {place} for {limit_s:g} s; look at that one."
                raise NotBuilt(text, is_recoverable=True)
            time.sleep(_PAUSE_S)
        try:
            yield
        finally:
            self._places.release(place)

    def _remove_unused(self) -> None:
        for place in sorted(each for each in self._folder.iterdir() if _KEY.fullmatch(each.name)):
            # Without the mark it is being made now, or was not made to its end.
            seen = place / READY if (place / READY).exists() else place
            if time.time() - seen.stat().st_mtime > _UNUSED_DAYS * 86_400:
                for free in self._places.each_free([place]):
                    remove_tree(free, ignore_errors=True)


def _mark_ready(place: Path, content: Path, noted: Mapping[str, Any]) -> None:
    """Nothing before this counts: what was killed while it was made has no mark."""
    fresh = place / f"{READY}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({**noted, _CONTENT: str(content.relative_to(place))}, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(place / READY)

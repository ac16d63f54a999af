"""Takes out of a room what a setup made there: regular files, and links that stay inside; nothing is followed."""

import os
import posixpath
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_PERMISSIONS = 0o777
_PASSED_OVER = frozenset({".git"})

Seen = Mapping[str, tuple[int, int, int]]
"""Path -> size, time of the last change, and number of what lies there; of folders nothing but that they are."""
_FOLDER = (-1, 0, 0)


class Harvest(NamedTuple):
    """What a setup changed, and what was left out of its result."""

    changed: tuple[str, ...] = ()
    """Files that were there before and are others now, or gone."""
    left_out: tuple[str, ...] = ()
    """Links that lead out, and what is neither file, folder nor link."""


def seen_in(folder: Path) -> Seen:
    """What lies below a folder before a setup runs."""
    return {path: _mark(folder / path) for path, _ in _walked(folder)}


def harvested(folder: Path, target: Path, before: Seen) -> Harvest:
    """Move what is new below a folder into another one, which does not exist yet."""
    target.mkdir(parents=True)
    left_out: list[str] = []
    for path, about in _walked(folder):
        if path in before:
            continue
        if stat.S_ISDIR(about.st_mode):
            # An empty folder may be wanted as much as a full one.
            (target / path).mkdir(parents=True, exist_ok=True)
        elif not _moved(folder, path, about, target):
            left_out.append(path)
    files = {path: mark for path, mark in before.items() if mark != _FOLDER}
    changed = [
        path
        for path, mark in files.items()
        if not os.path.lexists(folder / path) or _mark(folder / path) != mark
    ]
    return Harvest(tuple(sorted(changed)), tuple(sorted(left_out)))


def notes_of(harvest: Harvest) -> tuple[str, ...]:
    """What has to be reported of it."""
    notes = []
    if harvest.changed:
        notes.append(
            f"the setup changed {_listed(harvest.changed)} of the repository; that is left out, for runs have the files of "
            "the change. Commit what it makes of them"
        )
    if harvest.left_out:
        notes.append(
            f"the setup left {_listed(harvest.left_out)}, which lead out of the repository or are no files; left out"
        )
    return tuple(notes)


def _listed(paths: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{each}`" for each in paths[:3])
    return shown if len(paths) <= 3 else f"{shown} and {len(paths) - 3} more"


def _moved(folder: Path, path: str, about: os.stat_result, target: Path) -> bool:
    place = target / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(about.st_mode):
        inner = _inner(folder, path)
        if inner is not None:
            place.symlink_to(inner)
        return inner is not None
    if not stat.S_ISREG(about.st_mode):
        return False
    # Only the rights of the user who reads it.
    (folder / path).chmod((about.st_mode & _PERMISSIONS) | stat.S_IRUSR | stat.S_IWUSR)
    shutil.move(folder / path, place)
    return True


def _inner(folder: Path, path: str) -> str | None:
    """Where a link leads, judged by where it lies; None: out of the folder."""
    leads = str((folder / path).readlink())
    if leads.startswith("/"):
        leads = os.path.relpath(leads, folder / posixpath.dirname(path))
    parts = leads.split("/")
    climbs = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    if ".." in parts[climbs:]:
        # No text says what is above a folder behind a link.
        return None
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), leads))
    return None if whole.startswith(("../", "/")) or whole == ".." else leads


def _walked(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, folders before what they hold."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        for entry in sorted(os.scandir(folder / below), key=lambda entry: entry.name):
            path, about = f"{below}{entry.name}", entry.stat(follow_symlinks=False)
            if path in _PASSED_OVER:
                continue
            yield path, about
            if stat.S_ISDIR(about.st_mode):
                _open_up(folder / path, about)
                waiting.append(f"{path}/")


def _open_up(place: Path, about: os.stat_result) -> None:
    """Let a folder be looked into whose maker shut it."""
    if about.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        place.chmod(about.st_mode | stat.S_IRWXU)


def _mark(place: Path) -> tuple[int, int, int]:
    about = place.lstat()
    if stat.S_ISDIR(about.st_mode):
        return _FOLDER
    return about.st_size, about.st_mtime_ns, about.st_ino

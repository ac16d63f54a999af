"""Copies and walks folders of others, however deep they are: what the standard library has for it calls itself for each level."""

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

LeftOut = Callable[[str, list[str]], Collection[str]]
"""Handed a folder and the names in it; which of them are not copied."""
_NOTHING: LeftOut = shutil.ignore_patterns()


def copy_folder(source: Path, target: Path, *, left_out: LeftOut = _NOTHING, may_exist: bool = False) -> None:
    """Copy a folder with all that is in it, its modes and times; links are copied as links.

    Args:
        may_exist: whether the target and folders in it may be there already.

    Raises:
        OSError: something cannot be read or written; what was copied before it stays.
    """
    copied: list[tuple[Path, Path]] = []
    waiting = [(source, target)]
    target.parent.mkdir(parents=True, exist_ok=True)
    while waiting:
        here, there = waiting.pop()
        with os.scandir(here) as listing:
            entries = list(listing)
        passed_over = frozenset(left_out(os.fspath(here), [entry.name for entry in entries]))
        there.mkdir(exist_ok=may_exist)
        copied.append((here, there))
        for entry in entries:
            if entry.name in passed_over:
                continue
            place = there / entry.name
            if entry.is_symlink():
                place.symlink_to(Path(entry.path).readlink())
                shutil.copystat(entry.path, place, follow_symlinks=False)
            elif entry.is_dir():
                waiting.append((Path(entry.path), place))
            else:
                shutil.copy2(entry.path, place)
    # Last, and the deepest first: a folder that nobody may write takes no copies.
    for here, there in reversed(copied):
        shutil.copystat(here, there)


def walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from the top, with the names of the folders (links to some too) and of the other things in it, as `os.walk` yields them.

    A caller that takes names out of the list of folders keeps it from going there. No link is followed, and what cannot be read has nothing in it.
    """
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as listing:
                entries = list(listing)
        except OSError:
            continue
        folders = [entry.name for entry in entries if _is_folder(entry)]
        own = {entry.name for entry in entries if not entry.is_symlink()}
        yield os.fspath(here), folders, [entry.name for entry in entries if not _is_folder(entry)]
        waiting += [here / name for name in reversed(folders) if name in own]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False

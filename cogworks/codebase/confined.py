"""Reads and writes files below one directory without ever following a symbolic link."""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW_SUFFIX = ".cogworks-new"


class StoredFile(NamedTuple):
    """A regular file as it lies on the disk."""

    data: bytes
    mode: int
    """Permission bits."""


def obstacle(root: Path, path: str, *, removed: Collection[str] = ()) -> str | None:
    """What on the disk keeps a file from being written at `path` once `removed` is gone, None when nothing does."""
    *parents, name = path.split("/")
    place = root
    for part in parents:
        place /= part
        mode = _mode(place)
        if mode is None or (stat.S_ISREG(mode) and place.relative_to(root).as_posix() in removed):
            return None
        if stat.S_ISLNK(mode):
            return f"{place.relative_to(root).as_posix()!r} is a symbolic link; nothing is written through it"
        if not stat.S_ISDIR(mode):
            return f"{place.relative_to(root).as_posix()!r} is not a directory"
    mode = _mode(place / name)
    if mode is None or stat.S_ISREG(mode):
        return None
    return f"{path!r} is a symbolic link" if stat.S_ISLNK(mode) else f"{path!r} is not a regular file"


def read_file(root: Path, path: str) -> StoredFile | None:
    """A regular file below `root`; None when there is none or when a symbolic link leads to it."""
    *parents, name = path.split("/")
    try:
        with _directory(root, parents) as directory:
            # O_NONBLOCK: opening a named pipe must not wait for its writer.
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError:
        return None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        return StoredFile(file.read(), stat.S_IMODE(mode))


def write_file(root: Path, path: str, file: StoredFile) -> None:
    """Put a file in place in one rename, making its directories.

    Raises:
        OSError: a part of the way is a symbolic link or not a directory, or the disk refused.
    """
    *parents, name = path.split("/")
    with _directory(root, parents, make=True) as directory:
        fresh = name[: 255 - len(_NEW_SUFFIX)] + _NEW_SUFFIX if len(name.encode()) < 200 else _NEW_SUFFIX
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=directory)
        descriptor = os.open(
            fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, file.mode, dir_fd=directory
        )
        try:
            with os.fdopen(descriptor, "wb") as target:
                os.fchmod(descriptor, file.mode)
                target.write(file.data)
            os.rename(fresh, name, src_dir_fd=directory, dst_dir_fd=directory)
        except OSError:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=directory)
            raise


def delete_file(root: Path, path: str) -> None:
    """Remove a file and the directories this leaves empty, as git does; no failure when it is gone already."""
    *parents, name = path.split("/")
    with suppress(FileNotFoundError):
        with _directory(root, parents) as directory:
            os.unlink(name, dir_fd=directory)
        for depth in range(len(parents), 0, -1):
            with _directory(root, parents[: depth - 1]) as above:
                try:
                    os.rmdir(parents[depth - 1], dir_fd=above)
                except OSError:
                    return


@contextmanager
def _directory(root: Path, parts: list[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of a directory, reached part by part so that no link on the way is followed."""
    descriptor = os.open(root, _DIRECTORY)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o777, dir_fd=descriptor)
            deeper = os.open(part, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = deeper
        yield descriptor
    finally:
        os.close(descriptor)


def _mode(place: Path) -> int | None:
    try:
        return place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None

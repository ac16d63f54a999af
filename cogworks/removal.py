"""Removes folders in which foreign code could write, however deep they are and whatever their modes."""

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path, *, ignore_errors: bool = False) -> None:
    """Remove a file, a link itself, or a folder with all that is in it; nothing there is fine.

    `shutil.rmtree` calls itself for every level, and its paths grow longer than the system takes: some thousand nested
    folders stop it. Here folders move up to the top one before they are emptied, so that no depth matters.

    Raises:
        OSError: something cannot be removed; not with `ignore_errors`, which leaves what is left.
    """
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            _remove_folder(path)
        else:
            path.unlink()
    except FileNotFoundError:
        return
    except OSError:
        if not ignore_errors:
            raise


def _remove_folder(path: Path) -> None:
    top = _opened(os.fspath(path), None)
    try:
        lift = _Lift(top)
        while names := _names(top):
            for name in names:
                lift.remove(name)
    finally:
        os.close(top)
    path.rmdir()


class _Lift:
    """Removes what is right below one folder; folders below that come up to it."""

    def __init__(self, top: int) -> None:
        self._top = top
        # Nobody who wrote there can have guessed it, so nothing is overwritten.
        self._prefix = secrets.token_hex(8)
        self._count = 0

    def remove(self, name: str) -> None:
        if not _is_folder(name, self._top):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._top)
            return
        folder = _opened(name, self._top)
        try:
            for inner in _names(folder):
                self._clear(inner, folder)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=self._top)

    def _clear(self, name: str, folder: int) -> None:
        if not _is_folder(name, folder):
            os.unlink(name, dir_fd=folder)
            return
        self._count += 1
        # A folder is moved only by those who may write into it.
        os.close(_opened(name, folder))
        os.rename(name, f"{self._prefix}-{self._count}", src_dir_fd=folder, dst_dir_fd=self._top)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _opened(name: str, folder: int | None) -> int:
    """A folder, readable and writable for us whatever it was; never through a link."""
    try:
        return _made_writable(os.open(name, _AS_FOLDER, dir_fd=folder))
    except PermissionError:
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)
        return os.open(name, _AS_FOLDER, dir_fd=folder)


def _made_writable(folder: int) -> int:
    if stat.S_IMODE(os.fstat(folder).st_mode) & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(PermissionError):
            os.fchmod(folder, stat.S_IRWXU)
    return folder


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder of this user alone, its real path; it is removed at the end as far as that is possible."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
    try:
        yield folder
    finally:
        remove_tree(folder, ignore_errors=True)

"""What a refusal of this machine's file system means for the operator: where it was, what is wrong there, what to do."""

import errno
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.errors import MachineUnfit

_FULL = (errno.ENOSPC, errno.EDQUOT)
_MEANINGS = {
    errno.ENOSPC: "its disk is full",
    errno.EDQUOT: "the quota of this user is used up there",
    errno.EFBIG: "no file may become that large there (`ulimit -f`)",
    errno.EROFS: "it is read-only",
    errno.EACCES: "this user has no permission",
    errno.EPERM: "this user has no permission",
    errno.ENOTDIR: "something on the way to it is a file",
    errno.EMFILE: "this process may open no more files (`ulimit -n`)",
    errno.ENFILE: "this machine can open no more files",
}
_ROOM = "Make room there (`df -h` and `df -i` show what is left)"
_UNNAMED = "standard output, or a file that the system does not name,"
_ELSEWHERE = (
    "name another directory: `COGWORKS_WORK_DIR` for what cogworks keeps, `TMPDIR` for temporary files, or "
    "the option that led there"
)


def unfit(error: OSError, place: str | Path = "") -> MachineUnfit | None:
    """The failure as one of this machine; None where it is of another kind.

    Args:
        place: what was being written, where the error does not name it.
    """
    meaning = _MEANINGS.get(error.errno or 0)
    if meaning is None:
        return None
    where = str(place or error.filename or "") or " or ".join(_full_directories()) or _UNNAMED
    remedy = f"{_ROOM}, or {_ELSEWHERE}." if error.errno in _FULL else f"Make it writable, or {_ELSEWHERE}."
    return MachineUnfit(
        f"{where} cannot be written: {meaning} ({error.strerror or error}). {remedy} Then run the command again."
    )


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """What keeps the block from writing is reported as of `place`, or of the file in it.

    Raises:
        MachineUnfit: see there.
    """
    try:
        yield
    except OSError as error:
        where = error.filename or place
        reason = error.strerror or error
        plain = MachineUnfit(
            f"{where} cannot be written: {reason}. Name a file in a directory that you may write."
        )
        raise unfit(error, where) or plain from error


def of_this_machine(error: Exception) -> MachineUnfit | None:
    """What no adapter turned into an error of ours, where it only says what this machine refuses; the last net."""
    return unfit(error) if isinstance(error, OSError) else None


def drop_what_cannot_be_printed() -> None:
    """Before the end of the process: the interpreter would complain once more of what is left in its buffer."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_full(error: BaseException) -> bool:
    """Whether nothing more can be written, whoever tries."""
    return isinstance(error, OSError) and error.errno in (*_FULL, errno.EROFS)


def no_git() -> MachineUnfit:
    """The failure where there is no git program."""
    return MachineUnfit(
        "git is not on PATH, and cogworks works on repositories with it. Install it (`apt install git`, `brew install git`), "
        "or put its directory on PATH; `cogworks doctor` says whether it is found."
    )


def _full_directories() -> Iterable[str]:
    """A write that fails does not say where; these are the places that cogworks writes to."""
    candidates = (os.environ.get("COGWORKS_WORK_DIR"), tempfile.gettempdir(), os.environ.get("HOME"), ".")
    for place in dict.fromkeys(filter(None, candidates)):
        try:
            left = os.statvfs(place)
        except OSError:
            continue
        if not left.f_bavail or not left.f_favail:
            yield place

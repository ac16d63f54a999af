"""Which tree the files on the disk make: the one of a fresh index, without reading again what git knows to be unchanged.

A worktree's own index holds the marks that each file had when git read or wrote it: its size and its time stamps, that of the last
change among them, which no program can set. git looks at their seconds and reads what was written in the second of the index; here
the rest of each second is looked at as well, so that setting a time stamp back hides nothing.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cogworks.codebase.plumbing import spare_index, zsplit
from cogworks.codebase.reading import read_text
from cogworks.codebase.unwritable import SUBMODULE

Runs = Callable[..., str]
"""Runs git in the worktree."""
_ATTRIBUTES = ":(glob)**/.gitattributes"
_CONVERTING = frozenset({"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"})
_SECOND = 1_000_000_000
_LEAVES_AS_IT_IS = "text=auto"
"""What has other ends of lines in the repository keeps them."""


def next_tree(run: Runs, top: Path) -> str:
    """The tree the next commit would have: what is tracked, and what is new and not ignored."""
    with _index(run, top) as (known, extra):
        if not known:
            run("read-tree", run("write-tree").strip(), extra=extra)
        run("add", "--all", extra=extra)
        return run("write-tree", extra=extra).strip()


def whole_tree(run: Runs, top: Path) -> str:
    """The tree of every file on the disk, ignored ones included."""
    with _index(run, top) as (known, extra):
        # Starting from the commit keeps submodules, whose files are not checked out.
        run("read-tree", *(["--reset"] if known else []), "HEAD", extra=extra)
        run("add", "--all", "--force", extra=extra)
        return run("write-tree", extra=extra).strip()


@contextmanager
def _index(run: Runs, top: Path) -> Iterator[tuple[bool, Mapping[str, str]]]:
    """Whether an index knows the files, and the environment of git commands that use it; else it is empty."""
    with spare_index() as extra:
        own = Path(run("rev-parse", "--path-format=absolute", "--git-path", "index").removesuffix("\n"))
        doubtful = _doubtful(run, top) if own.is_file() and not _is_converted(run, top) else None
        if doubtful is not None:
            shutil.copy2(own, extra["GIT_INDEX_FILE"])
        if doubtful:
            # Entries without marks.
            run("update-index", "-z", "--index-info", extra=extra, stdin="".join(doubtful))
        yield doubtful is not None, extra


_ENTRY = re.compile(r"([0-7]{6} [0-9a-f]+ [0-3]\t([^\0]+)\0)  ctime: (\d+):(\d+)\n")


def _doubtful(run: Runs, top: Path) -> list[str] | None:
    """The entries of the worktree's index that were changed since at a moment that git does not look at, as `update-index
    --index-info` takes them.

    None where git describes its index, which it may at any time, in a form that is not known here.
    """
    listed = run("ls-files", "--stage", "--debug", "-z")
    found = _ENTRY.findall(listed)
    if len(found) != listed.count("\0"):
        return None
    return [
        entry
        for entry, path, seconds, nanoseconds in found
        if _changed_ns(f"{top}/{path}") != int(seconds) * _SECOND + int(nanoseconds)
        and not entry.startswith(SUBMODULE)
    ]


def _changed_ns(place: str) -> int:
    """When a file, its mode or its name was changed last; 0: there is none."""
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return 0


def _is_converted(run: Runs, top: Path) -> bool:
    """Whether attributes may make something else of a file than what lies there: then what is stored must be computed again."""
    listed = run("ls-files", "-z", "--cached", "--others", "--", _ATTRIBUTES)
    return any(_converts(read_text(top, path)) for path in dict.fromkeys(zsplit(listed)))


def _converts(attributes: str | None) -> bool:
    """Of the text of a file of attributes; None: it cannot be read, and git may have it from elsewhere."""
    if attributes is None:
        return True
    lines = (line.split() for line in attributes.splitlines() if not line.lstrip().startswith("#"))
    return any(
        word.partition("=")[0] in _CONVERTING and word != _LEAVES_AS_IT_IS
        for words in lines
        for word in words
    )

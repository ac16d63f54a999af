"""Small pieces of git's plumbing that every working copy uses."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cogworks.codebase.git import Identity


def zsplit(text: str) -> list[str]:
    """The parts of an answer whose parts end with NUL."""
    return [part for part in text.split("\0") if part]


def blobs_of(answer: str) -> list[str | None]:
    """What `git cat-file --batch` answered: the text of each file, None for what is missing or something else."""
    raw, at = answer.encode(errors="surrogateescape"), 0
    texts: list[str | None] = []
    while at < len(raw):
        end = raw.index(b"\n", at)
        header = raw[at:end].split(b" ")
        at = end + 1
        # `<oid> <type> <size>`, or the name that was asked for and `missing`.
        if len(header) == 3 and header[1] in (b"blob", b"tree", b"commit", b"tag") and header[2].isdigit():
            content = raw[at : at + int(header[2])].decode(errors="surrogateescape")
            texts.append(content if header[1] == b"blob" else None)
            at += int(header[2]) + 1
        else:
            texts.append(None)
    return texts


@contextmanager
def spare_index() -> Iterator[dict[str, str]]:
    """The environment of git commands that shall use an index of their own, empty at first."""
    with tempfile.TemporaryDirectory(prefix="cogworks-index-") as directory:
        yield {"GIT_INDEX_FILE": str(Path(directory, "index"))}


def authorship(identity: Identity, seconds: str) -> dict[str, str]:
    """The environment of a commit by this identity at this moment (seconds since 1970), the same in every time zone."""
    name, email = identity
    date = f"{seconds} +0000"
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_DATE": date,
    }

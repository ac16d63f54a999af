"""What a prompt lists of a repository: every file of a small one, the folders of a large one."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.sight.stretches import tokens_of

COMPLETE_TREE = 120
"""So many files of a repository are all listed."""


class Listing(NamedTuple):
    """The files of a repository as a prompt lists them."""

    text: str
    is_complete: bool
    """Whether every path is in it that may be seen."""
    hidden_count: int
    """Files that are not even named."""


def listing_of(paths: Sequence[str], *, hidden: Collection[str], limit_tokens: int) -> Listing:
    """The folders with the counts of their files, as deep as there is room; every file of a small repository."""
    seen = sorted(path for path in paths if path not in hidden)
    hidden_count = len(paths) - len(seen)
    text = "\n".join(seen)
    if len(seen) <= COMPLETE_TREE and tokens_of(text) <= 4 * limit_tokens:
        return Listing(text, is_complete=True, hidden_count=hidden_count)
    return Listing(_folders(seen, limit_tokens), is_complete=False, hidden_count=hidden_count)


def _folders(paths: Sequence[str], limit_tokens: int) -> str:
    for depth in (4, 3, 2, 1):
        counts: Counter[str] = Counter()
        for path in paths:
            folder = PurePosixPath(path).parts[:-1][:depth]
            counts["/".join(folder) + "/" if folder else "./"] += 1
        text = "\n".join(f"{folder} {count}" for folder, count in sorted(counts.items()))
        if tokens_of(text) <= limit_tokens:
            return text
    return f"./ {len(paths)}"


def by_folder(paths: Iterable[str]) -> str:
    """Paths on a line for each folder, in the order in which each folder is met first: `src/shop/: cart.py, mail.py`."""
    names: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder or ".", []).append(name)
    return "\n".join(f"{folder}/: {', '.join(each)}" for folder, each in names.items())

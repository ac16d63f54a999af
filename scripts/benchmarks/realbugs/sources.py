"""A pair of consecutive releases on the disk: the older sources under the newer tests, with some of the hunks between them."""

import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.benchmarks.published import CACHE, Release, source_of
from scripts.benchmarks.realbugs.hunks import Hunk, Sides, applied, hunks_between, is_source, is_test


class Pair(NamedTuple):
    """Two consecutive releases of a package."""

    older: Release
    newer: Release

    @property
    def name(self) -> str:
        return f"{self.newer.name}-{self.older.version}-{self.newer.version}"


@dataclass(frozen=True)
class Opened:
    """A pair whose files are here."""

    older: Path
    newer: Path
    sides: Sides
    hunks: tuple[Hunk, ...]

    @property
    def lonely(self) -> tuple[str, ...]:
        """Sources that only one of the two releases has."""
        return tuple(sorted(self.sides.older.keys() ^ self.sides.newer.keys()))

    def sources(self, hunks: Collection[int]) -> Mapping[str, str]:
        """The older sources with these hunks."""
        return applied(self.sides.older, [self.hunks[number] for number in hunks])

    def lay_out(self, sources: Mapping[str, str], folder: Path, *, older_tests: bool = False) -> Path:
        """A tree of these sources, with the newer release's tests and everything else of it, in a new folder.

        Args:
            older_tests: the older release's tests instead.
        """
        shutil.copytree(self.newer, folder, symlinks=True)
        if older_tests:
            for path in _files(folder):
                if is_test(path):
                    (folder / path).unlink()
            for path in filter(is_test, _files(self.older)):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.older / path, folder / path)
        for path, text in sources.items():
            (folder / path).write_bytes(text.encode())
        return folder


@contextmanager
def opened(pair: Pair, *, cache: Path = CACHE) -> Iterator[Opened]:
    """The files of a pair for the length of a block.

    Raises:
        NotPublished: a release cannot be had.
        UnicodeDecodeError: a source is not UTF-8.
    """
    with TemporaryDirectory(prefix="cogworks-bench-") as name:
        older = source_of(pair.older, Path(name, "older"), cache=cache)
        newer = source_of(pair.newer, Path(name, "newer"), cache=cache)
        sides = Sides(_sources(older), _sources(newer))
        yield Opened(older, newer, sides, hunks_between(sides))


def _sources(root: Path) -> dict[str, str]:
    return {path: (root / path).read_bytes().decode() for path in _files(root) if is_source(path)}


def _files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())

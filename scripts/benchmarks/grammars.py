"""How well real code is read: files with mistakes, what could not be read, and the time beside a plain parse.

    scripts/bench grammars PATH...

Each folder is read as it lies, tests and copies of other projects included; files are taken by their names.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Parser

from cogworks.grammars.facts import Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import LANGUAGES, language_of
from cogworks.grammars.parsing import MAX_BYTES, language
from cogworks.grammars.spec import LanguageSpec


class Tally(NamedTuple):
    """What was seen of one language."""

    files: int = 0
    size: int = 0
    mistaken: int = 0
    unread: int = 0
    definitions: int = 0
    parse_s: float = 0.0
    gather_s: float = 0.0


def main(folders: list[str]) -> None:
    """Print a table for all folders together."""
    tallies: dict[str, Tally] = {}
    missing = [folder for folder in folders if not Path(folder).is_dir()]
    if missing or not folders:
        sys.exit(
            f"no such folder: {', '.join(missing)}" if missing else "usage: scripts/bench grammars PATH..."
        )
    for path in (each for folder in folders for each in _files(Path(folder))):
        spec = language_of(path.name)
        if spec is not None and path.stat().st_size <= MAX_BYTES:
            tallies[spec.name] = _read(spec, path, tallies.get(spec.name, Tally()))
    write(
        "| language | files | MB | with mistakes | not read | definitions | plain parse, per MB | all facts, per MB |"
    )
    write("|---|---|---|---|---|---|---|---|")
    for spec in LANGUAGES:
        if spec.name in tallies:
            write(_row(spec.name, tallies[spec.name]))


def write(line: str) -> None:
    """One line on the console."""
    sys.stdout.write(f"{line}\n")


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _read(spec: LanguageSpec, path: Path, seen: Tally) -> Tally:
    data = path.read_bytes()
    begun = time.thread_time()
    Parser(language(spec)).parse(data)
    parsed = time.thread_time()
    facts = gather(spec, data)
    done = time.thread_time()
    read = None if isinstance(facts, Unreadable) else facts
    return Tally(
        files=seen.files + 1,
        size=seen.size + len(data),
        mistaken=seen.mistaken + (read is not None and bool(read.mistakes)),
        unread=seen.unread + (read is None),
        definitions=seen.definitions + (0 if read is None else len(read.definitions)),
        parse_s=seen.parse_s + parsed - begun,
        gather_s=seen.gather_s + done - parsed,
    )


def _row(name: str, seen: Tally) -> str:
    per_mb = 1_000_000 / max(1, seen.size)
    share = f"{seen.mistaken} ({100 * seen.mistaken / seen.files:.1f} %)"
    times = f"{1000 * seen.parse_s * per_mb:.0f} ms | {1000 * seen.gather_s * per_mb:.0f} ms ({seen.gather_s / max(seen.parse_s, 1e-9):.1f} x)"
    return f"| {name} | {seen.files} | {seen.size / 1e6:.1f} | {share} | {seen.unread} | {seen.definitions} | {times} |"


if __name__ == "__main__":
    main(sys.argv[1:])

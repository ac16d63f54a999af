"""The index on this machine: what every content says, kept by what names it, safe for several processes, losable at any time."""

import json
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cogworks.own_folders import own_folder
from cogworks.sight.batches import POSTING, Batch
from cogworks.sight.cards import Card, from_text

VERSION = 5
"""Of what is kept; another one begins anew."""
_SCHEMA = f"""
CREATE TABLE card (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL, is_generated INTEGER NOT NULL,
  facts TEXT NOT NULL) STRICT;
CREATE TABLE posting (term TEXT NOT NULL, first INTEGER NOT NULL, packed BLOB NOT NULL) STRICT;
CREATE INDEX posting_of ON posting (term);
CREATE TABLE defined (name TEXT NOT NULL, card INTEGER NOT NULL, PRIMARY KEY (name, card)) STRICT, WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""
MEMORY = ":memory:"


class Known(NamedTuple):
    """A content that is here."""

    number: int
    length: int
    """In terms."""
    is_generated: bool
    """Its beginning, or the length of its lines, says that nobody wrote it by hand."""


class Store:
    """Cards by content. One process, one store; several may share the file."""

    def __init__(self, path: Path | None = None) -> None:
        """Args:
        path: the file; None: in memory.
        """
        self._path = path
        self._connection = self._opened()
        # A caller that forgets it closes it all the same.
        weakref.finalize(self, self._connection.close)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def known(self, names: Iterable[str]) -> dict[str, Known]:
        """Of contents those that are here, by name."""
        rows = self._connection.execute(
            "SELECT name, id, length, is_generated FROM card WHERE name IN (SELECT value FROM json_each(?))",
            (json.dumps(list(names)),),
        )
        return {name: Known(number, length, bool(generated)) for name, number, length, generated in rows}

    def add(self, batch: Batch) -> None:
        """Keep what was read of files; contents that another process kept meanwhile stay."""
        with self._writing() as cursor:
            there = self.known(row.name for row in batch.rows)
            fresh = [place for place, row in enumerate(batch.rows) if row.name not in there]
            if len(fresh) < len(batch.rows):
                batch = _only(batch, fresh)
            (first,) = cursor.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM card").fetchone()
            cursor.executemany(
                "INSERT INTO card (id, name, length, is_generated, facts) VALUES (?, ?, ?, ?, ?)",
                ((number, *row) for number, row in enumerate(batch.rows, first)),
            )
            cursor.executemany(
                "INSERT INTO posting VALUES (?, ?, ?)",
                ((term, first, packed) for term, packed in batch.postings.items()),
            )
            cursor.executemany(
                "INSERT INTO defined VALUES (?, ?)", ((name, first + place) for name, place in batch.defined)
            )

    def postings(self, term: str) -> Sequence[tuple[int, int, int]]:
        """Where a term is, in all contents that are kept: the card, how often in its text and in its names."""
        rows = self._connection.execute("SELECT first, packed FROM posting WHERE term = ?", (term,))
        return [
            (first + place, in_text, in_names)
            for first, packed in rows
            for place, in_text, in_names in POSTING.iter_unpack(packed)
        ]

    def defining(self, name: str) -> Sequence[int]:
        """The contents with a definition of this name."""
        return [
            number
            for (number,) in self._connection.execute("SELECT card FROM defined WHERE name = ?", (name,))
        ]

    def cards(self, numbers: Iterable[int]) -> Mapping[int, Card]:
        """Cards without their terms."""
        rows = self._connection.execute(
            "SELECT id, facts FROM card WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        return {number: from_text(facts) for number, facts in rows}

    def _opened(self) -> sqlite3.Connection:
        if self._path is None:
            return _with_tables(sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False))
        try:
            return _connected(self._path)
        except sqlite3.DatabaseError:
            # Broken or of another version: all of it can be read again.
            self._path.unlink(missing_ok=True)
            return _connected(self._path)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")


def _only(batch: Batch, places: Sequence[int]) -> Batch:
    """A batch as if it had these rows alone."""
    new = {place: number for number, place in enumerate(places)}
    kept = {
        term: b"".join(
            POSTING.pack(new[place], *often) for place, *often in POSTING.iter_unpack(packed) if place in new
        )
        for term, packed in batch.postings.items()
    }
    return Batch(
        rows=[batch.rows[place] for place in places],
        postings={term: packed for term, packed in kept.items() if packed},
        defined=[(name, new[place]) for name, place in batch.defined if place in new],
    )


def _connected(path: Path) -> sqlite3.Connection:
    own_folder(path.parent)
    with suppress(OSError):
        # SQLite gives the files beside it the same permissions.
        path.touch(mode=0o600)
        path.chmod(0o600)
    # Actions of a coding cycle run in threads of their own, one after the other.
    connection = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
    # What is lost with the machine is read again. First of all: what comes after it waits for no disk.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = WAL")
    return _with_tables(connection)


def _with_tables(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        for statement in filter(str.strip, _SCHEMA.split(";")):
            connection.execute(statement)
    connection.execute("COMMIT")
    if version not in (0, VERSION):
        connection.close()
        raise sqlite3.DatabaseError(f"an index of version {version}")
    return connection

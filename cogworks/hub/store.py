"""Where the records are kept: one SQLite file that is readable after a SIGKILL at any instant."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TypeVar

from cogworks.errors import MachineUnfit
from cogworks.hub.node_ids import Record

R = TypeVar("R", bound=Record)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, id INTEGER NOT NULL, parent INTEGER, key TEXT, tag TEXT, json TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS record_keys ON records (kind, key) WHERE key IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_parents ON records (kind, parent, id);
CREATE INDEX IF NOT EXISTS record_tags ON records (kind, tag, id) WHERE tag IS NOT NULL;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


def _connected(path: Path) -> sqlite3.Connection:
    with suppress(OSError):
        # SQLite gives the files beside it the same permissions; what keeps it from being written is reported below.
        path.touch(mode=0o600)
        path.chmod(0o600)
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        # A commit survives the death of the process; only the loss of the machine could cost the last ones.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.executescript(_SCHEMA)
    except sqlite3.OperationalError:
        connection.close()
        raise
    return connection


class Store:
    """Records by kind and id, by unique key, and by parent; safe to share between threads.

    A write outside `transaction()` is a transaction of its own. Another process may write to the same file
    (`cogworks hub add-user` beside a running hub): readers see its commits at once.
    """

    def __init__(self, path: Path) -> None:
        self._lock = RLock()
        self._depth = 0
        self._parsed: dict[tuple[str, int], tuple[str, Record]] = {}
        try:
            self._connection = _connected(path)
        except sqlite3.OperationalError as error:
            raise MachineUnfit(
                f"the hub's records in {path} cannot be opened: {error}. Make room on that disk and the directory writable, "
                "or give another `--dir`."
            ) from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def copy_to(self, path: Path) -> None:
        """A consistent copy of everything as a file of its own."""
        with self._lock, closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)

    def load_from(self, path: Path) -> None:
        """Become what a copy is; not inside a transaction."""
        with self._lock, closing(sqlite3.connect(path)) as copy:
            copy.backup(self._connection)
            self._parsed.clear()

    def newest_number(self) -> int:
        """The last number that `next_id` gave out, without its base."""
        with self._lock:
            row = self._connection.execute("SELECT value FROM counters WHERE name = 'id'").fetchone()
            return 0 if row is None else int(row[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes of the block or none; a nested one joins the outer."""
        with self._lock:
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._connection.execute("COMMIT")

    def next_id(self, base: int = 0) -> int:
        """A number larger than all earlier ones; `base` is added to it."""
        return base + self.next_number("id")

    def next_number(self, counter: str) -> int:
        """1, 2, 3, … for each counter."""
        with self.transaction():
            row = self._connection.execute(
                "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
                (counter,),
            ).fetchone()
            return int(row[0])

    def put(self, record: R) -> R:
        """Insert, or replace the record with the same kind and id; returns it."""
        text = record.model_dump_json()
        row = (record.type_name, record.id, record.parent, record.key, record.tag, text)
        with self._lock:
            self._connection.execute(
                "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE"
                " SET parent = excluded.parent, key = excluded.key, tag = excluded.tag, json = excluded.json",
                row,
            )
        return record

    def remove(self, record: Record) -> None:
        with self._lock:
            self._connection.execute(
                "DELETE FROM records WHERE kind = ? AND id = ?", (record.type_name, record.id)
            )

    def get(self, kind: type[R], record_id: int | None) -> R | None:
        """The record, or None: gone, never there, or no id given."""
        rows = self._select(kind, "id = ?", (record_id,))
        return rows[0] if rows else None

    def find(self, kind: type[R], key: str) -> R | None:
        """The record with that unique `key` (see the `key` property of its class)."""
        rows = self._select(kind, "key = ?", (key,))
        return rows[0] if rows else None

    def children(self, kind: type[R], parent: int, *, tag: str | None = None) -> list[R]:
        """The records of a kind under one parent, oldest first."""
        if tag is None:
            return self._select(kind, "parent = ? ORDER BY id", (parent,))
        return self._select(kind, "parent = ? AND tag = ? ORDER BY id", (parent, tag))

    def tagged(self, kind: type[R], tag: str) -> list[R]:
        """The records of a kind with one tag, whatever their parent, oldest first."""
        return self._select(kind, "tag = ? ORDER BY id", (tag,))

    def every(self, kind: type[R]) -> list[R]:
        """All records of a kind, oldest first."""
        return self._select(kind, "1 ORDER BY id", ())

    def many(self, kind: type[R], ids: tuple[int, ...]) -> list[R]:
        """The records with these ids, in their order; what is gone is left out."""
        return [record for record_id in ids if (record := self.get(kind, record_id)) is not None]

    def count(self, kind: type[Record], parent: int) -> int:
        with self._lock:
            row = self._connection.execute(
                "SELECT count(*) FROM records WHERE kind = ? AND parent = ?", (kind.type_name, parent)
            ).fetchone()
            return int(row[0])

    def _select(self, kind: type[R], condition: str, values: tuple[object, ...]) -> list[R]:
        # `condition` is one of the constants above, never a caller's text.
        statement = f"SELECT id, json FROM records WHERE kind = ? AND {condition}"  # noqa: S608 - constants only
        with self._lock:
            rows = self._connection.execute(statement, (kind.type_name, *values)).fetchall()
            return [self._parse(kind, record_id, text) for record_id, text in rows]

    def _parse(self, kind: type[R], record_id: int, text: str) -> R:
        kept = self._parsed.get((kind.type_name, record_id))
        if kept is not None and kept[0] == text and isinstance(kept[1], kind):
            return kept[1]
        record = kind.model_validate_json(text)
        self._parsed[kind.type_name, record_id] = (text, record)
        return record


ADMIN = "admin.token"
PAGES = "pages.token"
LOGS = "logs.token"
"""Signs the addresses of logs."""


def kept_token(directory: Path, name: str) -> str:
    """The token of that name, in a file that only its owner reads; made when there is none."""
    file = directory / name
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_hex(20) + "\n")
    return file.read_text().strip()


def pages_link(directory: Path, page: str) -> str:
    """The address that lets a browser in to the pages of private repositories, and shows the page."""
    return f"{page}?token={kept_token(directory, PAGES)}"

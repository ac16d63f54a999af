"""Reads TOML that others wrote: whatever stands there, it takes little time and one kind of error.

Values are taken out of a table by key, and every problem is noted, so that all of them can be reported at once.
"""

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

MAX_CHARS = 8 * 1024**2
"""As many as a large lock file has."""
MAX_KEY_PARTS = 50
_PART = re.compile(r"[ \t]*(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*")


def tables_in(text: str) -> dict[str, Any]:
    """The tables of a document.

    Raises:
        TOMLDecodeError: it is no TOML, or longer, deeper or stranger than people write it.
    """
    if problem := strangeness(text):
        raise tomllib.TOMLDecodeError(problem)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        # What `int` says of thousands of digits.
        raise tomllib.TOMLDecodeError(str(error)) from None


def strangeness(text: str) -> str:
    """Why a text is not even tried; empty where it is. For a key of many parts, the reader's time grows with their square."""
    if len(text) > MAX_CHARS:
        return f"it has {len(text)} characters, at most {MAX_CHARS} are read"
    parts = 0
    for piece in text.split("."):
        parts = parts + 1 if _PART.fullmatch(piece) else 0
        if parts > MAX_KEY_PARTS:
            return f"a key has more than {MAX_KEY_PARTS} parts"
    return ""


MAX_TEXT_CHARS = 4_000
MAX_LIST_ENTRIES = 200
_MAX_SHOWN_CHARS = 60
_MAX_COMPARED = 500


class Shape(NamedTuple):
    """What a string has to look like."""

    pattern: re.Pattern[str]
    """Must match the whole string."""
    wanted: str
    """Completes the sentence "wanted …"."""


class Table:
    """One table, read key by key; what was not asked for by the time `close` is called is an unknown key.

    A getter answers None when the key is absent, and also when its value is wrong, after noting the problem.
    """

    def __init__(self, data: Mapping[str, Any], where: str, problems: list[str]) -> None:
        self.data = data
        self.where = where
        """Starts every problem, e.g. `pipelines.default.nodes[2] (review)`."""
        self.problems = problems
        self._asked: dict[str, None] = {}

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def refuse(self, key: str, text: str) -> None:
        """Note a problem of one key."""
        self.problems.append(f"{self._place}`{key}` {text}")

    def need(self, key: str) -> None:
        """Note a problem if the key is absent."""
        if key not in self.data:
            self.refuse(key, "is missing")

    def text(self, key: str, shape: Shape | None = None) -> str | None:
        """A non-empty string, of the shape if one is given; a badly shaped one is answered all the same."""
        value = self._raw(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            self._wrong(key, value, "a non-empty string")
            return None
        if len(value) > MAX_TEXT_CHARS:
            self._wrong(key, value, f"at most {MAX_TEXT_CHARS} characters")
            return None
        # Answered all the same, so that edges to a badly named node are not refused besides.
        if shape is not None and shape.pattern.fullmatch(value) is None:
            self._wrong(key, value, shape.wanted)
        return value

    def refuse_all(self, keys: Mapping[str, str]) -> None:
        """Note every key that is there though cogworks does not obey it: key -> what to say of it."""
        for key, reason in keys.items():
            # Asked for, so that `close` does not call it unknown as well.
            if self._raw(key) is not None:
                self.refuse(key, reason)

    def choice(self, key: str, options: Sequence[str]) -> Any:
        """One of the options."""
        value = self._raw(key)
        if value is None or value in options:
            return value
        self._wrong(key, value, "one of " + ", ".join(options) + meant(value, options))
        return None

    def boolean(self, key: str) -> bool | None:
        """True or false."""
        value = self._raw(key)
        if value is None or isinstance(value, bool):
            return value
        self._wrong(key, value, "true or false")
        return None

    def integer(self, key: str, *, minimum: int, maximum: int) -> int | None:
        """A whole number within the bounds."""
        value = self._raw(key)
        if value is None:
            return None
        # In Python `True` is 1; in a file it is a slip.
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            self._wrong(key, value, f"a whole number from {minimum} to {maximum}")
            return None
        return value

    def number(self, key: str, *, minimum: float, maximum: float) -> float | None:
        """A number within the bounds."""
        value = self._raw(key)
        if value is None:
            return None
        # In Python `True` is a number, and TOML has `nan`.
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
        if not is_number or not minimum <= value <= maximum:
            self._wrong(key, value, f"a number from {minimum:g} to {maximum:g}")
            return None
        return float(value)

    def texts(self, key: str, shape: Shape | None = None) -> tuple[str, ...]:
        """A list of different strings; what is wrong in it is left out."""
        value = self._raw(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self._wrong(key, value, "a list of strings")
            return ()
        # Each wrong entry would be a problem of its own.
        if len(value) > MAX_LIST_ENTRIES:
            self.refuse(key, f"holds {len(value)} entries, at most {MAX_LIST_ENTRIES} are allowed")
            return ()
        accepted: dict[str, None] = {}
        for each in value:
            if not isinstance(each, str) or (shape is not None and shape.pattern.fullmatch(each) is None):
                self._wrong(key, each, shape.wanted if shape else "strings", part="holds")
            elif each in accepted:
                self.refuse(key, f"holds {each!r} more than once")
            else:
                accepted[each] = None
        return tuple(accepted)

    def table(self, key: str) -> "Table | None":
        """A table within this one."""
        value = self._raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self._wrong(key, value, "a table")
            return None
        return Table(value, f"{self.where}.{key}" if self.where else key, self.problems)

    def tables(self, key: str) -> list["Table"]:
        """A list of tables, `[[…]]` in the file."""
        value = self._raw(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(key, value, "a list of tables")
            return []
        members: list[Table] = []
        for index, each in enumerate(value):
            where = f"{self.where}.{key}[{index}]" if self.where else f"{key}[{index}]"
            if isinstance(each, dict):
                members.append(Table(each, where, self.problems))
            else:
                self.problems.append(f"{where}: found {shown(each)}, wanted a table")
        return members

    def named_tables(self, shape: Shape) -> list[tuple[str, "Table"]]:
        """Every table in this one, by name; for tables whose keys are names."""
        for key in self.data:
            if shape.pattern.fullmatch(key) is None:
                self.problems.append(f"{self.where}: {shown(key)} is not {shape.wanted}")
        return [(key, table) for key in self.data if (table := self.table(key)) is not None]

    def close(self) -> None:
        """Note every key nobody asked for."""
        for key in self.data:
            # Not what nobody knows, but what nobody asked for: a key of another table is reported, too.
            if key not in self._asked:
                self.problems.append(f"{self._place}unknown key {shown(key)}{meant(key, self._asked)}")

    @property
    def _place(self) -> str:
        return f"{self.where}: " if self.where else ""

    def _raw(self, key: str) -> Any:
        # A dict keeps the order of asking, so that a message is the same in every process.
        self._asked[key] = None
        return self.data.get(key)

    def _wrong(self, key: str, value: object, wanted: str, part: str = "is") -> None:
        self.refuse(key, f"{part} {shown(value)}, wanted {wanted}")


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value) if isinstance(value, str | int | float | bool) else str(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


def meant(word: object, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` when a known word is close, else nothing."""
    # A file may hold thousands of keys, and each comparison takes time.
    close = difflib.get_close_matches(str(word)[:_MAX_SHOWN_CHARS], list(islice(known, _MAX_COMPARED)), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

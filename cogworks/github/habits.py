"""How a repository is best read, as earlier reads found out; kept in a file for a day."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import quote, urlsplit

from pydantic import ValidationError

from cogworks.own_folders import own_folder
from cogworks.vocabulary import Value

KEPT_FOR = timedelta(hours=24)
"""Afterwards the whole read is tried again: the repository or GitHub may have recovered."""
ReadSize = Literal["whole", "half", "split"]
_SMALLER: dict[ReadSize, ReadSize] = {"whole": "half", "half": "split"}


class Habit(Value):
    """One way to read."""

    size: ReadSize = "whole"
    """`half`: half of every list that can be paged; `split`: besides that in two documents."""
    with_dependencies: bool = True
    """Whether the server knows which issue blocks which."""

    def smaller(self) -> "Habit | None":
        """The next smaller way; None when there is none."""
        size = _SMALLER.get(self.size)
        return None if size is None else self.model_copy(update={"size": size})


class Habits(Protocol):
    """Remembers a habit between reads."""

    def load(self) -> Habit: ...
    def keep(self, habit: Habit) -> None: ...


class RememberedHere:
    """As long as the process lives."""

    def __init__(self) -> None:
        self._habit = Habit()

    def load(self) -> Habit:
        return self._habit

    def keep(self, habit: Habit) -> None:
        self._habit = habit


class _Kept(Value):
    """What one file holds; every entry is the moment it was learned at."""

    without_dependencies: datetime | None = None
    smaller: Mapping[str, tuple[ReadSize, datetime]] = {}
    """By repository."""


class HabitFile:
    """One file per server: the size by repository, the unknown fields for all of them. Losing it costs a request."""

    def __init__(
        self, directory: Path, *, server_url: str, repository: str, now: Callable[[], datetime]
    ) -> None:
        """
        Args:
            repository: owner/name
            now: with a time zone.
        """
        self._path = directory / f"{quote(urlsplit(server_url).netloc, safe='')}.json"
        self._repository = repository.casefold()
        self._now = now

    def load(self) -> Habit:
        kept = self._read()
        known = kept.smaller.get(self._repository)
        return Habit(
            size=known[0] if known is not None and self._is_fresh(known[1]) else "whole",
            with_dependencies=not self._is_fresh(kept.without_dependencies),
        )

    def keep(self, habit: Habit) -> None:
        """Write it down, if that can be done: a full disk is no reason not to work."""
        kept, now = self._read(), self._now()
        smaller = {name: entry for name, entry in kept.smaller.items() if self._is_fresh(entry[1])}
        smaller.pop(self._repository, None)
        if habit.size != "whole":
            smaller[self._repository] = (habit.size, now)
        learned = _Kept(without_dependencies=None if habit.with_dependencies else now, smaller=smaller)
        try:
            own_folder(self._path.parent)
            handle, written = tempfile.mkstemp(dir=self._path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(learned.model_dump(mode="json"), file)
            Path(written).replace(self._path)
        except OSError:
            return

    def _read(self) -> _Kept:
        try:
            return _Kept.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _Kept()

    def _is_fresh(self, since: datetime | None) -> bool:
        if since is None or since.tzinfo is None:
            return False
        return timedelta() <= self._now() - since < KEPT_FOR

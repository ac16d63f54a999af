"""The events of node's own test runner, one JSON object a line, as our reporters write them, those for Ruby as well."""

import re
from typing import Any

from cogworks.services.command.reports.cases import (
    Case,
    Outcome,
    Parsed,
    Problem,
    bounded,
    json_lines,
    word,
)

_THROWN = re.compile(r"\.[cm]?[jt]sx?:(\d{1,7})$", re.MULTILINE)
_ERROR = re.compile(r"^(?:Uncaught )?\w{0,60}Error\b.{0,400}$", re.MULTILINE)


def _words(message: str) -> str:
    """The error itself first, then whatever stands around it."""
    match = _ERROR.search(message)
    return f"{match[0]}\n{message}" if match else message


def parse(data: bytes) -> Parsed:
    """The innermost tests, each named with its suites; a file that could not be loaded is a problem."""
    reader = _Reader()
    for line in json_lines(data):
        if isinstance(line, dict):
            reader.event(line)
    return bounded(reader.cases, [*reader.problems, *reader.unended()])


class _Reader:
    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.problems: list[Problem] = []
        self._begun: dict[str, list[str]] = {}
        """File -> the names that stand around what comes next in it."""
        self._processes = 0
        """That began and have not ended."""
        self._last = ""
        self._parents: set[tuple[str, tuple[str, ...]]] = set()

    def event(self, event: dict[str, Any]) -> None:
        kind, name, file = (word(event.get(key)) for key in ("type", "name", "file"))
        nesting = event.get("nesting")
        depth = nesting if isinstance(nesting, int) and 0 <= nesting < 100 else 0
        names = self._begun.setdefault(file, [])
        if kind == "test:start":
            del names[depth:]
            names.append(name)
            self._parents.add((file, tuple(names[:-1])))
        elif kind in ("run:start", "run:end"):
            self._processes += 1 if kind == "run:start" else -1
        elif kind in ("test:pass", "test:fail"):
            self._last = name
            path = (*names[:depth], name)
            self._ended(event, path, file, is_failed=kind == "test:fail")

    def unended(self) -> list[Problem]:
        """A problem where a process of tests did not finish."""
        if self._processes <= 0:
            return []
        after = f"after {self._last!r}" if self._last else "before any test"
        return [Problem(f"the tests ended in the middle, {after}: their process did not come to its end")]

    def _ended(self, event: dict[str, Any], path: tuple[str, ...], file: str, *, is_failed: bool) -> None:
        message = word(event.get("message"))
        if event.get("isFile"):
            if is_failed and not any(case.file == file for case in self.cases):
                match = _THROWN.search(message)
                line = int(match[1]) if match else None
                self.problems.append(Problem(_words(message), file=file, line=line))
            return
        is_suite = (file, path) in self._parents
        if is_suite and not (is_failed and word(event.get("failureType")) != "subtestsFailed"):
            return
        outcome: Outcome = "failed" if is_failed else "passed"
        if event.get("skip") or event.get("todo"):
            outcome = "skipped"
        self.cases.append(Case(" > ".join(path), outcome, message, file=file))

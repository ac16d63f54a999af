"""Runs the tests of unittest as its own command line does, and reports each; imports nothing of cogworks.

What is wanted stands in a file that a variable names, so that the words of the command stay those of unittest.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import sys
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cogworks_clock import Clock
from cogworks_limit import IS_THERE, exit_within, limited
from cogworks_linekeeping import line_keeper
from cogworks_loading import FAILED, Loader, NotInTime, each_test, kept
from cogworks_records import Records, written
from cogworks_repeatable import repeat_examples
from cogworks_results import Results
from cogworks_witness import Witness

VARIABLE = "COGWORKS_TESTS"
_PASSED, _FAILED, _NOT_FOUND, _NONE = 0, 1, 4, 5
"""As pytest ends."""


class Session:
    """One run: where it reports to, and its order."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.records = Records(order["descriptor"])
        self._limit_s: float = order["test_timeout_s"]
        self._seed: int | None = order["seed"]
        self._until_s: float | None = order["until_s"]
        self.groups = {
            test: number for number, group in reversed([*enumerate(order["groups"])]) for test in group
        }
        self.tests = tuple(order["tests"])
        self.loader = Loader(self.records, os.getcwd(), self.tests, self._loading)
        self.places = tuple(dict.fromkeys(test.split("::", 1)[0].rstrip("/") for test in self.tests))
        self.missing: list[str] = []
        self._lines = line_keeper(order["lines"]) if order["lines"] else None
        if isinstance(self._lines, str):
            self.records.write(kind="unmeasured", text=self._lines)
        sys.addaudithook(Witness(self.records, **order["reach"]))
        faulthandler.enable()

    def begin(self, **versions: str) -> None:
        python = ".".join(map(str, sys.version_info[:3]))
        self.records.write(kind="tools", versions={"python": python, **versions})

    def chosen(self, suite: Any) -> Any:
        """The part of a suite that is run."""
        for test in each_test(suite):
            if _is_failed(test):
                self.loader.report_failed(test)
        names = [self.loader.id_of(test) for test in each_test(suite) if not _is_failed(test)]
        self.missing = self.loader.missing_from(names)
        runnable = kept(suite, self._is_run)
        if self._seed is None and not self.groups:
            return runnable
        return unittest.TestSuite(sorted(each_test(runnable), key=self._place))

    def arrange(self, result: Results, suite: Any) -> None:
        tests = list(each_test(suite))
        groups = {self.loader.id_of(test): self._group(test) for test in tests}
        names = [self.loader.id_of(test) for test in tests]
        if self._until_s is not None:
            self.records.write(kind="planned", tests=names)
        clock = Clock([name.rpartition("::")[0] for name in names], self._until_s)
        result.arranged(self.records, self.loader.id_of, tests, groups, limited=self._testing, clock=clock)

    def end(self, result: Any) -> int:
        """The exit code, after it was reported."""
        for test in self.missing:
            sys.stderr.write(f"ERROR: not found: {test}\n")
        code = _PASSED if result.testsRun else _NONE
        if not result.wasSuccessful():
            code = _FAILED
        if self.missing:
            code = _NOT_FOUND
        self.records.write(kind="end", code=code)
        exit_within(self._limit_s)
        return code

    def _is_run(self, test: Any) -> bool:
        if _is_failed(test):
            return False
        return self.loader.is_wanted(test) and self.loader.id_of(test) not in self.records.run_before

    def _place(self, test: Any) -> tuple[int, str, str]:
        # The tests of a class stay together: what they share is made once.
        of_class = written(f"{type(test).__module__}.{type(test).__qualname__}")
        return (self._group(test), self._shuffled(of_class), self._shuffled(self.loader.id_of(test)))

    def _shuffled(self, name: str) -> str:
        return name if self._seed is None else hashlib.sha256(f"{self._seed} {name}".encode()).hexdigest()

    def _group(self, test: Any) -> int:
        name = self.loader.id_of(test)
        numbers = [
            number
            for each, number in self.groups.items()
            if name == each or name.startswith((f"{each}::", f"{each}/"))
        ]
        return min(numbers, default=0)

    @contextmanager
    def _loading(self) -> Iterator[None]:
        with self._within("not loaded within the time limit of one test"):
            yield

    @contextmanager
    def _testing(self) -> Iterator[None]:
        name = self.records.test
        with self._within("over the time limit of one test"):
            if self._lines is None or isinstance(self._lines, str):
                yield
                return
            with self._lines.measured(
                lambda stretches: self.records.write(kind="lines", id=name, lines=stretches)
            ):
                yield

    @contextmanager
    def _within(self, reason: str) -> Iterator[None]:
        if not (self._limit_s and IS_THERE):
            yield
            return
        with limited(self._limit_s, NotInTime(f"{reason}, {self._limit_s:g} seconds")):
            yield


class Program(unittest.TestProgram):
    """The command line of unittest; what it names is everything, and a part of it is what is wanted."""

    def __init__(self, session: Session, words: list[str]) -> None:
        self._session = session
        super().__init__(
            module=None, argv=["python -m unittest", *words], testLoader=session.loader, exit=False
        )

    def createTests(self, from_discovery: bool = False, Loader: Any = None) -> None:  # noqa: ARG002, N802, N803  # unittest's names
        if self._session.tests and not from_discovery:
            if self.testNamePatterns:
                self._session.loader.testNamePatterns = self.testNamePatterns
            self.test = self._session.loader.load_places()
            return
        super().createTests(from_discovery)
        if self._session.tests:
            self.test = self._session.loader.load_missing(self.test)

    def runTests(self) -> None:  # noqa: N802  # unittest's name
        # One failure more or less must not hide the others.
        self.failfast = False
        session, suite = self._session, self._session.chosen(self.test)

        class Runner(unittest.TextTestRunner):
            def _makeResult(self) -> Results:  # noqa: N802  # unittest's name
                result = Results(self.stream, self.descriptions, self.verbosity)
                session.arrange(result, suite)
                return result

        self.result = Runner(verbosity=0, buffer=bool(self.buffer), warnings=self.warnings).run(suite)


def session() -> Session:
    """What the file says; what the tests start does not see it."""
    repeat_examples()
    with open(os.environ.pop(VARIABLE), encoding="utf-8") as file:
        return Session(json.load(file))


def _is_failed(test: Any) -> bool:
    return type(test).__name__ in (FAILED, "ModuleSkipped")


def main() -> None:
    current = session()
    current.begin()
    sys.exit(current.end(Program(current, sys.argv[1:]).result))


if __name__ == "__main__":
    main()

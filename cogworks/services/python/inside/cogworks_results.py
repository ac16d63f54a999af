"""Tells what unittest says of each test, as pytest would; imports nothing of cogworks."""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from cogworks_clock import Clock
from cogworks_loading import short_text
from cogworks_records import Records, capped

_HOLDER = re.compile(r"(setUp|tearDown)(Class|Module) \((.*)\)", re.DOTALL)
"""How unittest names what stands for a class or module whose own preparation failed."""


class Results(unittest.TextTestResult):
    """The result of one run; `arranged` says what it needs to know before the first test."""

    def arranged(
        self,
        records: Records,
        ids: Callable[[Any], str],
        tests: Sequence[Any],
        groups: Mapping[str, int],
        *,
        limited: Callable[[], AbstractContextManager[None]],
        clock: Clock,
    ) -> None:
        self._records = records
        self._id_of = ids
        self._limited = limited
        self._waiting = {id(test): test for test in tests}
        self._members: dict[str, list[Any]] = {}
        for test in tests:
            for name in (_class_of(test), type(test).__module__):
                self._members.setdefault(name, []).append(test)
        self._groups = groups
        self._left = [groups.get(ids(test), 0) for test in tests]
        self._failed_group: int | None = None
        self._clock = clock
        self._places = {id(test): place for place, test in enumerate(tests)}
        self._timing = ExitStack()
        self._owes_success = False
        """A subtest was skipped: unittest says nothing of a test whose other parts passed."""

    def startTest(self, test: Any) -> None:  # noqa: N802  # unittest's name
        super().startTest(test)
        self._begin(test)
        self._timing.enter_context(self._limited())

    def stopTest(self, test: Any) -> None:  # noqa: N802  # unittest's name
        self._timing.close()
        if self._owes_success:
            self._write_phase(test, "passed")
        self._owes_success = False
        self._finish(test)
        super().stopTest(test)

    def addSuccess(self, test: Any) -> None:  # noqa: N802  # unittest's name
        super().addSuccess(test)
        self._write_phase(test, "passed")

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addError(test, err)
        if not self._stands_for_many(test, "failed", short_text(err[1])):
            self._write_phase(test, "failed", short_text(err[1]))

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addFailure(test, err)
        self._write_phase(test, "failed", short_text(err[1]))

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802  # unittest's name
        super().addSkip(test, reason)
        # A subtest that is skipped leaves its test to the others.
        if hasattr(test, "test_case"):
            self._owes_success = True
        elif not self._stands_for_many(test, "skipped", f"Skipped: {reason}"):
            self._write_phase(test, "skipped", f"Skipped: {reason}")

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addExpectedFailure(test, err)
        self._write_phase(test, "skipped", "expected to fail, and failed")

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802  # unittest's name
        super().addUnexpectedSuccess(test)
        self._write_phase(test, "failed", "E   Unexpected success: the test is expected to fail, and passed")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addSubTest(test, subtest, err)
        if err is not None:
            described = getattr(subtest, "_subDescription", lambda: "")()
            self._write_phase(test, "failed", f"{described}\n{short_text(err[1])}")

    def printErrors(self) -> None:  # noqa: N802  # unittest's name
        """The report has them."""

    def _begin(self, test: Any) -> None:
        name = self._id_of(test)
        if (place := self._places.get(id(test))) is not None:
            self._clock.may_begin(place)
        self._records.test = name
        self._records.write(kind="start", id=name)

    def _finish(self, test: Any) -> None:
        self._records.write(kind="finish", id=self._id_of(test))
        self._records.test = ""
        self._waiting.pop(id(test), None)
        self._left = self._left[1:]
        if self._failed_group is not None and self._left and self._left[0] > self._failed_group:
            self.stop()
        self._stop_in_time(test)

    def _stop_in_time(self, test: Any) -> None:
        """The next test does not begin where there is no time for what it is a part of."""
        place = self._places.get(id(test), len(self._places))
        if place + 1 < len(self._places) and not self._clock.may_begin(place + 1) and not self.shouldStop:
            self._records.write(kind="over")
            self.stop()

    def _write_phase(self, test: Any, outcome: str, text: str = "", *, when: str = "call") -> None:
        name = self._id_of(test)
        self._records.write(kind="phase", id=name, when=when, outcome=outcome, text=capped(text))
        if outcome == "failed":
            group = self._groups.get(name, 0)
            self._failed_group = group if self._failed_group is None else min(group, self._failed_group)

    def _stands_for_many(self, holder: Any, outcome: str, text: str) -> bool:
        """Whether this stood for a class or module: unittest runs none of its tests, or has run them all."""
        if isinstance(holder, unittest.TestCase):
            return False
        match = _HOLDER.fullmatch(str(getattr(holder, "description", "")))
        members = self._members.get(match[3], []) if match else []
        waiting = [test for test in members if id(test) in self._waiting]
        if match and match[1] == "tearDown":
            for test in [each for each in members if id(each) not in self._waiting][-1:]:
                self._write_phase(test, outcome, text, when="teardown")
            return True
        for test in waiting:
            self._begin(test)
            self._write_phase(test, outcome, text, when="setup")
            self._finish(test)
        if not waiting and outcome == "failed":
            self._records.write(kind="internal", text=text)
        return True


def _class_of(test: Any) -> str:
    return f"{type(test).__module__}.{type(test).__qualname__}"

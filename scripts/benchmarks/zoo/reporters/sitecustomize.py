"""Writes the outcome of every unittest test of the process down: one JSON object a line in the file of `ZOO_OUTCOMES`."""

import json
import os
import unittest

_FILE = os.environ.get("ZOO_OUTCOMES", "")


def _named(test):  # type: ignore[no-untyped-def]  # runs under any Python of a package, some of them old
    kind = type(test)
    # Cases that one function makes differ by their names alone, and would be one test.
    is_made = "<locals>" in kind.__qualname__
    return test.id().replace(kind.__qualname__, kind.__name__, 1) if is_made else test.id()


def _kept(outcome, add):  # type: ignore[no-untyped-def]  # as above
    def added(self, test, *rest):  # type: ignore[no-untyped-def]  # as above
        with open(_FILE, "a", encoding="utf-8") as file:  # noqa: PTH123 - as above
            file.write(json.dumps([_named(test), outcome]) + "\n")
        return add(self, test, *rest)

    return added


if _FILE:
    for _name, _outcome in (
        ("addSuccess", "passed"),
        ("addExpectedFailure", "passed"),
        ("addFailure", "failed"),
        ("addUnexpectedSuccess", "failed"),
        ("addError", "failed"),
        ("addSkip", "skipped"),
    ):
        setattr(unittest.TestResult, _name, _kept(_outcome, getattr(unittest.TestResult, _name)))

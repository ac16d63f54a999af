"""What the words of a test command mean, for who hands them on and for who runs them."""

import shlex
from collections.abc import Sequence

PLACE = "{tests}"
"""Stands in a command where the tests belong; without it they are its last words."""
_RUNNERS = ("pytest", "py.test")
_INTERPRETERS = ("python", "python3")
_INTERPRETER_VALUES = ("-X", "-W")
"""Options of Python whose value is a word of its own."""


def pytest_begins(words: Sequence[str]) -> int | None:
    """At which word the arguments of pytest begin; None where the command starts something else.

    What starts pytest itself is `pytest`, or `python` with options of its own and `-m pytest`.
    """
    if not words:
        return None
    if words[0] in _RUNNERS:
        return 1
    if words[0] not in _INTERPRETERS:
        return None
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] != "-m":
        place += 2 if words[place] in _INTERPRETER_VALUES else 1
    return place + 2 if list(words[place : place + 2]) == ["-m", "pytest"] else None


def with_tests(words: Sequence[str], tests: Sequence[str]) -> list[str]:
    """The command for these tests; inside of a longer word they are written as a shell reads them."""
    if not any(PLACE in word for word in words):
        return [*words, *tests]
    command: list[str] = []
    for word in words:
        command += tests if word == PLACE else [word.replace(PLACE, shlex.join(tests))]
    return command

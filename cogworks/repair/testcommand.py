"""What a test command asks for, and how long one test may take."""

import shlex
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from cogworks.codebase.changes import path_problem
from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.testwords import PLACE, pytest_begins
from cogworks.errors import UsageError

USUAL = "python -m pytest -q"
_PLAIN = (["pytest"], ["py.test"], ["python", "-m", "pytest"], ["python3", "-m", "pytest"])
_DISPLAY = (
    "-q",
    "-qq",
    "-v",
    "-vv",
    "-ra",
    "-rA",
    "-s",
    "--quiet",
    "--verbose",
    "--no-header",
    "--no-summary",
)
_DISPLAY_STARTS = ("--tb=", "--color=", "--durations=")
_WITH_VALUE = ("-c", "-k", "-m", "-n", "-o", "-p", "-r", "-W")
"""One-letter options of pytest and its usual plugins whose value may be the next word."""
_OF_A_SHELL = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1"})


class SuiteCommand(NamedTuple):
    """A test command, read."""

    words: tuple[str, ...]
    """What the service has to keep, without the suite's files and folders; none: its own way does as well."""
    suite: tuple[str, ...] = ()
    """Files and folders whose tests are the whole suite; none: what the runner finds."""


def read_command(command: str) -> SuiteCommand:
    """The parts of a test command. A pytest command with nothing but files and options of display needs no words.

    Raises:
        UsageError: it cannot be kept as it is, and what to write instead.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"`--test-cmd {command}` cannot be read: {error}.") from None
    if (problem := _problem(words)) is not None:
        raise UsageError(f"`--test-cmd {command}` {problem}.")
    begin = pytest_begins(words)
    if begin is None or any(PLACE in word for word in words):
        return SuiteCommand(tuple(words))
    options, paths = _parted(words[begin:])
    if words[:begin] in _PLAIN and all(_is_display(option) for option in options):
        return SuiteCommand((), paths)
    return SuiteCommand((*words[:begin], *options), paths)


def _problem(words: list[str]) -> str | None:
    if not words:
        return f"names no program; wanted is `{USUAL}`, or whatever runs pytest"
    if _OF_A_SHELL & set(words):
        return "is a line for a shell; put it into a script of the repository, commit that and name it"
    program = words[0]
    if PurePosixPath(program).is_absolute():
        return (
            "begins with a place of this machine, which the tests do not see; name the program alone. Python is the one that "
            "the repository's service chooses; one elsewhere is named in `.cogworks/services.toml`"
        )
    if "/" in program and path_problem(program.removeprefix("./")) is not None:
        return f"begins with {program!r}, which is no file of the repository"
    return None


def _parted(arguments: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options of pytest with their values, and the files and folders."""
    options, paths = list[str](), list[str]()
    before = ""
    for word in arguments:
        if before in _WITH_VALUE:
            options.append(word)
            before = ""
            continue
        if word.startswith("-"):
            options.append(word)
        elif before.startswith("--") and "=" not in before and not _is_display(before):
            raise UsageError(
                f"`--test-cmd`: {word!r} after `{before}` may be its value or a file; write `{before}={word}`, and files "
                "and folders before the options."
            )
        else:
            paths.append(word.rstrip("/"))
        before = word
    if strange := [path for path in paths if "::" in path or path_problem(path) is not None]:
        raise UsageError(
            f"`--test-cmd`: {', '.join(strange)} is no file or folder of the repository; the suite is named by those, the "
            "failing tests by the task."
        )
    return tuple(options), tuple(paths)


def _is_display(word: str) -> bool:
    return word in _DISPLAY or word.startswith(_DISPLAY_STARTS)


FIRST_S = 60.0
"""Until it is known how long the tests take that pass."""
_LEAST_S = 10.0
_MOST_S = 300.0
_TIMES = 10
"""Of the slowest that passed: another machine's load, and the lines that coverage counts."""


class TestPace:
    """The limit of one test: as given, or derived from the slowest test of the whole suite that passed."""

    __test__ = False

    def __init__(self, given_s: float = 0.0, *, warn: Callable[[str], None] = lambda _: None) -> None:
        """Args:
        given_s: 0: none was given.
        warn: called once for each test that hangs.
        """
        self._given_s = given_s
        self._derived_s = FIRST_S
        self._warn = warn
        self._warned: set[str] = set()

    @property
    def limit_s(self) -> float:
        return self._given_s or self._derived_s

    def learn(self, report: TestReport, *, is_whole: bool) -> None:
        """Take a run in that had the limit as it is.

        Args:
            is_whole: whether it was the whole suite.
        """
        for test in (each for each in report.hung if each not in self._warned):
            self._warned.add(test)
            self._warn(
                f"{test} hangs: it was ended after {self.limit_s:g} s. `--test-timeout SECONDS` sets another limit."
            )
        if is_whole and report.slowest_s:
            self._derived_s = derived_s(report.slowest_s)


def derived_s(slowest_s: float) -> float:
    """The limit where the slowest test that passed took so long."""
    return min(_MOST_S, max(_LEAST_S, round(_TIMES * slowest_s, 1)))

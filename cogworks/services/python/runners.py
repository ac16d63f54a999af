"""How a run of tests is started, in the service's own way or by the user's command, and when it cannot be believed."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.testwords import PLACE, pytest_begins, with_tests
from cogworks.services.sandbox.running import Ended

Runner = Literal["pytest", "unittest", "django", "foreign"]
_PYTHON = ("python", "python3")
_VALUED = ("-X", "-W")
"""Options of Python whose value is a word of its own."""
_MODE = 0o755
_MOST_NAMED = 3
_MOST_LINES = 12
_HEALTHY = (0, 1, 5)
"""Exit codes of pytest that say something of the tests alone: passed, failed, none."""


_STARTER = "cogworks_program"
"""Our module that runs a program which starts Django's tests by itself."""


class NotKept(Exception):
    """A test command that cannot be used; the text says why and what to do."""


def runner_of(words: Sequence[str]) -> Runner:
    """What a command starts; without words it is the service's own way, which is pytest.

    `foreign` is whatever else may start pytest in the end: `make`, `tox`, a script.
    """
    if not words or pytest_begins(words) is not None:
        return "pytest"
    if words[0] == "django-admin":
        return "django" if list(words[1:2]) == ["test"] else "foreign"
    begin = _program_begins(words)
    program = list(words[begin : begin + 3]) if begin else []
    if program[:2] == ["-m", "unittest"]:
        return "unittest"
    if program[:2] == ["-m", _STARTER]:
        return "django"
    is_managed = program[1:2] == ["test"] and PurePosixPath(program[0]).name == "manage.py"
    return "django" if is_managed or program == ["-m", "django", "test"] else "foreign"


def is_foreign(words: Sequence[str]) -> bool:
    """Whether a command starts something else that shall run pytest."""
    return runner_of(words) == "foreign"


def reports_by_order(words: Sequence[str]) -> bool:
    """Whether a command is started with a reporter of ours that reads its order from a file."""
    return runner_of(words) in ("unittest", "django")


def started(python: Path, words: Sequence[str], own: Sequence[str], tests: Sequence[str]) -> list[str]:
    """The command line of a run.

    Args:
        python: of the repository; `python` and `pytest` at the beginning of the words are this one.
        own: what the service asks of pytest; comes after the user's options, so that it is what counts.
    """
    runner = runner_of(words)
    if runner == "foreign":
        return with_tests(words, tests)
    if runner == "unittest":
        place = _program_begins(words)
        return [str(python), *words[1:place], "-m", "cogworks_unittest", *_without_place(words[place + 2 :])]
    if _is_program(words):
        return [str(python), *_without_place(words[1:])]
    if runner == "django":
        program = ["-m", "django", *words[1:]] if words[0] == "django-admin" else list(words[1:])
        return [str(python), *_without_place(program), "--testrunner=cogworks_django.Runner"]
    begin = pytest_begins(words)
    if begin is None:
        return [str(python), "-m", "pytest", *own, *tests]
    # Behind `--` pytest would take our options for files.
    options = [word for word in words[begin:] if word not in (PLACE, "--")]
    interpreter = words[1 : begin - 2] if words[0] in _PYTHON else ()
    return [str(python), *interpreter, "-m", "pytest", *options, *own, *tests]


def of_program(words: Sequence[str]) -> tuple[str, ...]:
    """The command by which a program that starts Django's tests reports them.

    Args:
        words: `python`, its options, the program and what it is given.
    """
    begin = _program_begins(words)
    return (*words[:begin], "-m", _STARTER, *words[begin:])


def as_typed(words: Sequence[str]) -> tuple[str, ...]:
    """The same command as a person writes it."""
    begin = _program_begins(words)
    return (*words[:begin], *words[begin + 2 :]) if _is_program(words) else tuple(words)


def program_of(words: Sequence[str]) -> str:
    """The file that Python is asked to run; empty where the command is another."""
    begin = _program_begins(words)
    name = words[begin] if begin and begin < len(words) else ""
    return name if name.endswith(".py") else ""


def _is_program(words: Sequence[str]) -> bool:
    begin = _program_begins(words)
    return bool(begin) and list(words[begin : begin + 2]) == ["-m", _STARTER]


def _without_place(words: Sequence[str]) -> list[str]:
    """Our reporters learn of the tests in another way."""
    return [word for word in words if word != PLACE]


def _program_begins(words: Sequence[str]) -> int:
    """At which word that which Python runs begins, `-m` or a file; 0 where the command is no Python."""
    if not words or words[0] not in _PYTHON:
        return 0
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] != "-m":
        place += 2 if words[place] in _VALUED else 1
    return place


def in_words(words: Sequence[str], tests: Sequence[str]) -> list[str]:
    """The command for these tests as somebody would type it."""
    runner = runner_of(words)
    if _is_program(words):
        return list(as_typed(words))
    if runner not in ("unittest", "django") or not tests:
        return with_tests(words, tests)
    names = [
        test.replace("::", ".").replace(".py.", ".").removesuffix(".py").replace("/", ".") for test in tests
    ]
    if runner == "unittest":
        begin = _program_begins(words)
        return [*words[:begin], "-m", "unittest", *names]
    place = words.index("test") + 1
    return [*words[:place], *names]


def lay_out_programs(folder: Path, python: Path) -> Path:
    """A directory whose `python` and `pytest` are the given interpreter's, for commands that look for them on PATH."""
    folder.mkdir()
    for name in (*_PYTHON, "pytest", "py.test"):
        module = "" if name in _PYTHON else "-m pytest "
        # A link would not do: Python finds its packages by the place it was started from.
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(python))} {module}"$@"\n', encoding="utf-8")
        program.chmod(_MODE)
    return folder


def without_the_runners_end(ended: Ended, records: Sequence[Mapping[str, Any]]) -> Ended:
    """How pytest itself ended: what started it has exit codes of its own."""
    codes = [record["code"] for record in records if record["kind"] == "end"]
    if ended.code is None or ended.timed_out or not codes:
        return ended
    return ended._replace(code=next((code for code in codes if code not in _HEALTHY), 0))


def refuse_silence(words: Sequence[str], records: Collection[Mapping[str, Any]], ended: Ended) -> None:
    """Raises NotKept when a command finished and reported nothing at all."""
    if not words or records or ended.timed_out or ended.code is None:
        return
    name = shlex.join(words)
    if is_foreign(words):
        reason = (
            f"`{name}` reported no test: what it started was not pytest, or did not load the plugin that reports tests by "
            "their ids. It has to run pytest with the variables PYTEST_ADDOPTS and PYTHONPATH that it is given (tox: "
            "`pass_env = PYTEST_ADDOPTS, PYTHONPATH`), and take the ids of tests as its last words or where `{tests}` stands"
        )
    else:
        reason = f"`{name}` reported no test; correct the command, or what it needs"
    last_lines = "\n".join(ended.output.strip().splitlines()[-_MOST_LINES:])
    raise NotKept(f"{reason}. It ended with exit code {ended.code} and said:\n{last_lines or 'nothing'}")


def refuse_strangers(words: Sequence[str], tests: Sequence[str], report: TestReport) -> None:
    """Raises NotKept when a command ran other tests than those it was asked for."""
    if not words or not tests:
        return
    beginnings = tuple(f"{test}{mark}" for test in tests for mark in ("::", "/"))
    # A file that is skipped as a whole is reported under its own name.
    names = {*tests, *(test.split("::")[0] for test in tests)}
    strange = [
        case.id for case in report.cases if case.id not in names and not case.id.startswith(beginnings)
    ]
    if not strange:
        return
    more = f" and {len(strange) - _MOST_NAMED} more" if len(strange) > _MOST_NAMED else ""
    raise NotKept(
        f"`{shlex.join(words)}` ran tests that were not asked for ({', '.join(strange[:_MOST_NAMED])}{more}): it does not "
        "hand on the ids of tests. Say with `{tests}` where they belong, e.g. `make test ARGS={tests}`."
    )

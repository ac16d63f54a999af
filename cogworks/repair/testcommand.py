"""What a test command asks for, as far as a service that runs pytest itself can keep it."""

import shlex
from pathlib import PurePosixPath

from cogworks.codebase.changes import path_problem
from cogworks.errors import UsageError

USUAL = "python -m pytest -q"
_INTERPRETERS = ("python", "python3")
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


def suite_of(command: str) -> tuple[str, ...]:
    """The files and folders that a pytest command names; none: what pytest finds.

    Options that only change what is printed are dropped. Everything else that would change which tests run, and how, is refused: the
    repository's own pytest configuration is where the service keeps it.

    Raises:
        UsageError: it is no pytest command, or asks for what is not kept.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"`--test-cmd {command}` cannot be read: {error}.") from None
    rest = _after_runner(words)
    if rest is None:
        raise UsageError(
            f"`--test-cmd {command}` is no pytest command; wanted is `{USUAL}` or `pytest`, with the Python that the "
            "repository's service chooses. An interpreter elsewhere is named in `.cogworks/services.toml`."
        )
    if foreign := [word for word in rest if word.startswith("-") and not _is_display(word)]:
        raise UsageError(
            f"`--test-cmd`: {', '.join(foreign)} would be lost; put it into `addopts` of the repository's pytest "
            "configuration, which is kept, and commit that."
        )
    paths = [word.rstrip("/") for word in rest if not word.startswith("-")]
    if strange := [path for path in paths if "::" in path or path_problem(path) is not None]:
        raise UsageError(
            f"`--test-cmd`: {', '.join(strange)} is no file or folder of the repository; the suite is named by those, the "
            "failing tests by the task."
        )
    return tuple(paths)


def _after_runner(words: list[str]) -> list[str] | None:
    if words[:1] in (["pytest"], ["py.test"]):
        return words[1:]
    is_python = bool(words) and words[0] in _INTERPRETERS and PurePosixPath(words[0]).name == words[0]
    return words[3:] if is_python and words[1:3] == ["-m", "pytest"] else None


def _is_display(word: str) -> bool:
    return word in _DISPLAY or word.startswith(_DISPLAY_STARTS)

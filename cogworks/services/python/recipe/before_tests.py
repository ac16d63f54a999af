"""What a repository's own tools run before its tests and may make what these need; read, never run."""

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from cogworks.services.python.recipe.commands import command_needs, lines_of
from cogworks.services.python.recipe.makefiles import Unclear, recipe_lines
from cogworks.services.python.recipe.result import Asked, Before
from cogworks.services.python.recipe.translation import MAKEFILES

_PYTHON = re.compile(r"python[\d.]*")
_SHELLS = ("sh", "bash")
_OF_BUILDS = frozenset(
    [
        "build",
        "build_ext",
        "build_py",
        "develop",
        "install",
        "test",
        "sdist",
        "bdist_wheel",
        "egg_info",
        "check",
    ]
)
"""Of `setup.py`: what an environment has done anyway, or what makes nothing for tests."""
_UNKNOWN = frozenset("${}")
_MOST = 5
_MOST_CHARS = 200
"""Of one command."""


def before_tests(asked: Asked, files: Mapping[str, str]) -> Before:
    """The programs of the repository that run first, in their order; of `make` those of its targets, as far as that is clear.

    Args:
        files: path -> text, with the Makefile.
    """
    lines = (line for other in asked.others for line in _lines(shlex.split(other), files))
    commands = [line for line in lines if len(line) <= _MOST_CHARS]
    return Before(source=asked.source, commands=tuple(dict.fromkeys(commands))[:_MOST])


def _lines(words: Sequence[str], files: Mapping[str, str]) -> Iterator[str]:
    if words[0] not in ("make", "gmake"):
        if _is_program(words):
            yield shlex.join(words)
        return
    text = next((files[name] for name in MAKEFILES if name in files), "")
    try:
        of_targets = recipe_lines(text, words[1:]) if text else []
    except Unclear:
        yield shlex.join(words)
        return
    for inner in (each for line in of_targets for each in lines_of(line)):
        asked = command_needs(inner)
        if asked.runner:
            return
        yield from (other for other in asked.others if _is_program(shlex.split(other)))


def _is_program(words: Sequence[str]) -> bool:
    """Whether it starts a program of the repository that is no part of its build."""
    if _UNKNOWN.intersection("".join(words)):
        return False
    name = posixpath.basename(words[0])
    if _PYTHON.fullmatch(name):
        program = words[1] if len(words) > 1 else ""
        is_of_build = posixpath.basename(program) == "setup.py" and not _OF_BUILDS.isdisjoint(words[2:])
        return program.endswith(".py") and _is_own(program) and not is_of_build
    if name in _SHELLS:
        return len(words) > 1 and words[1].endswith(".sh") and _is_own(words[1])
    return "/" in words[0] and _is_own(words[0])


def _is_own(path: str) -> bool:
    return not posixpath.normpath(path).startswith(("/", "..", "-", "~"))

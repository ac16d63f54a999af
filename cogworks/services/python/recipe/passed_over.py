"""Which files pytest passes over by its own settings: they are no tests of the suite, whatever they are called."""

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from cogworks.services.python.imports import is_test_file
from cogworks.services.python.recipe.evidence import test_files
from cogworks.services.python.recipe.loaded import loaded_tests
from cogworks.services.python.recipe.pytest_settings import Settings, pytest_settings
from cogworks.services.python.recipe.result import Asked
from cogworks.services.python.recipe.setup_files import constants_of
from cogworks.services.python.recipe.texts import one_or_more, strings

_USUAL = ["test_*.py", "*_test.py"]
_ALWAYS = frozenset(["conftest.py", "__init__.py"])


def python_files(files: Mapping[str, str], asked: Asked) -> dict[str, str]:
    """The Python files without tests that pytest passes over, if pytest runs the tests.

    Args:
        files: repository-relative path -> text, with the settings of pytest.
        asked: how the tests run.
    """
    python = {path: text for path, text in files.items() if path.endswith(".py")}
    if asked.runner != "pytest":
        return python
    rules = _Rules(pytest_settings(files), asked, python)
    return {path: text for path, text in python.items() if not (is_test_file(path) and rules.leave_out(path))}


def tests_that_run(files: Mapping[str, str], asked: Asked) -> dict[str, str]:
    """Those of the test files whose tests pytest may run: by their names, or as another of them imports them."""
    tests = test_files(python_files(files, asked))
    patterns = _words(pytest_settings(files).options.get("python_files")) or _USUAL

    def is_found(path: str) -> bool:
        is_named = any(fnmatchcase(*_compared(path, pattern)) for pattern in patterns)
        return is_named or posixpath.basename(path) in _ALWAYS or path in asked.paths

    loaded = loaded_tests(tests, is_found)
    return {path: text for path, text in tests.items() if path in loaded}


class _Rules:
    """`norecursedirs`, `--ignore`, `--ignore-glob`, and what files named conftest.py say."""

    def __init__(self, settings: Settings, asked: Asked, python: Mapping[str, str]) -> None:
        words = (*settings.addopts, *asked.command)
        places = asked.paths or _words(settings.options.get("testpaths"))
        self._named = [posixpath.normpath(each.split("::")[0]) for each in places]
        self._skipped = _words(settings.options.get("norecursedirs"))
        self._ignored = {posixpath.normpath(each) for each in _values(words, "--ignore")}
        self._ignored.update(_of_conftests(python, "collect_ignore"))
        self._patterns = _values(words, "--ignore-glob")
        self._globs = tuple(_of_conftests(python, "collect_ignore_glob"))

    def leave_out(self, path: str) -> bool:
        folders = _folders(path)
        whole = (*folders, path)
        return (
            any(map(self._is_skipped, folders))
            or not self._ignored.isdisjoint(whole)
            or any(fnmatchcase(f"/{each}", f"*/{pattern}") for each in whole for pattern in self._patterns)
            or any(fnmatchcase(each, pattern) for each in whole for pattern in self._globs)
        )

    def _is_skipped(self, folder: str) -> bool:
        # pytest asks this of the folders that it comes upon, not of those that it is given or that lead there.
        is_given = any(each == folder or each.startswith(f"{folder}/") for each in self._named)
        return not is_given and any(fnmatchcase(*_compared(folder, pattern)) for pattern in self._skipped)


def _of_conftests(python: Mapping[str, str], name: str) -> Iterator[str]:
    """Paths from the root, or patterns of such, that a literal list of this name holds; what is computed counts for nothing."""
    for path, text in python.items():
        if posixpath.basename(path) != "conftest.py" or name not in text:
            continue
        try:
            constants = constants_of(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from (
            posixpath.normpath(posixpath.join(posixpath.dirname(path), each))
            for each in strings(constants.get(name))
        )


def _compared(folder: str, pattern: str) -> tuple[str, str]:
    if "/" in pattern:
        return f"/{folder}", f"*/{pattern}"
    return posixpath.basename(folder), pattern


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _words(value: object) -> list[str]:
    """A setting of several values, in the form of INI or of TOML."""
    return value.split() if isinstance(value, str) else list(one_or_more(value))


def _values(words: Sequence[str], option: str) -> list[str]:
    following = [after for before, after in pairwise(words) if before == option]
    return following + [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]

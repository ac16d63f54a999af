"""Files that a model changes only after a person agreed."""

from collections.abc import Iterable

from cogworks.codebase.changes import folded, matching, normalised
from cogworks.settings.sections import ASKED_ABOUT

_TESTS = frozenset({"test", "tests", "spec", "specs", "__tests__"})
_DATA = frozenset({"data", "fixtures", "__fixtures__", "testdata", "test_data"})


def is_asked_about(path: str, patterns: Iterable[str]) -> bool:
    """Whether a person decides on a change to this file.

    A `conftest.py` among tests, and what lies in a folder for the data of tests, fits no built-in pattern: it is a part
    of the tests. It may fit one that the repository added.

    Args:
        patterns: of the form that `protected_by` describes, built-in ones included.
    """
    every = tuple(patterns)
    if matching(path, (pattern for pattern in every if pattern not in ASKED_ABOUT)):
        return True
    return not _is_part_of_tests(path) and matching(path, every) is not None


def _is_part_of_tests(path: str) -> bool:
    *folders, name = folded(normalised(path)).split("/")
    tests = next((place for place, folder in enumerate(folders) if folder in _TESTS), None)
    if tests is None:
        return False
    return name == "conftest.py" or not _DATA.isdisjoint(folders[tests + 1 :])

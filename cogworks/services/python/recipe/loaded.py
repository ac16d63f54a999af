"""Which of the files in folders of tests a runner loads; the others may be data that nothing ever imports."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

_NAMED_AS_TESTS = re.compile(r"conftest|tests?.*|.*tests?|.*test_.*")
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|([\w \t,]+))|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_QUOTED = re.compile(r"[\"']([\w.]+)[\"']")
_PLUGINS = "pytest_plugins"


def _is_named_as_test(path: str) -> bool:
    return _NAMED_AS_TESTS.fullmatch(posixpath.basename(path)[:-3].lower()) is not None


def loaded_tests(
    tests: Mapping[str, str], is_found: Callable[[str], bool] = _is_named_as_test
) -> frozenset[str]:
    """Those that a runner finds, and those that these import.

    Args:
        tests: path -> text, of the Python files that are tests or lie in a folder of tests.
        is_found: whether the runner finds a path; by default what most runners find by its name.
    """
    waiting = [path for path in tests if is_found(path)]
    loaded = set(waiting)
    while waiting:
        path = waiting.pop()
        for place in _imported_by(path, tests[path]):
            if place in tests and place not in loaded:
                loaded.add(place)
                waiting.append(place)
    return frozenset(loaded)


def _imported_by(path: str, text: str) -> Iterator[str]:
    """Where what a file imports may lie: beside it or beside a folder above it, by whichever a runner puts on the path."""
    folders = list(_and_above(posixpath.dirname(path)))
    for name in dict.fromkeys(_modules(text)):
        parts = [part for part in name.split(".") if part]
        for end in range(1, len(parts) + 1):
            for folder in folders:
                place = posixpath.join(folder, *parts[:end])
                yield f"{place}.py"
                yield f"{place}/__init__.py"


def _and_above(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _modules(text: str) -> Iterator[str]:
    for package, listed, plain, imported in _IMPORTS.findall(text):
        names = re.findall(r"\w+", listed or plain)
        yield from (f"{package}.{name}" for name in names)
        yield from re.findall(r"[\w.]+", imported)
    if _PLUGINS in text:
        yield from _QUOTED.findall(text)

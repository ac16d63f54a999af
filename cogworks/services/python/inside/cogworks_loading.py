"""Loads the tests of unittest under ids that name their files, as pytest does; imports nothing of cogworks."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import unittest
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

from cogworks_records import Records, capped, written

FAILED = "_FailedTest"
"""By which unittest stands for what it cannot load."""
_ID = "_cogworks_id"
EVERYTHING = "."
_MOST_CAUSES = 10


class NotInTime(BaseException):
    """No `except Exception` of a test keeps it."""


class Loader(unittest.TestLoader):
    """Tells what cannot be loaded, and looks only at files that somebody wants.

    What `discover` and names find is what unittest finds; each test gets the id of the file that it was found in.
    """

    def __init__(
        self,
        records: Records,
        root: str,
        wanted: Iterable[str],
        limited: Callable[[], AbstractContextManager[None]],
    ) -> None:
        super().__init__()
        self._top_level_dir: str | None = None
        self._records = records
        self._root = root
        self._limited = limited
        self._wanted = tuple(wanted)
        self._places = tuple(each.split("::", 1)[0].rstrip("/") for each in self._wanted)
        self._module: ModuleType | None = None
        self._failed: dict[str, str] = {}
        self._loaded: set[str] = set()

    def loadTestsFromModule(self, module: ModuleType, *args: Any, **options: Any) -> Any:  # noqa: N802  # unittest's name
        before, self._module = self._module, module
        try:
            suite = super().loadTestsFromModule(module, *args, **options)
        finally:
            self._module = before
        # What `load_tests` made by itself.
        self._name_all(suite, module)
        return suite

    def loadTestsFromTestCase(self, testCaseClass: Any) -> Any:  # noqa: N802, N803  # unittest's names
        suite = super().loadTestsFromTestCase(testCaseClass)
        if self._module is not None:
            self._name_all(suite, self._module)
        return suite

    def loadTestsFromName(self, name: str, module: ModuleType | None = None) -> Any:  # noqa: N802  # unittest's name
        module_name = self._module_begins(name)
        if module_name and not self._can_be_loaded(module_name):
            return self.suiteClass([])
        suite = super().loadTestsFromName(name, module)
        for test in each_test(suite):
            if type(test).__name__ == FAILED:
                setattr(test, _ID, name)
        if module_name:
            self._name_all(suite, sys.modules[module_name])
        return suite

    def load_places(self) -> Any:
        """The tests of the files and folders that are wanted, whether discovery would find them or not."""
        return self.suiteClass([self._load_place(place) for place in dict.fromkeys(self._places)])

    def load_missing(self, suite: Any) -> Any:
        """Adds the wanted files that discovery passed over, for their names or their folders."""
        missing = [
            place
            for place in dict.fromkeys(self._places)
            if os.path.isfile(os.path.join(self._root, place)) and place not in self._loaded
        ]
        return self.suiteClass([suite, *map(self._load_place, missing)])

    def module_name(self, place: str) -> str:
        """By which a file or folder is imported: from the nearest folder of the path above it."""
        path = os.path.join(self._root, place)
        tops = [os.path.abspath(each) for each in [self._top_level_dir, *sys.path] if each is not None]
        above = [each for each in tops if path.startswith(each.rstrip(os.sep) + os.sep)]
        # Discovery has a top of its own; without one the current folder is where names begin.
        top = above[0] if above else self._root
        return os.path.splitext(os.path.relpath(path, top))[0].replace(os.sep, ".")

    def id_of(self, test: Any) -> str:
        """Under which a test is reported."""
        if not hasattr(test, _ID):
            module = sys.modules.get(type(test).__module__)
            self._name(test, _file_of(module) if module else "")
        return str(getattr(test, _ID))

    def is_wanted(self, test: Any) -> bool:
        name = self.id_of(test)
        return not self._wanted or any(_is_part(name, each) for each in self._wanted)

    def missing_from(self, names: Iterable[str]) -> list[str]:
        """Which of the tests that were asked for by their ids are none of these."""
        known_names = list(names)
        unloaded = tuple(self._failed.values())
        return [
            each
            for each in self._wanted
            if "::" in each
            and not any(_is_part(name, each) for name in known_names)
            and not any(_is_part(each, place) for place in unloaded)
        ]

    def _load_place(self, place: str) -> Any:
        if os.path.isdir(os.path.join(self._root, place)):
            return self.discover(os.path.join(self._root, place), top_level_dir=self._top_level_dir)
        name = self.module_name(place)
        return (
            self.loadTestsFromModule(sys.modules[name]) if self._can_be_loaded(name) else self.suiteClass([])
        )

    def _name_all(self, suite: Any, module: ModuleType) -> None:
        for test in each_test(suite):
            if not hasattr(test, _ID) and type(test).__name__ != FAILED:
                self._name(test, _file_of(module))

    def _name(self, test: Any, file: str) -> None:
        place = os.path.relpath(file, self._root).replace(os.sep, "/") if file else EVERYTHING
        # The folder of a run is another one each time, and methods may be named after the paths of files.
        names = (name.replace(f"{self._root}{os.sep}", "") for name in _names(test))
        setattr(test, _ID, written("::".join([_own_file(test, self._root) or place, *names])))

    def _match_path(self, path: str, full_path: str, pattern: str) -> bool:
        place = os.path.relpath(full_path, self._root).replace(os.sep, "/")
        is_wanted = not self._places or any(_is_part(place, each) for each in self._places)
        return is_wanted and bool(super()._match_path(path, full_path, pattern))

    def _can_be_loaded(self, name: str) -> bool:
        try:
            self._get_module_from_name(name)
        except unittest.SkipTest:
            return False
        except Exception:  # reported where it was raised
            return False
        return True

    def _get_module_from_name(self, name: str) -> ModuleType:
        """What discovery asks for each file and package."""
        place = self._place_of(name)
        if place in self._records.deadly and place not in self._failed:
            # How the process ended is known to those who saw it end.
            self._failed[place] = place
        if place in self._failed:
            raise ImportError(f"{place} could not be loaded")
        if name not in self._loaded:
            self._records.write(kind="load", id=place)
        try:
            with self._limited():
                __import__(name)
        except unittest.SkipTest as skip:
            self._report_once("passed-over", place, str(skip))
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may end the program, and would end the run of all others
            self._report_once("collection", place, short_text(error))
            raise ImportError(f"{place} could not be loaded") from error
        finally:
            if name not in self._loaded:
                self._records.write(kind="loaded", id=place)
            self._loaded.update((name, place))
        return sys.modules[name]

    def _report_once(self, kind: str, place: str, text: str) -> None:
        if place not in self._failed:
            self._failed[place] = place
            self._records.write(kind=kind, id=place, text=capped(text))

    def report_failed(self, test: Any) -> None:
        """Report what unittest could not load in a way of its own, e.g. a `load_tests` that fails."""
        error = getattr(test, "_exception", None)
        if isinstance(error, ImportError) and any(
            f"{place} could not be loaded" in str(error) for place in self._failed
        ):
            return
        name = str(getattr(test, "_testMethodName", ""))
        module_name = self._module_begins(name)
        place = str(getattr(test, _ID, "")) or (self._place_of(module_name) if module_name else name)
        self._report_once("collection", place, short_text(error) if error else "")

    def _module_begins(self, name: str) -> str:
        """The longest beginning of a dotted name that is a file or a package here."""
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            beginning = ".".join(parts[:count])
            if self._path_of(beginning):
                return beginning
        return ""

    def _place_of(self, name: str) -> str:
        path = self._path_of(name)
        return os.path.relpath(path, self._root).replace(os.sep, "/") if path else name

    def _path_of(self, name: str) -> str:
        inner = name.replace(".", os.sep)
        for top in [self._top_level_dir, *sys.path]:
            if top is None:
                continue
            path = os.path.join(os.path.abspath(top), inner)
            if not path.startswith(self._root.rstrip(os.sep) + os.sep):
                continue
            if os.path.isfile(f"{path}.py"):
                return f"{path}.py"
            if os.path.isfile(os.path.join(path, "__init__.py")):
                return path
        return ""


def each_test(suite: Any) -> Iterator[Any]:
    """The tests of a suite and of all suites in it."""
    try:
        inner = list(suite)
    except TypeError:
        yield suite
        return
    for each in inner:
        yield from each_test(each)


def kept(suite: Any, is_kept: Callable[[Any], bool]) -> Any:
    """The suite without some tests; what kind of suite each is stays as it was."""
    if not isinstance(suite, unittest.BaseTestSuite):
        return suite
    suite._tests = [  # noqa: SLF001  # there is no other way to take one out
        kept(each, is_kept) for each in suite if isinstance(each, unittest.BaseTestSuite) or is_kept(each)
    ]
    return suite


def short_text(error: BaseException, *, depth: int = 0) -> str:
    """An exception as pytest shows it in short, without the frames of unittest and of what loads tests."""
    before = ""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth < _MOST_CAUSES:
        before = f"{short_text(cause, depth=depth + 1)}\n\nThe above exception was followed by this one:\n"
    lines = []
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if "__unittest" not in frame.f_globals and not _is_ours(file):
            text = linecache.getline(file, number).strip()
            lines += [f"{file}:{number}: in {frame.f_code.co_name}", f"    {text}"]
    ending = "".join(traceback.format_exception_only(type(error), error)).rstrip()
    return before + "\n".join([*lines, *(f"E   {line}" for line in ending.splitlines())])


def _is_ours(file: str) -> bool:
    return os.path.basename(file).startswith("cogworks_") or file.startswith("<frozen importlib")


def _is_part(name: str, of: str) -> bool:
    whole = of.rstrip("/")
    return name == whole or name.startswith((f"{whole}::", f"{whole}/", f"{whole}["))


def _file_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return os.path.abspath(file) if file else ""


def _own_file(test: Any, root: str) -> str:
    """Of a doctest: where its example stands."""
    examples = getattr(test, "_dt_test", None)
    file = os.path.abspath(examples.filename) if examples is not None and examples.filename else ""
    return os.path.relpath(file, root).replace(os.sep, "/") if file.startswith(root + os.sep) else ""


def _names(test: Any) -> list[str]:
    examples = getattr(test, "_dt_test", None)
    if examples is not None:
        return [str(examples.name)]
    if isinstance(test, unittest.FunctionTestCase):
        return [test.id().rpartition(".")[2]]
    method = str(getattr(test, "_testMethodName", "") or test.id())
    classes = [part for part in type(test).__qualname__.split(".") if part != "<locals>"]
    # A test that is played several times says so behind its name.
    _, separator, more = str(test.id()).partition(f"{type(test).__qualname__}.{method}")
    return [*classes, f"{method}{more}" if separator else method]

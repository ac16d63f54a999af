"""Which distributions the test files import, directly or by the project's own modules, and where each is imported."""

import ast
import posixpath
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from cogworks.services.python.imports import imports_in, is_guarded, is_of_some_python, is_test_file
from cogworks.services.python.recipe.loaded import loaded_tests

_SKIPPED = re.compile(r"importorskip\(\s*[\"']([\w.]+)")
_FROM = re.compile(r"^[ \t]*from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([\w \t,]+))", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_OF_PYTHON_2 = frozenset(
    [
        "StringIO", "cStringIO", "cPickle", "ConfigParser", "Queue", "httplib", "mock", "unittest2", "urllib2", "urlparse", "__builtin__",
        "BaseHTTPServer", "CGIHTTPServer", "SimpleHTTPServer", "SocketServer", "Cookie", "cookielib", "HTMLParser", "htmlentitydefs", "robotparser",
        "xmlrpclib", "SimpleXMLRPCServer", "DocXMLRPCServer", "Tkinter", "thread", "dummy_thread", "copy_reg", "commands", "exceptions",
        "UserDict", "UserList", "UserString", "anydbm", "dbhash", "dumbdbm", "whichdb", "future_builtins", "md5", "sha",
    ]
)  # fmt: skip
"""What old tests import where a Python of today has it elsewhere."""
_MOST_TESTS = 600
_MOST_MODULES = 400
_MOST_CHARS = 400_000


class Foreign(NamedTuple):
    """An import of something that is not of the repository."""

    module: str
    """Its first part."""
    dotted: str
    place: str
    """File and line."""
    is_of_test: bool
    """Whether a test file itself imports it."""
    is_loaded: bool = False
    """Whether it is one that a runner loads."""


def test_files(files: Mapping[str, str]) -> dict[str, str]:
    """The Python files that are tests or serve them, the shallowest first."""
    tests = [path for path in files if path.endswith(".py") and is_test_file(path)]
    return {
        path: files[path] for path in sorted(tests, key=lambda each: (each.count("/"), each))[:_MOST_TESTS]
    }


def foreign_imports(files: Mapping[str, str], paths: Collection[str]) -> tuple[Foreign, ...]:
    """What cannot be done without when the test files are loaded, each module once.

    Args:
        files: the Python files that were read: path -> text.
        paths: every file of the repository.
    """
    tests = test_files(files)
    # Where no name says that it is a test, any may be one.
    loaded = loaded_tests(tests) or frozenset(tests)
    own = _Own(files, paths, tests)
    by_module: dict[str, Foreign] = {}
    waiting: list[str] = []
    for path, text in _the_loaded_first(tests, loaded):
        waiting += [
            place for module in _submodules(text) if own.has(module) for place in own.files_of(module)
        ]
        for module, line in _of_test(text):
            if not own.has(module):
                top, place = module.split(".")[0], f"{path}, line {line}"
                _note(by_module, Foreign(top, module, place, is_of_test=True, is_loaded=path in loaded))
    seen: set[str] = set(tests)
    while waiting and len(seen) < len(tests) + _MOST_MODULES:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for module, line in _when_loaded(path, files[path], own):
            if own.has(module):
                waiting += own.files_of(module)
            else:
                _note(
                    by_module, Foreign(module.split(".")[0], module, f"{path}, line {line}", is_of_test=False)
                )
    return tuple(by_module[name] for name in sorted(by_module))


def needs_module(files: Mapping[str, str], *names: str) -> bool:
    """Whether a test file imports one of these top-level modules anywhere, by what begins its lines."""
    pattern = re.compile(
        rf"^[ \t]*(?:import|from)[ \t]+(?:{'|'.join(map(re.escape, names))})\b", re.MULTILINE
    )
    return any(pattern.search(text) for text in test_files(files).values())


def optional_imports(files: Mapping[str, str], paths: Collection[str]) -> tuple[Foreign, ...]:
    """What tests and the project's own modules import where it is there, each module once; tests come first."""
    by_module: dict[str, Foreign] = {}
    own = sorted(path for path in files if path.endswith(".py") and not is_test_file(path))
    tests = test_files(files)
    # Where no name says that it is a test, any may be one.
    loaded = loaded_tests(tests) or frozenset(tests)
    ours = _Own(files, paths, tests)
    of_tests = [path for path, _ in _the_loaded_first(tests, loaded)]
    for path in (*of_tests, *own[:_MOST_MODULES]):
        for name, line in _optional(files[path]):
            if ours.has(name) or name.split(".")[0] in _OF_PYTHON_2:
                continue
            top, place = name.split(".")[0], f"{path}, line {line}"
            foreign = Foreign(top, name, place, is_of_test=path in tests, is_loaded=path in loaded)
            by_module.setdefault(name, foreign)
    return tuple(by_module[name] for name in sorted(by_module))


def _the_loaded_first(tests: Mapping[str, str], loaded: Collection[str]) -> list[tuple[str, str]]:
    """In their order otherwise, so that an import is placed where a runner comes upon it."""
    return sorted(tests.items(), key=lambda each: each[0] not in loaded)


def _optional(text: str) -> Iterator[tuple[str, int]]:
    for match in _SKIPPED.finditer(text):
        if not is_of_some_python(match[1]):
            yield match[1], text.count("\n", 0, match.start()) + 1
    try:
        imports = imports_in(text[:_MOST_CHARS].encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for each in imports:
        if each.is_optional and not each.is_of_types and not is_of_some_python(each.module):
            yield each.module, each.line


def _note(by_module: dict[str, Foreign], each: Foreign) -> None:
    before = by_module.get(each.module)
    if before is None or (each.is_of_test and not before.is_of_test):
        by_module[each.module] = each


def _submodules(text: str) -> Iterator[str]:
    """What is imported, with names that may be modules; cheaper than a second tree."""
    for package, listed, plain in _FROM.findall(text):
        yield package
        for name in re.findall(r"\w+", listed or plain):
            yield f"{package}.{name}"
    for names in _IMPORT.findall(text):
        yield from re.findall(r"[\w.]+", names)


def _of_test(text: str) -> Iterator[tuple[str, int]]:
    skipped = {each.split(".")[0] for each in _SKIPPED.findall(text)}
    try:
        imports = imports_in(text[:_MOST_CHARS].encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for each in imports:
        if not each.is_optional and not is_of_some_python(each.module) and each.top not in skipped:
            yield each.module, each.line


class _Own:
    """The modules of the repository."""

    def __init__(self, files: Mapping[str, str], paths: Collection[str], tests: Collection[str]) -> None:
        self._files = files
        python = [path for path in {*paths, *files} if path.endswith((".py", ".pyi", ".so", ".pyx", ".c"))]
        folders = {parent for path in python for parent in _parents(path)}
        # Tests may import what lies in a folder that pytest passes over.
        of_tests = {*tests, *(path for path in python if is_test_file(path))}
        self.roots = [
            "",
            "src",
            "lib",
            "python",
            *sorted({posixpath.dirname(path) for path in of_tests} - {""}),
        ]
        places = {*folders, *(path.split(".")[0] for path in python)}
        self._tops = {posixpath.basename(path) for path in places if posixpath.dirname(path) in self.roots}

    def has(self, dotted: str) -> bool:
        return dotted.split(".", maxsplit=1)[0] in self._tops

    def files_of(self, dotted: str) -> Iterator[str]:
        """Those that are run when it is imported."""
        parts = dotted.split(".")
        for root in self.roots[:4]:
            for end in range(1, len(parts) + 1):
                place = posixpath.join(root, *parts[:end])
                for path in (f"{place}.py", f"{place}/__init__.py"):
                    if path in self._files:
                        yield path


def _parents(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _when_loaded(path: str, text: str, own: _Own) -> Iterator[tuple[str, int]]:
    """What a module of the project imports while it is loaded, and cannot do without."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text[:_MOST_CHARS]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    package = posixpath.dirname(path)
    for statement in body:
        if isinstance(statement, ast.Try | ast.If) and not is_guarded(statement):
            inner = list(statement.body)
        else:
            inner = [statement]
        for each in inner:
            yield from _names_of(each, package, own)


def _names_of(statement: ast.stmt, package: str, own: _Own) -> Iterator[tuple[str, int]]:
    if isinstance(statement, ast.Import):
        names = [each.name for each in statement.names]
    elif isinstance(statement, ast.ImportFrom):
        begun = statement.module or ""
        if statement.level:
            folder = package
            for _ in range(statement.level - 1):
                folder = posixpath.dirname(folder)
            begun = ".".join([*_dotted(folder, own), *filter(None, [statement.module])])
        names = (
            [begun, *(f"{begun}.{each.name}" for each in statement.names if own.has(begun))] if begun else []
        )
    else:
        return
    for name in names:
        if not is_of_some_python(name):
            yield name, statement.lineno


def _dotted(folder: str, own: _Own) -> list[str]:
    for root in own.roots[1:4]:
        if folder.startswith(f"{root}/"):
            return folder[len(root) + 1 :].split("/")
    return folder.split("/") if folder else []

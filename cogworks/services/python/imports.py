"""Which modules a Python file imports from elsewhere, which it can do without, what is missing where it cannot, and which files are tests."""

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.vocabulary import Value

_OF_OTHER_PYTHONS = frozenset(
    [
        "annotationlib", "compression", "_ctypes_test", "_testbuffer", "_testcapi", "_testclinic", "_testinternalcapi", "_testlimitedcapi",
        "_testmultiphase", "_testsinglephase",
    ]
)  # fmt: skip
"""What later versions bring along than the one that runs here, and what is only for Python's own tests: no package has them."""
_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


class Imported(Value):
    """One import of a module, absolute."""

    module: str
    """With its dots."""
    line: int
    is_optional: bool = False
    """Whether the code goes on without it, or only reads its types."""
    is_of_types: bool = False
    """Whether only tools that read types ever import it."""

    @property
    def top(self) -> str:
        """Its first part."""
        return self.module.split(".", maxsplit=1)[0]


def imports_in(source: bytes) -> tuple[Imported, ...]:
    """The absolute imports of a file, in the order of their lines.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python that this interpreter reads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    return tuple(sorted(set(_imports(tree.body)), key=lambda each: (each.line, each.module)))


def is_standard(imported: Imported) -> bool:
    """Whether Python itself brings a module along."""
    return imported.top in sys.stdlib_module_names or imported.top == "__main__"


def is_of_some_python(module: str) -> bool:
    """Whether any version of Python brings a module along, by its name with dots."""
    return (
        is_standard(Imported(module=module, line=1)) or module.split(".", maxsplit=1)[0] in _OF_OTHER_PYTHONS
    )


def _imports(
    statements: Sequence[ast.stmt], *, is_optional: bool = False, is_of_types: bool = False
) -> Iterator[Imported]:
    def imported(module: str, statement: ast.stmt) -> Imported:
        return Imported(
            module=module, line=statement.lineno, is_optional=is_optional, is_of_types=is_of_types
        )

    for statement in statements:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                yield imported(name.name, statement)
        elif isinstance(statement, ast.ImportFrom):
            if statement.level == 0 and statement.module:
                yield imported(statement.module, statement)
        else:
            yield from _below(statement, is_optional=is_optional, is_of_types=is_of_types)


def _below(statement: ast.stmt, *, is_optional: bool, is_of_types: bool) -> Iterator[Imported]:
    """The imports within a statement; what follows a `try` that fails is as optional as what is tried."""
    optional = is_optional or is_guarded(statement)
    for field, value in ast.iter_fields(statement):
        of_types = is_of_types or (field == "body" and _reads_types(statement))
        for part in value if isinstance(value, list) else []:
            if isinstance(part, ast.stmt):
                yield from _imports([part], is_optional=optional, is_of_types=of_types)
            elif isinstance(part, ast.ExceptHandler | ast.match_case):
                yield from _imports(part.body, is_optional=optional, is_of_types=of_types)


def _reads_types(statement: ast.stmt) -> bool:
    """Whether the body of this is for tools that read types, and never run."""
    test = statement.test if isinstance(statement, ast.If) else None
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def is_guarded(statement: ast.stmt) -> bool:
    """Whether the code goes on where this fails, or only reads types there."""
    if isinstance(statement, ast.If):
        return "TYPE_CHECKING" in ast.dump(statement.test)
    if not isinstance(statement, ast.Try):
        return False
    caught = [handler.type for handler in statement.handlers]
    return any(each is None or not _FAILURES.isdisjoint(_names(each)) for each in caught)


def _names(caught: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(caught) if isinstance(each, ast.Name)}


_UNDEFINED = re.compile(r"NameError: name '(?P<name>\w+)' is not defined")
_FRAME = re.compile(r"(?m)^(?P<place>[^\s:]+\.py):\d+: in ")
_MOST_CHARS = 400_000


def modules_behind(errors: Iterable[str], folder: Path) -> tuple[str, ...]:
    """The modules whose imports failed in silence, each as it is written there.

    Args:
        errors: the messages of tests that could not be loaded or begun.
        folder: where the files lie that they name.
    """
    modules: dict[str, None] = {}
    for error in errors:
        for match in _UNDEFINED.finditer(error):
            # The innermost frame is the one that lacks the name.
            frames = _FRAME.findall(error[: match.start()])
            places = frames[-1:] or [error.partition(": ")[0]]
            modules.update(dict.fromkeys(_beside(match["name"], folder, places[0])))
    return tuple(modules)


def _beside(name: str, folder: Path, place: str) -> Iterator[str]:
    """What is imported in the same `try` as a name: where one of them is missing, none of the others was reached."""
    file = None if path_problem(place) else read_file(folder, place)
    if file is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.data[:_MOST_CHARS])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for block in ast.walk(tree):
        if isinstance(block, ast.Try) and is_guarded(block):
            imports = [each for each in block.body if isinstance(each, ast.Import | ast.ImportFrom)]
            if any(name in _bound(each) for each in imports):
                yield from (module for each in imports for module in _modules(each))


def _bound(statement: ast.Import | ast.ImportFrom) -> set[str]:
    return {(each.asname or each.name).partition(".")[0] for each in statement.names}


def _modules(statement: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(statement, ast.Import):
        return [each.name for each in statement.names]
    return [statement.module] if statement.module and not statement.level else []


_FOLDERS = frozenset({"test", "tests", "testing"})


def is_test_file(path: str) -> bool:
    """By its name or a folder above it, as pytest finds tests when nothing else is configured."""
    place = PurePosixPath(path)
    return (
        place.name == "conftest.py"
        or place.stem.startswith("test_")
        or place.stem.endswith("_test")
        or not _FOLDERS.isdisjoint(place.parts[:-1])
    )

"""What is missing where a file uses a name that it imports behind `try`, as if it were always there."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from cogworks.codebase.changes import path_problem
from cogworks.codebase.confined import read_file
from cogworks.services.python.imports import is_guarded

_UNDEFINED = re.compile(r"NameError: name '(?P<name>\w+)' is not defined")
_FRAME = re.compile(r"(?m)^(?P<place>[^\s:]+\.py):\d+: in ")
_MOST_CHARS = 400_000


def modules_behind(errors: Iterable[str], folder: Path) -> tuple[str, ...]:
    """The modules whose imports failed in silence, each as it is written there.

    Args:
        errors: what was said of tests that could not be loaded or begun.
        folder: where the files lie that they name.
    """
    found: dict[str, None] = {}
    for error in errors:
        for match in _UNDEFINED.finditer(error):
            # The innermost frame is the one that lacks the name.
            frames = _FRAME.findall(error[: match.start()])
            places = frames[-1:] or [error.partition(": ")[0]]
            found.update(dict.fromkeys(_beside(match["name"], folder, places[0])))
    return tuple(found)


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

"""Which modules a Python file imports from elsewhere, and which of them it can do without."""

import ast
import sys
import warnings
from collections.abc import Iterator, Sequence

from cogworks.vocabulary import Value

_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


class Imported(Value):
    """One import of a module, absolute."""

    module: str
    """With its dots."""
    line: int
    is_optional: bool = False
    """Whether the code goes on without it, or only reads its types."""

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
    return tuple(
        sorted(set(_imports(tree.body, is_optional=False)), key=lambda each: (each.line, each.module))
    )


def is_standard(imported: Imported) -> bool:
    """Whether Python itself brings a module along."""
    return imported.top in sys.stdlib_module_names or imported.top == "__main__"


def _imports(statements: Sequence[ast.stmt], *, is_optional: bool) -> Iterator[Imported]:
    for statement in statements:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                yield Imported(module=name.name, line=statement.lineno, is_optional=is_optional)
        elif isinstance(statement, ast.ImportFrom):
            if statement.level == 0 and statement.module:
                yield Imported(module=statement.module, line=statement.lineno, is_optional=is_optional)
        else:
            yield from _below(statement, is_optional=is_optional)


def _below(statement: ast.stmt, *, is_optional: bool) -> Iterator[Imported]:
    """The imports within a statement; what follows a `try` that fails is as optional as what is tried."""
    optional = is_optional or is_guarded(statement)
    for _, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else []:
            if isinstance(part, ast.stmt):
                yield from _imports([part], is_optional=optional)
            elif isinstance(part, ast.ExceptHandler | ast.match_case):
                yield from _imports(part.body, is_optional=optional)


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

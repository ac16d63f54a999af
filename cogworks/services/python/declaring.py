"""Which names Python files declare: are those that were agreed on among them?"""

import ast
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from cogworks.domain_services.messages import Diagnostic
from cogworks.services.python.responses import blocking


def absent(interfaces: Sequence[str], sources: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
    """One blocking diagnostic for each name that none of the files declares.

    A name stands by itself (`Cart.add`) or behind its module (`shop.cart.Cart.add`).

    Args:
        sources: path -> text; files that do not parse declare nothing.
    """
    declared = {name for path, source in sources.items() for name in _spellings(path, source)}
    place = min(sources, default=".")
    return tuple(
        blocking(place, "interface_mismatch", f"{name!r} is expected and none of the files declares it")
        for name in dict.fromkeys(interfaces)
        if name not in declared
    )


def _spellings(path: str, source: bytes) -> Iterator[str]:
    module = posixpath.splitext(path)[0].removesuffix("/__init__").split("/")
    prefixes = ["", *(f"{'.'.join(module[start:])}." for start in range(len(module)))]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for name in _names(tree.body):
        yield from (f"{prefix}{name}" for prefix in prefixes)


def _names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield statement.name
            case ast.ClassDef():
                yield statement.name
                yield from (f"{statement.name}.{name}" for name in _names(statement.body))
            case ast.Assign():
                yield from (each.id for each in statement.targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom() | ast.Import():
                # What a package hands on is declared by it as well.
                yield from (each.asname or each.name for each in statement.names)
            case _:
                pass

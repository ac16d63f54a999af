"""An expression as far as names follow it, in one string."""

import ast

from cogworks.services.python.code.facts import LITERAL, OWN_INSTANCE, UNKNOWN

CALLED = "()"
ITEM = "[]"
_LITERALS = (
    ast.Constant,
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Compare,
)
_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"})
MAX_CHAIN_PARTS = 20
"""A longer chain is anything: nobody follows it that far."""


def chain_of(node: ast.AST | None) -> str:
    """The chain of an expression, e.g. `Cart().prices[].value`; UNKNOWN when it is not a chain."""
    parts: list[str] = []
    while node is not None and len(parts) < MAX_CHAIN_PARTS:
        match node:
            case ast.Name():
                parts.append(node.id)
                return "".join(reversed(parts))
            case ast.Attribute():
                parts.append(f".{node.attr}")
                node = node.value
            case ast.Call():
                parts.append(CALLED)
                node = node.func
            case ast.Subscript():
                parts.append(ITEM)
                node = node.value
            case ast.Await() | ast.NamedExpr():
                node = node.value
            case _:
                return LITERAL if isinstance(node, _LITERALS) else UNKNOWN
    return UNKNOWN


def parts_of(chain: str) -> list[str]:
    """A chain in pieces: a name first, then attributes, `()` and `[]`."""
    return chain.replace(CALLED, f".{CALLED}").replace(ITEM, f".{ITEM}").split(".")


def instance_of(annotation: ast.AST | None) -> str:
    """The chain of a value with this annotation: `Cart | None` is `Cart()`, `type[Cart]` is `Cart`."""
    node = annotation
    while node is not None:
        match node:
            case ast.BinOp(op=ast.BitOr()):
                node = _only_side(node)
            case ast.Subscript():
                name = chain_of(node.value).rpartition(".")[2]
                if name in ("type", "Type"):
                    return chain_of(node.slice)
                node = _first(node.slice) if name in _WRAPPERS else None
            case ast.Constant(value=str(text)):
                return f"{text}{CALLED}" if text.replace(".", "_").isidentifier() else UNKNOWN
            case ast.Name(id="Self") | ast.Attribute(attr="Self"):
                return OWN_INSTANCE
            case ast.Name() | ast.Attribute():
                chain = chain_of(node)
                return f"{chain}{CALLED}" if chain else UNKNOWN
            case _:
                return UNKNOWN
    return UNKNOWN


def _only_side(union: ast.BinOp) -> ast.expr | None:
    sides = [
        side
        for side in (union.left, union.right)
        if not (isinstance(side, ast.Constant) and side.value is None)
    ]
    return sides[0] if len(sides) == 1 else None


def _first(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Tuple):
        return node.elts[0] if node.elts else None
    return node

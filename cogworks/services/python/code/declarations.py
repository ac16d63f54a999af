"""What a declaration says of itself: parameters, bases, decorators, fields, as they stand in the file."""

import ast
from collections.abc import Iterator, Sequence

from cogworks.services.python.code.facts import (
    LITERAL,
    OWN_CLASS,
    OWN_INSTANCE,
    UNKNOWN,
    Binding,
    Field,
    Parameters,
)

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


Function = ast.FunctionDef | ast.AsyncFunctionDef
_TAKES_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class Source:
    """The text of a file, by the places its syntax tree names."""

    def __init__(self, data: bytes) -> None:
        """Args:
        data: UTF-8 without a byte order mark; columns of the tree count its bytes.
        """
        self._lines = data.splitlines(keepends=True)

    @property
    def line_count(self) -> int:
        """At least 1."""
        return len(self._lines) or 1

    def text(self, node: ast.expr) -> str:
        """An expression as it is written, without line breaks."""
        last = node.end_lineno or node.lineno
        lines = self._lines[node.lineno - 1 : last]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode(errors="replace")


def parameters_of(node: Function, source: Source) -> Parameters:
    """What a function takes."""
    arguments = node.args
    first = [*arguments.posonlyargs, *arguments.args]
    defaulted = [each.arg for each in first[len(first) - len(arguments.defaults) :]]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaulted += [each.arg for each, default in pairs if default is not None]
    annotations = [(each.arg, source.text(each.annotation)) for each in _all(arguments) if each.annotation]
    if node.returns is not None:
        annotations.append(("return", source.text(node.returns)))
    return Parameters(
        positional_only=tuple([each.arg for each in arguments.posonlyargs]),
        positional=tuple([each.arg for each in arguments.args]),
        var_positional=arguments.vararg.arg if arguments.vararg else None,
        keyword_only=tuple([each.arg for each in arguments.kwonlyargs]),
        var_keyword=arguments.kwarg.arg if arguments.kwarg else None,
        with_default=tuple(defaulted),
        annotations=tuple(annotations),
    )


def parameter_bindings(
    node: Function, scope: int, decorators: Sequence[str], *, is_method: bool
) -> Iterator[Binding]:
    """What the names of the parameters are bound to inside the function."""
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    values = {each.arg: instance_of(each.annotation) for each in named}
    values |= {each.arg: LITERAL for each in (arguments.vararg, arguments.kwarg) if each is not None}
    first = next(iter([*arguments.posonlyargs, *arguments.args]), None)
    if is_method and first is not None and "staticmethod" not in decorators:
        takes_class = "classmethod" in decorators or node.name in _TAKES_CLASS
        values[first.arg] = OWN_CLASS if takes_class else OWN_INSTANCE
    return (Binding(scope, name, value) for name, value in values.items())


def bases_of(node: ast.ClassDef, source: Source) -> tuple[str, ...]:
    """What stands between the parentheses of a class, as written."""
    keywords = [
        f"{each.arg}={source.text(each.value)}" if each.arg else f"**{source.text(each.value)}"
        for each in node.keywords
    ]
    return (*[source.text(base) for base in node.bases], *keywords)


def fields_of(node: ast.ClassDef, source: Source) -> tuple[Field, ...]:
    """The annotated names of a class body."""
    return tuple(
        _field(statement, statement.target.id, source)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    )


def exported_names(value: ast.expr | None) -> tuple[tuple[str, ...], bool]:
    """The names in an expression assigned to `__all__`, and whether these are all of them."""
    if not isinstance(value, ast.List | ast.Tuple | ast.Set):
        return (), False
    names = [
        each.value for each in value.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return tuple(names), len(names) == len(value.elts)


def _all(arguments: ast.arguments) -> list[ast.arg]:
    stars = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]


def _field(statement: ast.AnnAssign, name: str, source: Source) -> Field:
    field = Field(name, source.text(statement.annotation), statement.value is not None)
    value = statement.value
    if not isinstance(value, ast.Call) or chain_of(value.func).rpartition(".")[2] not in ("field", "Field"):
        return field
    arguments = {each.arg: each.value for each in value.keywords}
    return field._replace(
        has_default=bool(value.args) or bool(arguments.keys() & {"default", "default_factory", "factory"}),
        in_constructor=_truth(arguments.get("init")) is not False,
        is_keyword_only=_truth(arguments.get("kw_only")),
    )


def _truth(node: ast.expr | None) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None

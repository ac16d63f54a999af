"""What a declaration says of itself: parameters, bases, decorators, fields, as they stand in the file."""

import ast
from collections.abc import Iterator, Sequence

from cogworks.services.python.code.chains import chain_of, instance_of
from cogworks.services.python.code.facts import LITERAL, OWN_CLASS, OWN_INSTANCE, Binding, Field, Parameters

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
    said = {each.arg: each.value for each in value.keywords}
    return field._replace(
        has_default=bool(value.args) or bool(said.keys() & {"default", "default_factory", "factory"}),
        in_constructor=_truth(said.get("init")) is not False,
        is_keyword_only=_truth(said.get("kw_only")),
    )


def _truth(node: ast.expr | None) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None

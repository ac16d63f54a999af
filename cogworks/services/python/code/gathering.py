"""Reads one file's facts off its syntax tree, in one pass that spends little more than the parser does."""

import ast
import io
import tokenize
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from cogworks.services.python.code.declarations import (
    Function,
    Source,
    bases_of,
    chain_of,
    exported_names,
    fields_of,
    instance_of,
    parameter_bindings,
    parameters_of,
)
from cogworks.services.python.code.facts import (
    MODULE,
    UNKNOWN,
    Binding,
    Call,
    Definition,
    DefinitionKind,
    FileFacts,
    Imported,
    Unreadable,
)

MAX_BYTES = 2_000_000
"""A longer file is data in the form of a program; its tree would take a hundred times the room."""
_DROPPED = frozenset({"ctx", "op", "ops", "type_comment", "type_ignores", "is_async", "simple", "conversion"})
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Declared = Function | ast.ClassDef


def gather(data: bytes) -> FileFacts | Unreadable:
    """What a file says; never raises, whatever it holds."""
    if len(data) > MAX_BYTES:
        return Unreadable(f"is longer than {MAX_BYTES} bytes")
    with warnings.catch_warnings():
        # What the compiler warns of is the business of `validate`.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data)
        except SyntaxError as error:
            return Unreadable(_sentence(error))
        except (ValueError, OverflowError, RecursionError, MemoryError) as error:
            return Unreadable(f"cannot be parsed: {str(error) or type(error).__name__}")
    return _Gatherer(Source(in_utf8(data))).facts_of(tree)


class _Gatherer:
    """One pass over one tree; scope by scope, so that a definition comes after the one around it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._definitions: list[Definition] = []
        self._calls: list[tuple[int, Call]] = []
        self._imports: list[Imported] = []
        self._bindings: list[Binding] = []
        self._exported: tuple[str, ...] | None = None
        self._is_exported_whole = True
        self._scope = MODULE
        self._elsewhere: dict[str, int | None] = {}
        """Names of the present scope that `global` and `nonlocal` put into another; None: into an unknown one."""
        self._assigned: list[ast.Name] = []
        self._declared: list[Declared] = []

    def facts_of(self, tree: ast.Module) -> FileFacts:
        waiting: list[tuple[int, list[ast.stmt]]] = [(MODULE, tree.body)]
        for scope, body in waiting:
            waiting += self._scan(scope, body)
        return FileFacts(
            line_count=self._source.line_count,
            definitions=tuple(self._definitions),
            calls=tuple(call for _, call in sorted(self._calls, key=lambda each: (each[1].line, each[0]))),
            imports=tuple(sorted(self._imports, key=lambda each: (each.line, each.name or ""))),
            bindings=tuple(self._bindings),
            exported=self._exported,
            is_exported_whole=self._is_exported_whole
            and not any(call.receiver == "__all__" for _, call in self._calls),
        )

    def _scan(self, scope: int, body: Iterable[ast.stmt]) -> list[tuple[int, list[ast.stmt]]]:
        """Read one scope without what is inside its definitions; these are handed back."""
        self._scope, self._elsewhere, self._assigned, self._declared = scope, {}, [], []
        first_binding = len(self._bindings)
        pending: list[ast.AST] = list(body)
        while pending:
            node = pending.pop()
            kind = node.__class__
            read = _READERS.get(kind)
            if read is not None:
                pending.extend(read(self, node))
                continue
            for name in _CHILDREN.get(kind, ()):
                value = getattr(node, name, None)
                if value.__class__ is list:
                    pending.extend(value)
                elif value is not None:
                    pending.append(value)
        self._move_bindings(first_binding)
        return self._define(scope)

    def _move_bindings(self, first: int) -> None:
        if self._elsewhere:
            moved = [
                each._replace(scope=place)
                for each in self._bindings[first:]
                if (place := self._elsewhere.get(each.target, each.scope)) is not None
            ]
            self._bindings[first:] = moved

    def _define(self, scope: int) -> list[tuple[int, list[ast.stmt]]]:
        """Enter the definitions of a scope in the order in which they stand in the file."""
        in_class = scope != MODULE and self._definitions[scope].kind == "class"
        nodes: list[Declared | ast.Name] = [*self._declared]
        if scope == MODULE or in_class:
            nodes += self._variables()
        ordinals: dict[str, int] = {}
        inside: list[tuple[int, list[ast.stmt]]] = []
        for node in sorted(nodes, key=_place):
            name = node.id if isinstance(node, ast.Name) else node.name
            ordinals[name] = ordinal = ordinals.get(name, 0) + 1
            place = len(self._definitions)
            self._definitions.append(self._definition(node, ordinal, scope, in_class))
            if isinstance(node, _BODIES):
                inside.append((place, node.body))
            if isinstance(node, Function):
                decorators = self._definitions[place].decorators
                self._bindings += parameter_bindings(node, place, decorators, is_method=in_class)
        return inside

    def _variables(self) -> Iterable[ast.Name]:
        """The first assignment to each name of the scope that no definition stands for."""
        defined = {node.name for node in self._declared}
        latest_first = sorted(self._assigned, key=_place, reverse=True)
        return {node.id: node for node in latest_first if node.id not in defined}.values()

    def _definition(self, node: Declared | ast.Name, ordinal: int, scope: int, in_class: bool) -> Definition:
        if isinstance(node, ast.Name):
            lines = (node.lineno, node.end_lineno or node.lineno)
            return Definition(node.id, ordinal, "variable", lines, node.lineno, scope)
        source = self._source
        decorators = node.decorator_list
        first = min([node.lineno, *(each.lineno for each in decorators)])
        kind: DefinitionKind = "method" if in_class else "function"
        common = Definition(
            name=node.name,
            ordinal=ordinal,
            kind="class" if isinstance(node, ast.ClassDef) else kind,
            lines=(first, node.end_lineno or node.lineno),
            line=node.lineno,
            parent=scope,
            decorators=tuple(source.text(each) for each in decorators),
            decorator_chains=tuple(chain_of(each) for each in decorators),
        )
        if isinstance(node, ast.ClassDef):
            chains = tuple(chain_of(base) for base in node.bases)
            bases, fields = bases_of(node, source), fields_of(node, source)
            return common._replace(bases=bases, base_chains=chains, fields=fields)
        return common._replace(
            is_async=isinstance(node, ast.AsyncFunctionDef),
            parameters=parameters_of(node, source),
            returned=instance_of(node.returns),
        )

    # Each of these reads one kind of node and answers which nodes below it are still to be read.

    def read_call(self, node: ast.Call) -> Iterable[ast.AST]:
        function = node.func
        column = node.col_offset
        if function.__class__ is ast.Name:
            self._calls.append((column, Call(node.lineno, self._scope, function.id, None)))
            return [*node.args, *node.keywords]
        if function.__class__ is ast.Attribute:
            receiver = chain_of(function.value)
            self._calls.append((column, Call(node.lineno, self._scope, function.attr, receiver)))
            return [function.value, *node.args, *node.keywords]
        return [function, *node.args, *node.keywords]

    def read_import(self, node: ast.Import) -> Iterable[ast.AST]:
        for each in node.names:
            self._imports.append(Imported(node.lineno, self._scope, 0, each.name, None, each.asname))
        return ()

    def read_import_from(self, node: ast.ImportFrom) -> Iterable[ast.AST]:
        module, level = node.module or "", node.level or 0
        for each in node.names:
            self._imports.append(Imported(node.lineno, self._scope, level, module, each.name, each.asname))
        return ()

    def read_declaration(self, node: Declared) -> Iterable[ast.AST]:
        self._declared.append(node)
        inner = [*node.decorator_list, *getattr(node, "type_params", ())]
        if isinstance(node, ast.ClassDef):
            return [*inner, *node.bases, *node.keywords]
        return [*inner, node.args, *([node.returns] if node.returns else ())]

    def read_assignment(self, node: ast.Assign) -> Iterable[ast.AST]:
        value = chain_of(node.value)
        return [node.value, *[each for each in node.targets if not self._bind(each, value, node.value)]]

    def read_annotated(self, node: ast.AnnAssign) -> Iterable[ast.AST]:
        value = instance_of(node.annotation) or chain_of(node.value)
        rest = [node.annotation, *([node.value] if node.value else ())]
        return rest if self._bind(node.target, value, node.value) else [*rest, node.target]

    def read_augmented(self, node: ast.AugAssign) -> Iterable[ast.AST]:
        if self._scope == MODULE and isinstance(node.target, ast.Name) and node.target.id == "__all__":
            self._export(node.value)
        return (node.target, node.value)

    def read_walrus(self, node: ast.NamedExpr) -> Iterable[ast.AST]:
        self._bindings.append(Binding(self._scope, node.target.id, chain_of(node.value)))
        return (node.value,)

    def read_with(self, node: ast.withitem) -> Iterable[ast.AST]:
        target = node.optional_vars
        if isinstance(target, ast.Name):
            # As most context managers do, it is taken to hand out itself.
            self._bindings.append(Binding(self._scope, target.id, chain_of(node.context_expr)))
            return (node.context_expr,)
        return (node.context_expr,) if target is None else (node.context_expr, target)

    def read_name(self, node: ast.Name) -> Iterable[ast.AST]:
        if node.ctx.__class__ is ast.Store:
            self._bindings.append(Binding(self._scope, node.id, UNKNOWN))
        return ()

    def read_handler(self, node: ast.ExceptHandler) -> Iterable[ast.AST]:
        if node.name:
            self._bindings.append(Binding(self._scope, node.name, UNKNOWN))
        return [*([node.type] if node.type else ()), *node.body]

    def read_global(self, node: ast.Global) -> Iterable[ast.AST]:
        self._elsewhere |= dict.fromkeys(node.names, MODULE)
        return ()

    def read_nonlocal(self, node: ast.Nonlocal) -> Iterable[ast.AST]:
        self._elsewhere |= dict.fromkeys(node.names, None)
        return ()

    def _bind(self, target: ast.AST, value: str, expression: ast.expr | None) -> bool:
        """Note what an assignment binds; whether its target is thereby read."""
        if isinstance(target, ast.Name):
            self._bindings.append(Binding(self._scope, target.id, value))
            self._assigned.append(target)
            if target.id == "__all__" and self._scope == MODULE:
                self._export(expression)
            return True
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self._bindings.append(Binding(self._scope, f"{target.value.id}.{target.attr}", value))
            return True
        if isinstance(target, ast.Tuple | ast.List):
            inside = (each for each in ast.walk(target) if isinstance(each, ast.Name))
            self._assigned += [each for each in inside if isinstance(each.ctx, ast.Store)]
        return False

    def _export(self, value: ast.expr | None) -> None:
        names, is_whole = exported_names(value)
        self._exported = tuple(sorted({*(self._exported or ()), *names}))
        self._is_exported_whole = self._is_exported_whole and is_whole


_READERS: Mapping[type, Callable[[_Gatherer, Any], Iterable[ast.AST]]] = MappingProxyType(
    {
        ast.Call: _Gatherer.read_call,
        ast.Import: _Gatherer.read_import,
        ast.ImportFrom: _Gatherer.read_import_from,
        ast.FunctionDef: _Gatherer.read_declaration,
        ast.AsyncFunctionDef: _Gatherer.read_declaration,
        ast.ClassDef: _Gatherer.read_declaration,
        ast.Assign: _Gatherer.read_assignment,
        ast.AnnAssign: _Gatherer.read_annotated,
        ast.AugAssign: _Gatherer.read_augmented,
        ast.NamedExpr: _Gatherer.read_walrus,
        ast.withitem: _Gatherer.read_with,
        ast.Name: _Gatherer.read_name,
        ast.ExceptHandler: _Gatherer.read_handler,
        ast.Global: _Gatherer.read_global,
        ast.Nonlocal: _Gatherer.read_nonlocal,
    }
)


def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes."""
    if kind in (ast.Constant, ast.Global, ast.Nonlocal, ast.alias):
        return ()
    return tuple(name for name in kind._fields if name not in _DROPPED)


def _kinds() -> dict[type, tuple[str, ...]]:
    """Nothing else has children: fields hold None, texts and numbers as well."""
    classes = [each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.AST)]
    return {each: _children(each) for each in classes}


_CHILDREN: Mapping[type, tuple[str, ...]] = MappingProxyType(_kinds())


def _place(node: ast.stmt | ast.Name) -> tuple[int, int]:
    return node.lineno, node.col_offset


def in_utf8(data: bytes) -> bytes:
    """The text of a file that can be parsed, in the form in which its syntax tree counts columns."""
    # In some encodings ASCII does not mean itself; the first two lines name one.
    if data.isascii() and b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return data
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        # The parser bears with odd bytes in a comment of the first two lines.
        return data
    return data if encoding == "utf-8" else data.decode(encoding, errors="replace").encode()


def _sentence(error: SyntaxError) -> str:
    return error.msg if error.lineno is None else f"{error.msg} (line {error.lineno})"

"""The definitions in files of languages that no domain service knows, read with tree-sitter's grammars.

Only what a name and a stretch of lines can tell, and what cannot be read at all: no calls, no types. A service that announces `index` knows more.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_go
import tree_sitter_java
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from cogworks.domain_services.exploring import Symbol, SymbolKind
from cogworks.domain_services.messages import Diagnostic
from cogworks.vocabulary import Severity

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


@dataclass(frozen=True)
class _Grammar:
    """How one language says that something is defined."""

    load: Callable[[], object]
    kinds: Mapping[str, SymbolKind]
    """Node type -> what it defines."""
    scopes: Mapping[str, str] = field(default_factory=dict)
    """Node type -> the field with the name that what is inside belongs to."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Node type -> the field that names the type a method belongs to."""
    values: frozenset[str] = frozenset()
    """Node types that define a function only when their value is one."""
    test_marks: tuple[bytes, ...] = ()
    """What the text right before a test, or at its beginning, contains."""
    test_files: tuple[str, ...] = ()
    """Patterns of paths that hold nothing but tests."""


_TYPESCRIPT: Mapping[str, SymbolKind] = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "interface_declaration": "class",
    "enum_declaration": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "variable_declarator": "function",
    "public_field_definition": "method",
}
_SCRIPT_TESTS = ("*.test.*", "*.spec.*", "__tests__/*")
_SCRIPT_VALUES = frozenset({"variable_declarator", "public_field_definition"})
_TYPED = _Grammar(
    tree_sitter_typescript.language_typescript,
    _TYPESCRIPT,
    scopes={"internal_module": "name"},
    values=_SCRIPT_VALUES,
    test_files=_SCRIPT_TESTS,
)
_TYPED_WITH_MARKUP = replace(_TYPED, load=tree_sitter_typescript.language_tsx)
_GRAMMARS: Mapping[str, _Grammar] = {
    ".rs": _Grammar(
        tree_sitter_rust.language,
        {
            "function_item": "function",
            "struct_item": "class",
            "enum_item": "class",
            "trait_item": "class",
            "union_item": "class",
        },
        scopes={"mod_item": "name", "impl_item": "type"},
        test_marks=(b"#[test]", b"::test]"),
        test_files=("tests/*.rs",),
    ),
    ".go": _Grammar(
        tree_sitter_go.language,
        {"function_declaration": "function", "method_declaration": "method", "type_spec": "class"},
        owners={"method_declaration": "receiver"},
        test_files=("*_test.go",),
    ),
    ".java": _Grammar(
        tree_sitter_java.language,
        {
            "class_declaration": "class",
            "interface_declaration": "class",
            "enum_declaration": "class",
            "record_declaration": "class",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
        },
        test_marks=(b"@Test", b"@ParameterizedTest"),
        test_files=("src/test/*",),
    ),
    ".ts": _TYPED,
    **dict.fromkeys((".tsx", ".jsx", ".js", ".mjs", ".cjs"), _TYPED_WITH_MARKUP),
}
SUFFIXES = tuple(_GRAMMARS)
MOST_MISTAKES = 5


def symbols_of(artifact: str, source: bytes) -> tuple[Symbol, ...]:
    """The definitions of one file in the order they begin; none for a language without a grammar here.

    Ids are the path without its suffix, with dots, and the names around: `src.cart.Cart.add`; a name that is
    there again gets `#2`. Files with mistakes give what can be made out.
    """
    grammar = _GRAMMARS.get(PurePosixPath(artifact).suffix)
    if grammar is None:
        return ()
    tree = Parser(_language(grammar.load)).parse(source)
    module = PurePosixPath(artifact).with_suffix("").as_posix().replace("/", ".")
    symbols: dict[str, Symbol] = {}
    times: Counter[str] = Counter()
    for node, scope in _definitions(tree.root_node, grammar):
        around = ".".join((module, *scope))
        name = f"{around}.{_name(node)}"
        times[name] += 1
        id_ = name if times[name] == 1 else f"{name}#{times[name]}"
        symbols[id_] = Symbol(
            id=id_,
            kind=_kind(node, grammar, symbols.get(around)),
            artifact=artifact,
            lines=(node.start_point.row + 1, _last_row(node) + 1),
            parent=around if around in symbols else None,
            is_test=_is_test(node, grammar, artifact, source),
        )
    return tuple(symbols.values())


def mistakes_of(artifact: str, source: bytes) -> tuple[Diagnostic, ...]:
    """Where one file cannot be read as its language wants it, at most the first few; none without a grammar here."""
    grammar = _GRAMMARS.get(PurePosixPath(artifact).suffix)
    if grammar is None:
        return ()
    mistakes, waiting = list[Diagnostic](), [Parser(_language(grammar.load)).parse(source).root_node]
    while waiting and len(mistakes) < MOST_MISTAKES:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            what = f"{node.type!r} is missing" if node.is_missing else "cannot be read from here on"
            mistakes.append(
                Diagnostic(
                    artifact=artifact,
                    line=node.start_point.row + 1,
                    severity=Severity.BLOCKING,
                    category="syntax_error",
                    message=what,
                )
            )
        elif node.has_error:
            waiting += reversed(node.children)
    return tuple(mistakes)


@cache
def _language(load: Callable[[], object]) -> Language:
    return Language(load())


def _definitions(root: Node, grammar: _Grammar) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Each definition with the names around it; without recursion, for trees may be very deep."""
    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while waiting:
        node, scope = waiting.pop()
        inner = scope
        if _defines(node, grammar):
            yield node, (*scope, *_owner(node, grammar))
            inner = (*scope, _name(node))
        elif node.type in grammar.scopes:
            inner = (*scope, _text(node.child_by_field_name(grammar.scopes[node.type])))
        waiting += [(child, inner) for child in reversed(node.named_children)]


def _defines(node: Node, grammar: _Grammar) -> bool:
    if node.type not in grammar.kinds or not _name(node):
        return False
    if node.type in grammar.values:
        value = node.child_by_field_name("value")
        return value is not None and value.type in _FUNCTIONS
    return True


def _kind(node: Node, grammar: _Grammar, around: Symbol | None) -> SymbolKind:
    """A function inside a type is its method."""
    kind = grammar.kinds[node.type]
    return "method" if kind == "function" and around is not None and around.kind == "class" else kind


def _owner(node: Node, grammar: _Grammar) -> tuple[str, ...]:
    """The type in front of a method that stands outside of it: `func (c *Cart) Add()`."""
    if node.type not in grammar.owners:
        return ()
    receiver = node.child_by_field_name(grammar.owners[node.type])
    return tuple(_first(receiver, "type_identifier"))


def _first(node: Node | None, kind: str) -> Iterator[str]:
    waiting = [node] if node else []
    while waiting:
        each = waiting.pop()
        if each.type == kind:
            yield _text(each)
            return
        waiting += reversed(each.named_children)


def _name(node: Node) -> str:
    return _text(node.child_by_field_name("name"))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node else ""


def _last_row(node: Node) -> int:
    # A node that takes the end of its line with it ends in column 0 of the next.
    return node.end_point.row - (node.end_point.column == 0 and node.end_point.row > node.start_point.row)


def _is_test(node: Node, grammar: _Grammar, artifact: str, source: bytes) -> bool:
    if any(PurePosixPath(artifact).match(pattern) for pattern in grammar.test_files):
        return True
    if any(_is_below(artifact, pattern) for pattern in grammar.test_files):
        return True
    before = node.prev_named_sibling
    marked = before if before is not None and before.type == "attribute_item" else node
    # Annotations stand before the name of what they mark.
    name = node.child_by_field_name("name") or node
    head = source[marked.start_byte : name.start_byte]
    return any(mark in head for mark in grammar.test_marks)


def _is_below(artifact: str, pattern: str) -> bool:
    folder = pattern.rpartition("/")[0]
    return bool(folder) and f"/{folder}/" in f"/{artifact}"

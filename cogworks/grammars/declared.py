"""What a declaration says of itself: its header, its parameters, what it extends."""

from collections.abc import Iterator

from tree_sitter import Node

from cogworks.grammars.facts import Parameter

_BODIES = ("body", "block")
_LISTS = ("parameters", "formal_parameters", "parameter_list")
_NAMES = ("name", "pattern", "declarator", "left")
_VALUES = ("value", "default_value", "right")
_NO_PARAMETERS = frozenset({"self_parameter", "attribute_item", "attribute_list", "ERROR"})
_VARIADIC = ("variadic", "rest", "spread", "splat")
_BODY_TYPES = frozenset(
    {"class_body", "block", "body_statement", "declaration_list", "enum_body", "statement_block"}
)
_NAMED_BY_ASSIGNMENT = frozenset(
    {"arrow_function", "function_expression", "generator_function", "class", "lambda"}
)
_MAX_HEADER = 2_000
_MAX_SIGNATURE = 500
_MAX_PARAMETERS = 100
_MAX_STEPS = 12


def text_of(node: Node | None) -> str:
    """The source text of a node."""
    return (node.text or b"").decode(errors="replace") if node else ""


def slice_of(node: Node, data: bytes) -> str:
    """The same from the bytes of the file, without asking the tree for it piece by piece."""
    return data[node.start_byte : node.end_byte].decode(errors="replace")


def shortened(text: str) -> str:
    """On one line and never very long."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_SIGNATURE else line[: _MAX_SIGNATURE - 1] + "…"


def header_of(node: Node, data: bytes) -> str:
    """A declaration without its body."""
    body = _body(node)
    end = node.end_byte if body is None else body.start_byte
    text = data[node.start_byte : min(end, node.start_byte + _MAX_HEADER)].decode(errors="replace")
    return _without_end(text).strip()


def _without_end(text: str) -> str:
    """A header without the blanks and signs that only lead to its body."""
    before = ""
    while before != text:
        before = text
        text = text.rstrip().rstrip("{;=").removesuffix("=>")
    return text


def _body(node: Node) -> Node | None:
    for field in _BODIES:
        if (body := node.child_by_field_name(field)) is not None:
            return body
    value = _value(node)
    if value is not None and (inner := value.child_by_field_name("body")) is not None:
        return inner
    # Grammars that give the body no name put it last.
    last = node.named_child(node.named_child_count - 1) if node.named_child_count else None
    return last if last is not None and last.type in _BODY_TYPES else None


def _value(node: Node) -> Node | None:
    """The function or class that a declaration or an assignment gives a name: `const f = () => …`, `a.f = () => …`."""
    if (value := node.child_by_field_name("value")) is not None:
        return value
    right = node.child_by_field_name("right")
    return right if right is not None and right.type in _NAMED_BY_ASSIGNMENT else None


def parameters_of(node: Node) -> tuple[Parameter, ...]:
    """What a declaration takes; nothing for those that take nothing."""
    listed = _parameter_list(node)
    if listed is None:
        single = _value(node)
        alone = single.child_by_field_name("parameter") if single is not None else None
        return (Parameter(text_of(alone)),) if alone is not None else ()
    return tuple(each for child in listed.named_children[:_MAX_PARAMETERS] for each in _parameters(child))


def _parameter_list(node: Node) -> Node | None:
    """That of the declaration, of the function it holds (`const f = () => …`), or of its declarator (C)."""
    at: Node | None = node
    for _ in range(_MAX_STEPS):
        if at is None:
            return None
        if (parameters := at.child_by_field_name("parameters")) is not None:
            return parameters
        at = at.child_by_field_name("declarator") or _value(at)
    return None


def _parameters(node: Node) -> Iterator[Parameter]:
    kind = node.type
    if "comment" in kind or kind.endswith("_type") or kind in _NO_PARAMETERS:
        return
    is_optional = kind.startswith("optional") or any(child.type == "=" for child in node.children)
    has_default = is_optional or any(node.child_by_field_name(each) is not None for each in _VALUES)
    is_variadic = any(word in kind for word in _VARIADIC) or text_of(node).lstrip().startswith("...")
    annotation = shortened(text_of(node.child_by_field_name("type")).removeprefix(":"))
    for name in _names(node):
        yield Parameter(name, annotation, has_default, is_variadic)


def _names(node: Node) -> list[str]:
    several = node.children_by_field_name("name")
    if len(several) > 1:
        return [_bare(text_of(each)) for each in several]
    if text_of(node) == "void":
        return []  # C says so that there is none.
    at = node
    for _ in range(_MAX_STEPS):
        inner = next((child for each in _NAMES if (child := at.child_by_field_name(each)) is not None), None)
        if inner is None:
            break
        at = inner
    if at is node and node.named_child_count and node.type != "identifier":
        if node.child_by_field_name("type") is not None or "parameter_declaration" in node.type:
            return ["_"]  # A parameter that only its type is written of.
        named = [
            each for each in node.named_children if "identifier" in each.type or "declarator" in each.type
        ]
        at = (named[-1] if "spread" in node.type else named[0]) if named else node
    return [_bare(text_of(at))]


def _bare(text: str) -> str:
    return shortened(text).lstrip("*&.$ ")[:200] or "_"


def bases_in(node: Node) -> Iterator[str]:
    """The types that one clause names."""
    yield shortened(text_of(node))

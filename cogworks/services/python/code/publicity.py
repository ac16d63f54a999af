"""Which definitions of a file other code may use, and in which form."""

import ast
from collections.abc import Iterator
from typing import Literal

from cogworks.services.python.code.facts import MODULE, Definition, Field, FileFacts, Parameters

SignatureKind = Literal["function", "method", "static_method", "class_method", "property", "class"]
_PROPERTY_ENDS = (".setter", ".deleter", ".getter", "property", "cached_property")


def public_places(facts: FileFacts) -> Iterator[int]:
    """Places of the public classes, functions and methods.

    Public is what has no leading underscore, special methods, and what `__all__` names; a member is public when the
    class around it is. What stands inside a function is nobody else's.
    """
    exported = frozenset(facts.exported or ())
    open_scopes = {MODULE}
    for place, definition in enumerate(facts.definitions):
        is_listed = definition.parent == MODULE and definition.name in exported
        if definition.parent not in open_scopes or not (is_listed or _is_public_name(definition)):
            continue
        if definition.kind == "class":
            open_scopes.add(place)
        if definition.kind != "variable":
            yield place


def kind_of(definition: Definition) -> SignatureKind:
    """How a public definition is used."""
    if definition.kind == "class":
        return "class"
    if definition.kind == "function":
        return "function"
    if any(chain.endswith(_PROPERTY_ENDS) for chain in definition.decorator_chains):
        return "property"
    if "staticmethod" in definition.decorator_chains or definition.name == "__new__":
        return "static_method"
    is_implicit = definition.name in ("__init_subclass__", "__class_getitem__")
    return "class_method" if is_implicit or "classmethod" in definition.decorator_chains else "method"


def constructor_of(definition: Definition) -> Parameters:
    """What a dataclass or named tuple makes of its own fields; nothing for any other class."""
    is_dataclass = any(
        chain.removesuffix("()").endswith("dataclass") for chain in definition.decorator_chains
    )
    is_named_tuple = any(chain.rpartition(".")[2] == "NamedTuple" for chain in definition.base_chains)
    if not is_dataclass and not is_named_tuple:
        return Parameters()
    settings = "".join(definition.decorators).replace(" ", "")
    fields = list(_constructor_fields(definition.fields, "kw_only=True" in settings))
    return Parameters(
        positional=tuple(field.name for field in fields if not field.is_keyword_only),
        keyword_only=tuple(field.name for field in fields if field.is_keyword_only),
        with_default=tuple(field.name for field in fields if field.has_default),
        annotations=tuple((field.name, field.annotation) for field in fields),
    )


def settled(text: str) -> str:
    """An expression in one spelling, whatever its line breaks, quotes and blanks."""
    try:
        return ast.unparse(ast.parse(f"({text}\n)", mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # `*Ts` and `metaclass=M` are no expressions of their own.
        return " ".join(text.split())


def _is_public_name(definition: Definition) -> bool:
    name = definition.name
    is_special = name.startswith("__") and name.endswith("__") and definition.kind == "method"
    return not name.startswith("_") or is_special


def _constructor_fields(fields: tuple[Field, ...], is_keyword_only: bool) -> Iterator[Field]:
    for field in fields:
        annotation = field.annotation.rpartition(".")[2] if "[" not in field.annotation else field.annotation
        if annotation == "KW_ONLY":
            is_keyword_only = True
        elif field.in_constructor and "ClassVar" not in field.annotation:
            own = field.is_keyword_only
            yield field._replace(is_keyword_only=is_keyword_only if own is None else own)

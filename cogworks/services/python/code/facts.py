"""What one file says, wherever it lies: definitions, calls, imports and what names are bound to."""

from typing import Literal, NamedTuple

DefinitionKind = Literal["class", "function", "method", "variable"]
MODULE = -1
"""The place of a file's own scope among its definitions."""

UNKNOWN = ""
"""A chain that could be anything."""
LITERAL = "'"
"""A chain whose value is built into the language: a text, a number, a list."""
OWN_INSTANCE = "<self>"
OWN_CLASS = "<class>"
"""What the first parameter of a method is bound to."""


class Parameters(NamedTuple):
    """What a function takes, by name."""

    positional_only: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    var_positional: str | None = None
    keyword_only: tuple[str, ...] = ()
    var_keyword: str | None = None
    with_default: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    """Parameter, or `return`, and its annotation as it stands in the file."""


class Field(NamedTuple):
    """An annotated name in the body of a class, which a dataclass makes a parameter of its constructor."""

    name: str
    annotation: str
    has_default: bool = False
    in_constructor: bool = True
    is_keyword_only: bool | None = None
    """None: as the class says."""


class Definition(NamedTuple):
    """A class, function, method, or a name that the body of a module or class assigns to."""

    name: str
    ordinal: int
    """1 for the first of this name in its scope, 2 for the second, …"""
    kind: DefinitionKind
    lines: tuple[int, int]
    """With decorators and body."""
    line: int
    """Where the declaration itself begins, below the decorators."""
    parent: int
    """Place of the definition around it in the file's list; `MODULE`."""
    is_async: bool = False
    decorators: tuple[str, ...] = ()
    """Source text, as are `bases`."""
    decorator_chains: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    """With keywords, e.g. `metaclass=ABCMeta`."""
    base_chains: tuple[str, ...] = ()
    parameters: Parameters = Parameters()
    returned: str = UNKNOWN
    """Chain of what a call gives, as far as an annotation says it."""
    fields: tuple[Field, ...] = ()


class Call(NamedTuple):
    """A place that calls something by name."""

    line: int
    scope: int
    name: str
    receiver: str | None
    """Chain of what stands before the last dot; None: there is no dot."""


class Imported(NamedTuple):
    """One name of an import statement."""

    line: int
    scope: int
    level: int
    """Leading dots."""
    module: str
    name: str | None
    """None: the module as a whole."""
    alias: str | None


class Binding(NamedTuple):
    """A name that gets a value: `x = Cart()`, `self.x = y`, a parameter, a loop variable."""

    scope: int
    target: str
    value: str
    """Chain."""


class FileFacts(NamedTuple):
    """Everything the operations need of one file.

    A *chain* is an expression as far as names follow it: `cart.add`, `Cart().add`, `rows[].name`; see the constants of this module
    for what has no name.
    """

    line_count: int
    definitions: tuple[Definition, ...]
    """A definition comes after the one around it."""
    calls: tuple[Call, ...]
    imports: tuple[Imported, ...]
    bindings: tuple[Binding, ...]
    exported: tuple[str, ...] | None = None
    """`__all__`, sorted; None: there is none."""
    is_exported_whole: bool = True
    """Whether `exported` is all of `__all__`; parts of it may be computed."""


class Unreadable(NamedTuple):
    """Why a file cannot be understood."""

    reason: str

"""What one file says, wherever it lies: definitions, calls by name, imports, and where its language cannot read it."""

from typing import NamedTuple

FILE = -1
"""The place of a file's own scope among its definitions."""


TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum", "record", "annotation"})
"""Kinds of definitions that have members and may extend others."""


class Parameter(NamedTuple):
    """One parameter, as it stands in the file."""

    name: str
    annotation: str = ""
    has_default: bool = False
    is_variadic: bool = False


class Definition(NamedTuple):
    """Something with a name and a stretch of lines."""

    name: str
    kind: str
    """In the words of the language: `class`, `trait`, `function`, `method`, `constant`, `namespace`, `test`, …"""
    lines: tuple[int, int]
    """With what belongs to it above: documentation, attributes, decorators."""
    line: int
    """Where the declaration itself begins."""
    parent: int
    """Place of the definition around it, which comes before it in the file's list; `FILE`."""
    owner: tuple[str, ...] = ()
    """Names of types and modules around it that are not defined around it: `impl Cart`, `func (c *Cart)`, `Cart::add`."""
    is_test: bool = False
    is_public: bool = True
    signature: str = ""
    """Without body, on one line."""
    documentation: str = ""
    parameters: tuple[Parameter, ...] = ()
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()


class Call(NamedTuple):
    """A place that calls something by name."""

    line: int
    scope: int
    name: str
    receiver: str | None
    """The last word before the dot; empty where it is no word; None: there is no dot."""


class Imported(NamedTuple):
    """One name that a file takes from elsewhere."""

    line: int
    module: str
    """As written, without quotes."""
    name: str | None = None
    """None: the module as a whole; `*`: all of its names."""
    alias: str | None = None


class Mistake(NamedTuple):
    """A place where the file is not what its language wants."""

    line: int
    message: str


class FileFacts(NamedTuple):
    """Everything the operations need of one file."""

    language: str
    line_count: int
    definitions: tuple[Definition, ...]
    """In the order in which they begin; a definition comes after the one around it."""
    calls: tuple[Call, ...]
    imports: tuple[Imported, ...]
    mistakes: tuple[Mistake, ...] = ()
    """The first few; none: the file can be read from its first line to its last."""
    doubts: tuple[str, ...] = ()
    """Why there may be more public names than are listed."""
    package: str = ""
    """What the file says it is part of: `package com.shop`, `namespace Shop`."""


class Unreadable(NamedTuple):
    """Why a file cannot be understood."""

    reason: str

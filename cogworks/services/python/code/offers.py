"""The names, types and signatures that files offer, read without importing them."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import griffe

from cogworks.domain_services.checking import Interface, Unread
from cogworks.domain_services.messages import Diagnostic
from cogworks.services.python.code.facts import MODULE, FileFacts
from cogworks.services.python.code.files import contents
from cogworks.services.python.code.gathering import in_utf8
from cogworks.services.python.code.repository import Code
from cogworks.vocabulary import Severity

MAX_VALUE_CHARS = 100
"""A longer value of an attribute is left out of its signature."""


class Offer(NamedTuple):
    """What the asked files offer, and why that may not be everything."""

    interfaces: tuple[Interface, ...]
    unread: tuple[Unread, ...]
    doubts: tuple[Diagnostic, ...]


def offer_of(code: Code, folder: Path) -> Offer:
    """The public names of files, by artifact and line."""
    interfaces: list[Interface] = []
    doubts: list[Diagnostic] = []
    unread = list(code.unread)
    for path, facts in code.files.items():
        doubts += _doubts(path, facts)
        data = contents(folder, path)
        text = data if isinstance(data, bytes) else b""
        try:
            module = _loaded(code.modules.names[path], folder / path, text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            # It was parsed before, and changed since or is read otherwise by this library.
            unread.append(
                Unread(artifact=path, reason=f"cannot be read: {str(error) or type(error).__name__}")
            )
            continue
        interfaces += sorted(_of_module(module, path), key=lambda each: (each.line or 0, each.name))
    return Offer(tuple(interfaces), tuple(unread), tuple(doubts))


def _loaded(name: str, file: Path, data: bytes) -> griffe.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return griffe.visit(name, filepath=file, code=in_utf8(data).decode(errors="replace"))


def _doubts(path: str, facts: FileFacts) -> Iterator[Diagnostic]:
    """What the text of a file leaves open about its names."""
    reasons = [
        f"takes every name of {each.module or 'its package'!r}; which ones is not listed here"
        for each in facts.imports
        if each.name == "*"
    ]
    if not facts.is_exported_whole:
        reasons.append("computes `__all__`, so only a part of it is known")
    if any(each.parent == MODULE and each.name == "__getattr__" for each in facts.definitions):
        reasons.append("makes up names in `__getattr__`, which nobody can list")
    for reason in reasons:
        yield Diagnostic(
            artifact=path, severity=Severity.INFORMATIONAL, category="completeness", message=reason
        )


def _of_module(owner: griffe.Module | griffe.Class, path: str) -> Iterator[Interface]:
    """The public members of a module or class, and those of the classes among them."""
    for member in owner.members.values():
        if not member.is_public:
            continue
        if isinstance(member, griffe.Alias):
            yield Interface(
                name=member.path,
                kind="alias",
                artifact=path,
                line=member.alias_lineno,
                signature=f"{member.name} = {member.target_path}",
            )
            continue
        yield Interface(
            name=member.path,
            kind=_kind(member, owner),
            artifact=path,
            line=member.lineno,
            signature=_encodable(_signature(member)),
            documentation=_encodable(member.docstring.value) if member.docstring else "",
        )
        if isinstance(member, griffe.Class):
            yield from _of_module(member, path)


def _encodable(text: str) -> str:
    """Without lone surrogates, which a source may name and no answer can carry."""
    return text.encode(errors="replace").decode()


def _kind(member: griffe.Object, owner: griffe.Module | griffe.Class) -> str:
    if isinstance(member, griffe.Function):
        return "method" if isinstance(owner, griffe.Class) else "function"
    if isinstance(member, griffe.Attribute) and "property" in member.labels:
        return "property"
    return str(member.kind.value)


def _signature(member: griffe.Object) -> str:
    if isinstance(member, griffe.Function):
        return "\n".join(_header(each) for each in (*(member.overloads or ()), member))
    if isinstance(member, griffe.Class):
        bases = ", ".join(str(base) for base in member.bases)
        return f"class {member.name}({bases})" if bases else f"class {member.name}"
    if isinstance(member, griffe.Attribute):
        annotation = f": {member.annotation}" if member.annotation is not None else ""
        value = "" if member.value is None else str(member.value)
        return f"{member.name}{annotation}" + (f" = {value}" if 0 < len(value) <= MAX_VALUE_CHARS else "")
    return member.name


def _header(function: griffe.Function) -> str:
    how = {"classmethod": "@classmethod ", "staticmethod": "@staticmethod "}
    ways = "".join(text for label, text in how.items() if label in function.labels)
    # Without the object or class itself a slash may be left at the front, where it means nothing.
    signature = function.signature().replace("(/, ", "(").replace("(/)", "()")
    return f"{ways}{'async ' if 'async' in function.labels else ''}def {signature}"

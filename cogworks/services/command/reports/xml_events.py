"""Reads XML of strangers element by element: no document type, no entities, and what stands before a break counts."""

import re
from collections.abc import Mapping
from typing import Protocol
from xml.etree.ElementTree import ParseError, XMLParser

from cogworks.services.command.reports.cases import MAX_REPORT_BYTES

_MAX_TEXT_CHARS = 64 * 1024


class Elements(Protocol):
    """Receives the elements of a document, in order, with names without their namespace."""

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def closed(self, tag: str, text: str) -> None:
        """`text` stands between the last tag and this one."""


class _Forbidden(Exception):
    """The document declares a type, by which it could declare entities."""


class _Target:
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._text: list[str] = []
        self._length = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        self._length = 0
        self._elements.opened(tag.rpartition("}")[2], attributes)

    def data(self, text: str) -> None:
        if self._length < _MAX_TEXT_CHARS:
            self._text.append(text)
            self._length += len(text)

    def end(self, tag: str) -> None:
        self._elements.closed(tag.rpartition("}")[2], "".join(self._text))
        self._text.clear()
        self._length = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise _Forbidden(name, pubid, system)

    def close(self) -> None:
        pass


_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""Begins text whose characters have two bytes."""
_COLOURS = re.compile(rb"\x1b\[[0-9;]{0,16}[A-Za-z]")
_CONTROLS = bytes(number for number in range(32) if number not in (9, 10, 13))


def _allowed(data: bytes) -> bytes:
    """Without what XML forbids and runners write all the same when tests print colours."""
    return data if data.startswith(_WIDE) else _COLOURS.sub(b"", data).translate(None, _CONTROLS)


def read_xml(data: bytes, elements: Elements) -> bool:
    """Tell of every element; whether the document was read to its end."""
    # Entities come from a document type alone, and the first one of those ends the reading.
    parser = XMLParser(target=_Target(elements))  # noqa: S314 - ends at a document type
    try:
        parser.feed(_allowed(data[:MAX_REPORT_BYTES]).lstrip())
        parser.close()
    except (ParseError, _Forbidden, LookupError, ValueError):
        return False
    return True

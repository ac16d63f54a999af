"""What each custom scalar of GitHub's schema looks like on the wire, and how Markdown appears as HTML and as plain text."""

import base64
import binascii
import html
import re
from collections.abc import Callable
from datetime import UTC, date, datetime

from graphql import GraphQLError, GraphQLScalarType, GraphQLSchema

Coercion = Callable[[object], object]

_OID = re.compile(r"[0-9a-f]{40}")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def _refused(kind: str, value: object) -> GraphQLError:
    return GraphQLError(f"Could not coerce value {value!r} to {kind}")


def date_time_out(value: object) -> str:
    """An ISO 8601 date with time, in UTC, to the second, ending in `Z`.

    Raises:
        GraphQLError: `value` is neither an aware `datetime` nor text in that form.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, str) and _DATE_TIME.fullmatch(value):
        return value
    raise _refused("DateTime", value)


def date_time_in(value: object) -> datetime:
    """The moment that a client's text names; text without a zone is UTC."""
    if not isinstance(value, str):
        raise _refused("DateTime", value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise _refused("DateTime", value) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def git_timestamp_out(value: object) -> str:
    """An ISO 8601 date with time that keeps the commit's own zone."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.isoformat(timespec="seconds").replace("+00:00", "Z")
    return date_time_out(value)


def date_out(value: object) -> str:
    """A calendar date, e.g. `2026-02-28`."""
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    raise _refused("Date", value)


def big_int_out(value: object) -> str:
    """A whole number as text, because it may not fit in 32 bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _refused("BigInt", value)


def big_int_in(value: object) -> int:
    """The whole number that a client sent as a number or as text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _refused("BigInt", value)
    try:
        return int(value)
    except ValueError:
        raise _refused("BigInt", value) from None


def oid(value: object) -> str:
    """A full git object name, forty lower-case hexadecimal digits."""
    if isinstance(value, str) and _OID.fullmatch(value):
        return value
    raise _refused("GitObjectID", value)


def text(value: object) -> str:
    """Text as it is."""
    if isinstance(value, str):
        return value
    raise _refused("String", value)


def base64_out(value: object) -> str:
    """Bytes in standard base64."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise _refused("Base64String", value)


def base64_in(value: object) -> bytes:
    """The bytes behind a client's base64 text, line breaks allowed."""
    if not isinstance(value, str):
        raise _refused("Base64String", value)
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise _refused("Base64String", "text that is not base64") from None


SCALARS: dict[str, tuple[Coercion, Coercion]] = {
    "Base64String": (base64_out, base64_in),
    "BigInt": (big_int_out, big_int_in),
    "Date": (date_out, text),
    "DateTime": (date_time_out, date_time_in),
    "GitObjectID": (oid, oid),
    "GitRefname": (text, text),
    "GitSSHRemote": (text, text),
    "GitTimestamp": (git_timestamp_out, date_time_in),
    "HTML": (text, text),
    "PreciseDateTime": (date_time_out, date_time_in),
    "URI": (text, text),
    "X509Certificate": (text, text),
}
"""Scalar -> (value to wire, wire to value)."""


def install(schema: GraphQLSchema) -> None:
    """Give the custom scalars of `schema` their coercions.

    Both generations of attribute names are set: graphql-core renamed them in 3.3 and reads only the new ones.
    """
    for name, (to_wire, from_wire) in SCALARS.items():
        scalar = schema.type_map.get(name)
        if not isinstance(scalar, GraphQLScalarType):
            continue
        for attribute in ("serialize", "coerce_output_value"):
            setattr(scalar, attribute, to_wire)
        for attribute in ("parse_value", "coerce_input_value"):
            setattr(scalar, attribute, from_wire)


_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)


def html_of(text: str) -> str:
    """The text as escaped paragraphs and preformatted blocks; inline markup stays as it was written."""
    parts = []
    position = 0
    for fence in _FENCE.finditer(text):
        parts += _paragraphs(text[position : fence.start()])
        parts.append(f"<pre><code>{html.escape(fence[1])}</code></pre>")
        position = fence.end()
    return "\n".join([*parts, *_paragraphs(text[position:])])


def _paragraphs(text: str) -> list[str]:
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text))
    return [f'<p dir="auto">{html.escape(block).replace(chr(10), "<br>")}</p>' for block in blocks if block]

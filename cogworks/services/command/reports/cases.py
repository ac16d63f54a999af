"""What every report format comes down to."""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

Outcome = Literal["passed", "failed", "error", "skipped"]
MAX_CASES = 100_000
MAX_MESSAGE_CHARS = 4_000
MAX_REPORT_BYTES = 64 * 1024**2
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")


class Case(NamedTuple):
    """One test, as its runner names it."""

    name: str
    """With what it stands in, e.g. `cart > adds`, `TestAdd/negative`, `cart::tests::adds`."""
    outcome: Outcome
    message: str = ""
    file: str = ""
    """As the report writes it: relative, absolute or empty."""
    group: str = ""
    """The class, package or program it belongs to; empty: the report does not say."""


class Problem(NamedTuple):
    """Something because of which tests could not be loaded."""

    message: str
    file: str = ""
    """As the report writes it; empty: it does not say."""
    line: int | None = None
    group: str = ""
    """The class, package or program that could not be loaded."""


class Parsed(NamedTuple):
    """What a report says."""

    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_cut: bool = False
    """Whether the report ends before its end, or cannot be read at all."""


def plain(text: str) -> str:
    """A text as a report keeps it: without colours and not longer than anybody reads."""
    return _ESCAPES.sub("", text[: 4 * MAX_MESSAGE_CHARS]).strip()[:MAX_MESSAGE_CHARS]


def bounded(cases: list[Case], problems: list[Problem], *, is_cut: bool = False) -> Parsed:
    """The first cases and problems, with short texts."""
    return Parsed(
        tuple(
            each._replace(name=_ESCAPES.sub("", each.name), message=plain(each.message))
            for each in cases[:MAX_CASES]
        ),
        tuple(each._replace(message=plain(each.message)) for each in problems[:MAX_CASES]),
        is_cut or len(cases) > MAX_CASES,
    )


def text_of(data: bytes) -> str:
    """What a report says, whatever its bytes are."""
    return data[:MAX_REPORT_BYTES].decode("utf-8", errors="replace")


def read_json(data: bytes) -> Any:
    """The value of a report, None where it is no JSON; what stands before the first brace is passed over."""
    text = text_of(data).lstrip("\ufeff")
    try:
        return json.loads(text[max(0, text.find("{")) :])
    except (ValueError, RecursionError):
        return None


def json_lines(data: bytes) -> Iterator[dict[str, Any] | str]:
    """Each line: an object, or the text of a line that is none."""
    for line in text_of(data).splitlines():
        try:
            value = json.loads(line) if line.lstrip().startswith("{") else line
        except (ValueError, RecursionError):
            value = line
        yield value if isinstance(value, dict) else line


def word(value: Any) -> str:
    """A field that should be a text."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """A field that should be an object."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """A field that should be a list."""
    return value if isinstance(value, list) else []


def number(value: Any) -> int | None:
    """A field that should be a line number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**7 else None

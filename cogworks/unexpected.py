"""Turns an answer that does not look as it was asked for into an error that says where."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from cogworks.errors import CogworksError

T = TypeVar("T")
Node = Mapping[str, Any]
_MAX_CHARS = 200


class UnexpectedAnswer(CogworksError):
    """GitHub, or something between it and us, answered what nobody asked for; nothing was written."""


@contextmanager
def expecting(place: str) -> Iterator[None]:
    """Whatever a foreign shape breaks inside the block becomes an `UnexpectedAnswer` at `place`.

    Args:
        place: the part of the answer that is looked at, e.g. `repository.issue`.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError) as error:
        raise unexpected(place, _description(error)) from error


def unexpected(place: str, content: str) -> UnexpectedAnswer:
    """The error for one part of an answer."""
    return UnexpectedAnswer(
        f"GitHub gave an unexpected answer at {place}: {content}. Nothing was written. Run the command again. "
        "If it stays, check what stands between this machine and GitHub, and report it."
    )


def each(nodes: object, place: str, parse: Callable[[Any], T]) -> tuple[T, ...]:
    """What `parse` makes of every entry of a list.

    Raises:
        UnexpectedAnswer: it is no list, or an entry does not fit; with its index.
    """
    parsed: list[T] = []
    for index, node in enumerate(entries(nodes, place)):
        with expecting(f"{place}[{index}]"):
            parsed.append(parse(node))
    return tuple(parsed)


def entries(nodes: object, place: str) -> list[Any]:
    """The list itself. Raises UnexpectedAnswer for anything else, which would pass for an empty one."""
    if not isinstance(nodes, list):
        raise unexpected(place, f"{type(nodes).__name__} in place of a list")
    return nodes


def _description(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"no {error.args[0]!r}" if error.args else "a key is missing"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}, {'; '.join(lines[:3])}"[:_MAX_CHARS]

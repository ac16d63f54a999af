"""Edits that were tried have a number, so that a later turn need not send them again; pure rules over what a model wrote."""

from collections.abc import Mapping, Sequence
from typing import Any

Edits = tuple[Mapping[str, Any], ...]
"""Replacements as a model writes them: `path`, `search` and `replace`."""


def going_on_from(number: object, edits: Sequence[Mapping[str, Any]], tries: Sequence[Edits]) -> Edits:
    """The edits of a try and more of them, so that all are placed in the files as they are.

    One that replaces the same text takes the place of the earlier one. One of a text that an earlier one wrote changes that one.

    Args:
        number: of the try, from 1 on; 0: none.
        tries: the edits of each try so far.

    Raises:
        LookupError: there is no such try.
    """
    if not isinstance(number, int) or not 0 <= number <= len(tries):
        raise LookupError(f"there is no try {number}; {len(tries)} were made so far")
    joined: list[dict[str, Any]] = [dict(each) for each in (tries[number - 1] if number else ())]
    for edit in edits:
        if not any(_is_taken_up(edit, each) for each in joined if each["path"] == edit["path"]):
            joined.append(dict(edit))
    return tuple(joined)


def _is_taken_up(edit: Mapping[str, Any], earlier: dict[str, Any]) -> bool:
    """Whether an earlier edit of the same file has become one that does both."""
    if earlier["search"] == edit["search"]:
        earlier["replace"] = edit["replace"]
        return True
    # `count` finds an empty text everywhere.
    if edit["search"] and earlier["replace"].count(edit["search"]) == 1:
        earlier["replace"] = earlier["replace"].replace(edit["search"], edit["replace"])
        return True
    return False


def are_edits(value: object) -> bool:
    """Whether a value has the form of edits."""
    return isinstance(value, list | tuple) and all(
        isinstance(each, Mapping)
        and all(isinstance(each.get(name), str) for name in ("path", "search", "replace"))
        for each in value
    )


def completed(
    looks: Sequence[Mapping[str, Any]], tries: Sequence[Edits]
) -> tuple[Sequence[Mapping[str, Any]], tuple[Edits, ...]]:
    """The looks, their tries with all the edits that they stand for, and the tries so far with these.

    A try that goes on from one that is not there stays as it is: whoever carries it out says so.

    Args:
        looks: fit their schema.
    """
    complete: list[Mapping[str, Any]] = []
    for look in looks:
        if look.get("look") != "try":
            complete.append(look)
            continue
        try:
            edits = going_on_from(look.get("after", 0), look.get("edits", ()), tries)
        except LookupError:
            complete.append(look)
            continue
        tries = (*tries, edits)
        complete.append({**look, "after": 0, "edits": list(edits)})
    return complete, tuple(tries)


def numbers_of(tries: Sequence[Edits], before: int) -> str:
    """What a model is told of the numbers of its newest tries; empty where there are none.

    Args:
        before: how many there were before these.
    """
    numbers = range(before + 1, len(tries) + 1)
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"\n\nThis `try` has the number {numbers[0]}."
    return f"\n\nThese tries have the numbers {', '.join(map(str, numbers))}, in their order."

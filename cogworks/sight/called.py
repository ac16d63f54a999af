"""What a definition uses of its own file: without it nobody can say where a fault is, or write a test like it."""

import re
from collections.abc import Collection, Sequence

from cogworks.sight.cards import Outlined

_HELPERS = frozenset(["function", "method", "class"])
_MAX_HELPER, _MOST_HELPERS = 40, 3
"""Lines of what a test uses of its own file, and how much of it is shown beside it."""
_MOST_CALLED = 4
_WORD = re.compile(r"\w{4,}")
_CALL = re.compile(
    r"(?<![\w$.>:])(?:(?P<around>[\w$@]{1,60})(?:\?\.|\.|->|::))?(?P<name>[A-Za-z_$][\w$]{2,80}[!?]?)(?:(?:::)?<[^<>()\n]{0,80}>)?(?:\(|(?<=[!?])\s)"
)
"""A name that is called, and what stands before its dot."""
_OWN = frozenset(["self", "cls", "this", "Self", "super", "$this"])
_RECEIVER = re.compile(r"func \((\w+)\s")
"""What a method of Go calls its own object."""
_NO_CODE = frozenset(["test", "section"])
_USERS = frozenset(["function", "method"])


def used_by_test(
    place: int, definitions: Sequence[Outlined], text: str, *, but: Collection[int] = ()
) -> list[int]:
    """Places of the helpers that a test names, in the order of the file: of its own class or group, and of no class at all.

    Another class may have a method of the same name, and nothing of it runs in this test.

    Args:
        text: what is the test's own.
        but: places that are shown already.
    """
    words = frozenset(_WORD.findall(text))
    around = {-1, place, *_around(place, definitions)}
    return [
        other
        for other, each in enumerate(definitions)
        if each.name in words
        and each.name != definitions[place].name
        and each.parent in around
        and other not in (place, *but)
        and not each.name.lower().startswith("test")
        and each.kind in _HELPERS
        and each.last - each.first < _MAX_HELPER
    ][:_MOST_HELPERS]


def _around(place: int, definitions: Sequence[Outlined]) -> list[int]:
    """Places of the classes or groups that a definition is in, the nearest first."""
    around = []
    while (place := definitions[place].parent) >= 0:
        around.append(place)
    return around


def called_by(
    place: int,
    definitions: Sequence[Outlined],
    code: str,
    *,
    scores: Sequence[float] = (),
    but: Collection[int] = (),
) -> list[int]:
    """Places of the functions of the same file that a definition calls, those that matter most first, else in the order of the calls.

    A method counts where it is called on the object itself.

    Args:
        code: of the definition, without its documentation.
        scores: how much the request is about each definition; none: all alike.
        but: places that are shown already.
    """
    own = definitions[place]
    mine = {*_OWN, *_RECEIVER.findall(own.signature)}
    called = [each["name"] for each in _CALL.finditer(code) if not each["around"] or each["around"] in mine]
    by_name: dict[str, int] = {}
    for other, each in enumerate(definitions):
        is_near = each.parent in (-1, own.parent, place)
        if not is_near or each.name == own.name or each.kind in _NO_CODE:
            continue
        # Of several with one name, as overloads have it, the longest has the code.
        known = by_name.get(each.name)
        if known is None or _length(each) > _length(definitions[known]):
            by_name[each.name] = other
    places = (by_name[name] for name in dict.fromkeys(called) if name in by_name)
    return _best([other for other in places if other not in but], scores)


def users_of(
    place: int,
    definitions: Sequence[Outlined],
    texts: Sequence[str],
    *,
    scores: Sequence[float] = (),
    but: Collection[int] = (),
) -> list[int]:
    """Places of the functions of the same file that use a constant or a variable, those that matter most first.

    Args:
        texts: of each definition, what is its own.
        scores, but: as of `called_by`.
    """
    name = re.compile(rf"(?<![\w$]){re.escape(definitions[place].name)}(?![\w$])")
    places = [
        other
        for other, each in enumerate(definitions)
        if other not in (place, *but) and each.kind in _USERS and name.search(texts[other])
    ]
    return _best(places, scores)


def _best(places: Sequence[int], scores: Sequence[float]) -> list[int]:
    return sorted(places, key=lambda other: -scores[other] if scores else 0.0)[:_MOST_CALLED]


def _length(each: Outlined) -> int:
    return each.last - each.first

"""Files whose own name a request says: `no-var`, `egg_info`, or `neighbor degree` for `neighbor_degree.py`."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from cogworks.sight.words import terms_of

_HELD_BY_FOLDER = frozenset({"__init__", "index", "mod", "main"})
"""Names of files that are called by the folder they are in."""


def said_names(paths: Iterable[tuple[int, str]], terms: Mapping[str, float]) -> dict[int, float]:
    """How much a request says of the name of each file, and how rare that name is among files.

    Half of a name says little: a quarter of what all of it says.

    Args:
        paths: place and path of files.
        terms: of the request, with their weights.
    """
    names = {place: frozenset(terms_of(_called(path))) for place, path in paths}
    often = Counter(term for name in names.values() for term in name)
    rarity = {term: math.log(1 + len(names) / times) for term, times in often.items()}
    found: dict[int, float] = {}
    for place, name in names.items():
        if said := sorted(name & terms.keys()):
            share = sum(rarity[term] for term in said) / sum(rarity[term] for term in sorted(name))
            found[place] = share * share * sum(rarity[term] * math.sqrt(terms[term]) for term in said)
    return found


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _called(path: str) -> str:
    folder, stem = path.rpartition("/")[0], _stem(path)
    return folder.rpartition("/")[2] if stem in _HELD_BY_FOLDER and folder else stem

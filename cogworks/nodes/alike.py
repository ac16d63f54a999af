"""Which other issues and merged pull requests may say what an issue says: by their words, rare ones first, and no model."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from cogworks.forge.markers import work_prefix
from cogworks.forge.neighbours import Neighbour
from cogworks.nodes.task import WorkItem
from cogworks.sight.words import terms_of

MOST = 5
"""That a model is shown."""
NEAR_ENOUGH = 0.2
"""Of 1; what is said of the same place in other words has a third and more, what only shares a subject less than a sixth."""
MAX_CHARS = 4_000
"""Of a body that take part."""
_TITLE = 3.0
"""How much a word of a title counts beside one of a body."""


def alike(item: WorkItem, neighbours: Sequence[Neighbour], *, sub_item_label: str) -> tuple[Neighbour, ...]:
    """The items that are likest to an issue, the likest first; nothing of the issue's own work is among them.

    Args:
        sub_item_label: what parts of other items wear, which nobody asked for by themselves.
    """
    own = work_prefix(item.number)
    others = [
        each
        for each in neighbours
        if each.number != item.number and not each.head.startswith(own) and sub_item_label not in each.labels
    ]
    wanted = _weights(item.title, item.body)
    found = [_weights(each.title, each.body) for each in others]
    spread = Counter(term for weights in (wanted, *found) for term in weights)
    rarity = {term: math.log(1 + (len(others) + 1) / count) for term, count in spread.items()}
    scored = [(_cosine(wanted, weights, rarity), each) for each, weights in zip(others, found, strict=True)]
    near = [(score, each) for score, each in scored if score >= NEAR_ENOUGH]
    near.sort(key=lambda pair: (-pair[0], pair[1].number))
    return tuple(each for _, each in near[:MOST])


def _weights(title: str, body: str) -> Mapping[str, float]:
    weights = {term: 1.0 + math.log(count) for term, count in Counter(terms_of(body[:MAX_CHARS])).items()}
    for term in terms_of(title):
        weights[term] = max(weights.get(term, 0.0), _TITLE)
    return weights


def _cosine(one: Mapping[str, float], other: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    size = math.hypot(*(weight * rarity[term] for term, weight in one.items())) * math.hypot(
        *(weight * rarity[term] for term, weight in other.items())
    )
    shared = sum(weight * other[term] * rarity[term] ** 2 for term, weight in one.items() if term in other)
    return min(1.0, shared / size) if size else 0.0

"""How much of what a failure says stands in a definition, where rare words say more than common ones."""

import math
import re
from collections import Counter
from collections.abc import Mapping

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
"""`total_weight`, `TotalWeight` and "total weight" are the same two words."""
_SHORTEST = 3


def likenesses(text: str, documents: Mapping[str, str]) -> dict[str, float]:
    """Cosine between a text and each document, 0 to 1, of their words by frequency and rarity.

    A word that stands in every document tells none of them from the others and counts nothing. Source: Zhou et al.,
    "Where Should the Bugs Be Fixed?", ICSE 2012.

    Args:
        documents: by id.
    """
    counted = {name: _words(document) for name, document in documents.items()}
    spread = Counter(word for words in counted.values() for word in words)
    rarity = {word: math.log((len(documents) + 1) / (count + 1)) for word, count in spread.items()}
    wanted = _weighed({word: count for word, count in _words(text).items() if word in rarity}, rarity)
    return {name: _cosine(wanted, _weighed(words, rarity)) for name, words in counted.items()}


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text) if len(word) >= _SHORTEST)


def _weighed(words: Mapping[str, int], rarity: Mapping[str, float]) -> dict[str, float]:
    return {word: (1 + math.log(count)) * rarity[word] for word, count in words.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    size = math.hypot(*one.values()) * math.hypot(*other.values())
    shared = sum(weight * other[word] for word, weight in one.items() if word in other)
    return min(1.0, shared / size) if size else 0.0

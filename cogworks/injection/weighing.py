"""How much a text reads like an order to a model: the statistical layer beside the signatures, learned from the corpora of this repository."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from cogworks.injection.decoding import decoded_parts, rewritten
from cogworks.injection.features import Features, Sentence, sentences, together
from cogworks.injection.folding import folded, skeleton

WINDOW = 100
"""Words that are weighed together, at least; an order is a sentence or two, and what is around it tells what it is about."""
_MAX_DEPTH = 2
# A word of two scripts is a disguise; one of another script is another language.
_MIXED = re.compile(r"\b(?=\w*[a-z])(?=\w*[^\W\d_a-z])\w{2,40}\b")
# It puts strings together that stand near each other, so it finds something in nearly any code.
_UNFIT = "pieces of strings"


class Weighed(NamedTuple):
    """The window of a text that reads most like an order."""

    score: float
    kind: str
    line: int
    """From 0."""
    how: str
    said: str
    """The sentence of it that counts most."""


@dataclass(frozen=True)
class Weights:
    """What was learned."""

    version: str
    hold_at: float
    mark_at: float
    bias: float
    scale: float
    """What the whole numbers of the file are multiplied with."""
    groups: tuple[Mapping[str, int], ...]
    """For each group of features, what each of them weighs."""
    kinds: Mapping[str, Mapping[str, int]]
    """Kind of attack -> topic -> what it says for this kind; `` stands for how frequent the kind is."""

    def sum_of(self, features: Features) -> float:
        """How much some features speak for an order, the bias apart."""
        total = 0.0
        for found, weights in zip(features, self.groups, strict=True):
            if found:
                total += sum(weights.get(each, 0) for each in found) / math.sqrt(len(found))
        return total * self.scale

    def score(self, features: Features) -> float:
        return self.bias + self.sum_of(features)

    def kind_of(self, features: Features) -> str:
        """Which kind of attack these features are most likely of."""
        sums = {
            kind: weights.get("", 0) + sum(weights.get(topic, 0) for topic in features.topics)
            for kind, weights in self.kinds.items()
        }
        return max(sorted(sums), key=lambda kind: sums[kind])


@cache
def bundled() -> Weights:
    """The weights that ship with the program."""
    return parse_weights((files("cogworks.injection") / "weights.json").read_text(encoding="utf-8"))


def parse_weights(text: str) -> Weights:
    """Raises: ValueError: the text is no file of weights."""
    data: dict[str, Any] = json.loads(text)
    if missing := {"version", "hold_at", "mark_at", "bias", "scale", "kinds", *Features._fields} - {*data}:
        message = f"weights.json lacks {', '.join(sorted(missing))}; scripts/train-injection writes it"
        raise ValueError(message)
    return Weights(
        version=data["version"],
        hold_at=data["hold_at"],
        mark_at=data["mark_at"],
        bias=data["bias"],
        scale=data["scale"],
        groups=tuple(data[name] for name in Features._fields),
        kinds=data["kinds"],
    )


def weigh(text: str, plain: str | None = None) -> Weighed | None:
    """What in a text reads most like an order; None where it holds no word.

    Args:
        plain: the text, folded, where that is known.
    """
    weights = bundled()
    best: tuple[float, Sequence[Sentence], Features] | None = None
    for window in windows(tuple(sentences_of(text, plain))):
        features = together(each.features for each in window)
        score = weights.score(features)
        if best is None or score > best[0]:
            best = (score, window, features)
    if best is None:
        return None
    loudest = max(best[1], key=lambda each: weights.sum_of(each.features))
    return Weighed(best[0], weights.kind_of(best[2]), loudest.line, loudest.how, loudest.text)


def sentences_of(text: str, plain: str | None = None) -> Iterator[Sentence]:
    """The sentences of a text, then those that show once an encoding is off."""
    open_text = folded(text) if plain is None else plain
    yield from sentences(_latinised(open_text))
    yield from _decoded(text, text, depth=0)
    lines = open_text.split("\n")
    for whole in rewritten(text):
        if whole.encoding == _UNFIT:
            continue
        for at, line in enumerate(folded(whole.text).split("\n")):
            if at >= len(lines) or line != lines[at]:
                yield from sentences(line, line=min(at, len(lines) - 1), how=whole.encoding)


def _latinised(text: str) -> str:
    return text if text.isascii() else _MIXED.sub(lambda found: skeleton(found[0]), text)


def _decoded(text: str, outer: str, *, depth: int, line: int = -1) -> Iterator[Sentence]:
    for part in decoded_parts(text):
        at = line if depth else outer.count("\n", 0, part.start)
        yield from sentences(folded(part.text), line=at, how=part.encoding)
        if depth < _MAX_DEPTH:
            yield from _decoded(part.text, outer, depth=depth + 1, line=at)


def windows(parts: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    """Stretches of at least `WINDOW` words; each begins half a window after the one before."""
    start = 0
    while start < len(parts):
        end, middle, size = start, start + 1, 0
        while end < len(parts) and size < WINDOW:
            size += parts[end].size
            end += 1
            if size <= WINDOW // 2:
                middle = end
        yield parts[start:end]
        if end == len(parts):
            return
        start = max(middle, start + 1)


def features_of(text: str) -> list[Features]:
    """Of each window of a text, as training sees it."""
    return [_of(window) for window in windows(tuple(sentences_of(text)))]


def _of(window: Iterable[Sentence]) -> Features:
    return together(each.features for each in window)

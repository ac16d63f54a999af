"""What a prompt shows of files of other repositories: the likeliest first, each at the best level that its room allows."""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from cogworks.sight.cards import Card, card_of
from cogworks.sight.excerpts import excerpt
from cogworks.sight.matching import Sought
from cogworks.sight.outlines import outline_text, sections_of
from cogworks.sight.question import Beside
from cogworks.sight.stretches import tokens_of

_K1, _NAMES_WEIGHT = 1.2, 3.0
_FIRST_SHARE = 0.6
"""Of the room left, what one file may take while others wait."""


class ShownBeside(NamedTuple):
    """One file of another repository, as it is shown."""

    name: str
    level: Literal["whole", "slices", "outline"]
    text: str
    score: float
    why: str


def shown_beside(files: Sequence[Beside], sought: Sought, room: int) -> Iterator[ShownBeside]:
    """Those that there is room for; files that say nothing of the request come last, by name."""
    cards = [(each, card_of(each.path, each.text)) for each in files]
    scored = [(score_of(card, sought), each, card) for each, card in cards]
    scored.sort(key=lambda entry: (-entry[0], entry[1].name))
    for place, (score, each, card) in enumerate(scored):
        share = 1.0 if place == len(scored) - 1 else _FIRST_SHARE
        shown = _at_best_level(each, card, sought, round(room * share), score)
        if shown is not None:
            room -= tokens_of(shown.text)
            yield shown


def score_of(card: Card, sought: Sought) -> float:
    """How much a file has in common with a request, by its words and the names of its definitions."""
    total = 0.0
    for term, weight in sought.terms.items():
        often = card.text.get(term, 0) + _NAMES_WEIGHT * card.names.get(term, 0)
        # A word that is said a hundred times says little more than one that is said ten times.
        total += math.sqrt(weight) * often / (_K1 + often)
    return round(total, 6)


def _at_best_level(each: Beside, card: Card, sought: Sought, room: int, score: float) -> ShownBeside | None:
    if not each.text.strip() or room <= 0:
        return None
    if tokens_of(each.text) <= room:
        return ShownBeside(each.name, "whole", each.text, score, each.why)
    lines = each.text.splitlines()
    definitions = card.definitions or sections_of(each.path, lines)
    cut = excerpt(each.path, lines, definitions, sought, room)
    if cut is not None and cut.text:
        return ShownBeside(each.name, "slices", cut.text, score, each.why)
    outline = outline_text(definitions, [0.0] * len(definitions), room)
    return ShownBeside(each.name, "outline", outline, score, each.why) if outline else None

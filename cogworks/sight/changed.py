"""What of a long file is shown to whoever needs to see what was changed in it, and not the rest."""

from collections.abc import Collection

from cogworks.sight.excerpts import excerpt
from cogworks.sight.index import Index
from cogworks.sight.matching import Sought
from cogworks.sight.sections import sections_of
from cogworks.sight.sizes import tokens_of
from cogworks.sight.stretches import numbered_slices


def around_changes(
    index: Index, path: str, added: Collection[int], *, room_tokens: int, is_test: bool = False
) -> str | None:
    """The definitions that hold the added lines, with line numbers.

    Args:
        added: numbers of lines, from 1, in the file as the tree has it.
        room_tokens: a file that fits is not cut.
        is_test: its beginning, with imports and what its tests share, is shown as well.

    Returns:
        None where the file fits whole, or where nothing of it can be cut.
    """
    text = index.text(path)
    if not added or tokens_of(text) <= room_tokens:
        return None
    lines = text.splitlines()
    card = index.cards([path]).get(path)
    definitions = (card.definitions if card is not None else ()) or sections_of(path, lines)
    found = excerpt(
        path,
        lines,
        definitions,
        Sought({}, touched={path: tuple(sorted(added))}),
        room_tokens,
        is_test=is_test,
    )
    # What else is in it would only fill the room; whoever wants to know asks for the outline.
    return numbered_slices(lines, found.stretches) if found is not None and found.stretches else None

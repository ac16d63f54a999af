"""Files as the index keeps them: what is made of so many that are read together, in whichever process that is."""

import json
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cogworks.sight.cards import as_text, cards_of

_FILES = 250
_CHARS = 4_000_000
_FEW = 50
"""So many cards are made together."""
POSTING = struct.Struct("3I")
"""The place of a card in its batch, how often the term is in its text and in its names."""
_HEADER = struct.Struct(">I")


class Unread(NamedTuple):
    """A file whose content nobody has read for the index yet."""

    name: str
    """Of its content."""
    path: str
    text: str


class Row(NamedTuple):
    """What is kept of one content besides its terms."""

    name: str
    length: int
    """In terms."""
    is_generated: bool
    facts: str


class Batch(NamedTuple):
    """What is kept of files that were read together."""

    rows: Sequence[Row]
    postings: Mapping[str, bytes]
    """Term -> where it is, one `POSTING` after the other. One row of the index for all of them: a row for each would cost as much as
    half of the parsing."""
    defined: Sequence[tuple[str, int]]
    """Names of definitions, sorted, and the places of the rows that have them."""


def batch_of(files: Sequence[Unread]) -> Batch:
    """What is kept of files; never raises."""
    rows: list[Row] = []
    postings: dict[str, list[int]] = defaultdict(list)
    defined: set[tuple[str, int]] = set()
    for some in range(0, len(files), _FEW):
        cards = cards_of([(path, text) for _, path, text in files[some : some + _FEW]])
        for place, card in enumerate(cards, some):
            rows.append(Row(files[place].name, card.length, card.is_generated, as_text(card)))
            names = card.names
            for term, often in card.text.items():
                postings[term] += (place, often, names.get(term, 0))
            for term in names.keys() - card.text.keys():
                postings[term] += (place, 0, names[term])
            defined.update((each.name, place) for each in card.definitions)
    # Sorted: what stands next to each other in the file of the index is written one after the other.
    packed = {term: array("I", numbers).tobytes() for term, numbers in sorted(postings.items())}
    return Batch(rows, packed, sorted(defined))


def in_batches(files: Iterable[Unread]) -> Iterator[list[Unread]]:
    """Files to be read together: the same ones, whoever reads them."""
    some: list[Unread] = []
    chars = 0
    for file in files:
        some.append(file)
        chars += len(file.text)
        if len(some) == _FILES or chars >= _CHARS:
            yield some
            some, chars = [], 0
    if some:
        yield some


def files_as_bytes(files: Sequence[Unread]) -> bytes:
    """Files on their way to another process."""
    return json.dumps(files).encode()


def files_in(data: bytes) -> list[Unread]:
    """What `files_as_bytes` wrote."""
    return [Unread(*each) for each in json.loads(data)]


def as_bytes(batch: Batch) -> bytes:
    """A batch on its way from another process."""
    sizes = {term: len(packed) for term, packed in batch.postings.items()}
    header = json.dumps([batch.rows, sizes, batch.defined]).encode()
    return b"".join((_HEADER.pack(len(header)), header, *batch.postings.values()))


def from_bytes(data: bytes) -> Batch:
    """What `as_bytes` wrote.

    Raises:
        ValueError: it is not that, or not all of it.
    """
    if len(data) < _HEADER.size:
        raise ValueError("cut off")
    at = _HEADER.size + _HEADER.unpack_from(data)[0]
    rows, sizes, defined = json.loads(data[_HEADER.size : at])
    postings = {}
    for term, size in sizes.items():
        postings[term] = data[at : at + size]
        at += size
    if at != len(data):
        raise ValueError("cut off")
    return Batch([Row(*each) for each in rows], postings, [(name, place) for name, place in defined])

"""Bytes become the same events however they are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.llm.providers.events import Event, Events

STREAM = (
    ": hello\n\nevent: a\ndata: {1}\n\n: keep-alive\r\n\r\ndata:two\rdata: lines é\r\rid: 7\nretry: 5\n\n"
    "event: alone\n\ndata\n\n"
).encode()
FOUND = (Event("a", "{1}"), Event("", "two\nlines é"), Event("", ""))


def read(*pieces: bytes) -> tuple[Event, ...]:
    events = Events()
    return tuple(event for piece in pieces for event in events.after(piece))


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_it_does_not_matter_where_a_stream_is_cut(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(STREAM)]

    assert read(*(STREAM[start:end] for start, end in pairwise(bounds))) == FOUND


def test_an_event_that_has_not_ended_is_none() -> None:
    events = Events()

    assert list(events.after(b"data: half")) == []
    assert events.pending_bytes == len(b"data: half")


def test_what_is_no_text_is_told() -> None:
    with pytest.raises(UnicodeDecodeError):
        read(b"data: \xff\n\n")

"""Lines of a file as they are written out."""

from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.stretches import shortened


@given(st.integers(0, 2_000))
def test_a_line_is_cut_only_where_that_saves_room_and_says_by_how_much(length: int) -> None:
    line = "x" * length

    shown = shortened(line)

    assert len(shown) <= max(len(line), 430)
    if shown != line:
        kept, _, count = shown.removesuffix(" more characters").partition(" … ")
        assert len(shown) < len(line)
        assert len(kept) + int(count) == length

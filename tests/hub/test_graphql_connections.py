from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.graphql.connections import Connection, InvalidCursor, connect, decode_cursor, encode_cursor

SEQUENCES = st.lists(st.integers(), unique=True, max_size=40)
SIZES = st.integers(min_value=1, max_value=12)


def page(items: Sequence[int], **paging: Any) -> Connection[int]:
    return connect(items, paging, key=lambda item: item)


@given(items=SEQUENCES, size=SIZES)
def test_walking_forward_yields_every_item_once_in_order(items: list[int], size: int) -> None:
    walked: list[object] = []
    after = None
    while True:
        found = page(items, first=size, after=after)
        walked += found.nodes
        if not found.page_info["hasNextPage"]:
            break
        after = found.page_info["endCursor"]

    assert walked == items


@given(items=SEQUENCES, size=SIZES)
def test_walking_backward_yields_every_item_once_in_order(items: list[int], size: int) -> None:
    walked: list[object] = []
    before = None
    while True:
        found = page(items, last=size, before=before)
        walked = [*found.nodes, *walked]
        if not found.page_info["hasPreviousPage"]:
            break
        before = found.page_info["startCursor"]

    assert walked == items


@given(items=SEQUENCES, new=SEQUENCES, size=SIZES)
def test_items_added_at_the_end_during_a_walk_are_met_and_none_is_met_twice(
    items: list[int], new: list[int], size: int
) -> None:
    first = page(items, first=size)
    grown = [*items, *(item for item in new if item not in items)]

    rest = page(grown, first=100, after=first.page_info["endCursor"])

    assert [*first.nodes, *rest.nodes] == (grown if first.nodes else grown[:100])


@given(items=st.lists(st.integers(), unique=True, min_size=2, max_size=40), gone=st.data())
def test_a_cursor_whose_item_is_gone_continues_where_it_was(items: list[int], gone: st.DataObject) -> None:
    position = gone.draw(st.integers(min_value=0, max_value=len(items) - 2))
    cursor = page(items).cursor(position)
    left = [item for item in items if item != items[position]]

    assert page(left, first=100, after=cursor).nodes == items[position + 1 :]


def test_a_page_carries_a_cursor_for_each_of_its_items() -> None:
    found = page([10, 20, 30], first=2)

    assert [(edge.node, decode_cursor(edge.cursor)) for edge in found.edges] == [
        (10, (0, "10")),
        (20, (1, "20")),
    ]
    assert found.page_info == {
        "hasNextPage": True,
        "hasPreviousPage": False,
        "startCursor": encode_cursor(0, 10),
        "endCursor": encode_cursor(1, 20),
    }


def test_an_empty_page_has_no_cursors() -> None:
    assert page([], first=5).page_info == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "startCursor": None,
        "endCursor": None,
    }


@pytest.mark.parametrize(
    "cursor", ["", "nonsense", "Zm9v", encode_cursor(1, "x")[:-1], "Y3Vyc29yOnYyOng6MQ=="]
)
@pytest.mark.parametrize("bound", ["after", "before"])
def test_a_text_that_is_no_cursor_is_refused(cursor: str, bound: str) -> None:
    with pytest.raises(InvalidCursor) as refusal:
        page([1, 2, 3], first=3, **{bound: cursor})

    assert str(refusal.value) == f"`{cursor}` does not appear to be a valid cursor."


def test_a_cursor_beyond_the_end_selects_nothing() -> None:
    assert page([1, 2], first=2, after=encode_cursor(9, "gone")).nodes == []


def test_both_bounds_cut_the_same_sequence() -> None:
    items = list(range(10))
    cursors = page(items)

    found = page(items, after=cursors.cursor(2), before=cursors.cursor(8), last=2)

    assert found.nodes == [6, 7]

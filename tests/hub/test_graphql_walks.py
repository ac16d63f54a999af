"""Walking real listings page by page."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hub.graphql_world import Hub, running_hub

LISTINGS: dict[str, tuple[str, str]] = {
    "issues": ("issues({}, orderBy: {{field: UPDATED_AT, direction: DESC}})", "nodes { id }"),
    "comments": ("issue(number: 1) {{ comments({})", "nodes { id } } "),
    "timeline": ("issue(number: 1) {{ timelineItems({})", "nodes { ... on Node { id } } }"),
    "refs": ('refs({}, refPrefix: "refs/heads/")', "nodes { id }"),
    "labels": ("labels({}, orderBy: {{field: NAME, direction: ASC}})", "nodes { id }"),
    "history": ('object(expression: "main") {{ ... on Commit {{ history({})', "nodes { id } } }"),
}


@pytest.fixture(scope="module")
def long_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(Path(tmp_path_factory.mktemp("long"))) as hub:
        first = hub.issue("0")
        for number in range(1, 8):
            hub.issue(str(number), body="see #1")
            hub.mutate("addComment", "clientMutationId", subjectId=first["id"], body=str(number))
            hub.branch(f"b{number}")
            hub.commit("main", {"n": str(number)})
        yield hub


def page(hub: Hub, listing: str, arguments: str) -> tuple[list[str], dict[str, Any]]:
    """The ids of one page and its page info."""
    start, nodes = LISTINGS[listing]
    info = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
    found: Any = hub.repo(f"{start.format(arguments)} {{ {info} {nodes} }}")
    while "pageInfo" not in found:
        found = next(iter(found.values()))
    return [node["id"] for node in found["nodes"]], found["pageInfo"]


def walked(read: Callable[[str], tuple[list[str], dict[str, Any]]], size: int, *, forward: bool) -> list[str]:
    count, bound, more, cursor = (
        ("first", "after", "hasNextPage", "endCursor")
        if forward
        else ("last", "before", "hasPreviousPage", "startCursor")
    )
    ids, info = read(f"{count}: {size}")
    while info[more]:
        further, info = read(f'{count}: {size}, {bound}: "{info[cursor]}"')
        ids = ids + further if forward else further + ids
    return ids


@pytest.mark.parametrize("listing", LISTINGS)
@settings(max_examples=8)
@given(size=st.integers(min_value=1, max_value=20), forward=st.booleans())
def test_every_item_is_met_once_in_order_whatever_the_page_size(
    long_hub: Hub, listing: str, size: int, forward: bool
) -> None:
    everything, _ = page(long_hub, listing, "first: 100")

    ids = walked(lambda arguments: page(long_hub, listing, arguments), size, forward=forward)

    assert len(everything) >= 7
    assert ids == everything

"""Opaque ids of objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.node_ids import Role, node_id, parse_node_id


@given(
    st.from_regex(r"[A-Z][A-Za-z]+", fullmatch=True), st.integers(1), st.from_regex(r"[!-~]+", fullmatch=True)
)
def test_an_id_says_what_it_was_made_of(type_name: str, number: int, rest: str) -> None:
    made = node_id(type_name, number, rest)

    assert parse_node_id(made) == (type_name, f"{number}:{rest}")
    assert "=" not in made


@pytest.mark.parametrize("text", ["", "!", "abc", "SXNzdWU", "SXNzdWU6", "ä", "/w", "a" * 5])
def test_what_is_no_id_is_told_apart(text: str) -> None:
    assert parse_node_id(text) is None


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    parse_node_id(text)


def test_a_role_covers_all_weaker_ones() -> None:
    assert [role.value for role in Role if Role.WRITE.covers(role)] == ["none", "read", "triage", "write"]

"""Edits that were tried need not be sent again: a later try, or the answer, names them by number."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.codebase.diffmodel import post_image
from cogworks.codebase.diffplacing import Replacement, normalised_replacements
from cogworks.llm.tries import are_edits, completed, going_on_from, numbers_of

TEXT = "one\ntwo\nthree\nfour\n"


def edit(search: str, replace: str, path: str = "a.py") -> dict[str, str]:
    return {"path": path, "search": search, "replace": replace}


def after(edits: Sequence[Mapping[str, Any]], text: str = TEXT) -> str | None:
    """The file with the edits placed in it; None: they have no place."""
    placed = normalised_replacements([Replacement(**each) for each in edits], {"a.py": text})
    return post_image(placed.diff.files[0], text) if placed.diff else None


def test_what_comes_on_top_of_a_try_stands_behind_it() -> None:
    tries = ((edit("one", "1"),), (edit("two", "2"), edit("", "new\n", "b.py")))

    assert going_on_from(0, [edit("four", "4")], tries) == (edit("four", "4"),)
    assert going_on_from(1, [], tries) == tries[0]
    assert going_on_from(2, [edit("four", "4")], tries) == (*tries[1], edit("four", "4"))


def test_an_edit_of_what_a_try_wrote_changes_that() -> None:
    tries = ((edit("", "x = 1\ny = 2\n", "b.py"), edit("two", "zwei\ndrei")),)

    assert going_on_from(1, [edit("x = 1", "x = 3", "b.py"), edit("drei", "3")], tries) == (
        edit("", "x = 3\ny = 2\n", "b.py"),
        edit("two", "zwei\n3"),
    )
    assert tries[0][0]["replace"] == "x = 1\ny = 2\n"


def test_an_edit_of_the_same_text_takes_the_place_of_the_one_of_the_try() -> None:
    tries = ((edit("two", "2"), edit("", "x\n", "b.py")),)

    assert going_on_from(1, [edit("two", "zwei"), edit("", "y\n", "b.py")], tries) == (
        edit("two", "zwei"),
        edit("", "y\n", "b.py"),
    )


@pytest.mark.parametrize("number", [2, -1, 99, "1", 1.0, None])
def test_a_try_that_is_not_there_is_refused_with_how_many_there_are(number: object) -> None:
    with pytest.raises(LookupError, match="1 were made so far"):
        going_on_from(number, [], ((edit("one", "1"),),))


@given(
    st.lists(st.sampled_from(["one", "two", "three", "four"]), unique=True),
    st.lists(
        st.tuples(
            st.sampled_from(["one", "two", "three", "four", "!!", "##"]), st.sampled_from(["!!", "##", ""])
        )
    ),
)
def test_both_together_are_one_after_the_other_or_have_no_place(
    first: list[str], more: list[tuple[str, str]]
) -> None:
    tried = [edit(word, f"[{word[0]}!!]") for word in first]
    between = after(tried) if tried else TEXT
    assert between is not None
    for search, replace in more[:1]:
        wanted = after([edit(search, replace)], between)
        joined = after(going_on_from(1, [edit(search, replace)], (tuple(tried),)))
        if wanted is not None and joined is not None:
            assert joined == wanted


def test_looks_get_the_edits_that_they_stand_for_and_numbers() -> None:
    looks: list[dict[str, Any]] = [
        {"look": "read", "target": "a.py"},
        {"look": "try", "edits": [edit("one", "1")], "after": 0},
        {"look": "try", "edits": [edit("two", "2")], "after": 1},
        {"look": "try", "edits": [], "after": 7},
    ]

    complete, tries = completed(looks, ())

    assert tries == ((edit("one", "1"),), (edit("one", "1"), edit("two", "2")))
    assert [each.get("after") for each in complete] == [None, 0, 0, 7]
    assert complete[2]["edits"] == list(tries[1])
    assert looks[2]["edits"] == [edit("two", "2")]
    assert numbers_of(tries, 0) == "\n\nThese tries have the numbers 1, 2, in their order."
    assert numbers_of(tries, 1) == "\n\nThis `try` has the number 2."
    assert numbers_of(tries, 2) == ""


@pytest.mark.parametrize(
    "value", [None, "edits", [1], [{"path": "a"}], [{"path": 1, "search": "", "replace": ""}], {"path": "a"}]
)
def test_what_has_not_the_form_of_edits_is_told_from_them(value: object) -> None:
    assert not are_edits(value)
    assert are_edits([edit("a", "b")])

"""Which issues a text speaks of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.hub.actions.timeline import closing_numbers, mentioned_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("See #12, #3 and #12.", (12, 3)),
        ("octo/demo#4 but not other/demo#5", (4,)),
        (
            "http://hub/octo/demo/issues/7 and https://hub/Octo/Demo/pull/8#x and http://hub/a/b/issues/9",
            (7, 8),
        ),
        ("`#1`\n```\n#2\n```\n~~~\n#3\n~~~\n<!-- #4 -->\n#5", (5,)),
        ("a#1 &#39; ##2 #0 #x #1a", ()),
        ("(#1)\n#2", (1, 2)),
        (None, ()),
    ],
)
def test_mentions_of_this_repository_outside_code_count(text: str | None, numbers: tuple[int, ...]) -> None:
    assert mentioned_numbers(text, "octo/demo") == numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Fixes #1, closes #2 and resolved: #3", (1, 2, 3)),
        ("Part of #1; this fixes nothing, see #2", ()),
        ("prefixes #1", ()),
        ("`fixes #1`", ()),
    ],
)
def test_closing_words_stand_right_before_the_number(text: str, numbers: tuple[int, ...]) -> None:
    assert closing_numbers(text) == numbers


@given(st.text(), st.integers(1, 10**6))
def test_a_number_on_a_line_of_its_own_is_found_after_any_prose(text: str, number: int) -> None:
    prose = text.replace("`", "").replace("~", "").replace("<!--", "")

    assert number in mentioned_numbers(f"{prose}\n#{number}\n", "octo/demo")

from hypothesis import given
from hypothesis import strategies as st

from cogworks.forge.bodies import MAX_BODY_CHARS, capped, capped_title

pieces = st.lists(
    st.sampled_from(
        [
            *(
                "text ",
                "word\n",
                "\n",
                "# Heading\n",
                "```python\n",
                "```\n",
                "~~~~\n",
                "    indented\n",
                "``` a`b\n",
            ),
            *("<details>\n", "</details>\n", "<details><summary>x</summary>\n", "x" * 300, "y" * 90 + "\n"),
        ]
    ),
    max_size=120,
).map("".join)


@given(pieces, st.integers(min_value=1000, max_value=4000))
def test_a_capped_body_fits_and_leaves_nothing_open(text: str, max_chars: int) -> None:
    body = capped(text, max_chars=max_chars)

    assert len(body) <= max_chars
    if body != text:
        assert _open_fence(body) is None
        assert "are left out)*" in body


@given(st.text(max_size=3000))
def test_a_body_that_fits_is_not_touched(text: str) -> None:
    assert capped(text, max_chars=3000) == text


def test_the_cut_is_at_a_heading_when_one_is_near() -> None:
    text = "a line of text\n" * 90 + "# Next\n" + "more text here\n" * 60

    body = capped(text, max_chars=1700)

    assert body.startswith("a line of text\n" * 89)
    assert "# Next" not in body
    assert body.endswith(f"({'cut here'}: {len(text) - 90 * 15 + 1} of {len(text)} characters are left out)*")


def test_an_open_fence_and_open_details_are_closed_in_this_order() -> None:
    text = "<details>\n<summary>log</summary>\n\n````text\n" + "line ```\n" * 20_000

    body = capped(text)

    assert len(body) <= MAX_BODY_CHARS
    assert "\n````\n\n</details>\n\n*(cut here: " in body


def test_hundreds_of_open_details_still_fit() -> None:
    assert len(capped("<details>\n" * 10_000, max_chars=1000)) <= 1000


def test_a_title_is_one_line_of_at_most_256_characters() -> None:
    assert capped_title("  two\nlines ") == "two lines"
    assert capped_title("") == "(untitled)"
    assert capped_title("x" * 300) == "x" * 255 + "…"


def _open_fence(body: str) -> str | None:
    """An independent reading of fences, line by line, as CommonMark says."""
    fence: str | None = None
    for line in body.split("\n"):
        stripped = line.lstrip(" ")
        if len(line) - len(stripped) > 3 or not stripped.startswith(("```", "~~~")):
            continue
        mark = stripped[0]
        length = len(stripped) - len(stripped.lstrip(mark))
        rest = stripped[length:]
        if fence is None:
            if mark == "~" or "`" not in rest:
                fence = mark * length
        elif mark == fence[0] and length >= len(fence) and not rest.strip():
            fence = None
    return fence

"""The one line of what pytest printed that says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.reasons import doctest_reason, marked_reason, raised_reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t.py:1: in test\n    a()\nE   ValueError: no", "ValueError: no"),
        ("E   assert 1 == 0\nE    +  where 1 = <Result Oops()>.exit_code", "assert 1 == 0"),
        (
            "E   AssertionError: assert 'a' == 'b'\nE     \nE     - b\nE     + a",
            "AssertionError: assert 'a' == 'b'",
        ),
        (
            "E   pytest.PytestRemovedIn10Warning: no Collection\nE   Test: a\nE   See https://example.com/",
            "pytest.PytestRemovedIn10Warning: no Collection",
        ),
        ('E     File "a.py", line 7\nE       def half(:\nE   SyntaxError: no', "SyntaxError: no"),
        ("E   KeyError: 'a'\n\nDuring handling\n\nE   RuntimeError: b\nnoise", "RuntimeError: b"),
        ("E   ValueError:\nE   what is wrong", "ValueError: what is wrong"),
        (
            "E   AssertionError: \nE   Arrays are not equal\nE   \nE   Mismatched: 1",
            "AssertionError: Arrays are not equal",
        ),
        ("E   KeyError: 1\nnoise\nE", "KeyError: 1"),
        ("Error: of another runner\nEnd", ""),
        ("E", ""),
        ("", ""),
    ],
)
def test_the_last_error_is_told_by_its_first_line(text: str, reason: str) -> None:
    assert marked_reason(text) == reason


TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in a\n    b()\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{TRACEBACK}ValueError: no\n", "ValueError: no"),
        (f"{TRACEBACK}a.Warning: b is called c\nSee https://example.com/\n", "a.Warning: b is called c"),
        (f"{TRACEBACK}KeyError: 1\n\nDuring handling\n\n{TRACEBACK}ValueError: no\nnoise", "ValueError: no"),
        (f"{TRACEBACK}    ^^^\n\nValueError: no", "ValueError: no"),
        (f"{TRACEBACK}… 5 lines left out …\n    c()\nValueError: no", "ValueError: no"),
        (TRACEBACK, ""),
        ("ValueError: no", ""),
        ("", ""),
    ],
    ids=["one", "several-lines", "two", "markers", "shortened", "cut", "no-traceback", "nothing"],
)
def test_an_exception_below_a_traceback_is_told_by_its_first_line(text: str, reason: str) -> None:
    assert raised_reason(text) == reason


DOCUMENT = "002 A sum.\n003 \n005     >>> add(1, 1)\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{DOCUMENT}Expected:\n    3\nGot:\n    2\n\nshop/cart.py:5: DocTestFailure", "the example wants 3, got 2"),
        (f"{DOCUMENT}Expected:\n    a\n    b\nGot:\n    a\n    c\n\nx.py:5: DocTestFailure", "the example wants b, got c"),
        (f"{DOCUMENT}Expected nothing\nGot:\n    2\n\nx.py:5: DocTestFailure", "the example wants nothing, got 2"),
        (f"{DOCUMENT}Expected:\n    2\nGot nothing\nx.py:5: DocTestFailure", "the example wants 2, got nothing"),
        (f"{DOCUMENT}Expected:\n    2\nGot:\n    2\nx.py:5: DocTestFailure", "the output of the example differs"),
        (f"{DOCUMENT}UNEXPECTED EXCEPTION: KeyError('a')\n{TRACEBACK}KeyError: 'a'\nx.py:5: UnexpectedException", "KeyError: 'a'"),
        (f"{DOCUMENT}UNEXPECTED EXCEPTION: KeyError('a')", "KeyError('a')"),
        (f"{DOCUMENT}Expected:\n    3\n", ""),
        ("ValueError: no", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_of_a_doctest_the_outcome_is_told_and_not_the_document(text: str, reason: str) -> None:
    assert doctest_reason(text) == reason


@given(
    st.sampled_from(
        [
            f"{DOCUMENT}UNEXPECTED EXCEPTION: KeyError('a')\n{TRACEBACK}KeyError: 'a'\nx.py:5: UnexpectedException",
            f"{DOCUMENT}Expected:\n    a\n    b\nGot:\n    a\n    c\n\nx.py:5: DocTestFailure",
        ]
    ),
    st.data(),
)
def test_a_message_may_be_cut_anywhere(text: str, data: st.DataObject) -> None:
    cut = text[: data.draw(st.integers(0, len(text)))]

    assert "\n" not in doctest_reason(cut)


def test_a_message_may_be_cut_where_the_exception_would_stand() -> None:
    assert doctest_reason(f"{DOCUMENT}UNEXPECTED EXCEPTION: ") == ""

"""The one line of what pytest printed that says why."""

import pytest

from cogworks.domain_services.reasons import marked_reason, raised_reason


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

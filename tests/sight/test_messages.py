"""A message that a request quotes leads to the line that writes it, whatever values stand in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.sight.matching import Quoted

REQUEST = Quoted(
    "Tuple keys break messages\n\nI get `Key '('a', 'b')' error: Or(...)`, and then\n\n    cannot read 12 of 13 rows from data.csv: it is closed\n"
)


@pytest.mark.parametrize(
    "line",
    [
        """            message = "Key '%s' error:" % nkey""",
        "raise ValueError(f'cannot read {n} of {total} rows from {path!r}')",
        'fmt.Errorf("cannot read %d of %d rows", n, total)',
        "throw new Error(`cannot read ${n} of ${total} rows from ${path}`)",
        'raise "cannot read #{n} of #{total} rows"',
        'log("it is closed", "cannot read {} of {} rows from {}: it is closed")',
        '"cannot read %(n)d of %(all)d rows"',
    ],
)
def test_a_line_that_can_have_written_it_is_found(line: str) -> None:
    assert REQUEST.is_written_by(line)


@pytest.mark.parametrize(
    "line",
    [
        "x = 'error'",
        '"Key %s is an error:"',
        '"rows of %d cannot read"',
        "cannot read 12 of 13 rows",
        '"cannot read %d of %d rows',
        "",
    ],
    ids=["one-word", "other-words", "another-order", "no-string", "never-closed", "nothing"],
)
def test_another_line_is_not(line: str) -> None:
    assert not REQUEST.is_written_by(line)


def test_a_value_may_be_long_but_not_a_page() -> None:
    assert Quoted(f"cannot read {'x' * 150} from disk").is_written_by('"cannot read %s from disk"')
    assert not Quoted(f"cannot read {'x' * 500} from disk").is_written_by('"cannot read %s from disk"')


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_stands_there_nothing_is_raised(request: str, line: str) -> None:
    assert Quoted(request).is_written_by(line) in (True, False)


def test_a_request_that_repeats_the_beginning_ends() -> None:
    quoted = Quoted("cannot read " * 5_000)

    assert not quoted.is_written_by('"cannot read %s from disk read %s cannot"')

"""What people are shown of a call before they approve it."""

import pytest

from cogworks.engine.claim import MAX_SHOWN_CHARS, asked_call
from cogworks.errors import ApprovalNeeded


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('{"a":1}', '{"a":1}'),
        ('{"a":"`x` <!-- cogworks:1 -->"}', '{"a":"\'x\' \\u003c!-- cogworks:1 -->"}'),
        ("x" * MAX_SHOWN_CHARS, "x" * MAX_SHOWN_CHARS),
        ("x" * (MAX_SHOWN_CHARS + 1), f"{'x' * MAX_SHOWN_CHARS}…"),
    ],
    ids=["short", "markup", "just-fits", "cut"],
)
def test_an_input_is_shown_short_and_breaks_out_of_no_comment(given: str, shown: str) -> None:
    needed = ApprovalNeeded("ask", tool="APPLY_PATCH", call_hash="0" * 12, shown=given)

    call = asked_call(needed)

    assert (call.tool, call.hash, call.shown) == ("APPLY_PATCH", "0" * 12, shown)

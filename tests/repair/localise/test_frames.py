import pytest

from cogworks.repair.localise.localising import frames_of
from cogworks.repair.localise.suspects import Frame

MESSAGE = """\
tests/test_shop.py:8: in test_total
    assert total([1]) == 1
shop/my cart.py:4: in total
    return rounded(result)
<python>/decimal.py:3: in quantize
shop/money.py:2: in <lambda>
    return 1 / 0
E   ZeroDivisionError: at shop/money.py:9: in the middle
"""


def test_frames_come_from_where_it_was_raised_outwards_without_those_of_the_interpreter() -> None:
    assert frames_of(MESSAGE) == (
        Frame(artifact="shop/money.py", line=2),
        Frame(artifact="shop/my cart.py", line=4),
        Frame(artifact="tests/test_shop.py", line=8),
    )


@pytest.mark.parametrize(
    "message",
    ["", "still running at the time limit", "a.py:0: in f", "a.py:1234567890: in f", "    a.py:3: in f"],
    ids=["empty", "no frame", "line zero", "absurd line", "indented"],
)
def test_a_text_without_frames_has_none(message: str) -> None:
    assert frames_of(message) == ()

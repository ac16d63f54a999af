"""What an evaluation may cost is lent to instances in parts, and never more than there is."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from cogworks.evaluation.cases import Purse

LIMIT = Purse(limit_usd=Decimal(10))


def test_who_begins_alone_may_use_all_that_is_left_and_others_share() -> None:
    assert LIMIT.share_usd(1) == 10
    assert LIMIT.share_usd(4) == Decimal("2.5")
    assert LIMIT.paying(4.0).share_usd(2) == 3


def test_what_is_lent_cannot_be_lent_again_and_what_is_not_used_comes_back() -> None:
    purse = LIMIT.lending(Decimal(10))

    assert purse.share_usd(1) == 0
    assert purse.paying(0.25, share_usd=Decimal(10)).share_usd(1) == Decimal("9.75")


def test_nobody_is_lent_again_what_was_too_little() -> None:
    purse = LIMIT.lending(Decimal(2)).paying(0.5, share_usd=Decimal(2), sufficed=False)

    assert purse.share_usd(4) == Decimal("2.375")
    assert purse.share_usd(5) == Decimal("2.375")
    assert purse.paying(7.5).share_usd(2) == 0


def test_without_a_limit_nobody_is_lent_anything() -> None:
    purse = Purse().lending(None).paying(100.0)

    assert (purse.share_usd(3), purse.left_usd, purse.spent_usd) == (None, None, Decimal(100))


@given(
    st.lists(st.tuples(st.integers(1, 5), st.lists(st.floats(0, 1), min_size=5, max_size=5)), max_size=20),
    st.decimals("0.01", 100, places=2),
)
def test_instances_that_keep_to_their_share_never_cost_more_than_there_is(
    rounds: list[tuple[int, list[float]]], limit_usd: Decimal
) -> None:
    purse = Purse(limit_usd=limit_usd)
    for begins, used in rounds:
        lent = []
        for number in range(begins):
            share_usd = purse.share_usd(begins - number)
            assert share_usd is not None
            lent.append(share_usd)
            purse = purse.lending(share_usd)
        for share_usd, part in zip(lent, used, strict=False):
            # A cost is told with nine decimals.
            purse = purse.paying(float(int(float(share_usd) * part * 10**6)) / 10**6, share_usd=share_usd)

    assert purse.spent_usd <= limit_usd
    assert purse.lent_usd == 0

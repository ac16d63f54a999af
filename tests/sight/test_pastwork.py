"""What past commits say of the files of a tree."""

import pytest

from cogworks.codebase.treefacts import PastCommit
from cogworks.sight.pastwork import PastWork

CART, MAIL, PRICES = range(3)
PLACES = {"cart.py": CART, "mail.py": MAIL, "prices.py": PRICES}


def past(*commits: tuple[str, tuple[str, ...]], wanted: tuple[str, ...] = ()) -> PastWork:
    return PastWork([PastCommit(*each) for each in commits], PLACES, dict.fromkeys(wanted, 1.0))


def test_a_term_of_every_message_tells_less_than_one_of_few_and_that_less_than_one_of_none() -> None:
    messages = [("Fix it", ()), ("Fix receipts", ()), *[("Fix more", ())] * 28]
    found = past(*messages, wanted=("fix", "receipt", "parcel"))

    assert 0 < found.distinctness("fix") < found.distinctness("receipt") < found.distinctness("parcel") == 1.0


def test_a_handful_of_messages_says_nothing_of_how_common_a_term_is() -> None:
    found = past(*[("Fix it", ())] * 20, wanted=("fix",))

    assert (found.knows_words, found.distinctness("fix")) == (False, 1.0)
    assert past(*[("Fix it", ())] * 21).knows_words


def test_the_more_a_message_is_alike_the_more_its_files_count() -> None:
    found = past(
        ("Send receipts again", ("mail.py",)),
        ("Print receipts", ("cart.py",)),
        ("Round", ("prices.py",)),
        wanted=("receipt", "again"),
    ).alike()

    assert found[MAIL] > found[CART] > 0
    assert PRICES not in found


@pytest.mark.parametrize("count", [12, 13])
def test_a_commit_that_changed_very_many_files_says_nothing_of_any(count: int) -> None:
    paths = ("mail.py", *(f"other{place}.py" for place in range(count - 1)))
    found = past(("Send receipts", paths), wanted=("receipt",))

    assert (MAIL in found.alike(), MAIL in found.often()) == (count == 12, count == 12)


def test_what_changed_lately_counts_more_than_what_changed_long_ago() -> None:
    found = past(("One", ("mail.py",)), *[("Two", ())] * 300, ("Three", ("cart.py",))).often()

    assert found[MAIL] > found[CART] > 0


def test_what_changes_with_everything_is_no_sign_of_one_file() -> None:
    commits = [("One", ("cart.py", "mail.py")), ("Two", ("cart.py", "prices.py"))]
    alone = [("Three", ("prices.py",))] * 20

    found = past(*commits, *alone).together({CART: 1.0})

    assert found[MAIL] > found[PRICES] > 0
    assert CART not in found

"""Words of a failure are found in definitions however they are spelled, rare ones first."""

import pytest

from cogworks.repair.localise.suspects import likenesses

DOCUMENTS = {
    "weigh": "def weigh(parcel): return parcel.total_weight",
    "price": "def price(parcel): return parcel.TotalPrice",
    "close": "def close(): return None",
}


@pytest.mark.parametrize(
    "spelled", ["total weight", "total_weight", "TotalWeight", "totalWeight", "TOTAL_WEIGHT"]
)
def test_a_name_is_its_words_however_it_is_spelled(spelled: str) -> None:
    found = likenesses(f"the {spelled} is wrong", DOCUMENTS)

    assert found == likenesses("the total weight is wrong", DOCUMENTS)
    assert found["weigh"] > found["price"] > found["close"] == 0.0


def test_a_word_that_stands_everywhere_says_nothing() -> None:
    assert likenesses("def return", DOCUMENTS) == dict.fromkeys(DOCUMENTS, 0.0)


def test_a_rare_word_says_more_than_a_common_one() -> None:
    documents = {"one": "parcel weight", "two": "parcel price", "three": "label"}

    found = likenesses("weight parcel", documents)

    assert found["one"] > found["two"] > found["three"]
    assert likenesses("weight", documents)["one"] > likenesses("parcel", documents)["one"]


def test_a_document_that_is_the_text_is_as_like_as_can_be() -> None:
    assert likenesses("größe prüfen", {"it": "größe prüfen", "other": "nothing"})["it"] == pytest.approx(1.0)


@pytest.mark.parametrize(("text", "documents"), [("", {"a": "word"}), ("word", {"a": ""}), ("word", {})])
def test_where_nothing_is_said_nothing_is_alike(text: str, documents: dict[str, str]) -> None:
    assert likenesses(text, documents) == dict.fromkeys(documents, 0.0)

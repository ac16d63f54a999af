"""Which other issues may say what an issue says: found by their words, the likest first."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.engine.remember import MOST, alike
from cogworks.forge.snapshot import Neighbour
from cogworks.vocabulary import IssueNumber
from tests.nodes.examples import ITEM

LABEL = "cogworks:sub-work-item"
DECIMALS = ITEM.model_copy(
    update={
        "title": "`parse` does not read decimals",
        "body": "`parse('1.5h')` raises `ValueError: cannot read '1.5h'`. I'd expect an hour and a half, 5400 seconds.",
    }
)
SAME: Mapping[str, Any] = {
    "title": "ValueError for half an hour",
    "body": "Reading `1.5h` with parse fails, decimals are not read. It should give 5400 seconds.",
}
ELSEWHERE: Mapping[str, Any] = {
    "title": "Speak German",
    "body": "`human_readable` should be able to give its words in German and in French, chosen by an argument.",
}


def neighbour(issue: int, **changes: Any) -> Neighbour:
    given = {"number": IssueNumber(issue), "kind": "issue", "state": "open", **SAME, **changes}
    return Neighbour.model_validate(given)


def numbers(*neighbours: Neighbour) -> list[int]:
    return [each.number for each in alike(DECIMALS, neighbours, sub_item_label=LABEL)]


def test_what_says_the_same_in_other_words_is_found_and_what_is_about_something_else_is_not() -> None:
    assert numbers(neighbour(3, **ELSEWHERE), neighbour(4)) == [4]


def test_it_is_found_where_there_is_nothing_to_tell_it_from() -> None:
    assert numbers(neighbour(4)) == [4]


def test_the_likest_comes_first_and_the_number_decides_between_equals() -> None:
    exact = {"title": DECIMALS.title, "body": DECIMALS.body}

    assert numbers(neighbour(9), neighbour(8, **exact), neighbour(4)) == [8, 4, 9]


def test_a_few_are_enough() -> None:
    assert numbers(*(neighbour(number) for number in range(20, 40))) == list(range(20, 20 + MOST))


@pytest.mark.parametrize(
    "own",
    [
        {"number": ITEM.number},
        {"kind": "pull request", "state": "merged", "head": f"cogworks/{ITEM.number}/spec"},
        {"labels": (LABEL,)},
    ],
    ids=["the issue itself", "a pull request of its own work", "a part of an item"],
)
def test_what_belongs_to_the_work_itself_is_no_other_item(own: Mapping[str, Any]) -> None:
    assert numbers(neighbour(4, **own)) == []


def test_an_issue_without_words_is_like_nothing() -> None:
    assert numbers(neighbour(4, title="!!!", body="")) == []

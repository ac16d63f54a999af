"""What finished items came to, as the last commits of their ledgers say it; a real hub is asked by the steps' own tests."""

from datetime import timedelta
from typing import Any

import pytest

from cogworks.errors import CogworksError
from cogworks.github.answers import GraphQLProblem
from cogworks.github.item_costs import read_item_costs
from cogworks.unexpected import UnexpectedAnswer
from tests.github.test_ledger_reads import NOON, Scripted, answer


def tip(message: str, *, days: int) -> dict[str, Any]:
    return {"target": {"message": message, "committedDate": (NOON - timedelta(days=days)).isoformat()}}


def ended(usd: str, *, days: int, pipeline: str = "small") -> dict[str, Any]:
    line = f"Cogworks-Cost: {pipeline} {usd} USD 3000 tokens, a round 0.500000 USD 2000 tokens"
    return tip(f"cogworks: integration succeeded [skip ci]\n\n{line}\nskip-checks: true", days=days)


def repository(ledgers: object, archive: object) -> dict[str, Any]:
    return {"repository": {"ledgers": {"nodes": ledgers}, "archive": {"nodes": archive}}}


def test_items_that_ended_come_with_the_last_one_first_whether_put_away_or_not() -> None:
    under_way = tip("cogworks: intake claim [skip ci]\n\nskip-checks: true", days=0)
    a_tag = {"target": {}}
    ledgers = [ended("0.100000", days=3), under_way, a_tag, ended("0.300000", days=1)]
    client = Scripted([answer(repository(ledgers, [ended("0.200000", days=2, pipeline="default")]))])

    found = read_item_costs(client, "octo-org/adder")

    assert [(cost.pipeline, cost.whole.usd) for cost in found] == [
        ("small", 0.3),
        ("default", 0.2),
        ("small", 0.1),
    ]
    assert client.asked[0]["ledgers"] == "refs/heads/cogworks/ledger/"
    assert client.asked[0]["archive"] == "refs/cogworks/archive/"


@pytest.mark.parametrize(
    "data", [{"repository": None}, repository(None, []), repository([{"target": None}], [])]
)
def test_an_answer_of_another_shape_is_an_error_that_says_where(data: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer):
        read_item_costs(Scripted([answer(data)]), "octo-org/adder")


def test_what_github_refuses_is_told() -> None:
    refused = answer(
        {"repository": None}, GraphQLProblem(type="FORBIDDEN", message="no", path=("repository",))
    )

    with pytest.raises(CogworksError, match="read what finished items of octo-org/adder came to"):
        read_item_costs(Scripted([refused]), "octo-org/adder")

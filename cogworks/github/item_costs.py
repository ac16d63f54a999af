"""What the finished items of a repository came to, read from the newest commit of each ledger: one request."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from cogworks.github.answers import as_error
from cogworks.github.documents import document
from cogworks.github.ledgers import ARCHIVE, PREFIX
from cogworks.github.reading import Queries
from cogworks.pipeline.expected import cost_in
from cogworks.pipeline.worth import ItemCost
from cogworks.unexpected import each, expecting


def read_item_costs(client: Queries, repository: str) -> tuple[ItemCost, ...]:
    """What finished items came to, the one whose ledger was written to last first.

    Of the ledgers and of those that were put away the last hundred by name; an item that ended before cogworks wrote down what
    it came to is not among them.

    Args:
        repository: owner/name

    Raises:
        CogworksError: as the client raises, for errors beside the data, and for an answer of another shape.
    """
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "ledgers": PREFIX, "archive": ARCHIVE}
    with expecting("what finished items came to"):
        answer = client.query(document("item-costs"), variables)
        for problem in answer.errors:
            raise as_error(problem, doing=f"read what finished items of {repository} came to")
        found: Mapping[str, Any] = answer.data["repository"]
        ended = [
            told
            for key in ("ledgers", "archive")
            for told in each(found[key]["nodes"], f"{key}.nodes", lambda node: tuple(_ended(node)))
        ]
    told = [pair for pairs in ended for pair in pairs]
    return tuple(cost for _, cost in sorted(told, key=_when, reverse=True))


def _ended(node: Mapping[str, Any]) -> Iterator[tuple[datetime, ItemCost]]:
    target = node["target"]
    cost = cost_in(target.get("message") or "")
    if cost is not None:
        yield datetime.fromisoformat(target["committedDate"]), cost


def _when(pair: tuple[datetime, ItemCost]) -> tuple[datetime, str]:
    at, cost = pair
    # Two in the same second: any order will do, but always the same one.
    return at, cost.model_dump_json()

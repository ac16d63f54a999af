"""The history of one work item's ledger, read from GitHub without the rest of the item."""

from collections.abc import Mapping
from typing import Any

from cogworks.errors import CogworksError, UsageError
from cogworks.github.addresses import IssueAddress
from cogworks.github.answers import as_error
from cogworks.github.documents import document
from cogworks.github.facts import LedgerCommit
from cogworks.github.moments import When, no_ledger_then, start_of
from cogworks.github.reading import Queries
from cogworks.unexpected import expecting
from cogworks.vocabulary import CommitOid, Value

PER_REQUEST = 100


class LedgerLog(Value):
    """The newest commits of a ledger."""

    commits: tuple[LedgerCommit, ...]
    """Newest first; empty where the item has no ledger."""
    total: int
    """How many there are, the root's included."""
    state_text: str | None
    """`state.json` at the newest of them."""


def read_log(client: Queries, address: IssueAddress, *, limit: int, when: When | None = None) -> LedgerLog:
    """The newest commits of the ledger; one request for every hundred.

    Args:
        limit: how many commits at most; 0 = all.
        when: begin at this moment instead of now.

    Raises:
        UsageError: there is no such issue, or no ledger at that moment.
        CogworksError: as the client raises, for errors beside the data, and for an answer of another shape.
    """
    with expecting("repository.at.history"):
        return _read_log(client, address, limit=limit, when=when)


def _read_log(client: Queries, address: IssueAddress, *, limit: int, when: When | None) -> LedgerLog:
    variables: dict[str, Any] = {**start_of(address, when), "after": None}
    commits: list[LedgerCommit] = []
    total, state_text = 0, None
    while True:
        wanted = PER_REQUEST if limit == 0 else min(PER_REQUEST, limit - len(commits))
        page = _page(client, address, {**variables, "first": wanted}, when)
        if page is None:
            return LedgerLog(commits=(), total=0, state_text=None)
        history = page["history"]
        commits += (
            LedgerCommit(
                oid=CommitOid(node["oid"]), message=node["message"], committed_date=node["committedDate"]
            )
            for node in history["nodes"]
        )
        if variables["after"] is None:
            total, state_text = history["totalCount"], _state_text(page)
        if not history["pageInfo"]["hasNextPage"] or len(commits) >= limit > 0:
            return LedgerLog(commits=tuple(commits), total=total, state_text=state_text)
        variables["after"] = history["pageInfo"]["endCursor"]


def _page(
    client: Queries, address: IssueAddress, variables: Mapping[str, Any], when: When | None
) -> Mapping[str, Any] | None:
    answer = client.query(document("ledger-history"), variables)
    repository = answer.data.get("repository") or {}
    for problem in answer.errors:
        if problem.type != "NOT_FOUND":
            raise as_error(problem, doing=f"read the ledger of {address.url}")
    if not repository.get("issue"):
        raise UsageError(
            f"{address.url}: there is no such issue, or the token cannot see it. Check the URL and the token."
        )
    page: Mapping[str, Any] | None = repository.get("at")
    if page is not None and page["__typename"] != "Commit":
        raise CogworksError(f"{address.url}: {variables['at']!r} names a {page['__typename']}, not a commit.")
    if when is not None and (page is None or not _is_ledger(page)):
        raise no_ledger_then(address, when)
    return page


def _is_ledger(page: Mapping[str, Any]) -> bool:
    """Whether a commit is on a ledger: all of those have a state, but the root that every ledger begins with."""
    history = page["history"]
    return bool(history["nodes"]) and (_state_text(page) is not None or history["totalCount"] == 1)


def _state_text(page: Mapping[str, Any]) -> str | None:
    newest = next(iter(page["newest"]["nodes"]), None) or {}
    blob = (newest.get("file") or {}).get("object") or {}
    return None if blob.get("isTruncated") else blob.get("text")

"""Which issues of the repository may an earlier attempt of a visit have created?"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Protocol

from cogworks.github.answers import Answer, GraphQLProblem, as_error
from cogworks.github.documents import document
from cogworks.github.facts import SubIssue
from cogworks.github.parsing import issue_facts
from cogworks.github.snapshot import Snapshot
from cogworks.unexpected import each, expecting
from cogworks.vocabulary import VisitKey

MAX_PAGES = 10
"""Of 50 issues each. A visit that was left alone for longer than that is looked for no further back."""


class Queries(Protocol):
    """Reads through GraphQL."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def newest_issues(
    client: Queries, snapshot: Snapshot, visit_keys: Collection[VisitKey]
) -> tuple[SubIssue, ...]:
    """The repository's issues created since one of these visits can have begun, newest first: one request per 50.

    Raises:
        CogworksError: they cannot be read, so nothing may be created.
    """
    owner, _, name = snapshot.repository.name_with_owner.partition("/")
    since = min((_begun_at(snapshot, key) for key in visit_keys), default=snapshot.server_date)
    found: list[SubIssue] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        answer = client.query(document("newest-issues"), {"owner": owner, "name": name, "after": cursor})
        repository = answer.data.get("repository")
        if answer.errors or not repository:
            problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "the repository is gone"))
            raise as_error(problem, doing=f"list the newest issues of {owner}/{name}")
        with expecting("repository.issues"):
            page = repository["issues"]
            nodes = [node for node in page["nodes"] if node]
            young = [node for node in nodes if datetime.fromisoformat(node["createdAt"]) >= since]
            found += each(young, "issues.nodes", issue_facts)
            if len(young) < len(nodes) or not page["pageInfo"]["hasNextPage"]:
                break
            cursor = page["pageInfo"]["endCursor"]
    return tuple(found)


def _begun_at(snapshot: Snapshot, visit_key: VisitKey) -> datetime:
    """When a visit began at the earliest, as far as the newest commits of its ledger tell."""
    history = snapshot.ledger.history if snapshot.ledger else ()
    own = [commit.committed_date for commit in history if visit_key in commit.message]
    return min(own or [commit.committed_date for commit in history] or [snapshot.server_date])

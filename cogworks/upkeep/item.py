"""One work item on GitHub, as a check reads and repairs it, and the ledgers of a repository, as they are put away."""

from collections.abc import Collection, Mapping, Sequence

from cogworks.forge.addresses import IssueAddress
from cogworks.forge.effects import Effect
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Operation, as_error, compose
from cogworks.github.ledger_log import LedgerCopy, read_copy
from cogworks.github.ledgers import (
    Client,
    IssueEnd,
    LedgerTip,
    Listed,
    Moved,
    archive,
    issue_ends,
    list_ledgers,
)
from cogworks.github.moments import ItemReader
from cogworks.github.permissions import People
from cogworks.github.reading import SnapshotReader
from cogworks.github.writer import Writer
from cogworks.unexpected import Node, expecting
from cogworks.vocabulary import CommitOid, IssueNumber

EXISTING = """query Existing($ids: [ID!]!) {
  nodes(ids: $ids) { __typename ... on Issue { id repository { id } } ... on IssueComment { id issue { id } } }
}
"""


class ItemOnGitHub(ItemReader):
    """One work item through the reader, the writer and the few documents only a check needs."""

    def __init__(
        self, client: Client, address: IssueAddress, *, reader: SnapshotReader, people: People, writer: Writer
    ) -> None:
        super().__init__(client, address, reader=reader, people=people)
        self._documents = client
        self._writer = writer

    def copy(self, snapshot: Snapshot, tip: CommitOid) -> LedgerCopy:
        return read_copy(self._documents, snapshot, tip)

    def existing(self, snapshot: Snapshot, node_ids: Sequence[str]) -> Collection[str]:
        if not node_ids:
            return frozenset()
        answer = self._documents.query(EXISTING, {"ids": list(node_ids)})
        for problem in answer.errors:
            if problem.type != "NOT_FOUND":
                raise as_error(problem, doing=f"look for what the ledger of {self._address.url} records")
        with expecting("nodes"):
            return frozenset(
                node["id"] for node in answer.data.get("nodes") or () if node and _is_of(node, snapshot)
            )

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext
    ) -> Published:
        return self._writer.publish(effects, snapshot, context)

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        return self._writer.apply_views(effects, snapshot)

    def add_sub_issue(self, snapshot: Snapshot, node_id: str) -> None:
        below = {"issueId": snapshot.issue.node_id, "subIssueId": node_id}
        answer = self._documents.mutate(*compose([Operation("e0", "addSubIssue", below)]))
        for problem in answer.errors:
            raise as_error(problem, doing=f"put a sub-issue back below {self._address.url}")


def _is_of(node: Node, snapshot: Snapshot) -> bool:
    """Whether an issue is of the item's repository, or a comment is on its issue."""
    if node["__typename"] == "Issue":
        return bool(node["repository"]["id"] == snapshot.repository.node_id)
    return node["__typename"] == "IssueComment" and bool(node["issue"]["id"] == snapshot.issue.node_id)


class LedgersOnGitHub:
    """The ledgers of one repository."""

    def __init__(self, client: Client, repository: str) -> None:
        """Args:
        repository: owner/name
        """
        self._client = client
        self._repository = repository

    def ledgers(self) -> Listed:
        with expecting("repository.refs"):
            return list_ledgers(self._client, self._repository)

    def ends(self, numbers: Sequence[IssueNumber]) -> Mapping[IssueNumber, IssueEnd]:
        with expecting("repository.issue"):
            return issue_ends(self._client, self._repository, numbers)

    def archive(self, repository_id: str, tips: Sequence[LedgerTip]) -> Sequence[Moved]:
        return archive(self._client, repository_id, tips)

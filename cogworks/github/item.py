"""One work item on GitHub as a step uses it: read whole, published to, shown.

And what a step reads beside it, each with one request: files of other repositories, what finished items came to, and which
issues and pull requests there are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cogworks.errors import UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.effects import Effect
from cogworks.forge.facts import FailedCheck, ReviewText
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Neighbour, Snapshot
from cogworks.forge.unmergeable import Failing
from cogworks.github.documents import as_error, document, is_internal, is_limited
from cogworks.github.earlier_logs import EarlierLog, read_earlier_logs
from cogworks.github.failed_checks import ReadsLog, read_failed_checks
from cogworks.github.ledgers import ARCHIVE, PREFIX
from cogworks.github.permissions import People
from cogworks.github.publishing import Push
from cogworks.github.reading import Queries, SnapshotReader
from cogworks.github.writer import Writer
from cogworks.ledger.record import ROOT_BRANCH
from cogworks.packs.choosing import ReadElsewhere
from cogworks.packs.declared import Exemplar
from cogworks.pipeline.expected import cost_in
from cogworks.pipeline.spend import ItemCost
from cogworks.unexpected import Node, each, expecting
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, NodeId

if TYPE_CHECKING:
    # PyGithub takes a fifth of a second to import, and most steps need no REST.
    from cogworks.github.rest import RestClient


class TrackedItem:
    """One work item, through the reader, the writer and REST."""

    def __init__(
        self,
        address: IssueAddress,
        people: People,
        reader: SnapshotReader,
        writer: Writer,
        rest: Callable[[], "RestClient"],
        *,
        client: Queries,
        log_of: ReadsLog,
    ) -> None:
        """
        Args:
            log_of: reads the log of a job of GitHub Actions.
        """
        self._address = address
        self._people = people
        self._reader = reader
        self._writer = writer
        self._rest = rest
        self._client = client
        self._log_of = log_of

    def read(self) -> Snapshot:
        return self._reader.read(self._address)

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        return self._reader.complete(snapshot, recorded)

    def review_texts(self, snapshot: Snapshot, reviews: Sequence[str]) -> Mapping[str, ReviewText]:
        return self._reader.review_texts(snapshot, reviews)

    def failed_checks(self, snapshot: Snapshot, failing: Failing) -> tuple[FailedCheck, ...]:
        return read_failed_checks(self._client, snapshot, failing, self._log_of)

    def permissions(self, snapshot: Snapshot, people: Sequence[Login]) -> Mapping[Login, str]:
        return self._people.permissions(snapshot, people)

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        return read_earlier_logs(self._client, self._address.repository, node, besides=besides)

    def item_costs(self) -> tuple[ItemCost, ...]:
        return read_item_costs(self._client, self._address.repository)

    def read_elsewhere(self, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
        return read_elsewhere(self._client, exemplars)

    def neighbours(self) -> Sequence[Neighbour]:
        return read_neighbours(self._client, self._address.repository)

    def create_root(self) -> CommitOid:
        return self._rest().create_ledger_root(ROOT_BRANCH)

    def publish(
        self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
    ) -> Published:
        return self._writer.publish(effects, snapshot, context, push=push)

    def show(self, effects: Sequence[Effect], snapshot: Snapshot) -> str | None:
        return self._writer.apply_views(effects, snapshot)


_ABSENT = "it is not there, or the token may not see it"


def read_elsewhere(client: Queries, exemplars: Sequence[Exemplar]) -> Mapping[Exemplar, ReadElsewhere]:
    """Each file, or why there is none; raises as the client does."""
    if not exemplars:
        return {}
    variables: dict[str, str] = {}
    for number, exemplar in enumerate(exemplars):
        owner, _, name = exemplar.repository.partition("/")
        variables |= {
            f"o{number}": owner,
            f"n{number}": name,
            f"p{number}": f"{exemplar.ref}:{exemplar.path}",
        }
    answer = client.query(elsewhere_document(len(exemplars)), variables)
    for number in range(len(exemplars)):
        problem = answer.problem_at(f"r{number}")
        # What fails for a moment would be missing for the whole run.
        if problem is not None and (is_limited(problem) or is_internal(problem)):
            raise as_error(problem, doing="read files of other repositories")
    with expecting("files of other repositories"):
        return {file: _read_file(answer.data.get(f"r{number}")) for number, file in enumerate(exemplars)}


def elsewhere_document(count: int) -> str:
    """The document for so many files: `o0`, `n0`, `p0` are owner, name and `<ref>:<path>`; `r0` is the answer."""
    declared = ", ".join(f"$o{n}: String!, $n{n}: String!, $p{n}: String!" for n in range(count))
    fields = "\n".join(
        f"  r{n}: repository(owner: $o{n}, name: $n{n}, followRenames: true) {{\n"
        f"    file: object(expression: $p{n}) {{ __typename ... on Blob {{ oid text isTruncated isBinary }} }}\n  }}"
        for n in range(count)
    )
    return f"query Elsewhere({declared}) {{\n{fields}\n}}\n"


def _read_file(repository: Node | None) -> ReadElsewhere:
    blob = (repository or {}).get("file")
    if blob is None:
        return ReadElsewhere(problem=_ABSENT)
    if blob["__typename"] != "Blob":
        return ReadElsewhere(problem="it is no file")
    if blob["isBinary"] or blob["isTruncated"] or blob["text"] is None:
        return ReadElsewhere(problem="it is no text that GitHub shows whole")
    return ReadElsewhere(blob=blob["oid"], text=blob["text"])


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
        repository_node: Mapping[str, Any] = answer.data["repository"]
        ended = [
            items
            for key in ("ledgers", "archive")
            for items in each(
                repository_node[key]["nodes"], f"{key}.nodes", lambda node: tuple(_ended_items(node))
            )
        ]
    items = [pair for pairs in ended for pair in pairs]
    return tuple(cost for _, cost in sorted(items, key=_when_ended, reverse=True))


def _ended_items(node: Mapping[str, Any]) -> Iterator[tuple[datetime, ItemCost]]:
    target = node["target"]
    cost = cost_in(target.get("message") or "")
    if cost is not None:
        yield datetime.fromisoformat(target["committedDate"]), cost


def _when_ended(pair: tuple[datetime, ItemCost]) -> tuple[datetime, str]:
    at, cost = pair
    # Two in the same second: any order will do, but always the same one.
    return at, cost.model_dump_json()


_REASONS = {"COMPLETED": "completed", "NOT_PLANNED": "not planned", "DUPLICATE": "duplicate"}


def read_neighbours(client: Queries, repository: str) -> tuple[Neighbour, ...]:
    """The newest 60 issues, open or closed, then the newest 40 merged pull requests, by date of change.

    Args:
        repository: owner/name

    Raises:
        CogworksError: as the client raises, for errors beside the data, and for an answer of another shape.
    """
    owner, _, name = repository.partition("/")
    answer = client.query(document("neighbours"), {"owner": owner, "name": name})
    for problem in answer.errors:
        raise as_error(problem, doing=f"list the issues of {repository}")
    node = answer.data.get("repository")
    if node is None:
        raise UsageError(f"there is no repository {repository}, or the token cannot see it.")
    with expecting("repository"):
        issues = each(node["issues"]["nodes"], "repository.issues.nodes", _neighbour_issue)
        pulls = each(node["pullRequests"]["nodes"], "repository.pullRequests.nodes", _neighbour_pull)
    return (*issues, *pulls)


def _neighbour_issue(node: Node) -> Neighbour:
    return Neighbour(
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"],
        kind="issue",
        state="open" if node["state"] == "OPEN" else "closed",
        why_closed=_REASONS.get(node["stateReason"] or "", ""),
        labels=tuple(label["name"] for label in node["labels"]["nodes"]),
    )


def _neighbour_pull(node: Node) -> Neighbour:
    return Neighbour(
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"],
        kind="pull request",
        state="merged",
        head=BranchName(node["headRefName"]),
    )

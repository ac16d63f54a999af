"""The event logs of earlier visits to a node, from all ledgers of the repository: three requests and at most a megabyte."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from cogworks.errors import UsageError
from cogworks.github.documents import Answer, as_error, document
from cogworks.github.ledgers import PREFIX
from cogworks.github.reading import Queries
from cogworks.unexpected import each, expecting
from cogworks.vocabulary import CommitOid, IssueNumber, NodeId, Value

MAX_LOGS = 24
"""The newest visits of the ledgers that were written to last; of 50 ledgers at most, the last ones by name."""
MAX_BYTES = 1_000_000
"""Of all logs together; one that no longer fits is left out."""
FIRST_SEGMENT = "events-1.ndjson"
"""A longer log is read no further: at most 200 000 characters."""
_FOLDER = re.compile(r"([0-9]{4,})-([a-z][a-z0-9_]*)(@.+)?")


class EarlierLog(Value):
    """The first segment of one visit's log."""

    source: str
    """`<issue>/visits/<folder>`"""
    written: datetime
    """When its ledger was last written to, by GitHub's clock; the visit is no younger."""
    text: str


class _Place(Value):
    """Where a log is."""

    issue: IssueNumber
    oid: CommitOid
    folder: str
    written: datetime

    @property
    def source(self) -> str:
        return f"{self.issue}/{self.folder}"

    @property
    def expression(self) -> str:
        return f"{self.oid}:{self.folder}/{FIRST_SEGMENT}"


def read_earlier_logs(
    client: Queries, repository: str, node: NodeId, *, besides: str
) -> tuple[EarlierLog, ...]:
    """The logs of earlier visits to a node, youngest first.

    Args:
        repository: owner/name
        besides: the source that is left out, a visit's own.

    Raises:
        CogworksError: as the client raises, for errors beside the data, and for an answer of another shape.
    """
    owner, _, name = repository.partition("/")
    where = {"owner": owner, "name": name}
    with expecting("the ledgers' logs"):
        answer = client.query(document("ledger-visits"), {**where, "prefix": PREFIX})
        ledgers = _repository(answer, repository)["refs"]["nodes"]
        places = [place for place in _places(ledgers, node) if place.source != besides][:MAX_LOGS]
        if not places:
            return ()
        fitting = _fitting(places, _blobs(client, where, places, "byteSize"))
        texts = _blobs(client, where, fitting, "text isTruncated") if fitting else ()
        return tuple(
            EarlierLog(source=place.source, written=place.written, text=blob["text"])
            for place, blob in zip(fitting, texts, strict=True)
            if blob and blob["text"] and not blob["isTruncated"]
        )


def logs_document(count: int, fields: str) -> str:
    """The document that asks for these fields of so many files; `p0`, `p1`, … are `<oid>:<path>`, `b0`, `b1`, … the answers."""
    declared = "".join(f", $p{number}: String!" for number in range(count))
    selections = "\n".join(
        f"    b{number}: object(expression: $p{number}) {{ ... on Blob {{ {fields} }} }}"
        for number in range(count)
    )
    head = f"query EarlierLogs($owner: String!, $name: String!{declared})"
    return f"{head} {{\n  repository(owner: $owner, name: $name) {{\n{selections}\n  }}\n}}\n"


def _repository(answer: Answer, repository: str) -> Mapping[str, Any]:
    for problem in answer.errors:
        raise as_error(problem, doing=f"read the logs in the ledgers of {repository}")
    node: Mapping[str, Any] | None = answer.data.get("repository")
    if node is None:
        raise UsageError(f"there is no repository {repository}, or the token cannot see it.")
    return node


def _places(ledgers: object, node: NodeId) -> Iterator[_Place]:
    """Every visit to the node: ledgers that were written to last first, in each the newest visit first."""
    places = [place for ledger in each(ledgers, "refs.nodes", _visits) for place in ledger]
    places.sort(key=lambda place: (place.written, place.issue, place.folder), reverse=True)
    for place in places:
        named = _FOLDER.fullmatch(place.folder.removeprefix("visits/"))
        if named and named[2] == node:
            yield place


def _visits(ledger: Mapping[str, Any]) -> tuple[_Place, ...]:
    number, target = ledger["name"].rpartition("/")[2], ledger["target"]
    tree = (target.get("file") or {}).get("object") or {}
    # The root of all ledgers stands among them.
    if not (number.isascii() and number.isdigit()):
        return ()
    return tuple(
        _Place(
            issue=IssueNumber(int(number)),
            oid=CommitOid(target["oid"]),
            folder=f"visits/{entry['name']}",
            written=target["committedDate"],
        )
        for entry in tree.get("entries") or ()
    )


def _fitting(places: Sequence[_Place], blobs: Sequence[Mapping[str, Any] | None]) -> list[_Place]:
    left, fitting = MAX_BYTES, []
    for place, blob in zip(places, blobs, strict=True):
        if blob and 0 < blob["byteSize"] <= left:
            left -= blob["byteSize"]
            fitting.append(place)
    return fitting


def _blobs(
    client: Queries, where: Mapping[str, str], places: Sequence[_Place], fields: str
) -> list[Mapping[str, Any] | None]:
    expressions = {f"p{number}": place.expression for number, place in enumerate(places)}
    answer = client.query(logs_document(len(places), fields), {**where, **expressions})
    repository = _repository(answer, "/".join(where.values()))
    return [repository[f"b{number}"] for number in range(len(places))]

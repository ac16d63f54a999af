"""The history of one work item's ledger, read from GitHub without the rest of the item.

A whole ledger, read for a check: every commit with its parents, and every file of every visit.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cogworks.errors import CogworksError, UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.facts import LedgerCommit
from cogworks.forge.snapshot import Snapshot
from cogworks.github.documents import Answer, as_error, document
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
        count = PER_REQUEST if limit == 0 else min(PER_REQUEST, limit - len(commits))
        page = _page(client, address, {**variables, "first": count}, when)
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


FOLDERS_PER_REQUEST = 8


class ChainedCommit(Value):
    """One commit of the ledger."""

    oid: CommitOid
    message: str
    committed_date: datetime
    parents: tuple[CommitOid, ...]


class LedgerCopy(Value):
    """Everything the branch holds."""

    chain: tuple[ChainedCommit, ...]
    """Newest first, down to the first commit."""
    files: Mapping[str, str | None]
    """Path below `visits/`, as `visits/<folder>/<file>` -> text; None where GitHub gives none."""


def read_copy(client: Queries, snapshot: Snapshot, tip: CommitOid) -> LedgerCopy:
    """The ledger at `tip`: a request for every hundred commits, one for every eight visits.

    Raises:
        CogworksError: as the client raises, and for any error beside the data.
    """
    with expecting(f"the ledger at {tip[:10]}"):
        return _read_copy(client, snapshot, tip)


def folders_document(count: int) -> str:
    """The document that reads the files of so many folders; `p0`, `p1`, … are `<oid>:<path>`, `f0`, `f1`, … the answers."""
    declared = "".join(f", $p{number}: String!" for number in range(count))
    tree = "... on Tree { entries { name object { ... on Blob { text isTruncated } } } }"
    fields = "\n".join(
        f"    f{number}: object(expression: $p{number}) {{ {tree} }}" for number in range(count)
    )
    head = f"query VisitFolders($owner: String!, $name: String!{declared})"
    return f"{head} {{\n  repository(owner: $owner, name: $name) {{\n{fields}\n  }}\n}}\n"


def _read_copy(client: Queries, snapshot: Snapshot, tip: CommitOid) -> LedgerCopy:
    owner, _, name = snapshot.repository.name_with_owner.partition("/")
    where = {"owner": owner, "name": name}
    chain: list[ChainedCommit] = []
    folders: Sequence[str] = ()
    after: str | None = None
    while True:
        answer = client.query(document("ledger-chain"), {**where, "oid": tip, "after": after})
        target = _required(answer, "tip", doing=f"read the history of the ledger at {tip[:10]}")
        history = target["history"]
        chain += (_chained(node) for node in history["nodes"])
        if after is None:
            folders = _folders(target)
        if not history["pageInfo"]["hasNextPage"]:
            break
        after = history["pageInfo"]["endCursor"]
    files: dict[str, str | None] = {}
    for start in range(0, len(folders), FOLDERS_PER_REQUEST):
        files.update(_texts(client, where, tip, folders[start : start + FOLDERS_PER_REQUEST]))
    return LedgerCopy(chain=tuple(chain), files=files)


def _texts(
    client: Queries, where: Mapping[str, str], tip: CommitOid, folders: Sequence[str]
) -> dict[str, str | None]:
    paths = {f"p{number}": f"{tip}:{folder}" for number, folder in enumerate(folders)}
    answer = client.query(folders_document(len(folders)), {**where, **paths})
    files: dict[str, str | None] = {}
    for number, folder in enumerate(folders):
        tree = _required(answer, f"f{number}", doing=f"read {folder} of the ledger")
        for entry in tree.get("entries") or ():
            blob = entry.get("object") or {}
            text = None if blob.get("isTruncated") else blob.get("text")
            files[f"{folder}/{entry['name']}"] = text
    return files


def _required(answer: Answer, field: str, *, doing: str) -> Mapping[str, Any]:
    for problem in answer.errors:
        raise as_error(problem, doing=doing)
    node: Mapping[str, Any] | None = (answer.data.get("repository") or {}).get(field)
    if node is None:
        raise CogworksError(f"GitHub returned nothing to {doing}; it may have moved. Run the command again.")
    return node


def _folders(target: Mapping[str, Any]) -> list[str]:
    tree = ((target.get("file") or {}).get("object")) or {}
    return [f"visits/{entry['name']}" for entry in tree.get("entries") or () if entry["type"] == "tree"]


def _chained(node: Mapping[str, Any]) -> ChainedCommit:
    return ChainedCommit(
        oid=CommitOid(node["oid"]),
        message=node["message"],
        committed_date=node["committedDate"],
        parents=tuple(CommitOid(parent["oid"]) for parent in node["parents"]["nodes"]),
    )

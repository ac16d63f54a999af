"""All ledgers of a repository: which there are, whether their issues are closed, and how one is put away."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from cogworks.errors import PermissionRefused, UsageError
from cogworks.github.documents import Answer, Operation, as_error, compose, document, is_forbidden
from cogworks.vocabulary import CommitOid, IssueNumber, Value

PREFIX = "refs/heads/cogworks/ledger/"
ARCHIVE = "refs/cogworks/archive/"
ZERO_OID = "0" * 40
ISSUES_PER_REQUEST = 50
MOVES_PER_DOCUMENT = 20


class Client(Protocol):
    """Reads and writes through GraphQL; see `GraphQLClient` for what each raises."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...
    def mutate(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


class LedgerTip(Value):
    """One ledger branch."""

    issue: IssueNumber
    oid: CommitOid
    message: str
    committed_date: datetime


class Listed(Value):
    """The ledgers of a repository."""

    repository_id: str
    name_with_owner: str
    config_text: str | None
    """`.cogworks/config.toml` of the default branch; None where there is none."""
    tips: tuple[LedgerTip, ...]
    """By issue number."""
    server_date: datetime


class IssueEnd(Value):
    """Whether and when an issue was closed."""

    is_there: bool
    closed_at: datetime | None
    """None while it is open."""


class Moved(Value):
    """What became of putting one ledger away."""

    issue: IssueNumber
    ref: str
    """Where it is now; empty when it was left where it is."""
    problem: str = ""


def list_ledgers(client: Client, repository: str) -> Listed:
    """Every ledger of a repository (owner/name); one request for a hundred.

    Raises:
        UsageError: there is no such repository.
        CogworksError: as the client raises, and for errors beside the data.
    """
    owner, _, name = repository.partition("/")
    variables: dict[str, Any] = {"owner": owner, "name": name, "prefix": PREFIX, "after": None}
    tips: list[LedgerTip] = []
    while True:
        answer = client.query(document("ledgers"), variables)
        node = answer.data.get("repository")
        for problem in answer.errors:
            if problem.type != "NOT_FOUND" or problem.path == ("repository",):
                raise as_error(problem, doing=f"list the ledgers of {repository}")
        if not node:
            raise UsageError(f"there is no repository {repository}, or the token cannot see it.")
        tips += _tips(node["refs"]["nodes"])
        page = node["refs"]["pageInfo"]
        if not page["hasNextPage"]:
            return Listed(
                repository_id=node["id"],
                name_with_owner=node["nameWithOwner"],
                config_text=_config_text(node),
                tips=tuple(sorted(tips, key=lambda tip: tip.issue)),
                server_date=answer.server_date,
            )
        variables["after"] = page["endCursor"]


def issue_ends(
    client: Client, repository: str, numbers: Sequence[IssueNumber]
) -> dict[IssueNumber, IssueEnd]:
    """Whether each issue is closed; one request for fifty.

    Raises:
        CogworksError: as the client raises, and for errors beside the data other than an issue that is gone.
    """
    owner, _, name = repository.partition("/")
    ends: dict[IssueNumber, IssueEnd] = {}
    for start in range(0, len(numbers), ISSUES_PER_REQUEST):
        some = numbers[start : start + ISSUES_PER_REQUEST]
        answer = client.query(issues_document(some), {"owner": owner, "name": name})
        for problem in answer.errors:
            if problem.type != "NOT_FOUND":
                raise as_error(problem, doing=f"read issues of {repository}")
        nodes = answer.data.get("repository") or {}
        for number in some:
            issue = nodes.get(f"i{number}")
            ends[number] = IssueEnd(
                is_there=issue is not None,
                closed_at=issue["closedAt"] if issue and issue["state"] == "CLOSED" else None,
            )
    return ends


def issues_document(numbers: Sequence[IssueNumber]) -> str:
    """The document that asks for the state of issues; `i<number>` are the answers."""
    fields = "\n".join(f"    i{number}: issue(number: {number}) {{ state closedAt }}" for number in numbers)
    head = "query IssueEnds($owner: String!, $name: String!)"
    return f"{head} {{\n  repository(owner: $owner, name: $name) {{\n{fields}\n  }}\n}}\n"


def archive(client: Client, repository_id: str, tips: Sequence[LedgerTip]) -> tuple[Moved, ...]:
    """Put ledgers away: each branch becomes a ref that neither clones nor branch lists show, in one atomic move.

    A branch that has moved since it was listed stays where it is.

    Raises:
        PermissionRefused: the token may not move refs.
        CogworksError: as the client raises.
    """
    moved: list[Moved] = []
    for start in range(0, len(tips), MOVES_PER_DOCUMENT):
        some = tips[start : start + MOVES_PER_DOCUMENT]
        first = _move(client, repository_id, [(tip, f"{ARCHIVE}{tip.issue}") for tip in some])
        # An item that was reopened after its first ledger was put away has a second one; both are kept.
        occupied = [tip for tip in some if first[tip.issue].problem]
        again = _move(
            client, repository_id, [(tip, f"{ARCHIVE}{tip.issue}-{tip.oid[:12]}") for tip in occupied]
        )
        moved += [again.get(tip.issue, first[tip.issue]) for tip in some]
    return tuple(moved)


def _move(
    client: Client, repository_id: str, moves: Sequence[tuple[LedgerTip, str]]
) -> dict[IssueNumber, Moved]:
    if not moves:
        return {}
    operations = [
        Operation(
            f"m{tip.issue}",
            "updateRefs",
            {
                "repositoryId": repository_id,
                "refUpdates": [
                    {"name": ref, "beforeOid": ZERO_OID, "afterOid": tip.oid},
                    {"name": f"{PREFIX}{tip.issue}", "beforeOid": tip.oid, "afterOid": ZERO_OID},
                ],
            },
        )
        for tip, ref in moves
    ]
    answer = client.mutate(*compose(operations))
    result: dict[IssueNumber, Moved] = {}
    for tip, ref in moves:
        problem = answer.problem_at(f"m{tip.issue}")
        if problem is not None and is_forbidden(problem):
            raise PermissionRefused(
                f"GitHub refused to move the ledger of #{tip.issue}: {problem.message}. Give the token `contents: write`, "
                "and exempt `cogworks/ledger/*` and `refs/cogworks/*` from rulesets."
            )
        result[tip.issue] = Moved(
            issue=tip.issue, ref="" if problem else ref, problem=problem.message if problem else ""
        )
    return result


def _tips(nodes: Iterable[Mapping[str, Any]]) -> Iterable[LedgerTip]:
    for node in nodes:
        name = node["name"].rpartition("/")[2]
        # The root of all ledgers stands among them.
        if name.isascii() and name.isdigit() and node["target"].get("message") is not None:
            yield LedgerTip(
                issue=IssueNumber(int(name)),
                oid=CommitOid(node["target"]["oid"]),
                message=node["target"]["message"],
                committed_date=node["target"]["committedDate"],
            )


def _config_text(repository: Mapping[str, Any]) -> str | None:
    target = (repository.get("defaultBranchRef") or {}).get("target") or {}
    blob = (target.get("configuration") or {}).get("object") or {}
    return blob.get("text")

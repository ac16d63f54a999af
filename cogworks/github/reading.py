"""Reads a work item in one request, once more only where the first answer cannot be trusted."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from cogworks.errors import CogworksError
from cogworks.github.addresses import IssueAddress
from cogworks.github.answers import Answer, GraphQLProblem, as_error, is_undefined_field
from cogworks.github.documents import document, read_work_item
from cogworks.github.snapshot import Snapshot, parse_pulls, parse_snapshot
from cogworks.vocabulary import BranchName, IssueNumber

ROOT_BRANCH = BranchName("cogworks/ledger/root")
_MAX_RE_READS = 3
_RE_READ_PAUSE_S = 0.5


class Queries(Protocol):
    """Reads through GraphQL."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def ledger_branch(number: IssueNumber) -> BranchName:
    """The branch that holds a work item's ledger."""
    return BranchName(f"cogworks/ledger/{number}")


def work_prefix(number: IssueNumber) -> str:
    """What the names of a work item's own branches begin with."""
    return f"cogworks/{number}/"


class SnapshotReader:
    """Reads snapshots from one server and remembers what that server does not know."""

    def __init__(self, client: Queries, *, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._sleep = sleep
        self._with_dependencies = True

    def read(self, address: IssueAddress) -> Snapshot:
        """The work item as it is now: one request.

        Up to three more while GitHub's list of comments is behind its count, and one for every hundred branches
        after the first forty.

        Raises: as `parse_snapshot`, and what the client raises.
        """
        answer = self._ask(address)
        for _ in range(_MAX_RE_READS):
            if not _is_behind(answer.data):
                break
            self._sleep(_RE_READ_PAUSE_S)
            answer = self._ask(address)
        return parse_snapshot(self._with_all_branches(answer, address), address)

    def complete(self, snapshot: Snapshot, recorded: Sequence[str]) -> Snapshot:
        """The snapshot with the recorded pull requests that it lacks; no request when it lacks none.

        A merged pull request whose branch is gone is found by its mention of the issue, which may be late or lost.

        Args:
            recorded: node ids.
        """
        known = {pull.node_id for pull in snapshot.pulls}
        missing = [node_id for node_id in dict.fromkeys(recorded) if node_id not in known]
        if not missing:
            return snapshot
        answer = self._client.query(document("pull-requests"), {"ids": missing})
        found = parse_pulls(answer, doing=f"read recorded pull requests of {snapshot.issue.url}")
        pulls = sorted([*snapshot.pulls, *found], key=lambda pull: pull.number)
        return snapshot.model_copy(update={"pulls": tuple(pulls)})

    def _ask(self, address: IssueAddress) -> Answer:
        answer = self._client.query(
            read_work_item(with_dependencies=self._with_dependencies), _variables(address)
        )
        if self._with_dependencies and any(is_undefined_field(problem) for problem in answer.errors):
            # An older GitHub Enterprise Server: the plan in the ledger knows the dependencies as well.
            self._with_dependencies = False
            answer = self._client.query(read_work_item(with_dependencies=False), _variables(address))
        unknown = next((problem for problem in answer.errors if is_undefined_field(problem)), None)
        if unknown is not None:
            raise CogworksError(
                f"{address.server_url} does not know what cogworks asks for: {unknown.message}. "
                "GitHub Enterprise Server 3.17 or newer is needed."
            )
        return answer

    def _with_all_branches(self, answer: Answer, address: IssueAddress) -> Answer:
        """The same answer with the branches of all further pages."""
        repository: dict[str, Any] | None = answer.data.get("repository")
        if not repository or not repository.get("refs"):
            return answer
        refs, nodes, problems = repository["refs"], list(repository["refs"]["nodes"]), list(answer.errors)
        while refs["pageInfo"]["hasNextPage"]:
            variables = {name: _variables(address)[name] for name in ("owner", "name", "branchPrefix")}
            page = self._client.query(
                document("more-branches"), {**variables, "after": refs["pageInfo"]["endCursor"]}
            )
            problems += page.errors
            if not (page.data.get("repository") or {}).get("refs"):
                problem = next(iter(page.errors), GraphQLProblem((), "NOT_FOUND", "no branches came"))
                raise as_error(problem, doing=f"list the branches of {address.url}")
            refs = page.data["repository"]["refs"]
            nodes += refs["nodes"]
        whole = {**repository, "refs": {**repository["refs"], "nodes": nodes}}
        return Answer({**answer.data, "repository": whole}, tuple(problems), answer.server_date, answer.rate)


def _variables(address: IssueAddress) -> dict[str, Any]:
    return {
        "owner": address.owner,
        "name": address.name,
        "number": address.number,
        "ledger": f"refs/heads/{ledger_branch(address.number)}",
        "root": f"refs/heads/{ROOT_BRANCH}",
        "branchPrefix": f"refs/heads/{work_prefix(address.number)}",
    }


def _is_behind(data: Mapping[str, Any]) -> bool:
    """Whether a list that claims to be whole is shorter or longer than its own count."""
    issue = (data.get("repository") or {}).get("issue")
    if not issue:
        return False
    comments = issue["comments"]
    return not comments["pageInfo"]["hasPreviousPage"] and comments["totalCount"] != len(comments["nodes"])

"""The issues of a repository that were touched last, and the pull requests that were merged: one request."""

from cogworks.errors import UsageError
from cogworks.forge.neighbours import Neighbour
from cogworks.github.answers import as_error
from cogworks.github.documents import document
from cogworks.github.reading import Queries
from cogworks.unexpected import Node, each, expecting
from cogworks.vocabulary import BranchName, IssueNumber

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
    found = answer.data.get("repository")
    if found is None:
        raise UsageError(f"there is no repository {repository}, or the token cannot see it.")
    with expecting("repository"):
        issues = each(found["issues"]["nodes"], "repository.issues.nodes", _issue)
        pulls = each(found["pullRequests"]["nodes"], "repository.pullRequests.nodes", _pull)
    return (*issues, *pulls)


def _issue(node: Node) -> Neighbour:
    return Neighbour(
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"],
        kind="issue",
        state="open" if node["state"] == "OPEN" else "closed",
        why_closed=_REASONS.get(node["stateReason"] or "", ""),
        labels=tuple(label["name"] for label in node["labels"]["nodes"]),
    )


def _pull(node: Node) -> Neighbour:
    return Neighbour(
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"],
        kind="pull request",
        state="merged",
        head=BranchName(node["headRefName"]),
    )

"""What GitHub has by now, read again after a write without an answer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from cogworks.github.answers import Answer, GraphQLProblem, as_error
from cogworks.github.documents import document
from cogworks.github.markers import work_prefix
from cogworks.github.parsing import branches_of, comments_of, sub_issues_of
from cogworks.github.publication import Known
from cogworks.github.pulls import pulls_of_branches, with_newer
from cogworks.vocabulary import IssueNumber


class Queries(Protocol):
    """GitHub, as far as it is read."""

    def query(self, document: str, variables: Mapping[str, Any]) -> Answer: ...


def seen_again(client: Queries, known: Known) -> Known:
    """The branches, pull requests, sub-issues and comments of the issue as they are now.

    Raises:
        CogworksError: the issue cannot be read.
    """
    issue = known.repository.issue
    answer = client.query(
        document("re-read"),
        {
            **_repository(known),
            "number": issue.number,
            "branchPrefix": f"refs/heads/{work_prefix(issue.number)}",
        },
    )
    repository = answer.data.get("repository")
    if answer.errors or not repository or not repository["issue"]:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "the issue is gone"))
        raise as_error(problem, doing=f"look at {issue.url} again after a write without an answer")
    return replace(
        known,
        branches=branches_of(repository),
        pulls=with_newer(known.pulls, pulls_of_branches(repository, checks_hidden=True)),
        sub_issues=sub_issues_of(repository["issue"], known.repository.repository.node_id),
        comments={**known.comments, issue.number: comments_of(repository["issue"])},
    )


def with_thread(client: Queries, known: Known, number: IssueNumber) -> Known:
    """The same with the comments of another issue or pull request.

    Raises:
        CogworksError: it cannot be read.
    """
    answer = client.query(document("thread"), {**_repository(known), "number": number})
    thread = (answer.data.get("repository") or {}).get("thread")
    if answer.errors or not thread:
        problem = next(iter(answer.errors), GraphQLProblem((), "NOT_FOUND", "there is no such issue"))
        raise as_error(problem, doing=f"read #{number}")
    return replace(
        known,
        comments={**known.comments, number: comments_of(thread)},
        subjects={**known.subjects, number: thread["id"]},
    )


def _repository(known: Known) -> dict[str, str]:
    owner, _, name = known.repository.repository.name_with_owner.partition("/")
    return {"owner": owner, "name": name}

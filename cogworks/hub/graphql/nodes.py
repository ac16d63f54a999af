"""Which object a global node id names."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cogworks.hub.check_records import CheckRun, Status
from cogworks.hub.graphql.gitvalues import GitRef, PullCommit, object_of
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.checks import rollup_of, status_of
from cogworks.hub.graphql.resolvers.conversations import subject_of
from cogworks.hub.graphql.resolvers.gitobjects import commit_of, pull_commits
from cogworks.hub.graphql.resolvers.pulls import requests_of
from cogworks.hub.graphql.resolvers.refs import comparison
from cogworks.hub.graphql.resolvers.reviews import thread_of
from cogworks.hub.graphql.resolvers.suites import App, app_of, suite_of
from cogworks.hub.graphql.sight import repository_holding
from cogworks.hub.graphql.tables import typename
from cogworks.hub.node_ids import Record, parse_node_id
from cogworks.hub.records import (
    Comment,
    Event,
    Issue,
    Label,
    Milestone,
    Reaction,
    Repository,
    Review,
    ReviewComment,
    User,
)
from cogworks.hub.refusals import NotFound

T = TypeVar("T")

_RECORDS: Mapping[str, type[Record]] = {
    "Bot": User,
    "CheckRun": CheckRun,
    "Event": Event,
    "Issue": Issue,
    "IssueComment": Comment,
    "Label": Label,
    "Milestone": Milestone,
    "Organization": User,
    "PullRequest": Issue,
    "PullRequestReview": Review,
    "PullRequestReviewComment": ReviewComment,
    "Reaction": Reaction,
    "Repository": Repository,
    "StatusContext": Status,
    "User": User,
}


def node(request: Request, node_id: str) -> Any:
    """The object with that id. Raises `NotFound`, also for one that the viewer may not see."""
    record = _load(request, node_id)
    if record is None or not _is_visible(request, record):
        raise NotFound(f"Could not resolve to a node with the global id of '{node_id}'")
    return record


def node_of(request: Request, node_id: str, kind: type[T], *, names: str) -> T:
    """The object with that id, which must be of one of the GraphQL types `names` (separated by blanks).

    Raises `NotFound` in GitHub's words when it is something else.
    """
    record = node(request, node_id)
    if not isinstance(record, kind) or typename(record) not in names.split():
        wanted = names.split(maxsplit=1)[0]
        raise NotFound(f"Could not resolve to {wanted} node with the global id of '{node_id}'")
    return record


def issue_node(request: Request, node_id: str) -> Issue:
    return node_of(request, node_id, Issue, names="Issue")


def pull_node(request: Request, node_id: str) -> Issue:
    return node_of(request, node_id, Issue, names="PullRequest")


def repository_node(request: Request, node_id: str) -> Repository:
    return node_of(request, node_id, Repository, names="Repository")


def _load(request: Request, text: str) -> object | None:
    parsed = parse_node_id(text)
    if parsed is None:
        return None
    type_name, rest = parsed
    kind = _RECORDS.get(type_name)
    if kind is not None:
        record = request.store.get(kind, int(rest)) if rest.isdecimal() else None
        return record if record is not None and record.node_id == text else None
    load = _OTHERS.get(type_name)
    first, _, second = rest.partition(":")
    return load(request, int(first), second) if load is not None and first.isdecimal() else None


def _ref(request: Request, repository_id: int, name: str) -> GitRef | None:
    repository = request.store.get(Repository, repository_id)
    oid = None if repository is None else request.git(repository).ref(name)
    return None if repository is None or oid is None else GitRef(repository, name, oid)


def _git_object(request: Request, repository_id: int, oid: str) -> object | None:
    repository = request.store.get(Repository, repository_id)
    return None if repository is None else object_of(repository, request.git(repository), oid)


def _pull_commit(request: Request, pull_id: int, oid: str) -> PullCommit | None:
    pull = request.issue(pull_id)
    commits = [] if pull is None else pull_commits(pull, request)
    return next((commit for commit in commits if commit.commit.oid == oid), None)


def _thread(request: Request, first_id: int, _rest: str) -> object | None:
    return thread_of(request, first_id)


def _rollup(request: Request, repository_id: int, oid: str) -> object | None:
    repository = request.store.get(Repository, repository_id)
    commit = None if repository is None else commit_of(repository, request, oid)
    return None if commit is None else rollup_of(commit, request)


def _status(request: Request, repository_id: int, oid: str) -> object | None:
    repository = request.store.get(Repository, repository_id)
    commit = None if repository is None else commit_of(repository, request, oid)
    return None if commit is None else status_of(commit, request)


def _suite(request: Request, first_id: int, _rest: str) -> object | None:
    run = request.store.get(CheckRun, first_id)
    return None if run is None else suite_of(run, request)


def _app(request: Request, user_id: int, _rest: str) -> object | None:
    return None if request.store.get(User, user_id) is None else app_of(request, user_id)


def _review_request(request: Request, pull_id: int, user_id: str) -> object | None:
    pull = request.issue(pull_id)
    requests = [] if pull is None else requests_of(pull, request)
    return next((each for each in requests if str(each.reviewer.id) == user_id), None)


def _comparison(request: Request, repository_id: int, oids: str) -> object | None:
    repository = request.store.get(Repository, repository_id)
    base, _, head = oids.partition("...")
    return None if repository is None else comparison(repository, request, base, head)


_OTHERS: Mapping[str, Callable[[Request, int, str], object | None]] = {
    "App": _app,
    "Blob": _git_object,
    "CheckSuite": _suite,
    "Commit": _git_object,
    "Comparison": _comparison,
    "PullRequestCommit": _pull_commit,
    "PullRequestReviewThread": _thread,
    "Ref": _ref,
    "ReviewRequest": _review_request,
    "Status": _status,
    "StatusCheckRollup": _rollup,
    "Tag": _git_object,
    "Tree": _git_object,
}


def _is_visible(request: Request, value: Any) -> bool:
    """Everything that lies in a repository is as visible as the repository."""
    if isinstance(value, User | App):
        return True
    if isinstance(value, Reaction):
        value = subject_of(value, request)
    repository = value if isinstance(value, Repository) else repository_holding(request, value)
    return request.may_read(repository)

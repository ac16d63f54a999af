"""One work item as it was at one moment: everything the decision may look at, parsed from one answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cogworks.errors import CogworksError, ConfigurationError, UsageError
from cogworks.github.addresses import IssueAddress
from cogworks.github.answers import Answer, GraphQLProblem, as_error, is_forbidden
from cogworks.github.facts import (
    Account,
    Branch,
    Checks,
    Comment,
    Issue,
    LabelEvent,
    Ledger,
    LedgerCommit,
    PullRequest,
    Review,
    SubIssue,
    Viewer,
)
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login, Value

Node = Mapping[str, Any]

_MAY_BE_ABSENT = frozenset({"root", "ledger", "configuration", "parent"})
_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})


class RepositoryFacts(Value):
    """The repository, pinned to the head of its default branch."""

    node_id: str
    name_with_owner: str
    """As it is called now; differs from the address after a rename."""
    viewer_permission: str | None
    """`ADMIN`, `MAINTAIN`, `WRITE`, `TRIAGE`, `READ`; None for an installation, which is not a refusal."""
    default_branch: BranchName
    head_oid: CommitOid
    config_files: Mapping[str, str]
    """Path below `.cogworks`, e.g. `prompts/intake.md.j2` -> text; two levels deep, text files only."""
    label_ids: Mapping[str, str]
    """Name -> node id of the repository's labels that look like cogworks' own, and of those on the issue."""


class Snapshot(Value):
    """Everything one read tells about a work item."""

    server_date: datetime
    """GitHub's clock at the read."""
    viewer: Viewer
    repository: RepositoryFacts
    issue: Issue
    root_oid: CommitOid | None
    """The commit every ledger starts from; None before the first one."""
    ledger: Ledger | None
    branches: Mapping[BranchName, Branch]
    """Branches below `cogworks/<number>/`, by their full name."""
    pulls: tuple[PullRequest, ...]
    """By number; of this repository only."""
    permissions: Mapping[Login, str] = {}
    """What people may do here (`admin`, `write`, …), of those who newly asked for something; empty when nobody did."""

    def pull_from(self, head: BranchName, base: BranchName) -> PullRequest | None:
        """The newest pull request between the two branches, an open one first."""
        candidates = [pull for pull in self.pulls if (pull.head, pull.base) == (head, base)]
        return max(candidates, key=lambda pull: (pull.state == "open", pull.number), default=None)


def parse_snapshot(answer: Answer, address: IssueAddress) -> Snapshot:
    """The snapshot in an answer to `read-work-item`.

    Raises:
        UsageError: the repository or the issue is not there, or has moved to another repository.
        ConfigurationError: a file of `.cogworks` is too large to be read.
        CogworksError: an error beside the data that leaves no room for a decision, as the fitting kind.
    """
    repository, issue = _repository_and_issue(answer, address)
    for problem in answer.errors:
        if not _is_tolerable(problem):
            raise as_error(problem, doing=f"read {address.url}")
    if issue["repository"]["id"] != repository["id"]:
        raise UsageError(
            f"{address.url} was moved to {issue['url']}; start cogworks there, the old run does not follow."
        )
    checks_hidden = any("statusCheckRollup" in problem.path for problem in answer.errors)
    return Snapshot(
        server_date=answer.server_date,
        viewer=_viewer(answer.data["viewer"]),
        repository=_repository(repository, issue, address),
        issue=_issue(issue),
        root_oid=_target_oid(repository.get("root")),
        ledger=_ledger(repository.get("ledger"), address),
        branches=branches_of(repository),
        pulls=_pulls(repository, issue, checks_hidden=checks_hidden),
    )


def _repository_and_issue(answer: Answer, address: IssueAddress) -> tuple[Node, Node]:
    repository: Node | None = answer.data.get("repository")
    issue: Node | None = repository.get("issue") if repository else None
    if repository and issue:
        return repository, issue
    missing = ("repository", "issue") if repository else ("repository",)
    for problem in answer.errors:
        if problem.path[: len(missing)] != missing or problem.type not in ("NOT_FOUND", ""):
            raise as_error(problem, doing=f"read {address.url}")
    if repository:
        raise UsageError(
            f"{address.url}: {address.repository} has no issue with this number (a pull request is not an issue). "
            "Check the number, or that the issue was not deleted or moved."
        )
    raise UsageError(
        f"{address.url}: there is no repository {address.repository}, or the token cannot see it. "
        "Check the URL, and that the token has read access to the repository."
    )


def _is_tolerable(problem: GraphQLProblem) -> bool:
    """Errors that leave everything readable that a decision needs."""
    if problem.path[:1] == ("rateLimit",):
        return True
    if "statusCheckRollup" in problem.path:
        return is_forbidden(problem)
    return (
        problem.path[:1] == ("repository",)
        and problem.type == "NOT_FOUND"
        and not _MAY_BE_ABSENT.isdisjoint(problem.path)
    )


def _viewer(node: Node) -> Viewer:
    login = node["login"]
    return Viewer(login=Login(login), id=node.get("databaseId"), is_app=login.endswith("[bot]"))


def _repository(node: Node, issue: Node, address: IssueAddress) -> RepositoryFacts:
    default = node.get("defaultBranchRef")
    if default is None:
        raise UsageError(
            f"{address.url}: {node['nameWithOwner']} has no commit yet; push one to its default branch first."
        )
    labels = [*node["labels"]["nodes"], *issue["labels"]["nodes"]]
    return RepositoryFacts(
        node_id=node["id"],
        name_with_owner=node["nameWithOwner"],
        viewer_permission=node.get("viewerPermission"),
        default_branch=BranchName(default["name"]),
        head_oid=CommitOid(default["target"]["oid"]),
        config_files=_config_files(default["target"].get("configuration")),
        label_ids={label["name"]: label["id"] for label in labels},
    )


def _config_files(tree: Node | None) -> dict[str, str]:
    files: dict[str, str] = {}
    too_large: list[str] = []

    def walk(entries: Sequence[Node], prefix: str) -> None:
        for entry in entries:
            content = entry.get("object") or {}
            path = prefix + entry["name"]
            if entry["type"] == "tree":
                walk(content.get("entries") or (), f"{path}/")
            elif content.get("isTruncated"):
                too_large.append(path)
            elif content.get("text") is not None:
                files[path] = content["text"]

    walk(((tree or {}).get("object") or {}).get("entries") or (), "")
    if too_large:
        raise ConfigurationError(
            ".cogworks",
            [f"file {path!r} is too large to be read; keep files here below 500 kB" for path in too_large],
        )
    return files


def _ledger(ref: Node | None, address: IssueAddress) -> Ledger | None:
    if ref is None:
        return None
    target = ref["target"]
    blob = ((target.get("file") or {}).get("object")) or {}
    if blob.get("isTruncated"):
        raise CogworksError(
            f"{address.url}: `state.json` on the item's ledger is too large to be read; run `cogworks fsck`."
        )
    return Ledger(
        oid=CommitOid(target["oid"]),
        message=target["message"],
        committed_date=target["committedDate"],
        state_text=blob.get("text"),
        history=tuple(
            LedgerCommit(
                oid=CommitOid(node["oid"]), message=node["message"], committed_date=node["committedDate"]
            )
            for node in target["history"]["nodes"]
        ),
    )


def _issue(node: Node) -> Issue:
    return Issue(
        node_id=node["id"],
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"] or "",
        state=node["state"].lower(),
        locked=node["locked"],
        url=node["url"],
        author=account(node.get("author")),
        labels=tuple(label["name"] for label in node["labels"]["nodes"]),
        comments=comments_of(node),
        label_events=tuple(_label_event(event) for event in node["inputs"]["nodes"]),
        sub_issues=sub_issues_of(node),
        parent=IssueNumber(node["parent"]["number"]) if node.get("parent") else None,
    )


def account(node: Node | None) -> Account | None:
    """The account in an `Actor`; None for one that is gone."""
    if node is None:
        return None
    return Account(login=Login(node["login"]), id=node.get("databaseId"), is_bot=node["__typename"] == "Bot")


def comments_of(issue: Node) -> tuple[Comment, ...]:
    """The comments below an issue, oldest first by id: `createdAt` has a grain of one second."""
    found = (
        Comment(
            node_id=node["id"],
            database_id=int(node["fullDatabaseId"]),
            author=account(node.get("author")),
            body=node["body"],
            created_at=node["createdAt"],
            edited=node.get("lastEditedAt") is not None,
            viewer_did_author=node["viewerDidAuthor"],
            url=node["url"],
            own_reactions=tuple(
                group["content"] for group in node.get("reactionGroups") or () if group["viewerHasReacted"]
            ),
        )
        for node in issue["comments"]["nodes"]
    )
    return tuple(sorted(found, key=lambda comment: comment.database_id))


def sub_issues_of(issue: Node) -> tuple[SubIssue, ...]:
    """The sub-issues below an issue, in GitHub's order."""
    return tuple(
        SubIssue(
            node_id=node["id"],
            number=IssueNumber(node["number"]),
            title=node["title"],
            body=node["body"] or "",
            state=node["state"].lower(),
            author=account(node.get("author")),
            url=node["url"],
            blocked_by=_blockers(node.get("blockedBy")),
        )
        for node in issue["subIssues"]["nodes"]
    )


def _blockers(connection: Node | None) -> tuple[IssueNumber, ...] | None:
    return None if connection is None else tuple(IssueNumber(node["number"]) for node in connection["nodes"])


def _label_event(node: Node) -> LabelEvent:
    return LabelEvent(
        id=node["id"],
        label=node["label"]["name"],
        added=node["__typename"] == "LabeledEvent",
        actor=account(node.get("actor")),
        created_at=node["createdAt"],
    )


def _target_oid(ref: Node | None) -> CommitOid | None:
    return CommitOid(ref["target"]["oid"]) if ref else None


def branches_of(repository: Node) -> dict[BranchName, Branch]:
    """The branches below the asked prefix, by full name."""
    return {
        BranchName(f"{ref['prefix']}{ref['name']}".removeprefix("refs/heads/")): Branch(
            oid=CommitOid(ref["target"]["oid"]), message=ref["target"].get("message") or ""
        )
        for ref in repository["refs"]["nodes"]
    }


def pulls_of_branches(repository: Node, *, checks_hidden: bool) -> list[PullRequest]:
    """The newest pull request of every branch below the asked prefix."""
    nodes = (pull for ref in repository["refs"]["nodes"] for pull in ref["associatedPullRequests"]["nodes"])
    return [_pull(node, checks_hidden=checks_hidden) for node in nodes if not node["isCrossRepository"]]


def parse_pulls(answer: Answer, *, doing: str) -> tuple[PullRequest, ...]:
    """The pull requests in an answer to `pull-requests`; those that are gone are left out.

    Raises:
        CogworksError: an error beside the data other than that, as the fitting kind.
    """
    for problem in answer.errors:
        is_gone = problem.type == "NOT_FOUND" and problem.path[:1] == ("nodes",)
        if not (is_gone or "statusCheckRollup" in problem.path):
            raise as_error(problem, doing=doing)
    hidden = any("statusCheckRollup" in problem.path for problem in answer.errors)
    return tuple(
        _pull(node, checks_hidden=hidden)
        for node in answer.data["nodes"]
        if node and not node["isCrossRepository"]
    )


def _pulls(repository: Node, issue: Node, *, checks_hidden: bool) -> tuple[PullRequest, ...]:
    found: dict[IssueNumber, PullRequest] = {}
    for event in issue["references"]["nodes"]:
        source = event.get("source") or {}
        if source.get("__typename") == "PullRequest" and not (
            event["isCrossRepository"] or source["isCrossRepository"]
        ):
            pull = _pull(source, checks_hidden=True)
            found[pull.number] = pull
    # What hangs on a branch is told in full, so it replaces the short form.
    found.update((pull.number, pull) for pull in pulls_of_branches(repository, checks_hidden=checks_hidden))
    return tuple(found[number] for number in sorted(found))


def _pull(node: Node, *, checks_hidden: bool) -> PullRequest:
    return PullRequest(
        node_id=node["id"],
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"] or "",
        url=node["url"],
        head=BranchName(node["headRefName"]),
        base=BranchName(node["baseRefName"]),
        head_oid=CommitOid(node["headRefOid"]),
        base_oid=CommitOid(node["baseRefOid"]),
        state=node["pullRequestState"].lower(),
        author=account(node.get("author")),
        merged_by=account(node.get("mergedBy")),
        reviews=tuple(
            _review(review) for review in (node.get("latestOpinionatedReviews") or {}).get("nodes") or ()
        ),
        checks=_checks(node.get("commits"), checks_hidden=checks_hidden),
    )


def _review(node: Node) -> Review:
    return Review(
        author=account(node.get("author")),
        state=node["state"].lower(),
        oid=CommitOid(node["commit"]["oid"]) if node.get("commit") else None,
        can_push=node["authorCanPushToRepository"],
    )


def _checks(commits: Node | None, *, checks_hidden: bool) -> Checks:
    if commits is None:
        return Checks(is_known=False)
    rollup = next((node["commit"].get("statusCheckRollup") for node in commits["nodes"]), None)
    if rollup is None:
        return Checks(is_known=not checks_hidden)
    failed = {_failed_check(node) for node in rollup["contexts"]["nodes"]} - {None}
    return Checks(
        state=rollup["state"].lower(), failed=tuple(sorted(name for name in failed if name is not None))
    )


def _failed_check(node: Node) -> str | None:
    if node["__typename"] == "StatusContext":
        return node["context"] if node["state"] in ("FAILURE", "ERROR") else None
    return node["name"] if node["conclusion"] is not None and node["conclusion"] not in _PASSED else None

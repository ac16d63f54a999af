"""The snapshot of a work item, parsed from the answer to one read."""

import re

from cogworks.errors import CogworksError, ConfigurationError, UsageError
from cogworks.forge.addresses import IssueAddress
from cogworks.forge.facts import (
    Branch,
    Comment,
    Edit,
    Issue,
    LabelEvent,
    Ledger,
    LedgerCommit,
    PullRequest,
    SubIssue,
    Viewer,
)
from cogworks.forge.snapshot import Contents, RepositoryFacts, Snapshot
from cogworks.github.documents import Answer, GraphQLProblem, as_error, is_forbidden
from cogworks.github.pulls import account, own_reactions, pulls_of_branches, referring_pulls
from cogworks.packs.declared import FOLDER as PACKS_FOLDER
from cogworks.unexpected import Node, each, entries, expecting, unexpected
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Login

_NOREPLY = re.compile(r"(?:\d+\+)?([^@+]+)@users\.noreply\.[a-z0-9.-]+", re.IGNORECASE)
_MAY_BE_ABSENT = frozenset({"root", "ledger", "configuration", "parent"})
_ELSEWHERE = frozenset({"references", "subIssues", "blockedBy", "parent"})
"""What may belong to other repositories, which the token need not see; nothing of ours is there."""


def parse_snapshot(answer: Answer, address: IssueAddress) -> Snapshot:
    """The snapshot in an answer to `read-work-item`.

    Raises:
        UsageError: the repository or the issue is not there, or has moved to another repository.
        ConfigurationError: a file of `.cogworks` is too large to be read.
        UnexpectedAnswer: it does not look as it was asked for.
        CogworksError: an error beside the data that leaves no room for a decision, as the fitting kind.
    """
    with expecting("repository"):
        repository, issue = refuse_unreadable(answer, address)
        if issue["repository"]["id"] != repository["id"]:
            raise UsageError(
                f"{address.url} was moved to {issue['url']}; start cogworks there, the old run does not follow."
            )
        checks_hidden = any("statusCheckRollup" in problem.path for problem in answer.errors)
        with expecting("viewer"):
            viewer = _viewer(answer.data["viewer"])
        return Snapshot(
            server_date=answer.server_date,
            viewer=viewer,
            repository=_repository(repository, issue, address),
            issue=_issue(issue),
            root_oid=_target_oid(repository.get("root")),
            ledger=_ledger(repository.get("ledger"), address),
            branches=branches_of(repository),
            pulls=_pulls(repository, issue, checks_hidden=checks_hidden),
            rate=answer.rate,
        )


def refuse_unreadable(answer: Answer, address: IssueAddress) -> tuple[Node, Node]:
    """Repository and issue of an answer that leaves room for a decision.

    Raises: as `parse_snapshot`.
    """
    repository, issue = _repository_and_issue(answer, address)
    for problem in answer.errors:
        if not _is_tolerable(problem):
            raise as_error(problem, doing=f"read {address.url}")
    for place, node in (("repository", repository), ("repository.issue", issue)):
        if not isinstance(node, dict):
            raise unexpected(place, f"{type(node).__name__} in place of an object")
    return repository, issue


def _repository_and_issue(answer: Answer, address: IssueAddress) -> tuple[Node, Node]:
    repository: Node | None = answer.data.get("repository")
    with expecting("repository"):
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
    if problem.path[:1] != ("repository",):
        return False
    if not _ELSEWHERE.isdisjoint(problem.path) and is_forbidden(problem):
        # Without the whole list nothing can be said; single entries are other people's.
        return any(isinstance(part, int) for part in problem.path) or "parent" in problem.path
    return problem.type == "NOT_FOUND" and not (_MAY_BE_ABSENT | _ELSEWHERE).isdisjoint(problem.path)


def _viewer(node: Node) -> Viewer:
    login = node["login"]
    return Viewer(login=Login(login), id=node.get("databaseId"), is_app=login.endswith("[bot]"))


def _repository(node: Node, issue: Node, address: IssueAddress) -> RepositoryFacts:
    default = node.get("defaultBranchRef")
    if default is None:
        raise UsageError(
            f"{address.url}: {node['nameWithOwner']} has no commit yet; push one to its default branch first."
        )
    labels = [*entries(node["labels"]["nodes"], "labels"), *entries(issue["labels"]["nodes"], "issue.labels")]
    return RepositoryFacts(
        node_id=node["id"],
        name_with_owner=node["nameWithOwner"],
        viewer_permission=node.get("viewerPermission"),
        default_branch=BranchName(default["name"]),
        head_oid=CommitOid(default["target"]["oid"]),
        config_files=config_files(default["target"].get("configuration")),
        config_oid=(default["target"].get("configuration") or {}).get("oid") or "",
        contents=contents_of(node),
        label_ids={label["name"]: label["id"] for label in labels},
    )


def contents_of(repository: Node) -> Contents:
    """What an answer with the fragment `Configured` says of the default branch."""
    edges = (repository.get("languages") or {}).get("edges") or ()
    tree = ((repository.get("defaultBranchRef") or {}).get("target") or {}).get("tree") or {}
    return Contents(
        languages={edge["node"]["name"]: edge["size"] for edge in edges},
        root_names=tuple(entry["name"] for entry in tree.get("entries") or ()),
    )


def config_files(tree: Node | None) -> dict[str, str]:
    """The text files below `.cogworks`, two levels deep, by their path below it.

    Raises:
        ConfigurationError: a text file came only in part.
    """
    files: dict[str, str] = {}
    too_large: list[str] = []

    def walk(folder: Node, prefix: str) -> None:
        each(folder.get("entries", []), f"configuration {prefix}", lambda entry: enter(entry, prefix))

    def enter(entry: Node, prefix: str) -> None:
        content, path = entry.get("object") or {}, prefix + entry["name"]
        if entry["type"] == "tree":
            walk(content, f"{path}/")
        elif content.get("isTruncated") and not content.get("isBinary"):
            too_large.append(path)
        elif content.get("text") is not None and not content.get("isTruncated"):
            files[path] = content["text"]

    walk((tree or {}).get("object") or {}, "")
    if too_large:
        raise ConfigurationError(
            ".cogworks",
            [f"file {path!r} is too large to be read; keep files here below 500 kB" for path in too_large],
        )
    return files


def pack_files(tree: Node | None) -> dict[str, str | None]:
    """The files of context packs by their path in the repository; None: it is no text, or lies deeper than a pack's may."""
    files: dict[str, str | None] = {}

    def walk(folder: Node, prefix: str) -> None:
        each(folder.get("entries", []), f"packs {prefix}", lambda entry: enter(entry, prefix))

    def enter(entry: Node, prefix: str) -> None:
        content, path = entry.get("object") or {}, f"{prefix}/{entry['name']}"
        if entry["type"] == "tree":
            walk(content, path)
        else:
            files[path] = content.get("text")

    walk((tree or {}).get("object") or {}, PACKS_FOLDER)
    return files


def _ledger(ref: Node | None, address: IssueAddress) -> Ledger | None:
    if ref is None:
        return None
    with expecting("repository.ledger"):
        return _ledger_at(ref["target"], address)


def _ledger_at(target: Node, address: IssueAddress) -> Ledger:
    blob = ((target.get("file") or {}).get("object")) or {}
    if blob.get("isTruncated"):
        raise CogworksError(
            f"{address.url}: `state.json` on the item's ledger is too large to be read; run `cogworks fsck`."
        )
    signature = target["signature"] or {}
    return Ledger(
        oid=CommitOid(target["oid"]),
        author=_login_of(target["author"] or {}),
        is_signed_by_host=bool(signature.get("isValid") and signature.get("wasSignedByGitHub")),
        message=target["message"],
        committed_date=target["committedDate"],
        state_text=blob.get("text"),
        history=each(
            target["history"]["nodes"],
            "history.nodes",
            lambda node: LedgerCommit(
                oid=CommitOid(node["oid"]), message=node["message"], committed_date=node["committedDate"]
            ),
        ),
    )


def _login_of(author: Node) -> str:
    """Whose commit it is. An App is no user for GitHub's API; its commits have an address with its login."""
    user = author.get("user") or {}
    match = _NOREPLY.fullmatch(author.get("email") or "")
    return str(user.get("login") or (match[1] if match else ""))


def _issue(node: Node) -> Issue:
    with expecting("repository.issue"):
        return Issue(
            node_id=node["id"],
            number=IssueNumber(node["number"]),
            title=node["title"],
            body=node["body"] or "",
            state=node["state"].lower(),
            is_reopened=node.get("stateReason") == "REOPENED",
            locked=node["locked"],
            url=node["url"],
            author=account(node.get("author")),
            body_edit=_body_edit(node),
            title_edit=_title_edit(node),
            labels=each(node["labels"]["nodes"], "labels.nodes", lambda label: label["name"]),
            comments=comments_of(node),
            has_all_comments=not node["comments"]["pageInfo"]["hasPreviousPage"],
            label_events=each(node["inputs"]["nodes"], "inputs.nodes", _label_event),
            sub_issues=sub_issues_of(node, node["repository"]["id"]),
            parent=IssueNumber(node["parent"]["number"]) if node.get("parent") else None,
            open_blockers=_open_blockers(node),
        )


def comments_of(issue: Node) -> tuple[Comment, ...]:
    """The comments below an issue, oldest first by id: `createdAt` has a grain of one second."""
    comments = each(issue["comments"]["nodes"], "comments.nodes", comment_of)
    return tuple(sorted(comments, key=lambda comment: comment.database_id))


def comment_of(node: Node) -> Comment:
    """One comment."""
    return Comment(
        node_id=node["id"],
        database_id=int(node["fullDatabaseId"]),
        author=account(node.get("author")),
        body=node["body"],
        created_at=node["createdAt"],
        edited=node.get("lastEditedAt") is not None,
        viewer_did_author=node["viewerDidAuthor"],
        url=node["url"],
        own_reactions=own_reactions(node),
    )


def sub_issues_of(issue: Node, repository_id: str) -> tuple[SubIssue, ...]:
    """The sub-issues below an issue, in GitHub's order; those of other repositories and those that the token may not
    see are left out: nothing of ours is there, and their numbers are numbers of something else here."""
    sub_issues = each(
        issue["subIssues"]["nodes"],
        "subIssues.nodes",
        lambda node: issue_facts(node) if node and node["repository"]["id"] == repository_id else None,
    )
    return tuple(sub_issue for sub_issue in sub_issues if sub_issue)


def issue_facts(node: Node) -> SubIssue:
    """An issue as the fragment `SubIssueFacts` has it, and `Edits` where that is asked for."""
    return SubIssue(
        node_id=node["id"],
        number=IssueNumber(node["number"]),
        title=node["title"],
        body=node["body"] or "",
        state=node["state"].lower(),
        author=account(node.get("author")),
        url=node["url"],
        body_edit=_body_edit(node),
        title_edit=_title_edit(node),
        blocked_by=_blockers(node.get("blockedBy")),
    )


def _body_edit(node: Node) -> Edit | None:
    at = node.get("lastEditedAt")
    return None if at is None else Edit(by=account(node.get("editor")), at=at)


def _title_edit(node: Node) -> Edit | None:
    renames = node.get("renames")
    edits = each(renames["nodes"], "renames.nodes", _renaming) if renames else ()
    return edits[-1] if edits else None


def _renaming(node: Node) -> Edit:
    return Edit(by=account(node.get("actor")), at=node["createdAt"])


def _open_blockers(issue: Node) -> tuple[IssueNumber, ...]:
    """Those of the same repository: other ones have numbers of something else here."""
    connection = issue.get("blockedBy") or {"nodes": []}
    visible = [
        node for node in connection["nodes"] if node and node["repository"]["id"] == issue["repository"]["id"]
    ]
    return tuple(IssueNumber(node["number"]) for node in visible if node["state"] == "OPEN")


def _blockers(connection: Node | None) -> tuple[IssueNumber, ...] | None:
    if connection is None:
        return None
    visible = (node for node in connection["nodes"] if node)
    return tuple(IssueNumber(node["number"]) for node in visible)


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
    return dict(each(repository["refs"]["nodes"], "repository.refs.nodes", _branch))


def _branch(ref: Node) -> tuple[BranchName, Branch]:
    target = ref["target"]
    name = BranchName(f"{ref['prefix']}{ref['name']}".removeprefix("refs/heads/"))
    return name, Branch(oid=CommitOid(target["oid"]), message=target.get("message") or "")


def _pulls(repository: Node, issue: Node, *, checks_hidden: bool) -> tuple[PullRequest, ...]:
    pulls = {pull.number: pull for pull in referring_pulls(issue)}
    # The pull requests of branches have all their fields, so they replace the short form.
    pulls.update((pull.number, pull) for pull in pulls_of_branches(repository, checks_hidden=checks_hidden))
    return tuple(pulls[number] for number in sorted(pulls))

"""What is answered about the refs of a repository, and what an expression names."""

from dataclasses import dataclass
from typing import Any

from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import GitCommit, GitRef, GitTree, GitValue, object_of
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.gitobjects import commit_of
from cogworks.hub.graphql.resolvers.listings import pull_page
from cogworks.hub.graphql.tables import Table
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Issue, Repository
from cogworks.hub.refusals import Unprocessable

TABLE = Table()

HEADS = "refs/heads/"
TAGS = "refs/tags/"


TABLE.plain(
    "Ref",
    GitRef,
    {
        "id": lambda ref, _: ref.node_id,
        "name": lambda ref, _: ref.short_name,
        "prefix": lambda ref, _: ref.prefix,
        "repository": lambda ref, _: ref.repository,
        "target": lambda ref, request: object_of(ref.repository, request.git(ref.repository), ref.oid),
    },
)


def is_visible(name: str) -> bool:
    """GraphQL knows branches and tags; every other ref is there but cannot be asked for."""
    return name.startswith((HEADS, TAGS))


def find_ref(repository: Repository, request: Request, name: str) -> GitRef | None:
    """The branch or tag with a full name, `heads/x`, or just `x`; None when there is none."""
    full = next((p + name for p in ("", "refs/", HEADS, TAGS) if is_visible(p + name)), name)
    oid = request.git(repository).ref(full) if is_visible(full) and ".." not in full else None
    return None if oid is None else GitRef(repository, full, oid)


@TABLE.field("Repository", "ref")
def ref(repository: Repository, request: Request, qualified_name: str) -> GitRef | None:
    return find_ref(repository, request, qualified_name)


@TABLE.field("Repository", "defaultBranchRef")
def default_branch_ref(repository: Repository, request: Request) -> GitRef | None:
    """Null for a repository without a commit."""
    return find_ref(repository, request, HEADS + repository.default_branch)


@TABLE.field("Repository", "isEmpty")
def is_empty(repository: Repository, request: Request) -> bool:
    return not request.git(repository).refs(HEADS)


@TABLE.field("Repository", "refs")
def refs(
    repository: Repository,
    request: Request,
    ref_prefix: str,
    query: str | None = None,
    **arguments: Any,
) -> Connection[GitRef]:
    """Branches or tags below a prefix, by name, or by the date of what they point to."""
    prefix = ref_prefix if ref_prefix.endswith("/") else f"{ref_prefix}/"
    items = [
        GitRef(repository, name, oid)
        for name, oid in request.git(repository).refs(prefix).items()
        if is_visible(name) and (query is None or query.lower() in name.lower())
    ]
    order = arguments.get("order_by") or {}
    if order.get("field") == "TAG_COMMIT_DATE":
        items.sort(key=lambda ref: _date(ref, request))
    if (arguments.get("direction") or order.get("direction")) == "DESC":
        items.reverse()
    return connect(items, arguments, key=lambda ref: ref.name)


def _date(ref: GitRef, request: Request) -> float:
    commit = request.git(ref.repository).commit(ref.oid)
    return 0.0 if commit is None else commit.committer.date.timestamp()


@TABLE.field("Ref", "associatedPullRequests")
def pulls_of_ref(ref: GitRef, request: Request, **arguments: Any) -> Connection[Issue]:
    """The pull requests that have the branch as their head."""
    branch = ref.short_name if ref.prefix == HEADS else None
    pulls = [
        item
        for item in request.issues(ref.repository)
        if item.pull is not None and item.pull.head_branch == branch
    ]
    return pull_page(pulls, request, arguments)


@TABLE.field("Repository", "object")
def object_by_expression(
    repository: Repository, request: Request, expression: str | None = None, oid: str | None = None
) -> GitValue | None:
    """What an oid or a revision such as `main:src` names; null when nothing does."""
    if (expression is None) is (oid is None):
        raise Unprocessable("Exactly one of `expression` and `oid` must be provided")
    git = request.git(repository)
    if oid is not None:
        return object_of(repository, git, oid)
    revision, colon, path = (expression or "").partition(":")
    start = _revision(repository, request, revision)
    if start is None or not colon:
        return start
    tree = git.commit(start.oid)
    entry = git.entry(start.oid if tree is None else tree.tree, path)
    if entry is None:
        return None
    if entry.type == "tree":
        return GitTree(repository, entry.oid, path.strip("/"))
    return object_of(repository, git, entry.oid)


def _revision(repository: Repository, request: Request, revision: str) -> GitValue | None:
    git = request.git(repository)
    name = repository.default_branch if revision == "HEAD" else revision
    ref = find_ref(repository, request, name)
    oid = ref.oid if ref is not None else git.resolve(revision)
    return None if oid is None else object_of(repository, git, oid)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `head` has that `base` has not, and how much the other way round."""

    type_name = "Comparison"
    base: GitCommit
    head: GitCommit
    ahead: tuple[GitCommit, ...]
    """Oldest first."""
    behind: int


@TABLE.field("Ref", "compare")
def compare(ref: GitRef, request: Request, head_ref: str) -> Comparison | None:
    """How the branch `head_ref` differs from this ref; null when there is no such branch."""
    other = find_ref(ref.repository, request, head_ref)
    return None if other is None else comparison(ref.repository, request, ref.oid, other.oid)


def comparison(repository: Repository, request: Request, base_oid: str, head_oid: str) -> Comparison | None:
    """The comparison of two commits; None when one of them is not there."""
    base, head = (commit_of(repository, request, oid) for oid in (base_oid, head_oid))
    if base is None or head is None:
        return None
    git = request.git(repository)
    ahead = [GitCommit(repository, commit) for commit in git.log(head.oid, f"^{base.oid}")]
    return Comparison(base, head, tuple(reversed(ahead)), git.count(base.oid, f"^{head.oid}"))


def _status(comparison: Comparison, _request: Request) -> str:
    if comparison.ahead:
        return "DIVERGED" if comparison.behind else "AHEAD"
    return "BEHIND" if comparison.behind else "IDENTICAL"


TABLE.plain(
    "Comparison",
    Comparison,
    {
        "id": lambda row, _: node_id(
            row.type_name, row.base.repository.id, f"{row.base.oid}...{row.head.oid}"
        ),
        "aheadBy": lambda row, _: len(row.ahead),
        "behindBy": lambda row, _: row.behind,
        "baseTarget": lambda row, _: row.base,
        "headTarget": lambda row, _: row.head,
        "status": _status,
    },
)


@TABLE.field("Comparison", "commits")
def commits_ahead(comparison: Comparison, _request: Request, **paging: Any) -> Connection[GitCommit]:
    return connect(comparison.ahead, paging, key=lambda commit: commit.oid)


TABLE.plain(
    "ComparisonCommitConnection",
    Connection[GitCommit],
    {"authorCount": lambda page, _: len({each.commit.author.email for each in page.items})},
)

"""What is answered about branches, commits, trees and files."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from cogworks.hub.actions.commits import is_signed
from cogworks.hub.gitobjects import EMPTY_TREE, Commit, Signature
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.graphql.connections import Connection, connect
from cogworks.hub.graphql.gitvalues import (
    GitBlob,
    GitCommit,
    GitEntry,
    GitTag,
    GitTree,
    GitValue,
    PullCommit,
    object_of,
)
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.listings import pull_page
from cogworks.hub.graphql.resolvers.paths import issue_path, repository_path
from cogworks.hub.graphql.scalars import html_of
from cogworks.hub.graphql.tables import Readers, Table
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Issue, Repository, User

TABLE = Table()

MAX_TEXT = 512_000
"""Bytes of a file beyond which its text is cut."""
_VISIBLE = ("refs/heads/", "refs/tags/")

GIT_TYPES = "Commit Tree Blob Tag"


def commit_of(repository: Repository, request: Request, oid: str | None) -> GitCommit | None:
    """The commit with that full oid; None when the repository does not have it."""
    commit = None if oid is None else request.git(repository).commit(oid)
    return None if commit is None else GitCommit(repository, commit)


def _commit_path(value: GitValue) -> str:
    return f"{repository_path(value.repository)}/commit/{value.oid}"


_SHARED: Readers[GitValue] = {
    "id": lambda value, _: node_id(value.type_name, value.repository.id, value.oid),
    "oid": lambda value, _: value.oid,
    "abbreviatedOid": lambda value, _: value.oid[:7],
    "repository": lambda value, _: value.repository,
    "commitResourcePath": lambda value, _: _commit_path(value),
    "commitUrl": lambda value, request: request.url(_commit_path(value)),
}
TABLE.all_of(GIT_TYPES, _SHARED)


@dataclass(frozen=True, slots=True)
class Person:
    """Author or committer of a commit, or the tagger of a tag."""

    type_name = "GitActor"
    signature: Signature
    user: User | None


def _person(signature: Signature, request: Request) -> Person:
    """The person, with the user of this hub that has the address."""
    people = request.once("addresses", lambda: _addresses(request))
    return Person(signature, people.get(signature.email.lower()))


def _addresses(request: Request) -> dict[str, User]:
    """Address -> user; an app has only its noreply address."""
    users = [user for user in request.store.every(User) if user.kind != "Organization"]
    return {
        **{user.noreply.lower(): user for user in users},
        **{user.email.lower(): user for user in users if user.email},
    }


@dataclass(frozen=True, slots=True)
class HostSignature:
    """That the hub made a commit itself, which github.com shows by a signature of its own."""

    type_name = "GpgSignature"
    email: str


def _host_signature(commit: GitCommit, request: Request) -> HostSignature | None:
    made_here = is_signed(request.world, commit.repository, commit.oid)
    return HostSignature(commit.commit.committer.email) if made_here else None


def _authored(commit: GitCommit, _request: Request) -> datetime:
    return commit.commit.author.date


def _same_person(commit: GitCommit, _request: Request) -> bool:
    author, committer = commit.commit.author, commit.commit.committer
    return (author.name, author.email) == (committer.name, committer.email)


TABLE.plain(
    "Commit",
    GitCommit,
    {
        "message": lambda commit, _: commit.commit.message.rstrip("\n"),
        "messageHeadline": lambda commit, _: commit.commit.headline,
        "messageBody": lambda commit, _: commit.commit.body,
        "messageHeadlineHTML": lambda commit, _: html_of(commit.commit.headline),
        "messageBodyHTML": lambda commit, _: html_of(commit.commit.body),
        "authoredDate": _authored,
        "committedDate": lambda commit, _: commit.commit.committer.date,
        "author": lambda commit, request: _person(commit.commit.author, request),
        "committer": lambda commit, request: _person(commit.commit.committer, request),
        "authoredByCommitter": _same_person,
        "committedViaWeb": lambda commit, _: commit.commit.committer.email == "noreply@github.com",
        "signature": _host_signature,
        "tree": lambda commit, _: GitTree(commit.repository, commit.commit.tree),
        "treeResourcePath": lambda commit, _: f"{repository_path(commit.repository)}/tree/{commit.oid}",
        "treeUrl": lambda commit, request: request.url(
            f"{repository_path(commit.repository)}/tree/{commit.oid}"
        ),
        "url": lambda commit, request: request.url(_commit_path(commit)),
        "resourcePath": lambda commit, _: _commit_path(commit),
        "additions": lambda commit, request: sum(each.additions for each in _changes(commit, request)),
        "deletions": lambda commit, request: sum(each.deletions for each in _changes(commit, request)),
        "changedFiles": lambda commit, request: len(_changes(commit, request)),
        "changedFilesIfAvailable": lambda commit, request: len(_changes(commit, request)),
        "viewerCanSubscribe": lambda _commit, request: request.actor.user is not None,
    },
)
TABLE.plain(
    "GpgSignature",
    HostSignature,
    {
        "email": lambda signature, _: signature.email,
        "isValid": lambda *_: True,
        "state": lambda *_: "VALID",
        "wasSignedByGitHub": lambda *_: True,
    },
)
TABLE.plain(
    "GitActor",
    Person,
    {
        "name": lambda person, _: person.signature.name,
        "email": lambda person, _: person.signature.email,
        "date": lambda person, _: person.signature.date,
        # An app is no User: its commits have a name and an address only.
        "user": lambda person, _: person.user if person.user and person.user.kind == "User" else None,
    },
)


@TABLE.field("GitActor", "avatarUrl")
def avatar_url(person: Person, request: Request, size: int | None = None) -> str:
    return request.avatar(person.user.id if person.user else 0, size)


def _changes(commit: GitCommit, request: Request) -> Any:
    """What a commit changed against its first parent; a root commit against nothing."""
    parents = commit.commit.parents
    return request.git(commit.repository).changes(parents[0] if parents else EMPTY_TREE, commit.oid)


@TABLE.field("Commit", "parents")
def parents(commit: GitCommit, request: Request, **paging: Any) -> Connection[GitCommit]:
    commits = [commit_of(commit.repository, request, oid) for oid in commit.commit.parents]
    return connect([each for each in commits if each is not None], paging, key=lambda each: each.oid)


@TABLE.field("Commit", "authors")
def authors(commit: GitCommit, request: Request, **paging: Any) -> Connection[Person]:
    people = [_person(commit.commit.author, request)]
    return connect(people, paging, key=lambda person: person.signature.email)


@TABLE.field("Commit", "history")
def history(
    commit: GitCommit,
    request: Request,
    path: str | None = None,
    **arguments: Any,
) -> Connection[GitCommit]:
    """The commit and all that came before it, newest first, optionally only those that touched `path`."""
    since, until, author = (arguments.get(name) for name in ("since", "until", "author"))
    emails = None if author is None else _emails(author, request)
    commits = [
        GitCommit(commit.repository, each)
        for each in _log(request.git(commit.repository), commit.oid, (path,) if path else ())
        if (since is None or each.committer.date >= since)
        and (until is None or each.committer.date <= until)
        and (emails is None or each.author.email.lower() in emails)
    ]
    return connect(commits, arguments, key=lambda each: each.oid)


def _emails(author: Any, request: Request) -> frozenset[str]:
    wanted = {email.lower() for email in author.get("emails") or ()}
    people = request.once("addresses", lambda: _addresses(request))
    return frozenset(wanted | {email for email, user in people.items() if user.node_id == author.get("id")})


@lru_cache(maxsize=512)
def _log(git: GitRepository, oid: str, paths: tuple[str, ...]) -> tuple[Commit, ...]:
    """History never changes, so what git said once stays true."""
    return tuple(git.log(oid, paths=paths))


@lru_cache(maxsize=512)
def _added(git: GitRepository, head: str, base: str) -> tuple[Commit, ...]:
    return tuple(reversed(git.log(head, f"^{base}")))


def pull_commits(pull: Issue, request: Request) -> list[PullCommit]:
    """The commits that a pull request adds to its base, oldest first."""
    part = pull.pull
    if part is None:
        return []
    repository = request.repository(pull.repository_id)
    commits = _added(request.git(repository), part.head_oid, part.base_oid)
    return [PullCommit(pull.id, GitCommit(repository, commit)) for commit in commits]


def _pull_commit_path(row: PullCommit, request: Request) -> str:
    pull = request.issue(row.pull_id)
    return "" if pull is None else f"{issue_path(pull, request)}/commits/{row.commit.oid}"


TABLE.plain(
    "PullRequestCommit",
    PullCommit,
    {
        "id": lambda row, _: row.node_id,
        "commit": lambda row, _: row.commit,
        "pullRequest": lambda row, request: request.issue(row.pull_id),
        "resourcePath": _pull_commit_path,
        "url": lambda row, request: request.url(_pull_commit_path(row, request)),
    },
)


@TABLE.field("Commit", "associatedPullRequests")
def pulls_of_commit(commit: GitCommit, request: Request, **arguments: Any) -> Connection[Issue]:
    """The pull requests that add the commit, or that it is the merge of."""
    pulls = [
        pull
        for pull in request.issues(commit.repository)
        if pull.pull is not None
        and (
            pull.pull.merge_commit_oid == commit.oid
            or any(each.commit.oid == commit.oid for each in pull_commits(pull, request))
        )
    ]
    return pull_page(pulls, request, arguments)


@TABLE.field("Commit", "file")
def file(commit: GitCommit, request: Request, path: str) -> GitEntry | None:
    """What lies at a path; null when there is nothing."""
    entry = request.git(commit.repository).entry(commit.commit.tree, path)
    return None if entry is None or not entry.name else GitEntry(commit.repository, entry, path.strip("/"))


TABLE.plain(
    "Tree",
    GitTree,
    {
        "entries": lambda tree, request: [
            GitEntry(tree.repository, entry, f"{tree.path}/{entry.name}".lstrip("/"))
            for entry in request.git(tree.repository).tree(tree.oid) or ()
        ],
    },
)


def _entry_object(entry: GitEntry, request: Request) -> GitValue | None:
    if entry.entry.type == "tree":
        return GitTree(entry.repository, entry.entry.oid, entry.path)
    return object_of(entry.repository, request.git(entry.repository), entry.entry.oid)


def _size(entry: GitEntry, request: Request) -> int:
    return request.git(entry.repository).size(entry.entry.oid) if entry.entry.type == "blob" else 0


def _extension(entry: GitEntry, _request: Request) -> str:
    _, dot, extension = entry.entry.name.rpartition(".")
    return f".{extension}" if dot else ""


def _lines(entry: GitEntry, request: Request) -> int | None:
    data = request.git(entry.repository).blob(entry.entry.oid)
    return None if data is None or b"\0" in data else len(data.splitlines())


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(text: str) -> str:
    """A file name that is not UTF-8 cannot be JSON; its raw form is beside it."""
    return _raw(text).decode("utf-8", "replace")


TABLE.plain(
    "TreeEntry",
    GitEntry,
    {
        "name": lambda entry, _: _shown(entry.entry.name),
        "nameRaw": lambda entry, _: _raw(entry.entry.name),
        "path": lambda entry, _: _shown(entry.path),
        "pathRaw": lambda entry, _: _raw(entry.path),
        "mode": lambda entry, _: int(entry.entry.mode, 8),
        "type": lambda entry, _: entry.entry.type,
        "oid": lambda entry, _: entry.entry.oid,
        "object": _entry_object,
        "size": _size,
        "lineCount": _lines,
        "extension": _extension,
        "isGenerated": lambda _entry, _request: False,
        "repository": lambda entry, _: entry.repository,
    },
)


def _is_binary(blob: GitBlob) -> bool:
    return b"\0" in blob.data[:8000]


def _text(blob: GitBlob, _request: Request) -> str | None:
    return None if _is_binary(blob) else blob.data[:MAX_TEXT].decode("utf-8", "replace")


TABLE.plain(
    "Blob",
    GitBlob,
    {
        "byteSize": lambda blob, _: len(blob.data),
        "isBinary": lambda blob, _: _is_binary(blob),
        "isTruncated": lambda blob, _: len(blob.data) > MAX_TEXT,
        "text": _text,
    },
)
TABLE.plain(
    "Tag",
    GitTag,
    {
        "name": lambda tag, _: tag.name,
        "message": lambda tag, _: tag.message,
        "target": lambda tag, request: object_of(tag.repository, request.git(tag.repository), tag.target),
        "tagger": lambda tag, request: None if tag.tagger is None else _person(tag.tagger, request),
    },
)

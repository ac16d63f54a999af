"""Refs, commits, trees, blobs and files, as REST writes them."""

import base64

from cogworks.hub.clock import iso
from cogworks.hub.gitobjects import Commit, Signature, TreeEntry
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Repository, User
from cogworks.hub.rest.shapes.people import Json, simple_user
from cogworks.hub.rest.shapes.pulls import file_change
from cogworks.hub.rest.shapes.repositories import repository_page, repository_url
from cogworks.hub.world import World

UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}
_KINDS = {"tree": "dir", "commit": "submodule", "blob": "file"}


def ref(world: World, repository: Repository, name: str, oid: str) -> Json:
    root = repository_url(world, repository)
    stored = world.repository_git(repository).object(oid)
    kind = "commit" if stored is None else stored[0]
    return {
        "ref": name,
        "node_id": node_id("Ref", repository.id, name),
        "url": f"{root}/git/{name}",
        "object": {"type": kind, "sha": oid, "url": f"{root}/git/{kind}s/{oid}"},
    }


def _git_user(signature: Signature) -> Json:
    return {"name": signature.name, "email": signature.email, "date": iso(signature.date)}


def _parents(world: World, repository: Repository, commit: Commit, kind: str) -> list[Json]:
    root, page = repository_url(world, repository), repository_page(world, repository)
    return [
        {"sha": parent, "url": f"{root}/{kind}/{parent}", "html_url": f"{page}/commit/{parent}"}
        for parent in commit.parents
    ]


def git_commit(world: World, repository: Repository, commit: Commit) -> Json:
    """The shape of the git data endpoints: what is in the object, nothing of GitHub's users."""
    root = repository_url(world, repository)
    return {
        "sha": commit.oid,
        "node_id": node_id("Commit", repository.id, commit.oid),
        "url": f"{root}/git/commits/{commit.oid}",
        "html_url": f"{repository_page(world, repository)}/commit/{commit.oid}",
        "author": _git_user(commit.author),
        "committer": _git_user(commit.committer),
        "message": commit.message.rstrip("\n"),
        "tree": {"sha": commit.tree, "url": f"{root}/git/trees/{commit.tree}"},
        "parents": _parents(world, repository, commit, "git/commits"),
        "verification": UNSIGNED,
    }


def commit_simple(world: World, repository: Repository, commit: Commit) -> Json:
    """The shape of lists of commits."""
    root, page = repository_url(world, repository), repository_page(world, repository)
    return {
        "sha": commit.oid,
        "node_id": node_id("Commit", repository.id, commit.oid),
        "commit": {
            "author": _git_user(commit.author),
            "committer": _git_user(commit.committer),
            "message": commit.message.rstrip("\n"),
            "tree": {"sha": commit.tree, "url": f"{root}/git/trees/{commit.tree}"},
            "url": f"{root}/git/commits/{commit.oid}",
            "comment_count": 0,
            "verification": UNSIGNED,
        },
        "url": f"{root}/commits/{commit.oid}",
        "html_url": f"{page}/commit/{commit.oid}",
        "comments_url": f"{root}/commits/{commit.oid}/comments",
        "author": _account(world, commit.author),
        "committer": _account(world, commit.committer),
        "parents": _parents(world, repository, commit, "commits"),
    }


def _account(world: World, signature: Signature) -> Json | None:
    user = account_of(world, signature)
    return None if user is None else simple_user(world, user)


def account_of(world: World, signature: Signature) -> User | None:
    """The user whose address a commit carries: their own or the hub's no-reply one."""
    return next(
        (user for user in world.store.every(User) if signature.email in (user.email, user.noreply)), None
    )


def commit_full(world: World, repository: Repository, commit: Commit) -> Json:
    """The shape of a single commit, with what it changed."""
    git = world.repository_git(repository)
    before = commit.parents[0] if commit.parents else git.write_tree(())
    changes = git.changes(before, commit.oid)
    added, deleted = sum(each.additions for each in changes), sum(each.deletions for each in changes)
    return {
        **commit_simple(world, repository, commit),
        "stats": {"total": added + deleted, "additions": added, "deletions": deleted},
        "files": [file_change(world, repository, commit.oid, change) for change in changes],
    }


def tree(world: World, repository: Repository, oid: str, rows: list[tuple[str, TreeEntry]]) -> Json:
    root = repository_url(world, repository)
    return {
        "sha": oid,
        "url": f"{root}/git/trees/{oid}",
        "tree": [_tree_row(world, repository, path, entry) for path, entry in rows],
        "truncated": False,
    }


def _tree_row(world: World, repository: Repository, path: str, entry: TreeEntry) -> Json:
    row = {"path": path, "mode": entry.mode, "type": entry.type, "sha": entry.oid}
    if entry.type != "commit":
        row["url"] = f"{repository_url(world, repository)}/git/{entry.type}s/{entry.oid}"
    if entry.type == "blob":
        return {**row, "size": world.repository_git(repository).size(entry.oid)}
    return row


def blob(world: World, repository: Repository, oid: str, content: bytes) -> Json:
    return {
        "sha": oid,
        "node_id": node_id("Blob", repository.id, oid),
        "size": len(content),
        "url": f"{repository_url(world, repository)}/git/blobs/{oid}",
        "content": _wrapped(content),
        "encoding": "base64",
    }


def _wrapped(content: bytes) -> str:
    """GitHub breaks base64 into lines of 60 characters."""
    text = base64.b64encode(content).decode()
    return "".join(text[start : start + 60] + "\n" for start in range(0, len(text), 60))


def entry_summary(world: World, repository: Repository, path: str, entry: TreeEntry, at: str) -> Json:
    """One thing in a directory; `at` is the ref it was asked for."""
    root, page = repository_url(world, repository), repository_page(world, repository)
    kind = "symlink" if entry.mode == "120000" else _KINDS[entry.type]
    url = f"{root}/contents/{path}?ref={at}"
    git_url = f"{root}/git/{'trees' if entry.type == 'tree' else 'blobs'}/{entry.oid}"
    html_url = f"{page}/{'tree' if entry.type == 'tree' else 'blob'}/{at}/{path}"
    return {
        "name": entry.name,
        "path": path,
        "sha": entry.oid,
        "size": world.repository_git(repository).size(entry.oid) if entry.type == "blob" else 0,
        "url": url,
        "html_url": html_url,
        "git_url": git_url,
        "download_url": f"{page}/raw/{at}/{path}" if entry.type == "blob" else None,
        "type": kind,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


def file(world: World, repository: Repository, path: str, entry: TreeEntry, at: str) -> Json:
    """A file with its content, or where a symbolic link points."""
    content = world.repository_git(repository).blob(entry.oid) or b""
    summary = entry_summary(world, repository, path, entry, at)
    if entry.mode == "120000":
        return {**summary, "target": content.decode("utf-8", "replace")}
    return {**summary, "content": _wrapped(content), "encoding": "base64"}

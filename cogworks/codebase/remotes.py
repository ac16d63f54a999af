"""Where a working copy comes from, and what commits hold that it does not stand on."""

from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.failures import GitFailed, understood
from cogworks.codebase.git import Git, Token
from cogworks.vocabulary import CommitOid


class Remote(NamedTuple):
    """Where a working copy comes from and goes to."""

    url: str
    token: Token


def paths_at(git: Git, copy: Path, remote: Remote, oid: CommitOid, folder: str) -> tuple[str, ...]:
    """The files below a folder as a commit has them, sorted; raises as `text_at`."""
    _have(git, copy, remote, oid)
    listed = git.run("ls-tree", "-r", "-z", "--name-only", oid, "--", f"{folder}/", cwd=copy)
    return tuple(sorted(path for path in listed.split("\0") if path))


def text_at(git: Git, copy: Path, remote: Remote, oid: CommitOid, path: str) -> str | None:
    """Text of a file as a commit has it, fetched where this machine does not have it; None when absent or not UTF-8 text.

    Raises:
        TryAgainLater: the remote cannot be reached.
        GitFailed: the remote has no such commit.
    """
    _have(git, copy, remote, oid)
    if not git.run("ls-tree", "-z", oid, "--", path, cwd=copy):
        return None
    text = git.run("show", f"{oid}:{path}", cwd=copy)
    return None if any("\ud800" <= char <= "\udfff" for char in text) else text


def _have(git: Git, copy: Path, remote: Remote, oid: CommitOid) -> None:
    """Fetch a commit that this machine does not have."""
    if git.run("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}", cwd=copy, ok=(0, 1, 128)):
        return
    # The branch of a squashed pull request may be gone; its commits are not.
    quietly = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    try:
        git.reach(remote.url, remote.token, "fetch", *quietly, "--", remote.url, oid, cwd=copy)
    except GitFailed as error:
        raise understood(error) from error.__cause__

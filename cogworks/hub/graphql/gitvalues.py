"""The git objects of a repository as values that GraphQL's types are read from."""

from dataclasses import dataclass
from typing import ClassVar

from cogworks.hub.gitobjects import Commit, Signature, TreeEntry, parse_signature
from cogworks.hub.gitstore import GitRepository
from cogworks.hub.node_ids import node_id
from cogworks.hub.records import Repository


@dataclass(frozen=True, slots=True)
class GitRef:
    """A branch or tag."""

    type_name: ClassVar[str] = "Ref"
    repository: Repository
    name: str
    """Full, e.g. `refs/heads/main`."""
    oid: str

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.repository.id, self.name)

    @property
    def prefix(self) -> str:
        """`refs/heads/` or `refs/tags/`; for any other ref everything up to the second slash."""
        first, second, _ = self.name.split("/", 2)
        return f"{first}/{second}/"

    @property
    def short_name(self) -> str:
        return self.name.removeprefix(self.prefix)


@dataclass(frozen=True, slots=True)
class GitCommit:
    type_name: ClassVar[str] = "Commit"
    repository: Repository
    commit: Commit

    @property
    def oid(self) -> str:
        return self.commit.oid


@dataclass(frozen=True, slots=True)
class GitTree:
    type_name: ClassVar[str] = "Tree"
    repository: Repository
    oid: str
    path: str = ""
    """Where the tree was found; empty for a root or when it was asked for by its oid."""


@dataclass(frozen=True, slots=True)
class GitBlob:
    type_name: ClassVar[str] = "Blob"
    repository: Repository
    oid: str
    data: bytes


@dataclass(frozen=True, slots=True)
class GitTag:
    """An annotated tag object."""

    type_name: ClassVar[str] = "Tag"
    repository: Repository
    oid: str
    target: str
    name: str
    message: str
    tagger: Signature | None


@dataclass(frozen=True, slots=True)
class GitEntry:
    """A line of a tree and the path it was reached by."""

    type_name: ClassVar[str] = "TreeEntry"
    repository: Repository
    entry: TreeEntry
    path: str


GitValue = GitCommit | GitTree | GitBlob | GitTag


@dataclass(frozen=True, slots=True)
class PullCommit:
    """A commit as one of those that a pull request would merge."""

    type_name: ClassVar[str] = "PullRequestCommit"
    pull_id: int
    commit: GitCommit

    @property
    def node_id(self) -> str:
        return node_id(self.type_name, self.pull_id, self.commit.oid)


def object_of(repository: Repository, git: GitRepository, oid: str) -> GitValue | None:
    """The object of that full name; None when the repository does not have it."""
    stored = git.object(oid)
    if stored is None:
        return None
    kind, data = stored
    if kind == "commit":
        commit = git.commit(oid)
        return None if commit is None else GitCommit(repository, commit)
    if kind == "tree":
        return GitTree(repository, oid)
    if kind == "tag":
        return _tag(repository, oid, data)
    return GitBlob(repository, oid, data)


def _tag(repository: Repository, oid: str, data: bytes) -> GitTag:
    head, _, message = data.decode("utf-8", "replace").partition("\n\n")
    headers = dict(line.split(" ", 1) for line in head.split("\n") if " " in line)
    tagger = headers.get("tagger")
    return GitTag(
        repository=repository,
        oid=oid,
        target=headers["object"],
        name=headers["tag"],
        message=message,
        tagger=None if tagger is None else parse_signature(tagger),
    )

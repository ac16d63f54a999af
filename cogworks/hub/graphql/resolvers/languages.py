"""Which languages a repository holds, by the ends of its files' names: far less than GitHub knows, but the same shape."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from cogworks.hub.gitstore import GitRepository
from cogworks.hub.graphql.connections import Connection, Edge, connect
from cogworks.hub.graphql.request import Request
from cogworks.hub.graphql.resolvers.listings import Ordering
from cogworks.hub.graphql.tables import Table
from cogworks.hub.records import Repository

TABLE = Table()

_NAMES = {
    ".c": "C", ".cpp": "C++", ".cs": "C#", ".css": "CSS", ".go": "Go", ".html": "HTML", ".java": "Java",
    ".js": "JavaScript", ".jsx": "JavaScript", ".kt": "Kotlin", ".php": "PHP", ".py": "Python", ".rb": "Ruby",
    ".rs": "Rust", ".sh": "Shell", ".swift": "Swift", ".ts": "TypeScript", ".tsx": "TypeScript",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """One language, and how many bytes of it there are."""

    name: str
    size: int


@TABLE.field("Repository", "languages")
def languages(
    repository: Repository, request: Request, order_by: Ordering = None, **paging: Any
) -> Connection[Language]:
    """Those of the default branch; by size, the largest first unless asked for otherwise."""
    git = request.git(repository)
    head = git.ref(f"refs/heads/{repository.default_branch}")
    commit = git.commit(head) if head else None
    sizes = _sizes(git, commit.tree) if commit else ()
    is_ascending = order_by is not None and order_by["direction"] == "ASC"
    items = [Language(name, size) for name, size in sizes]
    items.sort(key=lambda each: (each.size if is_ascending else -each.size, each.name))
    return connect(items, paging, key=lambda each: each.name)


@lru_cache(maxsize=512)
def _sizes(git: GitRepository, tree: str) -> tuple[tuple[str, int], ...]:
    """A tree never changes, so what was counted once stays true."""
    counted: Counter[str] = Counter()
    for entry in git.tree(tree) or ():
        if entry.type == "tree":
            counted.update(dict(_sizes(git, entry.oid)))
        elif entry.type == "blob" and (name := _NAMES.get(PurePosixPath(entry.name).suffix.lower())):
            counted[name] += git.size(entry.oid)
    return tuple(sorted(counted.items()))


TABLE.plain("LanguageEdge", Edge[Language], {"size": lambda edge, _: edge.item.size})
TABLE.plain(
    "LanguageConnection",
    Connection[Language],
    {"totalSize": lambda connection, _: sum(each.size for each in connection.items)},
)
TABLE.plain("Language", Language, {"name": lambda language, _: language.name})

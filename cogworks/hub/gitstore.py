"""The bare repositories of the hub: refs moved by compare-and-swap, history, diffs and merges."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from cogworks.errors import CogworksError
from cogworks.hub.gitdiff import FileChange, parse_changes
from cogworks.hub.gitobjects import Commit
from cogworks.hub.gitobjectstore import GitFailed, ObjectStore, git_environment
from cogworks.own_folders import closed_folder
from cogworks.removal import remove_tree

_CONFIG = """
[http]
\treceivepack = true
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[gc]
\tauto = 0
[receive]
\tautogc = false
[core]
\tfilesRefLockTimeout = 10000
\tpackedRefsTimeout = 10000
"""
_UPDATE_HOOK = """#!/bin/sh
# Runs for each pushed ref with its name, old and new oid. A token may not be allowed to change workflows.
[ -n "$HUB_REFUSES_WORKFLOWS" ] || exit 0
git rev-parse --quiet --verify "$2^{commit}" >/dev/null && old="$2" || old=HEAD
has=$(git rev-parse --quiet --verify "$3:.github/workflows") || exit 0
had=$(git rev-parse --quiet --verify "$old:.github/workflows")
[ "$has" = "$had" ] && exit 0
echo "refusing to allow a GitHub App to create or update workflows without \\`workflows\\` permission" >&2
exit 1
"""
_KEPT_DIFFS = 500
_OID = re.compile(r"[0-9a-f]{40}")


class RefConflict(CogworksError):
    """A ref was not where the update expected it; no ref of the update moved."""


@dataclass(frozen=True)
class RefUpdate:
    """Move `name` to `new` (None: delete) if it is at `old` (`ZERO_OID`: not there; None: in any case)."""

    name: str
    new: str | None
    old: str | None = None


class GitRepository(ObjectStore):
    """One bare repository. Names are full (`refs/heads/main`), oids are 40 hexadecimal digits."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        super().__init__(path, environment)
        self._changes: dict[tuple[str, str], tuple[FileChange, ...]] = {}
        self._merge_bases: dict[tuple[str, str], str | None] = {}
        self._merged_trees: dict[tuple[str, str], str | None] = {}

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Full name -> oid of every ref that starts with `prefix`, sorted (an annotated tag: the tag's oid)."""
        # Loose files before packed-refs: git packs the other way round, so no ref can slip through.
        loose = dict(self._loose_refs())
        oids = {**self._packed_refs(), **loose}
        return {name: oids[name] for name in sorted(oids) if name.startswith(prefix)}

    def ref(self, name: str) -> str | None:
        """Where a full ref name points; None when there is no such ref."""
        try:
            oid = (self.path / name).read_text().strip()
        except (OSError, ValueError):
            return self._packed_refs().get(name)
        return oid if _OID.fullmatch(oid) else None

    def branch(self, name: str) -> str | None:
        """The tip of `refs/heads/<name>`."""
        return self.ref(f"refs/heads/{name}")

    def update_refs(self, updates: Iterable[RefUpdate]) -> None:
        """Move all refs or none. Raises `RefConflict` with git's words."""
        lines = []
        for update in updates:
            old = "" if update.old is None else f" {update.old}"
            verb = f"delete {update.name}" if update.new is None else f"update {update.name} {update.new}"
            lines.append(f"{verb}{old}\n")
        try:
            self.git.run("update-ref", "--stdin", stdin="".join(lines).encode())
        except GitFailed as error:
            raise RefConflict(str(error)) from error

    def set_head(self, branch: str) -> None:
        """Make `branch` the one that a clone checks out."""
        self.git.run("symbolic-ref", "HEAD", f"refs/heads/{branch}")

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor; None for unrelated histories."""
        if one == other:
            return one
        if (one, other) not in self._merge_bases:
            _, out = self.git.run("merge-base", one, other, accept=(0, 1))
            self._merge_bases[one, other] = out.decode().strip() or None
        return self._merge_bases[one, other]

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether moving a ref from `old` to `new` is a fast-forward."""
        return self.merge_base(old, new) == old

    def log(
        self, *revisions: str, limit: int | None = None, skip: int = 0, paths: tuple[str, ...] = ()
    ) -> list[Commit]:
        """Commits reachable from the revisions (`^oid` excludes), newest first, as `git rev-list` orders them."""
        limits = [f"--max-count={limit}"] if limit is not None else []
        out = self.git.text("rev-list", *limits, f"--skip={skip}", *revisions, "--", *paths)
        return [commit for oid in out.split() if (commit := self.commit(oid)) is not None]

    def count(self, *revisions: str) -> int:
        """How many commits `log` would give without a limit."""
        return int(self.git.text("rev-list", "--count", *revisions, "--"))

    def changes(self, old: str, new: str) -> tuple[FileChange, ...]:
        """The files that differ between two commits or trees, renames detected, with their hunks."""
        if (old, new) not in self._changes:
            if len(self._changes) >= _KEPT_DIFFS:
                self._changes.clear()
            common = ("diff-tree", "-r", "-M", "--no-color", "--no-ext-diff", "--no-abbrev")
            self._changes[old, new] = parse_changes(
                self.git.text(*common, "--raw", "-z", old, new),
                self.git.text(*common, "--numstat", "-z", old, new),
                self.git.text(*common, "-p", "--abbrev=7", old, new),
            )
        return self._changes[old, new]

    def patch(self, old: str, new: str) -> str:
        """The unified diff between two commits or trees."""
        return self.git.text("diff-tree", "-r", "-M", "-p", "--no-color", "--no-ext-diff", old, new)

    def merged_tree(self, base: str, head: str) -> str | None:
        """The tree of merging two commits; None when they conflict."""
        if (base, head) not in self._merged_trees:
            code, out = self.git.run(
                "merge-tree",
                "--write-tree",
                "--name-only",
                "--allow-unrelated-histories",
                base,
                head,
                accept=(0, 1),
            )
            self._merged_trees[base, head] = out.decode().split("\n")[0] if code == 0 else None
        return self._merged_trees[base, head]

    def drop_stale_locks(self) -> None:
        """Remove what a killed git left behind; only when nobody else works in the repository."""
        for lock in (*self.path.glob("*.lock"), *(self.path / "refs").rglob("*.lock")):
            lock.unlink(missing_ok=True)

    def _loose_refs(self) -> Iterator[tuple[str, str]]:
        for directory, _, names in os.walk(self.path / "refs"):  # noqa: TID251 - refs of our own, which git keeps short
            for name in names:
                file = Path(directory, name)
                try:
                    oid = file.read_text().strip()
                except FileNotFoundError:  # deleted or packed since the directory was listed
                    continue
                if _OID.fullmatch(oid) and not name.endswith(".lock"):
                    yield file.relative_to(self.path).as_posix(), oid

    def _packed_refs(self) -> dict[str, str]:
        try:
            text = (self.path / "packed-refs").read_text()
        except FileNotFoundError:
            return {}
        rows = (line.split(" ", 1) for line in text.splitlines() if line and line[0] not in "#^")
        return {name: oid for oid, name in rows}


class GitStore:
    """All bare repositories, at `<root>/<owner>/<name>.git`, one open `GitRepository` for each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        closed_folder(root)
        self.environment = git_environment(root)
        self._lock = RLock()
        self._open: dict[str, GitRepository] = {}

    def path(self, full_name: str) -> Path:
        return self.root / f"{full_name.lower()}.git"

    def create(self, full_name: str, *, default_branch: str) -> GitRepository:
        """The bare repository, made if it does not exist; a half-made one is made anew."""
        path = self.path(full_name)
        if not (path / "hub-ready").exists():
            remove_tree(path, ignore_errors=True)
            path.mkdir(parents=True)
            repository = self.repository(full_name)
            repository.git.run(
                "init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}", "."
            )
            with (path / "config").open("a") as config:
                config.write(_CONFIG)
            hook = path / "hooks" / "update"
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(_UPDATE_HOOK)
            hook.chmod(0o755)
            (path / "hub-ready").touch()
        return self.repository(full_name)

    def repository(self, full_name: str) -> GitRepository:
        with self._lock:
            name = full_name.lower()
            if name not in self._open:
                self._open[name] = GitRepository(self.path(name), self.environment)
            return self._open[name]

    def close(self) -> None:
        with self._lock:
            for repository in self._open.values():
                repository.close()
            self._open.clear()

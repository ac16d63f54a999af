"""One working copy: read it, change it in one go, undo exactly, commit reproducibly, push with a lease."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from cogworks.codebase import treefacts
from cogworks.codebase.changes import DEFAULT_CAPS, Caps, FileChange, normalised, path_problem, refusal
from cogworks.codebase.confined import obstacle, read_file
from cogworks.codebase.disktree import next_tree, whole_tree
from cogworks.codebase.failures import CodebaseError, GitFailed, understood
from cogworks.codebase.filewrites import is_text, put_back, write_all
from cogworks.codebase.git import Git, Identity, authorship, zsplit
from cogworks.codebase.merging import Joined, join, merge_branch, merge_committed
from cogworks.codebase.patchtree import PatchTree
from cogworks.codebase.remotes import Remote, paths_at, text_at
from cogworks.codebase.sameness import refuse_other_bytes
from cogworks.codebase.unwritable import SUBMODULE, in_words, secret_refusal, sets_rules, unwritable
from cogworks.vocabulary import BranchName, CommitOid, Value

_LINK = "120000"
_COMMIT = re.compile(r"[0-9a-f]{7,64}|HEAD([~^]\d*)*")


class Rules(Value):
    """What may be written into a working copy."""

    protected: tuple[str, ...] = ()
    """Patterns beyond the built-in ones."""
    caps: Caps = DEFAULT_CAPS


class Checkpoint(NamedTuple):
    """A state of a working copy to come back to, ignored and untracked files included."""

    head: CommitOid
    tree: str
    """Everything on the disk."""
    tracked: str
    """What of it is tracked."""


class PushResult(Value):
    """What became of one push."""

    status: Literal["pushed", "up_to_date", "rejected"]
    branch: BranchName
    oid: CommitOid
    """What was to be the branch's head."""
    reason: str = ""
    """Of a rejection, in git's and the server's words."""


class WorkingCopy:
    """A git worktree of one run and sub-item; obeys the Protocol `Workspace`. Paths are repository-relative, POSIX."""

    def __init__(
        self,
        path: Path,
        git: Git,
        *,
        remote: Remote,
        identity: Identity,
        rules: Rules,
        base_branch: BranchName | None = None,
    ) -> None:
        self._base_branch = base_branch
        self._path = path
        self._git = git
        self._run = partial(git.run, cwd=path)
        self._remote = remote
        self._identity = identity
        self._rules = rules

    @property
    def path(self) -> Path:
        """The directory of the working copy, absolute."""
        return self._path

    @property
    def git(self) -> Git:
        """What runs git for it."""
        return self._git

    @property
    def head(self) -> CommitOid:
        """The commit the working copy stands on."""
        return CommitOid(self._run("rev-parse", "HEAD").strip())

    def base(self) -> CommitOid | None:
        """The commit where the work left its base branch; None when that branch is gone or nobody said which it is."""
        start = self._commit_of(self._base_branch) if self._base_branch else None
        if start is None:
            return None
        return CommitOid(self._run("merge-base", start, "HEAD", ok=(0, 1)).strip() or start)

    @property
    def remote_url(self) -> str:
        """Where it comes from and goes to, without credentials."""
        parts = urlsplit(self._remote.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def pushed(self) -> CommitOid | None:
        """The head, if nothing differs from it and a branch of the remote, as last seen, holds it; else None."""
        head = self.head
        if next_tree(self._run, self._path) != self._run("rev-parse", f"{head}^{{tree}}").strip():
            return None
        refs = self._run("for-each-ref", "--count=1", f"--contains={head}", "refs/remotes/origin/")
        return head if refs else None

    def tree_name(self) -> str:
        """Hex digits; others for any changed, new or deleted file that git does not ignore."""
        return next_tree(self._run, self._path)

    def files(self) -> Sequence[str]:
        """Tracked files on the disk whose names are text, sorted; a file written by `apply` is tracked at once."""
        entries = (entry.split("\t", 1) for entry in zsplit(self._run("ls-files", "--stage", "-z")))
        paths = {path for stage, path in entries if not stage.startswith(SUBMODULE) and is_text(path)}
        return sorted(path for path in paths if os.path.lexists(f"{self._path}/{path}"))

    def read(self, path: str) -> str | None:
        """Text of a file with its own line ends; None when absent, behind a symbolic link or not UTF-8."""
        if path_problem(path) is not None:
            return None
        file = read_file(self._path, normalised(path))
        try:
            return None if file is None else file.data.decode()
        except UnicodeDecodeError:
            return None

    def contents(self) -> Mapping[str, str]:
        """Path -> object id of the content of every tracked regular file."""
        return treefacts.contents(self._run)

    def attributes(self) -> Mapping[str, Collection[str]]:
        """Path -> `generated`, `vendored`, as the repository says of it."""
        return treefacts.attributes(self._run, self.files)

    def past(self, limit: int) -> Sequence[treefacts.PastCommit]:
        """The commits that the head stands on, the newest first, without merges."""
        return treefacts.past(self._run, limit)

    def grep(self, text: str, *, is_regex: bool) -> Sequence[treefacts.Hit] | str:
        """The lines of tracked text files that hold a text; why it could not be looked for."""
        return treefacts.grep(self._run, text, is_regex=is_regex)

    def commits(self, path: str, limit: int) -> Sequence[tuple[str, treefacts.PastCommit]]:
        """The commits before the head that changed a path, the newest first."""
        return treefacts.commits(self._run, path, limit)

    def patch(self, oid: str) -> str | None:
        """What a commit before the head changed; None: there is no such commit, or its contents are not here."""
        return treefacts.patch(self._run, oid)

    def read_newest(self, path: str, branch: BranchName) -> str | None:
        """Text of a file as a fetched branch of the remote has it where it changed there since the work left that branch,
        else as `read`; a branch that was not fetched, or has no such file any more, has nothing newer."""
        there = self._commit_of(branch) if path_problem(path) is None else None
        fork = self._run("merge-base", there, "HEAD", ok=(0, 1)).strip() if there else ""
        newest = self._blob(there, path) if there else ""
        if not newest or not fork or newest == self._blob(CommitOid(fork), path):
            return self.read(path)
        text = self._run("cat-file", "blob", newest)
        return None if not is_text(text) else text

    def read_at(self, oid: CommitOid, path: str) -> str | None:
        """Text of a file as a commit of the remote has it; None when absent there or not UTF-8 text.

        Raises: as `text_at`.
        """
        if path_problem(path) is not None:
            return None
        return text_at(self._git, self._path, self._remote, oid, normalised(path))

    def files_at(self, oid: CommitOid, folder: str) -> Sequence[str]:
        """The files below a folder as a commit of the remote has them, sorted; raises as `read_at`."""
        return paths_at(self._git, self._path, self._remote, oid, folder)

    def apply(self, changes: Sequence[FileChange]) -> str | None:
        """Write all changes and track them, or none; the reason when they are refused.

        Raises:
            CodebaseError: the disk refused half-way; what was written until then is taken back.
        """
        rules = self._rules
        reason = refusal(changes, self.files(), caps=rules.caps, protected=rules.protected)
        if (reason := reason or secret_refusal(changes, self.read)) is not None:
            return reason
        places = [normalised(change.path) for change in changes]
        removed = {place for place, change in zip(places, changes, strict=True) if change.action == "delete"}
        all_obstacles = [obstacle(self._path, place, removed=removed) for place in places]
        if obstacles := [text for text in all_obstacles if text is not None]:
            return "the working copy has obstacles:\n" + "\n".join(f"  - {text}" for text in obstacles)
        written = [place for place in places if place not in removed]
        if (reason := in_words(unwritable(self._run, written))) is not None:
            return reason
        before = write_all(self._path, changes)
        if sets_rules(places) and (reason := in_words(unwritable(self._run, written))) is not None:
            put_back(self._path, before)
            return reason
        self._track("--force-remove", sorted(removed))
        self._track("--add", written)
        return None

    def unwritable(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Those of the paths that no change may hold, each with the reason in words: ignored by git and not in the last commit,
        kept by Git LFS, or inside a submodule."""
        sane = [path for path in map(normalised, paths) if path_problem(path) is None]
        return unwritable(self._run, [path for path in sane if obstacle(self._path, path) is None])

    def checkpoint(self) -> Checkpoint:
        """The state now, kept in git's objects; files that changed are read, the marks of all are looked at."""
        return Checkpoint(self.head, whole_tree(self._run, self._path), self._run("write-tree").strip())

    def roll_back(self, to: Checkpoint | None = None) -> None:
        """Make the tree byte-identical to a checkpoint, or to the last commit; untracked files, modes and links included.

        Raises:
            CodebaseError: the tree still differs afterwards; nothing in it may be trusted.
        """
        goal = to or self._committed()
        self._run("read-tree", "--reset", "-u", goal.tree)
        self._run("clean", "-ffdxq")
        self._run("update-ref", "--no-deref", "HEAD", goal.head)
        if goal.tracked != goal.tree:
            # As a reset, so that git goes on knowing which files it has read.
            self._run("read-tree", "--reset", goal.tracked)
        tree = whole_tree(self._run, self._path)
        if tree != goal.tree:
            raise CodebaseError(
                f"{self._path}: rolling back left tree {tree}, not {goal.tree}. Remove the directory; it will be rebuilt."
            )

    def diff(self, base: str) -> str:
        """Unified diff to the working tree from where it left `base` (a branch of the remote, or an oid).

        Raises:
            CodebaseError: there is no such base.
        """
        start = self._resolve(base)
        fork = self._run("merge-base", start, "HEAD", ok=(0, 1)).strip() or start
        options = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index")
        text = self._run("diff", *options, fork, next_tree(self._run, self._path))
        return text.encode(errors="surrogateescape").decode(errors="replace")

    def changed_since(self, oid: CommitOid) -> Sequence[str] | None:
        """The files in which the last commit differs from another one; None where that commit is not here."""
        start = self._commit_of(oid)
        if start is None:
            return None
        return zsplit(self._run("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", start, "HEAD"))

    def commit(self, message: str) -> CommitOid:
        """Commit everything that is not ignored; the head as it is when there is nothing to commit.

        Both dates are the parent's committer date, so the same change on the same parent is the same commit.
        """
        head = self.head
        self._run("add", "--all")
        tree = self._run("write-tree").strip()
        if tree == self._run("rev-parse", "HEAD^{tree}").strip():
            return head
        oid = self._run("commit-tree", tree, "-p", head, extra=self._authorship(head), stdin=message).strip()
        self._run("update-ref", "--no-deref", "HEAD", oid, head)
        return CommitOid(oid)

    def push(self, branch: BranchName, expected: CommitOid | None) -> PushResult:
        """Move a branch of the remote to the head if it stands at `expected` (None: if it does not exist).

        Raises:
            CodebaseError: a file that the head changed has other bytes on the disk, where it was tested.
            TryAgainLater: the remote cannot be reached.
            PermissionRefused: the remote refused the credential.
            GitFailed: anything else but a rejection.
        """
        ref, head = f"refs/heads/{branch}", self.head
        refuse_other_bytes(
            self._run, self._path, since=self._commit_of(expected) if expected else self.base()
        )
        lease = f"--force-with-lease={ref}:{expected or ''}"
        arguments = ("push", "--porcelain", "--no-verify", lease, self._remote.url, f"{head}:{ref}")
        try:
            answer = self._git.reach(self._remote.url, self._remote.token, *arguments, cwd=self._path)
        except GitFailed as error:
            reason = _rejection(error.stdout, error.stderr)
            if reason is None:
                raise understood(error) from error.__cause__
            return PushResult(status="rejected", branch=branch, oid=head, reason=reason)
        self._run("update-ref", f"refs/remotes/origin/{branch}", head)
        up_to_date = any(line.startswith("=\t") for line in answer.splitlines())
        return PushResult(status="up_to_date" if up_to_date else "pushed", branch=branch, oid=head)

    def settle(self, oid: CommitOid) -> None:
        """Stand on a commit, whatever was there before; verified like `roll_back`."""
        # Unlike `read-tree` this also ends a merge that was under way.
        self._run("reset", "--hard", "--quiet", oid)
        self.roll_back()

    def transactions(self) -> PatchTree:
        """The same worktree as transactions see it; what a killed one wrote down ends here, for `roll_back` is verified.

        Raises:
            CodebaseError: the tree is not that of the last commit, and could not be made so.
        """
        self.roll_back()
        tree = PatchTree(self._path, self._git, identity=self._identity)
        tree.finish()
        return tree

    def step_back_from(self, mark: str) -> None:
        """Stand below the newest commits whose messages hold `mark`, however many those are; stay when there is none.

        A visit that is repeated starts where it started first, not on what its dead runner has pushed already.
        """
        start = "HEAD"
        while mark in self._run("log", "-1", "--format=%B", start):
            start += "^"
        if start != "HEAD":
            self.settle(CommitOid(self._run("rev-parse", start).strip()))

    def merge(self, branch: BranchName) -> CommitOid:
        """Merge a branch of the remote as last fetched; the head, new only if something was missing.

        Raises:
            CodebaseError: no such branch, or a conflict; the copy is as before.
        """
        oid, head = self._resolve(branch), self.head
        try:
            merge_branch(self._run, branch, oid, authorship=self._authorship(head))
        except CodebaseError:
            self.settle(head)
            raise
        return self.head

    def fork(self, oid: CommitOid) -> CommitOid | None:
        """The newest commit that the head and another one both hold; the other one itself where the head holds it. None where
        that is not here, or they have nothing in common."""
        there = self._commit_of(oid)
        return CommitOid(self._run("merge-base", there, "HEAD", ok=(0, 1)).strip()) or None if there else None

    def join(self, oid: CommitOid) -> Joined:
        """Merge a commit into the files as they were committed, and commit nothing; raises as `merging.join`."""
        return join(self._run, oid, authorship=self._authorship(self.head), root=self._path, read=self.read)

    def commit_joined(self, oid: CommitOid, message: str) -> CommitOid:
        """Commit everything with two parents, the head and the commit that was joined; as reproducible as `commit`."""
        return merge_committed(self._run, oid, message, authorship=self._authorship(self.head))

    def _track(self, how: str, paths: Sequence[str]) -> None:
        self._run(
            "update-index", how, "--replace", "-z", "--stdin", stdin="".join(f"{path}\0" for path in paths)
        )

    def _committed(self) -> Checkpoint:
        tree = self._run("rev-parse", "HEAD^{tree}").strip()
        return Checkpoint(self.head, tree, tree)

    def _authorship(self, parent: CommitOid) -> dict[str, str]:
        seconds = self._run("show", "--no-patch", "--format=%ct", parent).strip()
        return authorship(self._identity, seconds)

    def _resolve(self, base: str) -> CommitOid:
        if (commit := self._commit_of(base)) is not None:
            return commit
        raise CodebaseError(
            f"{self._path}: {base!r} is neither a fetched branch nor a commit. Open the copy with it."
        )

    def _commit_of(self, base: str) -> CommitOid | None:
        # Tags are at hand too, and none is a branch.
        other = base if _COMMIT.fullmatch(base) else f"refs/heads/{base}"
        for name in (f"refs/remotes/origin/{base}", other):
            output = self._run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128)
            )
            if oid := output.strip():
                return CommitOid(oid)
        return None

    def _blob(self, commit: CommitOid, path: str) -> str:
        """What names the file in a commit; empty when there is none."""
        entry = self._run("ls-tree", commit, "--", normalised(path)).split()
        return entry[2] if len(entry) > 2 and entry[1] == "blob" and entry[0] != _LINK else ""


def _rejection(stdout: str, stderr: str) -> str | None:
    """Why the server or the lease refused the branch, None when the push failed otherwise."""
    refused = [line.rsplit("\t", 1)[-1] for line in stdout.splitlines() if line.startswith("!\t")]
    reasons = [
        line.removeprefix("remote:").strip() for line in stderr.splitlines() if line.startswith("remote:")
    ]
    return "; ".join(filter(None, [*refused, *reasons])) if refused else None

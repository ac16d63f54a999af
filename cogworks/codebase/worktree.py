"""Keeps working copies on this machine: one object cache per repository, one worktree per run and sub-item."""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from cogworks.codebase.failures import CodebaseError, GitFailed, understood
from cogworks.codebase.git import Git, Identity, Token
from cogworks.codebase.workingcopy import Remote, Rules, WorkingCopy
from cogworks.errors import TryAgainLater
from cogworks.vocabulary import BranchName, CommitOid, RunId


class WorkingCopies:
    """The working copies below one directory, each held by at most one process at a time.

    Everything here can be lost at any moment: what is missing or broken is rebuilt from the remote by the next `open`.
    """

    def __init__(
        self,
        cache: Path,
        *,
        identity: Identity,
        environment: Mapping[str, str],
        rules: Rules | None = None,
        on_network: Callable[[str], None] | None = None,
        time_limit_s: float = 300.0,
        left_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Args:
        environment: of this process; git gets PATH, proxies and certificate locations of it, nothing else.
        on_network: called with `fetch` or `push` before each command that speaks to a remote.
        time_limit_s: of each git command.
        left_s: what is left of the time of whoever waits for it; None: no limit.
        """
        cache.mkdir(parents=True, exist_ok=True)
        self._cache = cache.resolve()
        self._git = Git(
            environment=environment,
            home=self._cache,
            time_limit_s=time_limit_s,
            on_network=on_network,
            left_s=left_s,
        )
        self._identity = identity
        self._rules = rules or Rules()
        self._locks: dict[Path, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(
        self,
        *,
        url: str,
        token: Token,
        run: RunId,
        name: str,
        branch: BranchName,
        base: BranchName,
        merge: Sequence[BranchName] = (),
    ) -> WorkingCopy:
        """The copy of one run and sub-item, freshly fetched, without left-overs of earlier work.

        It stands on the remote's `branch` if that exists, else on `base`; then `merge` is merged in, in order.
        It stays locked until `close` or `discard`.

        Raises:
            TryAgainLater: another process holds it, or the remote cannot be reached.
            PermissionRefused: the remote refused the credential.
            CodebaseError: `base` or a branch to merge is missing, or a merge conflicts.
        """
        repository = self._cache / "repositories" / f"{_folder(url)}.git"
        path = self._copies_of(run) / _folder(url) / _folder(name)
        self._hold(path, f"the working copy {name!r} of run {run!r}")
        copy = WorkingCopy(
            path, self._git, remote=Remote(url, token), identity=self._identity, rules=self._rules
        )
        with _locked(repository.with_suffix(".lock")):
            self._rebuilding(
                repository, path, lambda: self._fetch(repository, url, token, [branch, base, *merge])
            )
            start = self._start(repository, branch, base, merge)
            self._rebuilding(
                repository,
                path,
                lambda: self._check_out(repository, path, copy, start),
                afresh=lambda: self._fetch(repository, url, token, [branch, base, *merge]),
            )
            for dependency in merge:
                copy.merge(dependency)
        return copy

    def has(self, run: RunId) -> bool:
        """Whether anything of a run is on this machine."""
        return self._copies_of(run).is_dir()

    def discard(self, run: RunId) -> None:
        """Remove every working copy of a run that is done; nothing happens when there is none.

        Raises:
            TryAgainLater: another process holds one of them.
        """
        folder = self._copies_of(run)
        for path in sorted(folder.glob("*/*")):
            if path.is_dir():
                self._hold(path, f"a working copy of run {run!r}")
        shutil.rmtree(folder, ignore_errors=True)
        self._release(path for path in list(self._locks) if path.is_relative_to(folder))
        for repository in sorted((self._cache / "repositories").glob("*.git")):
            with _locked(repository.with_suffix(".lock")):
                self._git.run("worktree", "prune", cwd=repository)

    def close(self) -> None:
        """Let other processes use the copies opened here; the copies stay on the disk."""
        self._release(list(self._locks))

    def _copies_of(self, run: RunId) -> Path:
        return self._cache / "copies" / _folder(run)

    def _hold(self, path: Path, what: str) -> None:
        if path in self._locks:
            return
        lock = self._cache / "locks" / path.relative_to(self._cache)
        lock.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise TryAgainLater(
                f"{what} ({path}) is in use by another process. Let it finish, or end it, and run the step again."
            ) from None
        self._locks[path] = descriptor

    def _release(self, paths: Sequence[Path] | Iterator[Path]) -> None:
        for path in paths:
            os.close(self._locks.pop(path))

    def _rebuilding(
        self,
        repository: Path,
        path: Path,
        work: Callable[[], None],
        *,
        afresh: Callable[[], None] | None = None,
    ) -> None:
        """Do the work; when git trips over what is on the disk, drop the copy, then the cache, and do it again."""
        for lost in ((path,), (path, repository), ()):
            try:
                work()
            except CodebaseError as error:
                # A tree that does not come out as committed is mended like anything else git says of its own files.
                if not lost or (isinstance(error, GitFailed) and error.kind != "other"):
                    raise understood(error) from error.__cause__
            else:
                return
            for place in lost:
                shutil.rmtree(place, ignore_errors=True)
            if repository in lost and afresh is not None:
                afresh()

    def _fetch(self, repository: Path, url: str, token: Token, branches: Sequence[str]) -> None:
        if not (repository / "HEAD").is_file():
            repository.mkdir(parents=True, exist_ok=True)
            self._git.run("init", "--quiet", "--bare", "--template=", str(repository), cwd=self._cache)
        # With the star a branch that does not exist is no failure, so one request serves both cases.
        wanted = [f"+refs/heads/{name}*:refs/remotes/origin/{name}*" for name in dict.fromkeys(branches)]
        options = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._git.reach(url, token, "fetch", *options, "--", url, *wanted, cwd=repository)

    def _start(self, repository: Path, branch: str, base: str, merge: Sequence[str]) -> CommitOid:
        heads = self._remote_heads(repository)
        start = heads.get(branch) or heads.get(base)
        needed = merge if branch in heads else (base, *merge)
        missing = [repr(name) for name in needed if name not in heads]
        if start is None or missing:
            raise CodebaseError(
                f"the remote has no branch {' and no branch '.join(missing)}, which {branch!r} starts from. "
                "Push it or restore it, and run the step again."
            )
        return start

    def _remote_heads(self, repository: Path) -> dict[str, CommitOid]:
        prefix = "refs/remotes/origin/"
        form = "--format=%(objectname) %(refname)"
        listed = self._git.run("for-each-ref", form, prefix, cwd=repository).splitlines()
        return {
            ref.removeprefix(prefix): CommitOid(oid) for oid, ref in (line.split(" ", 1) for line in listed)
        }

    def _check_out(self, repository: Path, path: Path, copy: WorkingCopy, start: CommitOid) -> None:
        if not (path / ".git").is_file():
            shutil.rmtree(path, ignore_errors=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._git.run("worktree", "prune", cwd=repository)
            self._git.run(
                "worktree", "add", "--quiet", "--detach", "--no-checkout", str(path), start, cwd=repository
            )
        copy.settle(start)


@contextmanager
def _locked(lock: Path) -> Iterator[None]:
    """Alone in this block among all processes; waits, which ends because git's commands have time limits."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _folder(text: str) -> str:
    """A readable folder name, different for different texts."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[-40:]
    return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

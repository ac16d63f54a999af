"""Keeps working copies on this machine: one object cache per repository, one worktree per run and sub-item."""

import hashlib
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from cogworks.codebase.failures import CodebaseError, GitFailed, understood
from cogworks.codebase.git import Git, Identity, Token
from cogworks.codebase.places import Places, beside
from cogworks.codebase.remotes import Remote
from cogworks.codebase.sameness import neutralise
from cogworks.codebase.workingcopy import Rules, WorkingCopy
from cogworks.own_folders import closed_folder, own_folder
from cogworks.removal import remove_tree
from cogworks.unfit import writing
from cogworks.vocabulary import BranchName, CommitOid, RunId

_ENDED = "ended"
"""A file in the folder of a run that is over, while some process still holds one of its copies."""

_PROMISOR = "promisor"
_WHOLE = "cogworks-whole"
"""A file in a cache without contents: the commits all of whose files are there."""
_MOST_WHOLE = 200
_MOMENT = "refs/cogworks/moment"
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@=-]{0,250}")


class Patience(NamedTuple):
    """How long something is waited for, in seconds."""

    command_s: float = 300.0
    """Each git command."""
    cache_s: float = 60.0
    """A busy object cache, before another one is made."""


class WorkingCopies:
    """The working copies below one directory, each held by at most one process at a time.

    Whose turn it is the item's lease says, not this machine: where another process holds a copy, be it stopped or
    slow, the next one beside it is used.

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
        left_s: Callable[[], float | None] = lambda: None,
        patience: Patience | None = None,
        is_blobless: bool = False,
    ) -> None:
        """Args:
        environment: of this process; git gets PATH, proxies and certificate locations of it, nothing else.
        on_network: called with `fetch` or `push` before each command that speaks to a remote.
        left_s: what is left of the caller's time; None: no limit.
        is_blobless: whether histories come without the contents of files. Those of the commits that a copy stands on,
            began at and merges come with one fetch more where they are missing; any other is fetched by git when somebody
            looks at it, without telling `on_network`.
        """
        with writing(cache):
            own_folder(cache)
        self._cache = cache.resolve()
        self._git = Git(
            environment=environment,
            home=self._cache,
            time_limit_s=(patience or Patience()).command_s,
            on_network=on_network,
            left_s=left_s,
        )
        self._identity = identity
        self._rules = rules or Rules()
        self._cache_wait_s = (patience or Patience()).cache_s
        self._is_blobless = is_blobless
        self._places = Places(self._cache)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(
        self,
        *,
        remote: Remote,
        run: RunId,
        name: str,
        branch: BranchName,
        base: BranchName,
        base_oid: CommitOid | None = None,
        merge: Sequence[BranchName] = (),
        besides: Sequence[BranchName] = (),
    ) -> WorkingCopy:
        """The copy of one run and sub-item, freshly fetched, without left-overs of earlier work.

        It stands on the remote's `branch` if that exists, else on `base`; then `merge` is merged in, in order.
        It stays locked until `close` or `discard`.

        Args:
            base_oid: the commit of `base` to start from; None: its head.
            besides: further branches to fetch, for `read_newest`.

        Raises:
            TryAgainLater: too many processes hold one, or the remote cannot be reached.
            PermissionRefused: the remote refused the credential.
            CodebaseError: `base` or a branch to merge is missing, `base` no longer holds `base_oid`, or a merge conflicts.
        """
        self._remove_ended()
        kind = "-blobless" if self._is_blobless else ""
        cached = self._cache / "repositories" / f"{_folder(remote.url)}{kind}.git"
        with self._places.taken(cached, "the object cache", wait_s=self._cache_wait_s) as repository:
            # A copy is tied to its cache, so each cache has copies of its own.
            first = self._copies_of(run) / repository.name / _folder(name)
            path = self._places.take(first, f"the working copy {name!r} of run {run!r}")
            self._remove_free(other for other in beside(first) if other != path)
            git = self._git.granted(*remote) if self._is_blobless else self._git
            copy = WorkingCopy(
                path,
                git,
                remote=remote,
                identity=self._identity,
                rules=self._rules,
                base_branch=base,
            )
            branches = [branch, base, *merge, *besides]
            self._rebuilding(repository, path, lambda: self._fetch(repository, *remote, branches))
            start = self._start(repository, branch, base, merge, base_oid=base_oid)

            def check_out() -> None:
                if self._is_blobless:
                    self._complete(repository, remote, self._needed(repository, start, base, merge))
                self._check_out(repository, path, copy, start)

            self._rebuilding(
                repository,
                path,
                check_out,
                afresh=lambda: self._fetch(repository, *remote, branches),
            )
            for dependency in merge:
                copy.merge(dependency)
        return copy

    @contextmanager
    def at(
        self, *, url: str, token: Token, ref: str = "HEAD", besides: Sequence[str] = ()
    ) -> Iterator[WorkingCopy]:
        """A copy that stands on one commit of a remote, fetched without its history, until the block ends.

        Args:
            url: of the remote, or a repository's directory on this machine.
            ref: a branch, a tag, or the oid of a commit that the remote gives out.
            besides: oids of further commits whose files can be looked up in it.

        Raises:
            GitFailed: with the kind of failure.
            CodebaseError: `ref` cannot be one.
        """
        for name in (ref, *besides):
            if not _REF.fullmatch(name):
                raise CodebaseError(f"{name!r} is no branch, tag or commit; name one.")
        # Apart from the cache of whole histories, to which a shallow one would do harm.
        cached = self._cache / "repositories" / f"{_folder(url)}-shallow.git"
        path = self._cache / "moments" / uuid.uuid4().hex
        refs = (f"+{ref}:{_MOMENT}", *besides)
        try:
            with self._places.taken(cached, "the object cache", wait_s=self._cache_wait_s) as repository:
                try:
                    start = self._moment(repository, path, url, token=token, refs=refs)
                except GitFailed as error:
                    if error.kind != "other":
                        raise
                    # What is on the disk may be broken; nothing in it is needed.
                    remove_tree(repository, ignore_errors=True)
                    start = self._moment(repository, path, url, token=token, refs=refs)
            copy = WorkingCopy(
                path, self._git, remote=Remote(url, token), identity=self._identity, rules=self._rules
            )
            copy.settle(start)
            yield copy
        finally:
            remove_tree(path, ignore_errors=True)

    def _moment(
        self, repository: Path, path: Path, url: str, *, token: Token, refs: Sequence[str]
    ) -> CommitOid:
        """Fetch single commits and make an empty worktree for the first."""
        self._make_cache(repository)
        options = ("--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._git.reach(url, token, "fetch", *options, "--", url, *refs, cwd=repository)
        start = self._git.run("rev-parse", "--verify", f"{_MOMENT}^{{commit}}", cwd=repository).strip()
        closed_folder(path.parent)
        self._git.run("worktree", "prune", cwd=repository)
        place = ("--detach", "--no-checkout", str(path), start)
        self._git.run("worktree", "add", "--quiet", *place, cwd=repository)
        return CommitOid(start)

    def has(self, run: RunId) -> bool:
        """Whether anything of a run is on this machine."""
        return self._copies_of(run).is_dir()

    def discard(self, run: RunId) -> None:
        """Remove every working copy of a run that is done; nothing happens when there is none.

        One that another process holds, a stopped one perhaps, goes when this is next used after it let go.
        """
        folder = self._copies_of(run)
        if not folder.is_dir():
            return
        (folder / _ENDED).touch()
        self._places.release_all(folder)
        self._remove_ended()
        for repository in self._places.each_free(sorted((self._cache / "repositories").glob("*.git*"))):
            if "+" in repository.name and not any((self._cache / "copies").glob(f"*/{repository.name}")):
                remove_tree(repository, ignore_errors=True)
            else:
                self._git.run("worktree", "prune", cwd=repository)

    def close(self) -> None:
        """Let other processes use the copies opened here; the copies stay on the disk."""
        self._places.release_all(self._cache)

    def _copies_of(self, run: RunId) -> Path:
        return self._cache / "copies" / _folder(run)

    def _remove_ended(self) -> None:
        for mark in sorted((self._cache / "copies").glob(f"*/{_ENDED}")):
            folder = mark.parent
            self._remove_free(sorted(folder.glob("*/*")))
            if not any(folder.glob("*/*")):
                remove_tree(folder, ignore_errors=True)

    def _remove_free(self, copies: Iterable[Path]) -> None:
        for copy in self._places.each_free(path for path in copies if path.is_dir()):
            remove_tree(copy, ignore_errors=True)

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
                remove_tree(place, ignore_errors=True)
            if repository in lost and afresh is not None:
                afresh()

    def _fetch(self, repository: Path, url: str, token: Token, branches: Sequence[str]) -> None:
        self._make_cache(repository)
        # With the star a branch that does not exist is no failure, so one request serves both cases.
        refspecs = [f"+refs/heads/{name}*:refs/remotes/origin/{name}*" for name in dict.fromkeys(branches)]
        options = ["--quiet", "--prune", "--no-write-fetch-head", "--no-recurse-submodules"]
        if self._is_blobless:
            self._promised(repository, url)
            options.append("--filter=blob:none")
        place = _PROMISOR if self._is_blobless else url
        self._git.reach(url, token, "fetch", *options, "--", place, *refspecs, cwd=repository)

    def _needed(
        self, repository: Path, start: CommitOid, base: BranchName, merge: Sequence[BranchName]
    ) -> list[str]:
        """The commits whose files somebody without access to the remote, such as a domain service, will look at."""
        heads = self._remote_heads(repository)
        needed = [start, *(heads[name] for name in merge if name in heads)]
        if base in heads:
            needed.append(heads[base])
            fork = self._git.run("merge-base", start, heads[base], cwd=repository, ok=(0, 1)).strip()
            needed += [CommitOid(fork)] if fork else []
        return list(dict.fromkeys(needed))

    def _complete(self, repository: Path, remote: Remote, commits: Sequence[str]) -> None:
        """Fetch the contents of these commits' files that are not here, all at once."""
        whole = repository / _WHOLE
        known = whole.read_text(encoding="ascii").split() if whole.is_file() else []
        oids = [oid for oid in commits if oid not in known]
        if missing := self._missing(repository, oids):
            options = (
                "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--filter=blob:none", "--stdin",
            )  # fmt: skip
            self._git.reach(
                *remote,
                "fetch",
                *options,
                _PROMISOR,
                cwd=repository,
                stdin="\n".join(missing),
                # What is fetched belongs to commits that are here: a server that heard of them would leave it out.
                configured={"fetch.negotiationAlgorithm": "noop"},
            )
        if oids:
            # Looking through the trees of a large repository takes seconds, and nothing goes out of a cache.
            whole.write_text("\n".join([*known, *oids][-_MOST_WHOLE:]), encoding="ascii")

    def _missing(self, repository: Path, commits: Sequence[str]) -> list[str]:
        """The names of those contents of these commits' files that are not here."""
        if not commits:
            return []
        options = ("--objects", "--no-walk", "--missing=print", "--stdin")
        listed = self._git.run("rev-list", *options, cwd=repository, stdin="\n".join(commits))
        return [line[1:] for line in listed.splitlines() if line.startswith("?")]

    def _promised(self, repository: Path, url: str) -> None:
        """Note where git finds what it does not have."""
        for key, value in (("url", url), ("promisor", "true"), ("partialclonefilter", "blob:none")):
            self._git.run("config", f"remote.{_PROMISOR}.{key}", value, cwd=repository)

    def _make_cache(self, repository: Path) -> None:
        """Make an empty object cache where there is none; nothing that comes out of it is converted."""
        closed_folder(repository.parent)
        if not (repository / "HEAD").is_file():
            own_folder(repository)
            self._git.run("init", "--quiet", "--bare", "--template=", str(repository), cwd=self._cache)
        neutralise(repository)

    def _start(
        self, repository: Path, branch: str, base: str, merge: Sequence[str], *, base_oid: CommitOid | None
    ) -> CommitOid:
        heads = self._remote_heads(repository)
        start = heads.get(branch) or heads.get(base)
        needed = merge if branch in heads else (base, *merge)
        missing = [repr(name) for name in needed if name not in heads]
        if start is None or missing:
            raise CodebaseError(
                f"the remote has no branch {' and no branch '.join(missing)}, which {branch!r} starts from. "
                "Push it or restore it, and run the step again."
            )
        if base_oid is None or base not in heads or (branch in heads and branch != base):
            return start
        try:
            self._git.run("merge-base", "--is-ancestor", base_oid, heads[base], cwd=repository)
        except GitFailed as error:
            raise CodebaseError(
                f"branch {base!r} no longer holds {base_oid[:12]}, which people approved. Look at the branch. "
                "Approve or merge it as it is now, and run the step again."
            ) from error
        return base_oid

    def _remote_heads(self, repository: Path) -> dict[str, CommitOid]:
        prefix = "refs/remotes/origin/"
        form = "--format=%(objectname) %(refname)"
        listed = self._git.run("for-each-ref", form, prefix, cwd=repository).splitlines()
        return {
            ref.removeprefix(prefix): CommitOid(oid) for oid, ref in (line.split(" ", 1) for line in listed)
        }

    def _check_out(self, repository: Path, path: Path, copy: WorkingCopy, start: CommitOid) -> None:
        closed_folder(path.parent)
        if not (path / ".git").is_file():
            remove_tree(path, ignore_errors=True)
            self._git.run("worktree", "prune", cwd=repository)
            self._git.run(
                "worktree", "add", "--quiet", "--detach", "--no-checkout", str(path), start, cwd=repository
            )
        copy.settle(start)


def _folder(text: str) -> str:
    """A readable folder name, different for different texts."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")[-40:]
    return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

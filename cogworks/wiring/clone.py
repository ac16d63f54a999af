"""The clone of a repository that somebody works in: at the commit of a task, with the tests that came with it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git, detached_head
from cogworks.codebase.making import borrow, lying_copy, top_of
from cogworks.errors import UsageError
from cogworks.folders import walk
from cogworks.repair.instance import Instance
from cogworks.settings.config import CONFIG_FILE, child_environment, parse_config
from cogworks.settings.sections import ASKED_ABOUT
from cogworks.vocabulary import CommitOid
from cogworks.wiring.committer import COMMITTER

_REVISION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,200}")

_TREE = "tree"


@dataclass(frozen=True)
class Copy:
    """A clone at the base of a repair, with the tests that came with the task."""

    path: Path
    git: Git
    start: CommitOid
    """With these tests; the final patch begins here."""
    handed_over: tuple[str, ...]
    uncommitted: tuple[str, ...] = ()
    """Paths that differ from the commit of the checkout, or are not in it."""

    def base(self) -> str:
        """The commit whose manifests say what the tests need; no diff can change that."""
        return self.start

    def stands_at(self) -> str:
        """The commit it is at now; what is not committed comes on top."""
        return detached_head(self.path / ".git") or self.git.run("rev-parse", "HEAD", cwd=self.path).strip()


def clone_of(repository: Path, instance: Instance, folder: Path, say: Callable[[str], None]) -> Copy:
    """A clone below a folder, at the base of a task and with its tests; the repository itself is only read.

    Raises:
        UsageError: there is no such repository or commit, or the tests do not apply.
    """
    git = Git(environment=child_environment(), home=folder)
    revision = instance.base_commit or "HEAD"
    if not _REVISION.fullmatch(revision):
        raise UsageError(f"`base_commit` is {revision!r}, wanted the name of a commit.")
    try:
        looking = git.looking(repository)
        top = Path(looking.run("rev-parse", "--show-toplevel", cwd=repository).removesuffix("\n"))
    except GitFailed as error:
        raise UsageError(
            f"{repository} is no git repository that can be read: {error.stderr.strip()}"
        ) from error
    try:
        base = looking.run("rev-parse", "--verify", f"{revision}^{{commit}}", cwd=top).strip()
    except GitFailed as error:
        raise UsageError(f"{top} has no commit {revision!r}; fetch it, or correct `base_commit`.") from error
    if looking.run("status", "--porcelain", "-z", cwd=top):
        say(
            f"uncommitted work in {top} is left alone and is no part of this; the repair starts at {base[:12]}"
        )
    path = folder / _TREE
    # Objects are borrowed, not copied: nothing is written into the repository, and any of its commits can be had.
    borrow(top, path, git)
    git.run("checkout", "--quiet", "--detach", base, cwd=path)
    return _with_tests(Copy(path, git, CommitOid(base), ()), instance.test_patch)


def clone_as_it_lies(repository: Path, instance: Instance, folder: Path, say: Callable[[str], None]) -> Copy:
    """As `clone_of`, with the uncommitted work of a checkout as one commit more; what is no checkout has none.

    Raises:
        UsageError: as of `clone_of`.
    """
    git = Git(environment=child_environment(), home=folder)
    top = top_of(repository.resolve(), git)
    if top is None:
        return clone_of(repository, instance, folder, say)
    try:
        lying = lying_copy(top, folder / "checkout", git)
    except GitFailed as error:
        raise UsageError(f"git cannot read {repository}: {error.stderr.strip() or error}") from error
    if lying.uncommitted:
        say(
            f"{len(lying.uncommitted)} uncommitted path(s) count as they lie there; the patch is what comes on top"
        )
    if lying.uncommitted or lying.committed is None or instance.base_commit:
        # Files that somebody put there may differ from what git would check out.
        return replace(clone_of(lying.path, instance, folder, say), uncommitted=tuple(lying.uncommitted))
    path = lying.path.rename(folder / _TREE)
    return _with_tests(Copy(path, git, lying.commit, ()), instance.test_patch)


def _with_tests(copy: Copy, test_patch: str) -> Copy:
    """The clone with the tests of the task as a commit of their own."""
    if not test_patch.strip():
        return copy
    git, path = copy.git, copy.path
    paths = parse_diff(test_patch).diff.paths
    if ours := [each for each in paths if each.split("/")[0].casefold() == ".cogworks"]:
        # Services named there are started without isolation; the author of the task may not choose them.
        raise UsageError(
            f"`test_patch` changes {', '.join(ours)}; a task brings tests, no settings of cogworks."
        )
    try:
        git.run("apply", "--index", "--whitespace=nowarn", "-", cwd=path, stdin=test_patch)
    except GitFailed as error:
        raise UsageError(
            f"`test_patch` does not apply to {copy.start[:12]}: {error.stderr.strip()}"
        ) from error
    who = ("-c", f"user.name={COMMITTER.name}", "-c", f"user.email={COMMITTER.email}")
    git.run(*who, "commit", "--quiet", "--message", "tests of the task", cwd=path)
    base = CommitOid(git.run("rev-parse", "HEAD", cwd=path).strip())
    return Copy(path, git, base, paths)


def own_files(path: Path) -> dict[str, str]:
    """The repository's files below `.cogworks` as text, by their path below it."""
    folder = path / ".cogworks"
    files = sorted(Path(here, name) for here, _, names in walk(folder) for name in names)
    return {
        file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for file in files
        if file.is_file() and not file.is_symlink()
    }


def asked_about(files: Mapping[str, str]) -> tuple[str, ...]:
    """Patterns of the files that a person decides on, as a repository says; those that are built in where it says nothing.

    Args:
        files: its own below `.cogworks`.

    Raises:
        ConfigurationError: its configuration is malformed.
    """
    text = files.get(CONFIG_FILE.rpartition("/")[2])
    return ASKED_ABOUT if text is None else parse_config(text).dependencies.asked_about

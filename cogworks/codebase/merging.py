"""Two histories of one repository in one tree: git merges, and what it cannot decide is left in the files, between its marks."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.failures import CodebaseError, GitFailed
from cogworks.codebase.git import zsplit
from cogworks.vocabulary import CommitOid

MAX_SUBJECTS = 10
RunsGit = Callable[..., str]
"""`Git.run` in one working copy."""
_MARK = re.compile(r"^(?:<{7} HEAD|>{7} (?:[0-9a-f]{40}|theirs))[ \t\r]*$", re.MULTILINE)
_BEGAN = re.compile(r"^\|{7} [0-9a-f]+(?=\r?$)", re.MULTILINE)
_ENDS = re.compile(r"^>{7} [0-9a-f]{40}(?=\r?$)", re.MULTILINE)


class Joined(NamedTuple):
    """What came of a merge that is not committed yet."""

    conflicts: tuple[str, ...] = ()
    """Files in which git left both sides between its marks, sorted."""
    undecided: tuple[str, ...] = ()
    """Files that conflict in another way: deleted on one side, no text, a link, a submodule."""
    subjects: tuple[str, ...] = ()
    """Of the other side's commits that touched any of them, the newest first."""


def has_marks(text: str) -> bool:
    """Whether a text holds what git leaves where it cannot decide."""
    return _MARK.search(text) is not None


def join(
    run: RunsGit,
    other: CommitOid,
    *,
    authorship: dict[str, str],
    root: Path,
    read: Callable[[str], str | None],
) -> Joined:
    """Merge a commit into the clean tree, and commit nothing; the head and what is before it stay.

    Args:
        root: of the working copy.
        read: text of a file in it; None where it is none, or behind a link.

    Raises:
        GitFailed: git could not merge for another reason than a conflict; the tree is as before.
    """
    head = run("rev-parse", "HEAD").strip()
    try:
        # With what both sides began with between them, the one who decides sees who changed what.
        options = ("--quiet", "--no-commit", "--no-ff", "--no-verify")
        run("-c", "merge.conflictStyle=diff3", "merge", *options, other, extra=authorship)
        joined = Joined()
    except GitFailed:
        paths = sorted(zsplit(run("diff", "--name-only", "--diff-filter=U", "-z")))
        if not paths:
            run("reset", "--hard", "--quiet", head)
            raise
        subjects = run("log", f"--max-count={MAX_SUBJECTS}", "--format=%s", f"{head}..{other}", "--", *paths)
        marked = {path: text for path in paths if has_marks(text := read(path) or "")}
        for path, text in marked.items():
            (root / path).write_bytes(_without_names(text).encode())
        joined = Joined(
            conflicts=tuple(path for path in paths if path in marked),
            undecided=tuple(path for path in paths if path not in marked),
            subjects=tuple(subjects.splitlines()),
        )
    run("add", "--all")
    tree = run("write-tree").strip()
    # The merge is over for git: nothing but the files says of it, and whatever rolls back ends it.
    run("reset", "--hard", "--quiet", head)
    run("read-tree", "--reset", "-u", tree)
    return joined


def _without_names(text: str) -> str:
    """The text with marks that name no commit: who is shown it is shown the same whenever the commits were made."""
    return _ENDS.sub(">>>>>>> theirs", _BEGAN.sub("||||||| began with", text))


def merge_committed(run: RunsGit, other: CommitOid, message: str, *, authorship: dict[str, str]) -> CommitOid:
    """Commit the files as they are, with two parents: the head and the commit that was joined."""
    head = run("rev-parse", "HEAD").strip()
    run("add", "--all")
    tree = run("write-tree").strip()
    oid = run("commit-tree", tree, "-p", head, "-p", other, extra=authorship, stdin=message).strip()
    run("update-ref", "--no-deref", "HEAD", oid, head)
    return CommitOid(oid)


def merge_branch(run: RunsGit, branch: str, oid: CommitOid, *, authorship: dict[str, str]) -> None:
    """Merge a branch of ours that stands for a dependency.

    Raises:
        CodebaseError: a conflict. The caller puts the tree back.
        GitFailed: anything else.
    """
    message = f"Merge branch '{branch}'"
    try:
        run("merge", "--quiet", "--no-ff", "--no-verify", "-m", message, oid, extra=authorship)
    except GitFailed as error:
        conflicts = zsplit(run("diff", "--name-only", "--diff-filter=U", "-z"))
        if not conflicts:
            raise
        head = run("rev-parse", "HEAD").strip()
        raise CodebaseError(
            f"branch {branch!r} does not merge into {head[:12]}: {', '.join(sorted(conflicts))} conflict. "
            "Merge the two branches by hand, push, and run the step again."
        ) from error

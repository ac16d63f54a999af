"""Git repositories out of what is none yet: plain files, a bundle, an archive, or a checkout as it lies there."""

import hashlib
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.failures import CodebaseError, GitFailed
from cogworks.codebase.git import Git, Identity
from cogworks.folders import copy_folder
from cogworks.removal import remove_tree
from cogworks.vocabulary import CommitOid

BUNDLE = ".bundle"
ARCHIVES = (".tar", ".tar.gz", ".tgz")
_MAKER = Identity("cogworks", "cogworks@example.invalid")
# The same files are the same commit, on every machine and at any time.
_DATE = "1700000000 +0000"
# What starts programs of ours, outside of any isolation: nobody's command may write it.
_OURS = (".git", ".cogworks")
_LEFT_BEHIND = (".git", "__pycache__", ".pytest_cache")


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a working copy."""
    return (path / ".git").exists()


def repository_at(source: Path, folder: Path, git: Git) -> Path:
    """A repository with a working copy of a source: the source itself, or one made of it below the folder.

    Raises:
        CodebaseError: it is none of what a repository can be made of.
    """
    if source.is_dir() and is_repository(source):
        return source
    repository = folder / "repository"
    if source.suffix == BUNDLE or (source.is_dir() and (source / "HEAD").is_file()):
        try:
            git.run("clone", "--quiet", str(source), str(repository), cwd=folder)
        except GitFailed as error:
            raise CodebaseError(f"{source} cannot be cloned: {error.stderr.strip()}") from error
        return repository
    if source.is_dir():
        copy_folder(source, repository, left_out=shutil.ignore_patterns(*_LEFT_BEHIND))
    elif source.name.endswith(ARCHIVES):
        _unpack(source, repository)
    else:
        raise CodebaseError(
            f"{source} is no repository. Give a folder, a bundle of git ({BUNDLE}) or an archive of plain files "
            f"({', '.join(ARCHIVES)})"
        )
    first_commit(repository, git)
    return repository


def first_commit(path: Path, git: Git) -> CommitOid:
    """Make a folder of files a repository whose one commit holds all of them; equal files give an equal commit."""
    git.run("init", "--quiet", "--initial-branch=main", cwd=path)
    git.run("add", "--all", "--force", cwd=path)
    return commit_all(path, git, "The files as they were handed over")


def commit_all(path: Path, git: Git, message: str) -> CommitOid:
    """A commit of everything that is staged, by nobody in particular."""
    dates = {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}
    who = ("-c", f"user.name={_MAKER.name}", "-c", f"user.email={_MAKER.email}")
    git.run(*who, "commit", "--quiet", "--allow-empty", "--message", message, cwd=path, extra=dates)
    return CommitOid(git.run("rev-parse", "HEAD", cwd=path).strip())


def lay_over(files: Path, repository: Path) -> None:
    """Put files in place of those of a working copy; its history and its settings for cogworks stay as they are.

    Raises:
        CodebaseError: the files cannot be copied.
    """
    for entry in repository.iterdir():
        if entry.name in _OURS:
            continue
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            entry.unlink()
    try:
        copy_folder(files, repository, left_out=_not_ours(files), may_exist=True)
    except OSError as error:
        raise CodebaseError(f"what was made cannot be copied: {error}") from error


def _not_ours(top: Path) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        return {".git"} | ({*_OURS} if Path(folder) == top else set()) & {*names}

    return ignored


def _unpack(archive: Path, to: Path) -> None:
    to.mkdir()
    try:
        with tarfile.open(archive) as packed:
            members = packed.getmembers()
            # A repository brings settings that git obeys; a bundle cannot.
            if any(".git" in Path(member.name).parts for member in members):
                raise CodebaseError(
                    f"{archive} holds a `.git`; hand history over as a bundle of git ({BUNDLE})"
                )
            packed.extractall(to, members, filter="data")
    except (OSError, tarfile.TarError) as error:
        raise CodebaseError(f"{archive} cannot be unpacked: {error}") from error


TRUSTING = ("-c", "safe.directory=*")
"""Also root, and others on a shared disk, may look."""
_NOBODY = "cogworks <cogworks@example.invalid> 1700000000 +0000"
_ALTERNATES = ".git/objects/info/alternates"


_Read = Callable[..., str]


class LyingCopy(NamedTuple):
    """A copy of a checkout with one commit more where something was not committed."""

    path: Path
    commit: CommitOid
    """Holds every file as it lies there, but what git ignores."""
    committed: CommitOid | None
    """What is checked out; None: nothing was committed yet."""
    uncommitted: tuple[str, ...]
    """Paths that differ from it, sorted."""

    def base(self) -> str:
        """The commit whose manifests say what the tests need: here the files as they lie there."""
        return self.commit


def top_of(folder: Path, git: Git) -> Path | None:
    """The checkout that a folder belongs to; None where git has none, or knows nothing of what is in the folder."""
    inside = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if inside in (None, folder):
        return inside
    known = git.looking(folder).run(*TRUSTING, "ls-files", "-z", "--", ".", cwd=folder, ok=(0, 128))
    return inside if known else None


def lying_copy(checkout: Path, folder: Path, git: Git) -> LyingCopy:
    """The files of a checkout as a new repository at `folder`, with its history and tags and without what git ignores.

    Objects are borrowed, so that a long history costs nothing; the checkout must stay where it is meanwhile.

    Raises:
        GitFailed: the checkout is broken, or lacks files that a partial clone would have to fetch.
        OSError: a file cannot be copied.
    """

    read = looking_at(checkout, git)
    head = read("rev-parse", "-q", "--verify", "HEAD^{commit}", ok=(0, 1, 128)).strip()
    borrow(checkout, folder, git, read=read)
    for line in read("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags").splitlines():
        oid, _, name = line.partition(" ")
        git.run("update-ref", name, oid, cwd=folder)
    if head:
        git.run("checkout", "--quiet", "--detach", head, cwd=folder)
    changed = _changed(read)
    for path in changed:
        _put(checkout / path, folder / path)
    if changed or not head:
        _commit(folder, git, head)
    commit = CommitOid(git.run("rev-parse", "HEAD", cwd=folder).strip())
    return LyingCopy(folder, commit, CommitOid(head) if head else None, changed)


def _commit(folder: Path, git: Git, parent: str) -> None:
    """A commit of everything in the copy."""
    alternates = folder / _ALTERNATES
    aside = alternates.rename(alternates.with_name("lent"))
    # Git marks a lent object that it would have to write as used, and that would be writing into the checkout.
    git.run("add", "--all", cwd=folder)
    tree = git.run("write-tree", "--missing-ok", cwd=folder).strip()
    aside.rename(alternates)
    parents = f"parent {parent}\n" if parent else ""
    text = f"tree {tree}\n{parents}author {_NOBODY}\ncommitter {_NOBODY}\n\nAs it lies there\n"
    commit = git.run("hash-object", "-t", "commit", "-w", "--stdin", cwd=folder, stdin=text).strip()
    git.run("update-ref", "HEAD", commit, cwd=folder)


def looking_at(checkout: Path, git: Git) -> Callable[..., str]:
    """Runs git in a checkout of anybody else, and starts nothing that it names; see `Git.looking`.

    Raises:
        GitFailed: it cannot be read.
    """
    return partial(git.looking(checkout).run, *TRUSTING, cwd=checkout)


def borrow(checkout: Path, folder: Path, git: Git, *, read: _Read | None = None) -> None:
    """Make an empty repository at `folder` that finds every object of a checkout where it lies, and nothing of its configuration.

    No program of git looks into the checkout meanwhile, as one does for `git clone`: it would obey that configuration.

    Args:
        read: what `looking_at` makes for this checkout, where it was made already.

    Raises:
        GitFailed: the checkout is broken.
    """
    read = read or looking_at(checkout, git)
    form = read("rev-parse", "--show-object-format").strip()
    git.run("init", "--quiet", f"--object-format={form}", str(folder), cwd=checkout)
    objects, shallow = (
        checkout / read("rev-parse", "--git-path", name).removesuffix("\n") for name in ("objects", "shallow")
    )
    (folder / _ALTERNATES).write_text(f"{objects.resolve()}\n", encoding="utf-8")
    if shallow.is_file():
        shutil.copyfile(shallow, folder / ".git" / "shallow")


def _changed(read: _Read) -> tuple[str, ...]:
    status = read(
        "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"
    )
    return tuple(sorted(entry[3:] for entry in status.split("\0") if entry and not entry.endswith("/")))


def _put(source: Path, place: Path) -> None:
    """Links stay links, and what is neither file nor link is gone in the copy."""
    if place.is_symlink() or place.is_file():
        place.unlink()
    if source.is_symlink() or source.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place, follow_symlinks=False)
        if not place.is_symlink():
            place.chmod(place.stat().st_mode | 0o600)


def parents_of(path: str) -> Iterator[str]:
    """The folders around a path, the outermost first."""
    parts = path.removesuffix("/").split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))


def content_digest(place: Path, mode: int) -> str:
    """What separates the content of a file or link from another; nothing for what is neither."""
    if stat.S_ISLNK(mode):
        return os.fsencode(place.readlink()).hex()
    if not stat.S_ISREG(mode):
        return ""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_folder(place: Path) -> None:
    """Remove a folder with all that is in it, as far as that can be done."""
    # A test may take its own right to write away; root does not notice, others would leave it behind.
    with suppress(OSError):
        place.chmod(0o700)
    remove_tree(place, ignore_errors=True)


def walked(top: Path) -> Iterator[str]:
    """Every file, link and folder below a worktree but git's own, without following links; folders end with a slash."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in sorted(os.scandir(top / folder), key=lambda entry: entry.name):
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if path != ".git":
                    waiting.append(f"{path}/")
                    yield f"{path}/"
            elif path != ".git":
                yield path

"""Git repositories out of what is no repository yet: plain files, a bundle, an archive of plain files."""

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

from cogworks.codebase.failures import CodebaseError, GitFailed
from cogworks.codebase.git import Git, Identity
from cogworks.removal import remove_tree
from cogworks.vocabulary import CommitOid

BUNDLE = ".bundle"
ARCHIVES = (".tar", ".tar.gz", ".tgz")
_MAKER = Identity("cogworks", "cogworks@example.invalid")
# The same files are the same commit, on every machine and at any time.
_DATE = "1700000000 +0000"
# What starts programs of ours, outside of any walls: nobody's command may write it.
_OURS = (".git", ".cogworks")
_LEFT_BEHIND = (".git", "__pycache__", ".pytest_cache")


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a working copy."""
    return (path / ".git").exists()


def repository_at(found: Path, folder: Path, git: Git) -> Path:
    """What was found as a repository with a working copy: itself, or one made of it below the folder.

    Raises:
        CodebaseError: it is none of what a repository can be made of.
    """
    if found.is_dir() and is_repository(found):
        return found
    made = folder / "repository"
    if found.suffix == BUNDLE or (found.is_dir() and (found / "HEAD").is_file()):
        try:
            git.run("clone", "--quiet", str(found), str(made), cwd=folder)
        except GitFailed as error:
            raise CodebaseError(f"{found} cannot be cloned: {error.stderr.strip()}") from error
        return made
    if found.is_dir():
        shutil.copytree(found, made, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
    elif found.name.endswith(ARCHIVES):
        _unpack(found, made)
    else:
        raise CodebaseError(
            f"{found} is no repository. Give a folder, a bundle of git ({BUNDLE}) or an archive of plain files "
            f"({', '.join(ARCHIVES)})"
        )
    first_commit(made, git)
    return made


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
        shutil.copytree(files, repository, symlinks=True, ignore=_not_ours(files), dirs_exist_ok=True)
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

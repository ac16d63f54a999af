"""Finds the manifest that may be trusted: that of the commit a change started from, not what the change made of it."""

import re
from pathlib import Path

from cogworks.codebase.confined import read_file
from cogworks.codebase.git import Git
from cogworks.services.python.manifest import Manifest, is_manifest, read_manifest
from cogworks.services.python.roots import whole_of

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_FOLDERS = ("", "requirements/")
_GIT_LIMIT_S = 30.0
_MOST_BYTES = 1024**2


def base_problem(base: str | None) -> str | None:
    """Why this cannot name a commit, None when it can."""
    if base is None or _OID.fullmatch(base):
        return None
    return f"repository.base is {base!r}; want the full name of a commit"


def manifest_of(folder: Path, base: str | None, *, search_path: str, root: str = "") -> Manifest:
    """What the repository asks for; the arguments and what is raised are those of `files_of`."""
    return read_manifest(files_of(folder, base, search_path=search_path, root=root))


def files_of(folder: Path, base: str | None, *, search_path: str, root: str = "") -> dict[str, str]:
    """The files that say what is installed, at a commit (None: the one that is checked out; without git: as they lie there).

    Args:
        root: which folder of its repository this is; empty: the whole.

    Raises:
        GitFailed: there is no such commit, or the repository is broken.
    """
    whole = whole_of(folder, root)
    if not (whole / ".git").exists():
        return _on_disk(folder)
    git = Git(environment={"PATH": search_path}, home=folder, time_limit_s=_GIT_LIMIT_S)
    return _at_commit(git, folder, base or "HEAD", around=whole.parent)


def _at_commit(git: Git, folder: Path, commit: str, *, around: Path) -> dict[str, str]:
    # Where .git is broken, git must not take a repository around this one for it.
    extra = {"GIT_CEILING_DIRECTORIES": str(around)}
    if commit == "HEAD" and not git.run(
        "rev-parse", "-q", "--verify", commit, cwd=folder, extra=extra, ok=(0, 1)
    ):
        # Nothing is committed yet.
        return {}
    found = {}
    # git tells and takes paths from the folder on in which it runs.
    for place in _FOLDERS:
        for entry in git.run("ls-tree", "-lz", commit, *filter(None, [place]), cwd=folder, extra=extra).split(
            "\0"
        ):
            about, _, path = entry.partition("\t")
            if is_manifest(path) and (blob := _blob(about)) is not None:
                text = git.run("cat-file", "blob", blob, cwd=folder, extra=extra)
                found[path] = text.encode(errors="surrogateescape").decode(errors="replace")
    return found


def _blob(about: str) -> str | None:
    """The object behind an entry of a tree, None for what is no file of a bearable size."""
    mode, kind, oid, size = about.split()
    return oid if kind == "blob" and mode.startswith("100") and int(size) <= _MOST_BYTES else None


def _on_disk(folder: Path) -> dict[str, str]:
    found = {}
    for place in _FOLDERS:
        if not (folder / place).is_dir():
            continue
        for path in (f"{place}{each.name}" for each in sorted((folder / place).iterdir())):
            file = read_file(folder, path) if is_manifest(path) else None
            if file is not None and len(file.data) <= _MOST_BYTES:
                found[path] = file.data.decode(errors="replace")
    return found

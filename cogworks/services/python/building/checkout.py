"""The files of a commit as a build sees them: with the history and the tags that tell a version."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cogworks.codebase.confined import read_file
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.folders import copy_folder, walk
from cogworks.services.laid_out import left_out

_GIT_LIMIT_S = 120.0
_BORROWED = "alternate: "
_REGULAR = ("100644 ", "100755 ")
_SKIPPED = frozenset(
    {".git", "__pycache__", ".venv", "venv", ".tox", ".nox", "node_modules", ".mypy_cache", ".pytest_cache"}
)
_NATIVE = (
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".pyx", ".pxd", ".pxi", ".rs", ".f", ".f90", ".s", ".asm", ".cu", ".go", ".proto",
)  # fmt: skip
_MOST_HASHED_BYTES = 4 * 1024**2


class Checkout(NamedTuple):
    """What is built: a commit, or the files of a folder without git."""

    folder: Path
    commit: str
    """Empty: the files as they lie there."""
    blobs: dict[str, str]
    """Every regular file of the project: path from its root -> name of its content."""
    version: str
    """Where the commit stands among tags; empty: git cannot tell."""
    root: str = ""
    """The folder of the project in the repository; empty: its root."""


def checkout_of(folder: Path, base: str | None, *, search_path: str, root: str = "") -> Checkout:
    """What is built of a repository.

    Args:
        folder: of the whole repository.
        root: the folder of the project in it; empty: the whole.
        base: the commit; None: the one that is checked out, or the files where there is no git.

    Raises:
        GitFailed: there is no such commit, or the repository is broken.
    """
    if not (folder / ".git").exists():
        return Checkout(folder, "", dict(_hashed(folder / root)), "", root)
    git = _git(folder, search_path)
    commit = git.run("rev-parse", "--verify", f"{base or 'HEAD'}^{{commit}}", cwd=folder).strip()
    entries = git.run("ls-tree", "-rz", f"{commit}:{root}", cwd=folder).split("\0")
    blobs = {
        path: about.split()[2]
        for about, _, path in (entry.partition("\t") for entry in entries)
        if about.startswith(_REGULAR)
    }
    try:
        version = git.run("describe", "--tags", "--long", "--always", commit, cwd=folder).strip()
    except GitFailed:
        version = ""
    return Checkout(folder, commit, blobs, version, root)


def changed_natively(checkout: Checkout, *, search_path: str) -> Checkout | None:
    """The files as they lie there, where a compiler would read others of them than in the commit; None: it would not.

    Raises:
        GitFailed: the repository is broken.
    """
    if not checkout.commit:
        return None
    git = _git(checkout.folder, search_path)
    where = ["--", checkout.root or "."]
    changed = git.run(
        "diff", "--name-only", "-z", "--no-renames", checkout.commit, *where, cwd=checkout.folder
    )
    others = git.run("ls-files", "--others", "--exclude-standard", "-z", *where, cwd=checkout.folder)
    if not any(path.endswith(_NATIVE) for path in (*changed.split("\0"), *others.split("\0"))):
        return None
    return checkout._replace(commit="", blobs=dict(_hashed(checkout.folder / checkout.root)))


def lay_out(checkout: Checkout, place: Path, *, search_path: str) -> tuple[Path, ...]:
    """Put the files into a new folder, as a clone of its own where there is git.

    Returns:
        What a command in that folder has to be able to read besides: the objects that the clone borrows.

    Raises:
        GitFailed: the commit cannot be checked out.
    """
    if not checkout.commit:
        copy_folder(checkout.folder, place, left_out=left_out(*_SKIPPED))
        return ()
    git = _git(checkout.folder, search_path)
    borrowed = _object_folders(git, checkout.folder)
    tags = git.run("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags", cwd=checkout.folder)
    form = git.run("rev-parse", "--show-object-format", cwd=checkout.folder).strip()
    git.run("init", "--quiet", "--template=", f"--object-format={form}", str(place), cwd=place.parent)
    own = place / ".git"
    (own / "objects" / "info").mkdir(parents=True, exist_ok=True)
    # Each is named, for in isolation nobody sees what one of them borrows in turn.
    listed = "".join(f"{each}\n" for each in borrowed)
    (own / "objects" / "info" / "alternates").write_text(listed, encoding="utf-8", errors="surrogateescape")
    (own / "packed-refs").write_text(tags, encoding="utf-8", errors="surrogateescape")
    shallow = _within(git, checkout.folder, "shallow")
    if shallow.is_file():
        shutil.copyfile(shallow, own / "shallow")
    git.run("update-ref", "--no-deref", "HEAD", checkout.commit, cwd=place)
    git.run("read-tree", "--reset", "-u", checkout.commit, cwd=place)
    return borrowed


def store_of(checkout: Checkout, *, search_path: str) -> str:
    """Which repository of this machine a commit comes from: the folder of its objects, the same for each of its working copies.

    Empty: there is no git. Two repositories may hold the same commits and never the same folder.

    Raises:
        GitFailed: the repository is broken.
    """
    if not checkout.commit:
        return ""
    return str(_object_folders(_git(checkout.folder, search_path), checkout.folder)[-1])


def clone_of(folder: Path, *, search_path: str) -> str:
    """Which clone a folder is, or is a worktree of: the folder of its git; empty: there is none.

    Raises:
        GitFailed: the repository is broken.
    """
    if not (folder / ".git").exists():
        return ""
    place = _git(folder, search_path).run("rev-parse", "--git-common-dir", cwd=folder).removesuffix("\n")
    return str((folder / place).resolve())


def text_of(checkout: Checkout, path: str, *, search_path: str) -> str:
    """A text file as the commit has it; empty where it has none, or it is no text.

    Raises:
        GitFailed: the repository is broken.
    """
    if path not in checkout.blobs:
        return ""
    if not checkout.commit:
        file = read_file(checkout.folder / checkout.root, path)
        return "" if file is None else file.data.decode(errors="replace")
    git = _git(checkout.folder, search_path)
    return git.run("cat-file", "blob", checkout.blobs[path], cwd=checkout.folder)


def _object_folders(git: Git, folder: Path) -> tuple[Path, ...]:
    """Where the objects of a repository lie: its own, and all those that they are borrowed from."""
    lines = git.run("count-objects", "-v", cwd=folder).splitlines()
    alternates = (line.removeprefix(_BORROWED) for line in lines if line.startswith(_BORROWED))
    places = (_within(git, folder, "objects"), *(folder / each for each in alternates))
    return tuple(dict.fromkeys(each.resolve() for each in places))


def _within(git: Git, folder: Path, name: str) -> Path:
    return folder / git.run("rev-parse", "--git-path", name, cwd=folder).removesuffix("\n")


def _git(folder: Path, search_path: str) -> Git:
    return Git(environment={"PATH": search_path}, home=folder, time_limit_s=_GIT_LIMIT_S)


def _hashed(folder: Path) -> Iterator[tuple[str, str]]:
    for top, folders, names in walk(folder):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for name in sorted(names):
            path = Path(top, name)
            if path.is_symlink() or not path.is_file():
                continue
            large = path.stat().st_size > _MOST_HASHED_BYTES
            content = str(path.stat().st_size).encode() if large else path.read_bytes()
            yield path.relative_to(folder).as_posix(), hashlib.sha256(content).hexdigest()

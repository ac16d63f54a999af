"""Finds the files of the recipe that may be trusted: those of the commit a change started from, not what the change made of them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from cogworks.codebase.confined import read_file
from cogworks.codebase.git import Git
from cogworks.domain_services.messages import RepositorySettings
from cogworks.folders import walk
from cogworks.services.python.imports import is_test_file
from cogworks.services.python.pythons import minor_version_for
from cogworks.services.python.recipe.locks import FILES as LOCKS
from cogworks.services.python.recipe.reading import HERE, declared_by, read_recipe
from cogworks.services.python.recipe.requirement_files import is_list
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.python.recipe.workflows import FOLDER as WORKFLOWS
from cogworks.services.python.roots import whole_of

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_GIT_LIMIT_S = 60.0
_MOST_BYTES = 1024**2
_MOST_LOCK_BYTES = 8 * 1024**2
_MOST_PYTHON_BYTES = 256 * 1024
_MOST_OF_ALL_BYTES = 24 * 1024**2
_MOST_FILES = 2_000
_MOST_ENTRIES = 200_000
_NAMED = frozenset(
    [
        "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "tox.toml", "noxfile.py", "hatch.toml", "pytest.ini", ".pytest.ini", "pytest.toml",
        ".pytest.toml", "Makefile", "manage.py", "MANIFEST.in", ".python-version", *LOCKS,
    ]
)  # fmt: skip
_SCRIPT = re.compile(r"(?:(?:scripts?|bin|ci|\.ci|tools)/)?[\w-]*tests?[\w-]*(?:\.sh)?")
"""A program for shells that may run the tests, by its name."""
_PASSED_OVER = frozenset(
    {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", "site-packages"}
)


class Texts(NamedTuple):
    """What was read of a repository, and what there is."""

    files: dict[str, str]
    paths: tuple[str, ...] = ()
    """Of every file, read or not."""


def base_problem(base: str | None) -> str | None:
    """Why this cannot name a commit, None when it can."""
    if base is None or _OID.fullmatch(base):
        return None
    return f"repository.base is {base!r}; want the full name of a commit"


def is_manifest(path: str) -> bool:
    """Whether a file may say what is installed or how tests run; includes what such files may refer to."""
    return path in _NAMED or is_list(path) or _is_workflow(path) or _SCRIPT.fullmatch(path) is not None


def recipe_of(
    folder: Path,
    base: str | None,
    *,
    search_path: str,
    settings: RepositorySettings | None = None,
    root: str = "",
) -> Recipe:
    """What the repository asks for, for the Python that its tests run with; the arguments and what is raised are those of `texts_of`."""
    texts = texts_of(folder, base, search_path=search_path, root=root)
    python = version_of(declared_by(texts.files).requires_python, settings, search_path)
    recipe = read_recipe(texts.files, settings, python=python, paths=texts.paths)
    return recipe.model_copy(update={"read_for": python})


def version_of(requires: str, settings: RepositorySettings | None, search_path: str) -> str:
    """The version, as `3.12`, of the Python that the tests run with; the service's own where it is unknown.

    Args:
        requires: what the project says (`requires-python`).
    """
    if settings is not None and settings.mode == "prepared":
        return HERE
    return minor_version_for(requires, settings.python if settings else "", search_path)


def files_of(folder: Path, base: str | None, *, search_path: str, root: str = "") -> dict[str, str]:
    """The files alone; the arguments and what is raised are those of `texts_of`."""
    return texts_of(folder, base, search_path=search_path, root=root).files


def texts_of(folder: Path, base: str | None, *, search_path: str, root: str = "") -> Texts:
    """The files that say what is installed and what tests import, at a commit (None: the one that is checked out; without git: as they lie there).

    Args:
        root: which folder of its repository this is; empty: the whole. Paths are relative to it.

    Raises:
        GitFailed: there is no such commit, or the repository is broken.
    """
    whole = whole_of(folder, root)
    if not (whole / ".git").exists():
        return _on_disk(folder)
    git = Git(environment={"PATH": search_path}, home=whole, time_limit_s=_GIT_LIMIT_S)
    return _at_commit(git, whole, base or "HEAD", root)


def _at_commit(git: Git, folder: Path, commit: str, root: str) -> Texts:
    # Where .git is broken, git must not take a repository around this one for it.
    extra = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    if commit == "HEAD" and not git.run(
        "rev-parse", "-q", "--verify", commit, cwd=folder, extra=extra, ok=(0, 1)
    ):
        # Nothing is committed yet.
        return Texts({})
    tree = f"{commit}:{root}" if root else commit
    objects: dict[str, str] = {}
    # Sizes are asked for later: a clone without file contents would have to fetch every file to know them.
    for entry in git.run("ls-tree", "-rz", tree, cwd=folder, extra=extra).split("\0")[:_MOST_ENTRIES]:
        about, _, path = entry.partition("\t")
        if path and about.split()[1] == "blob" and about.startswith("100"):
            objects[path] = about.split()[2]
    manifests = [path for path in objects if is_manifest(path)]
    modules = [path for path in _in_order(objects) if path not in set(manifests)]
    texts = _contents(git, folder, objects, manifests, extra)
    # What is not there yet is not worth a fetch: imports are evidence, no declaration.
    texts |= _contents(git, folder, objects, modules, {**extra, "GIT_NO_LAZY_FETCH": "1"})
    return Texts(texts, tuple(objects))


def _contents(
    git: Git, folder: Path, objects: dict[str, str], paths: list[str], extra: dict[str, str]
) -> dict[str, str]:
    """The texts of files of a bearable size, by two processes however many there are."""
    read_paths = paths[:_MOST_FILES]
    if not read_paths:
        return {}
    names = "".join(f"{objects[path]}\n" for path in read_paths)
    lines = git.run("cat-file", "--batch-check", cwd=folder, extra=extra, stdin=names).splitlines()
    sizes = [int(line.split()[2]) if line.split()[1] == "blob" else -1 for line in lines]
    chosen = list(_fitting(zip(read_paths, sizes, strict=False)))
    if not chosen:
        return {}
    names = "".join(f"{objects[path]}\n" for path in chosen)
    output = git.run("cat-file", "--batch", cwd=folder, extra=extra, stdin=names).encode(
        errors="surrogateescape"
    )
    return dict(zip(chosen, _apart(output), strict=False))


def _fitting(sized: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Those that are not too large, until all together are."""
    total = 0
    for path, size in sized:
        if 0 <= size <= _limit(path):
            total += size
            if total > _MOST_OF_ALL_BYTES:
                return
            yield path


def _limit(path: str) -> int:
    if path in LOCKS:
        return _MOST_LOCK_BYTES
    return _MOST_BYTES if is_manifest(path) else _MOST_PYTHON_BYTES


def _apart(output: bytes) -> Iterator[str]:
    """The contents of `cat-file --batch`, one after another."""
    place = 0
    while place < len(output):
        end = output.index(b"\n", place)
        size = int(output[place:end].split()[2])
        yield output[end + 1 : end + 1 + size].decode(errors="replace")
        place = end + 1 + size + 1


def _in_order(paths: Iterable[str]) -> list[str]:
    """The Python files: tests first, the shallowest before the others."""
    python = (path for path in paths if path.endswith(".py"))
    return sorted(python, key=lambda path: (not is_test_file(path), path.count("/"), path))


def _is_workflow(path: str) -> bool:
    return path.startswith(WORKFLOWS) and path.endswith((".yml", ".yaml")) and path.count("/") == 2


def _on_disk(folder: Path) -> Texts:
    paths = list(_walked(folder))
    sized = [(path, _size(folder / path)) for path in paths]
    sizes = dict(sized)
    chosen = list(_fitting((path, sizes[path]) for path in paths if is_manifest(path)))
    chosen += list(
        _fitting((path, sizes[path]) for path in _in_order(paths)[:_MOST_FILES] if not is_manifest(path))
    )
    files = {path: read_file(folder, path) for path in chosen}
    texts = {
        path: file.data.decode(errors="replace")
        for path, file in files.items()
        if file is not None and len(file.data) <= _limit(path)
    }
    return Texts(texts, tuple(paths))


def _walked(folder: Path) -> Iterator[str]:
    count = 0
    for place, folders, names in walk(folder):
        folders[:] = sorted(each for each in folders if each not in _PASSED_OVER)
        for name in sorted(names):
            count += 1
            if count > _MOST_ENTRIES:
                return
            yield str(PurePosixPath((Path(place) / name).relative_to(folder)))


def _size(path: Path) -> int:
    try:
        return -1 if path.is_symlink() else path.stat().st_size
    except OSError:
        return -1

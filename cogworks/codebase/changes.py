"""Changes to files as data, and the paths they may touch."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

from cogworks.vocabulary import Value

PROTECTED_PATHS = (
    ".cogworks/**", ".git/**", "CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
    # What CI systems and editors run, and what robots that may merge decide by.
    ".github/workflows/**", ".github/actions/**", "**/action.yml", "**/action.yaml",
    ".github/dependabot.*", ".github/renovate*", "renovate.json*", ".renovaterc*",
    ".github/settings.yml", ".github/mergify.yml", ".mergify.yml",
    ".gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".travis.yml", "azure-pipelines*.yml", "bitbucket-pipelines.yml",
    "Jenkinsfile", ".drone.yml", ".woodpecker/**", ".woodpecker.yml", ".buildkite/**", "appveyor.yml", ".appveyor.yml",
    ".cirrus.yml", ".forgejo/workflows/**", ".gitea/workflows/**",
    "**/.devcontainer/**", "**/.devcontainer.json", "**/.vscode/**",
    # What git obeys.
    "**/.gitmodules", "**/.gitattributes", ".husky/**", ".githooks/**", "githooks/**", ".pre-commit-config.yaml",
    # What every Python that starts there runs.
    "**/sitecustomize.py", "**/usercustomize.py", "**/*.pth",
)  # fmt: skip
"""Never written by a model, whatever the configuration says; `refusal` takes further patterns."""

_DRIVE = re.compile(r"[A-Za-z]:")
_STREAM = re.compile(r":[^:]*:\$[a-z_]+")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What no font shows, beside the characters that Unicode calls formats."""

_LOADED = frozenset(
    {
        "pytest", "_pytest", "py", "pluggy", "iniconfig", "xdist", "execnet", "coverage", "unittest", "doctest", "runpy",
        "traceback", "inspect", "importlib", "ast", "tokenize", "json", "io", "os", "re", "types", "typing", "contextlib",
        "functools", "warnings", "dataclasses", "pathlib", "collections", "abc", "enum", "threading", "signal", "pkgutil",
        "faulthandler", "logging", "subprocess", "atexit", "hashlib", "hmac",
    }
)  # fmt: skip
"""Modules with which tests are run and reported; a file in the place of one of them decides what is reported."""
_MANY_PATHS = 4096
"""So many are kept as they are compared: the same few dozen patterns are held against every path."""
_FOUND_FIRST = frozenset({(), ("src",), ("lib",), ("test",), ("tests",)})
"""Folders whose modules Python finds before its own."""


class FileChange(Value):
    """One file to create, modify (whole new content) or delete."""

    path: str
    """Repository-relative POSIX path, normalised."""
    action: Literal["create", "modify", "delete"]
    content: str = ""
    """The whole new text; empty for a deletion."""


class Caps(Value):
    """How much one set of changes may write."""

    files: int = 100
    file_bytes: int = 1_000_000
    """Of one file's new text in UTF-8."""
    total_bytes: int = 5_000_000


DEFAULT_CAPS = Caps()


def normalised(path: str) -> str:
    """The one spelling of a path: Unicode NFC, no `.` parts, no doubled slashes. Idempotent; checks nothing."""
    parts = unicodedata.normalize("NFC", path).split("/")
    kept = [
        part for index, part in enumerate(parts) if part != "." and (part or index in (0, len(parts) - 1))
    ]
    return "/".join(kept)


def path_problem(path: str) -> str | None:
    """Why a path cannot name a file inside the repository, None when it can; judged in its normalised spelling."""
    plain = normalised(path)
    parts = plain.split("/")
    if not plain:
        return "the path is empty"
    # Of ASCII only control characters are not printable; to look each character up takes longer than all the rest.
    if not (plain.isascii() and plain.isprintable()) and any(
        unicodedata.category(char) in ("Cc", "Cs") for char in plain
    ):
        return "control characters and lone surrogates are not allowed in a path"
    if "\\" in plain:
        return "backslashes are not allowed; parts are separated by '/'"
    if plain.startswith("/") or _DRIVE.match(plain):
        return "the path is absolute; write it relative to the root of the repository"
    if plain.endswith("/"):
        return "the path names a directory, not a file"
    if ".." in parts:
        return "'..' is not allowed; write the path relative to the root of the repository"
    if any(_is_git_directory(part) for part in parts):
        return "git's own directory is never written"
    if any(len(part.encode()) > 255 for part in parts):
        return "a part of the path is longer than 255 bytes"
    return None


def protected_by(path: str, extra: Iterable[str] = ()) -> str | None:
    """The pattern that protects a path, None when it may be written; upper and lower case are the same.

    A pattern is a path in which `*` and `?` stay within one part and `**` stands for any number of parts.
    """
    return matching(path, (*PROTECTED_PATHS, *extra))


def matching(path: str, patterns: Iterable[str]) -> str | None:
    """The first pattern, of the form `protected_by` describes, that a path fits; None when it fits none."""
    parts = folded(normalised(path)).split("/")
    return next((pattern for pattern in patterns if _matches(parts, folded(pattern).split("/"))), None)


def protected_touched(changes: Iterable[FileChange], extra: Iterable[str] = ()) -> tuple[str, ...]:
    """The protected paths among the changes, in their order; such a change goes to a person, not back to the model."""
    patterns = tuple(extra)
    return tuple(change.path for change in changes if protected_by(change.path, patterns) is not None)


def shadowed(path: str) -> str:
    """The module with which tests are run in whose place Python would load a file; empty: none."""
    *folders, name = folded(normalised(path)).split("/")
    if name == "__init__.py" and folders:
        *folders, name = [*folders[:-1], f"{folders[-1]}.py"]
    module = name.removesuffix(".py")
    is_loaded = module in _LOADED or module.startswith("cogworks_")
    return module if name.endswith(".py") and is_loaded and tuple(folders) in _FOUND_FIRST else ""


def refusal(
    changes: Sequence[FileChange],
    existing: Collection[str],
    *,
    caps: Caps = DEFAULT_CAPS,
    protected: Iterable[str] = (),
) -> str | None:
    """Why these changes may not be written, every problem at once; None when they may.

    Args:
        changes: applied as one, so a file deleted here may make room for one created here.
        existing: every file of the working copy, normalised paths.
        protected: patterns beyond `PROTECTED_PATHS`.
    """
    problems = [
        *_size_problems(changes, caps),
        *_each_path(changes, tuple(protected)),
        *_duplicates(changes),
        *_misfits(changes, existing),
    ]
    if not problems:
        return None
    return f"the change has {len(problems)} problem(s):\n" + "\n".join(
        f"  - {problem}" for problem in problems
    )


@lru_cache(maxsize=_MANY_PATHS)
def folded(path: str) -> str:
    """Equal for two spellings that some file system, or a reader, takes for the same file."""
    visible = "".join(char for char in path if unicodedata.category(char) != "Cf" and not _UNSEEN.match(char))
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", visible).casefold())
    return "/".join(_as_stored(part) for part in plain.split("/"))


def _as_stored(part: str) -> str:
    # NTFS drops trailing dots and blanks, and takes the name of a file's main stream for the file.
    return _STREAM.sub("", part).rstrip(". ") or part


def _is_git_directory(part: str) -> bool:
    # Some file systems offer short names, and any stream of the directory.
    return folded(part).split(":")[0].rstrip(". ") in (".git", "git~1")


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _size_problems(changes: Sequence[FileChange], caps: Caps) -> Iterator[str]:
    if len(changes) > caps.files:
        yield f"{len(changes)} files are changed; at most {caps.files} are allowed at once"
    sizes = [len(change.content.encode(errors="surrogatepass")) for change in changes]
    for change, size in zip(changes, sizes, strict=True):
        if size > caps.file_bytes:
            yield f"{change.path!r} has {size} bytes; at most {caps.file_bytes} are allowed in one file"
    if sum(sizes) > caps.total_bytes:
        yield f"the new files have {sum(sizes)} bytes together; at most {caps.total_bytes} are allowed"


def _each_path(changes: Sequence[FileChange], protected: tuple[str, ...]) -> Iterator[str]:
    for change in changes:
        if (problem := path_problem(change.path)) is not None:
            yield f"{change.path!r}: {problem}"
        elif (pattern := protected_by(change.path, protected)) is not None:
            yield f"{change.path!r} is protected by {pattern!r}; a person has to change it"
        if change.action == "create" and (module := shadowed(change.path)):
            yield f"{change.path!r} would be loaded in the place of the module {module!r}, with which tests are run; choose another name"
        if any(unicodedata.category(char) == "Cs" for char in change.content):
            yield f"{change.path!r}: the new text holds lone surrogates and cannot be written as UTF-8"


def _duplicates(changes: Sequence[FileChange]) -> Iterator[str]:
    spellings: dict[str, list[str]] = {}
    for change in changes:
        spellings.setdefault(folded(normalised(change.path)), []).append(change.path)
    for paths in spellings.values():
        if len(paths) > 1:
            names = ", ".join(repr(path) for path in Counter(paths))
            yield f"{names} is named {len(paths)} times; give one change per file, whatever its case"


def _misfits(changes: Sequence[FileChange], existing: Collection[str]) -> Iterator[str]:
    """Changes that do not fit the files that are there."""
    there = frozenset(existing)
    removed = {normalised(change.path) for change in changes if change.action == "delete"}
    created = {normalised(change.path) for change in changes if change.action == "create"}
    after = (there - removed) | created
    spellings = {folded(path): path for path in there - removed}
    directories = {parent for path in after for parent in _parents(path)}
    for change in changes:
        path = normalised(change.path)
        if change.action != "create":
            if path not in there:
                yield f"{change.path!r} does not exist, so it cannot be {_PARTICIPLE[change.action]}"
            continue
        if path in there:
            yield f"{change.path!r} exists already; use the action 'modify'"
        elif (other := spellings.get(folded(path), path)) != path:
            yield f"{change.path!r} differs only in case from {other!r}"
        if path in directories:
            yield f"{change.path!r} is a directory"
        if (parent := next((parent for parent in _parents(path) if parent in after), None)) is not None:
            yield f"{change.path!r} would lie below the file {parent!r}"


_PARTICIPLE = {"modify": "modified; use the action 'create'", "delete": "deleted"}


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:length]) for length in range(1, len(parts)))

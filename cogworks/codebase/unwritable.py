"""What no change may hold: files that git ignores or keeps elsewhere, and lines that look like secrets."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from cogworks.codebase.changes import FileChange
from cogworks.codebase.git import zsplit
from cogworks.codebase.making import parents_of
from cogworks.secretforms import TOKENS, random_values

RULES = (".gitignore", ".gitattributes")
_IGNORES = ".gitignore"
SUBMODULE = "160000"
_PARTS = 4
"""Source, line, pattern and path; see `git check-ignore -v -z`."""


def unwritable(run: Callable[..., str], paths: Iterable[str]) -> dict[str, str]:
    """Of these paths those that no change may hold, each with the reason in words.

    The rules are those on the disk: the repository's `.gitignore` files and its own `info/exclude`; git runs without the user's.

    Args:
        run: `Git.run` in the working copy.
        paths: that can be files of it, none behind a symbolic link.
    """
    wanted = list(dict.fromkeys(paths))
    if not wanted:
        return {}
    entries = [entry.split("\t", 1) for entry in zsplit(run("ls-tree", "-r", "-z", "HEAD"))]
    tracked = {path for _, path in entries}
    # Git does not look into submodules.
    submodules = {path for about, path in entries if about.startswith(SUBMODULE)}
    inside = {path: module for path in wanted for module in submodules & {path, *parents_of(path)}}
    return {
        **{path: _in_submodule(path, module) for path, module in inside.items()},
        **_in_lfs(run, [path for path in wanted if path not in inside]),
        **_ignored(run, [path for path in wanted if path not in tracked and path not in inside]),
    }


def _in_submodule(path: str, module: str) -> str:
    return f"{path} belongs to the submodule {module}, which is another repository; make the change there, and leave the file out"


def _in_lfs(run: Callable[..., str], paths: Iterable[str]) -> dict[str, str]:
    listed = "".join(f"{path}\0" for path in paths)
    # Path, attribute and value, each ended by NUL.
    answer = run("check-attr", "-z", "--stdin", "filter", stdin=listed).split("\0") if listed else []
    return {
        path: f"{path} is kept by Git LFS (`filter=lfs` in .gitattributes), and only its pointer is in git; leave the file out"
        for path, value in zip(answer[0::3], answer[2::3], strict=False)
        if value == "lfs"
    }


def _ignored(run: Callable[..., str], asked: Iterable[str]) -> dict[str, str]:
    return {
        path: (
            f"{path} is ignored by {rule}; what git ignores is never committed. Leave the file out, "
            "or put what is needed where it is not ignored"
        )
        for path, rule in _rules_for(run, asked, "--no-index").items()
    }


def submodules_of(run: Callable[..., str]) -> tuple[str, ...]:
    """The folders in which git keeps no files but the commit of another repository."""
    entries = (entry.split("\t", 1) for entry in zsplit(run("ls-files", "--stage", "-z")))
    return tuple(path for about, path in entries if about.startswith(SUBMODULE))


def ignoring_rule(run: Callable[..., str], path: str) -> str:
    """The rule that keeps a file which is not committed from being so, with its place; empty: it is, or nothing keeps it."""
    return _rules_for(run, [path]).get(path, "")


def _rules_for(run: Callable[..., str], asked: Iterable[str], *options: str) -> dict[str, str]:
    listed = "".join(f"{path}\0" for path in asked)
    answer = run("check-ignore", "-v", "-z", *options, "--stdin", stdin=listed, ok=(0, 1)).split("\0")
    rules: dict[str, str] = {}
    for at in range(0, len(answer) - 1, _PARTS):
        source, line, pattern, path = answer[at : at + _PARTS]
        # The last rule that fits decides, and it may be one that lets the file in.
        if not pattern.startswith("!"):
            place = source if source.endswith(_IGNORES) else "git's own info/exclude"
            rules[path] = f"{place}:{line} `{pattern}`"
    return rules


def sets_rules(paths: Iterable[str]) -> bool:
    """Whether a change to these files may change what `unwritable` says."""
    return any(path.rpartition("/")[2] in RULES for path in paths)


def in_words(rules: Mapping[str, str]) -> str | None:
    """Why the files are not written, None when all of them may be."""
    return "\n".join(rules.values()) or None


_PASSWORD = (
    "a password or key",
    re.compile(
        r"(?i)\b\w{0,60}(?:password|passwd|secret|api_?key|access_?token)\w{0,60}\s{0,20}[:=]\s{0,20}[\"'][^\"'\s{}$<>]{12,}[\"']"
    ),
)
"""Tests have made-up ones, so only diffs of code are measured by it."""


def secrets_among(lines: Iterable[tuple[int, str]], *, passwords: bool = False) -> Iterator[tuple[int, str]]:
    """The numbers of the lines that look like a secret, each with what it looks like.

    Args:
        lines: numbers and texts.
        passwords: whether something called a password counts, too.
    """
    forms = (*TOKENS, _PASSWORD) if passwords else TOKENS
    for number, text in lines:
        for what, form in forms:
            if form.search(text):
                yield number, what
                break
        else:
            if any(random_values(text)):
                yield number, "a random key that is called a secret"


def secrets_in(text: str, *, known: Collection[str] = frozenset()) -> Iterator[tuple[int, str]]:
    """As `secrets_among`, of a whole text; lines that are `known` were there before."""
    return secrets_among(
        (number, line) for number, line in enumerate(text.splitlines(), 1) if line not in known
    )


def secret_refusal(changes: Sequence[FileChange], read: Callable[[str], str | None]) -> str | None:
    """Why some changes may not be written: a secret, with its place; None when there is none.

    Args:
        read: the text of a file as it is now.
    """
    problems = [
        f"{change.path!r} line {number} looks like {what}; use a placeholder, and say what has to be configured"
        for change in changes
        if change.action != "delete"
        for number, what in secrets_in(
            change.content, known=frozenset((read(change.path) or "").splitlines())
        )
    ]
    return "\n".join(problems) or None

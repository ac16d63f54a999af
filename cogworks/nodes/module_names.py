"""Does the repository have the module that somebody names?"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath

_WORDS = re.compile(r"\w+")


def files_of(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """The files a module name stands for, in the order given.

    A name is a repository-relative file or directory, with or without the file's suffix, or a dotted (`a.b`) or
    `::`-separated module name; leading directories such as `src` may be missing.
    """
    wanted = _forms(name)
    return tuple(path for path in files if _names(path) & wanted)


def close_to(name: str, files: Iterable[str]) -> tuple[str, ...]:
    """At most three files whose names resemble the name, best first."""
    by_stem = {PurePosixPath(path).stem: path for path in sorted(files, reverse=True)}
    for word in reversed(_WORDS.findall(name)):
        if near := get_close_matches(word, list(by_stem), n=3):
            return tuple(by_stem[match] for match in near)
    return ()


def _forms(name: str) -> frozenset[str]:
    plain = name.strip().strip("/").removeprefix("./")
    dotted = plain.replace("::", "/") if "/" in plain else plain.replace("::", "/").replace(".", "/")
    return frozenset(form for form in (plain, dotted) if form)


def _names(path: str) -> frozenset[str]:
    """Every name a path answers to: the path, each of its directories, each without leading directories."""
    parts = PurePosixPath(path).parts
    names: set[str] = set()
    for end in range(1, len(parts) + 1):
        for start in range(end):
            names.add("/".join(parts[start:end]))
    stem = PurePosixPath(path).with_suffix("").parts
    # A package is named by its directory and a module by its file; both without the suffix.
    names.update("/".join(stem[start:]) for start in range(len(stem)))
    return frozenset(names)

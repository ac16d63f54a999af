"""A repository's setup, and what decides what comes of it."""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

SCRIPT = ".cogworks/setup.sh"
_FORM = 1
"""Of what is kept; another number and every setup runs anew."""
_SHELL = "/bin/sh"
_WORD = re.compile(r"[\w./@+-]+")
_MANIFESTS = (
    "pyproject.toml", "setup.py", "setup.cfg", "*requirements*.txt", "*requirements*.in", "constraints*.txt", "Pipfile",
    "Pipfile.lock", "*.lock", "pylock*.toml", "environment.y*ml", ".python-version", "package.json", "package-lock.json",
    "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc", ".yarnrc*", ".nvmrc", "Cargo.toml",
    "rust-toolchain*", "go.mod", "go.sum", "go.work", "go.work.sum", "pom.xml", "build.gradle*", "settings.gradle*",
    "gradle.properties", "gradle-wrapper.properties", "libs.versions.toml", "Gemfile", "*.gemspec", "composer.json", "*.csproj",
    "*.sln", "packages.lock.json", "Makefile", "CMakeLists.txt",
)  # fmt: skip


class Setup(NamedTuple):
    """Commands that prepare a repository for its tests."""

    lines: tuple[str, ...] = ()
    """Each a line for `sh`."""
    script: str = ""
    """The text of a script, run after them."""
    variables: tuple[tuple[str, str], ...] = ()
    source: str = ".cogworks/config.toml"
    """What says the lines, for messages."""
    brings: str = ""
    """The program that the first line installs for the others; empty: none."""
    why: str = ""
    """Why it does."""

    @property
    def is_there(self) -> bool:
        """Whether there is anything to run."""
        return bool(self.lines or self.script.strip())

    @property
    def notes(self) -> tuple[str, ...]:
        """What must not go unsaid of it."""
        if "\r\n" not in self.script:
            return ()
        return (f"`{SCRIPT}` has line ends of Windows; it ran as if it had those of Unix",)


class Command(NamedTuple):
    """One command of a setup."""

    words: tuple[str, ...]
    shown: str
    """What people wrote."""


def commands_of(setup: Setup, script_place: str) -> Iterator[Command]:
    """What is run, one after another.

    Args:
        script_place: where the text of `script_text` lies.
    """
    for line in setup.lines:
        yield Command((_SHELL, "-c", line), line)
    if setup.script.strip():
        own = (script_place,) if setup.script.startswith("#!") else (_SHELL, script_place)
        yield Command(own, SCRIPT)


def script_text(setup: Setup) -> str:
    """The script as a shell wants it."""
    return setup.script.replace("\r\n", "\n")


def setup_key(setup: Setup, blobs: Mapping[str, str], store: str, others: Sequence[str] = ()) -> str:
    """A name for everything that decides what a setup leaves.

    Of the files of the repository those count that say what is installed, and those that the setup names, in a comment
    too. What another repository made counts for none but itself: its other files may have had a part in it.

    Args:
        blobs: every file of the commit: path -> name of its content.
        store: which repository it is; empty: unknown, so every file counts.
        others: what else decides it, e.g. versions of tools.
    """
    named = _named(setup, blobs)
    counted = sorted(
        (path, name) for path, name in blobs.items() if not store or path in named or _is_manifest(path)
    )
    inputs = [_FORM, setup.lines, setup.script, sorted(setup.variables), counted, store, list(others)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:40]


def _is_manifest(path: str) -> bool:
    name = posixpath.basename(path)
    return any(fnmatchcase(name, pattern) for pattern in _MANIFESTS) or "requirements/" in path


def _named(setup: Setup, blobs: Mapping[str, str]) -> set[str]:
    """The files that a setup names, each or by a folder of theirs."""
    text = "\n".join((*setup.lines, setup.script))
    words = {posixpath.normpath(word) for word in _WORD.findall(text)} - {"."}
    return {path for path in blobs if path in words or any(each in words for each in _folders(path))}


def _folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path

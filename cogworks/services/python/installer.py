"""What is installed, by what, and within which isolation and limits."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from cogworks.services.python.pythons import Python
from cogworks.services.sandbox.isolation import Isolation

_TRIAL_S = 20.0
_MESSAGE_CHARS = 200


class Requirements(NamedTuple):
    """What has to be in an environment."""

    wanted: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    hashed: tuple[str, ...] = ()
    """Those that come with hashes, each with its `--hash` options; installed first and by themselves, so that hashes are checked."""
    locked: tuple[str, ...] = ()
    """Constraints `name==version` of a lock file, which give way where they cannot be kept."""

    wished: tuple[str, ...] = ()
    """Those that are left out where they cannot be installed."""

    def without_wishes(self) -> "Requirements":
        """What is needed alone."""
        return self._replace(wanted=tuple(each for each in self.wanted if each not in self.wished), wished=())

    def without_locks_in(self, complaint: str) -> tuple["Requirements", tuple[str, ...]]:
        """The same without the locked versions that a complaint names, or without any where it names none; and those."""
        named = tuple(each for each in self.locked if _names(complaint, each.partition(";")[0].strip()))
        opposed = named or self.locked
        return self._replace(locked=tuple(each for each in self.locked if each not in opposed)), opposed

    @property
    def passes(self) -> tuple["Requirements", ...]:
        """What is installed one after another: pip checks hashes only where everything has one."""
        if not self.hashed:
            return (Requirements(self.wanted, (*self.constraints, *self.locked)),)
        first = Requirements(self.hashed)
        # Without its hash a pin still says which version is there already.
        pins = tuple(each.split(" --hash")[0] for each in self.hashed)
        return (
            first,
            Requirements(
                self.wanted,
                (*self.constraints, *self.locked, *(pin for pin in pins if "[" not in pin)),
            ),
        )


def _names(text: str, pin: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(pin)}(?!\w)(?!\.\d)", text, re.IGNORECASE) is not None


class InstallerSettings(NamedTuple):
    """What an installation may use."""

    isolation: Isolation
    limit_s: float
    settings: Mapping[str, str]
    """Environment of pip where it only tells its configuration; may hold credentials of an index."""
    search_path: str = ""
    """PATH of what is built from source: where compilers are. Empty: the system's."""
    python: Python | None = None
    """Which an environment is made of; None: the service's own."""


class Installer(NamedTuple):
    """What puts packages into environments on this machine."""

    name: str
    """`uv` or `pip`."""
    program: str
    """The path of uv, or of the Python that has pip."""
    may_build: bool = False
    """Whether packages that come only as source are built in a room of their own, which runs code of theirs."""
    note: str = ""
    """Why it is not the first on the path; empty: it is."""


def installer_for(search_path: str, *, may_build: bool) -> Installer:
    """The first uv on the path that runs, else pip; each is tried in the surroundings in which it would install."""
    problems: list[str] = []
    for program in _each("uv", search_path):
        if not (problem := _problem(program)):
            return Installer("uv", program, may_build, _note(problems, "another uv"))
        problems.append(f"{program} cannot be used ({problem})")
    return Installer("pip", sys.executable, may_build, _note(problems, "pip"))


def bare_environment() -> dict[str, str]:
    """What an installer gets besides a home and a place for temporary files."""
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def _note(problems: list[str], instead: str) -> str:
    if not problems:
        return ""
    return (
        f"{'; '.join(problems)}, so {instead} is used. Remove it from PATH, or install uv itself: "
        "a version manager's stand-in does not find its settings where packages are installed."
    )


def _each(name: str, search_path: str) -> Iterator[str]:
    programs = (shutil.which(name, path=folder) for folder in search_path.split(os.pathsep) if folder)
    return iter(dict.fromkeys(program for program in programs if program))


@cache
def _problem(program: str) -> str:
    """What is wrong with a uv, in one line; empty: it runs. Asked for once: a service looks before each run."""
    try:
        done = subprocess.run(
            [program, "--version"],
            env=bare_environment() | {"HOME": os.devnull},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TRIAL_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[:_MESSAGE_CHARS]
    if done.returncode == 0:
        return ""
    lines = (done.stderr or done.stdout).decode(errors="replace").split("\n")
    first = next((line.strip() for line in lines if line.strip()), "it says nothing")
    return f"it ends with {done.returncode}: {first[:_MESSAGE_CHARS]}"

"""The environments of repositories: each made once from the manifest of a base commit, kept, and never changed."""

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cogworks.codebase.places import Places
from cogworks.services.python.installer import Installer, Requirements, Surroundings, found_installer
from cogworks.services.python.interpreters import Interpreter, NotBuilt
from cogworks.services.python.made_environment import READY as _READY
from cogworks.services.python.made_environment import measured
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.sandbox.walls import Walls

_RUNNER = "pytest>=8"
_FORM = 2
"""Of an environment; another number and all are made anew."""
_NAME = re.compile(r"[0-9a-f]{40}")
_UNUSED_DAYS = 30
_PAUSE_S = 0.2


class Environments:
    """The environments below one directory; any number of services may share it."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Mapping[str, str],
        may_build: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Args:
        settings: environment of this process, as far as it says where packages come from.
        may_build: whether packages that come only as source are built.
        say: is told what is being done.
        """
        self._folder = folder.resolve()
        self._settings = settings
        self._may_build = may_build
        self._say = say
        self._places = Places(self._folder)

    @property
    def folder(self) -> Path:
        """Where they are kept."""
        return self._folder

    def described(self, search_path: str) -> str:
        """What makes the environments and where they are, for people."""
        installer = found_installer(search_path, may_build=self._may_build)
        how = "wheels, and packages built from source" if self._may_build else "wheels only"
        note = f"; {installer.note}" if installer.note else ""
        return f"made by {installer.name} ({how}) and kept in {self._folder}{note}"

    def interpreter(self, recipe: Recipe, *, walls: Walls, search_path: str, limit_s: float) -> Interpreter:
        """The Python of the environment that a recipe asks for; it is made if it is not there.

        Raises:
            NotBuilt: it cannot be made, or another service takes too long over it.
            OSError: there is no writing in the directory.
        """
        installer = found_installer(search_path, may_build=self._may_build)
        requirements = _requirements(recipe)
        place = self._folder / _key(requirements, installer)
        deadline = time.monotonic() + limit_s
        prefix = _ready(place)
        if prefix is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._alone(place, limit_s=limit_s):
                # Whoever held it may have made it meanwhile.
                prefix = _ready(place)
                if prefix is None:
                    surroundings = Surroundings(walls, max(deadline - time.monotonic(), 1.0), self._settings)
                    prefix = self._made(place, requirements, installer, surroundings)
        described = f"environment {place.name[:12]} of {len(requirements.wanted)} requirement(s), made by {installer.name}"
        programs = prefix / "bin"
        unprotected = () if walls.is_complete else ("reach the network while packages are installed",)
        notes = (*recipe.left_out, *([installer.note] if installer.note else []))
        return Interpreter(programs / "python", prefix, described, (programs,), notes, unprotected)

    def _made(
        self, place: Path, requirements: Requirements, installer: Installer, surroundings: Surroundings
    ) -> Path:
        self._remove_unused()
        started_s = time.monotonic()
        names = ", ".join(Requirement(each).name for each in requirements.wanted)
        if installer.note:
            self._say(installer.note)
        self._say(f"making the environment {place.name[:12]} with {installer.name}: {names}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        # A name nobody used before: an installer that outlived its service may still be writing into the last one.
        # It stays where it is made, for its programs know their place.
        prefix = Path(tempfile.mkdtemp(prefix="made-", dir=place)) / "environment"
        from cogworks.services.python.installing import install  # noqa: PLC0415 - slow, and seldom needed

        with ExitStack() as stack:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            install(requirements, prefix, installer, surroundings)
            seconds = time.monotonic() - started_s
            _mark_ready(place, prefix, requirements, installer, seconds=seconds)
            # It is there to stay.
            stack.pop_all()
        self._say(f"the environment {place.name[:12]} was made in {time.monotonic() - started_s:.1f} s")
        return prefix

    @contextmanager
    def _alone(self, place: Path, *, limit_s: float) -> Iterator[None]:
        """Hold a place; waits for the one who does."""
        deadline = time.monotonic() + limit_s
        while not self._places.hold(place):
            if time.monotonic() > deadline:
                text = f"another service has been making the environment {place} for {limit_s:g} s; look at that one."
                raise NotBuilt(text, is_recoverable=True)
            time.sleep(_PAUSE_S)
        try:
            yield
        finally:
            self._places.release(place)

    def _remove_unused(self) -> None:
        for place in sorted(each for each in self._folder.iterdir() if _NAME.fullmatch(each.name)):
            # Without the mark it is being made now, or was not made to its end.
            seen = place / _READY if (place / _READY).exists() else place
            if time.time() - seen.stat().st_mtime > _UNUSED_DAYS * 86_400:
                for free in self._places.each_free([place]):
                    shutil.rmtree(free, ignore_errors=True)


def _requirements(recipe: Recipe) -> Requirements:
    names = {canonicalize_name(Requirement(each).name) for each in recipe.requirements}
    brought = () if "pytest" in names else (_RUNNER,)
    return Requirements(
        (*recipe.requirements, *brought), (*recipe.constraints, *recipe.locked), recipe.hashed
    )


def _key(requirements: Requirements, installer: Installer) -> str:
    """A name for everything that decides what is in an environment."""
    told = {
        "form": _FORM,
        "requirements": requirements.wanted,
        "constraints": requirements.constraints,
        "hashed": requirements.hashed,
        "installer": installer.name,
        "built": installer.may_build,
        "python": [platform.python_version(), sysconfig.get_platform(), sys.base_prefix],
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:40]


def _ready(place: Path) -> Path | None:
    """The environment in a place, None when there is no finished one."""
    ready = place / _READY
    try:
        name = json.loads(ready.read_text(encoding="utf-8"))["environment"]
        prefix = place / str(name)
        if not (prefix / "bin" / "python").exists():
            return None
        # Says that it is in use, to whoever looks for those that are not.
        os.utime(ready)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return prefix


def _mark_ready(
    place: Path, prefix: Path, requirements: Requirements, installer: Installer, *, seconds: float
) -> None:
    """Nothing before this counts: an installation that was killed leaves an environment without the mark."""
    told = {
        "environment": str(prefix.relative_to(place)),
        "requirements": requirements.wanted,
        "constraints": requirements.constraints,
        "installer": installer.name,
        **measured(prefix, seconds),
    }
    fresh = place / f"{_READY}.new"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(told, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(place / _READY)

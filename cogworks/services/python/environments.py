"""The environments of repositories: each made once from the recipe of a base commit, kept, and never changed."""

import hashlib
import json
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cogworks.domain_services.messages import ErrorCode
from cogworks.removal import remove_tree
from cogworks.services.python.building.built import Built, read_built
from cogworks.services.python.building.checkout import Checkout
from cogworks.services.python.building.project import Project, inputs_key
from cogworks.services.python.installer import Installer, InstallerSettings, Requirements, installer_for
from cogworks.services.python.keeping import Kept, measured
from cogworks.services.python.own_setup import OwnSetup
from cogworks.services.python.pythons import Interpreter, NotBuilt, Python, own_python
from cogworks.services.python.recipe.result import Recipe
from cogworks.services.sandbox.isolation import Isolation

_RUNNER = "pytest>=8"
_UNLOCKED = "unlocked"
_MOST_NAMED = 5
_FORM = 3
"""Of an environment; another number and all are made anew."""


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
        may_build: whether packages that come only as source are built where the isolation is not complete.
        say: called with what is being done.
        """
        self._folder = folder.resolve()
        self._settings = settings
        self._may_build = may_build
        self._say = say
        self._kept = Kept(self._folder, "environment")
        self._builds = Kept(self._folder / "builds", "build")

    @property
    def folder(self) -> Path:
        """Where they are kept."""
        return self._folder

    def described(self, search_path: str) -> str:
        """What makes the environments and where they are, for people."""
        installer = installer_for(search_path, may_build=self._may_build)
        how = "wheels, and packages built from source"
        if not self._may_build:
            how = "wheels; in complete isolation, also packages built from source"
        note = f"; {installer.note}" if installer.note else ""
        return f"made by {installer.name} ({how}) and kept in {self._folder}{note}"

    def interpreter(
        self,
        recipe: Recipe,
        python: Python | None = None,
        *,
        isolation: Isolation,
        search_path: str,
        limit_s: float,
        own_setup: OwnSetup | None = None,
        with_pytest: bool = True,
    ) -> Interpreter:
        """The Python of the environment that a recipe asks for; it is made if it is not there.

        Args:
            python: which it is made of; None: the service's own.
            own_setup: of the repository, run in the environment as soon as its packages are there; None: it has none.
            with_pytest: whether it gets pytest where the recipe does not ask for it. What comes with it changes what some tests do.

        Raises:
            NotBuilt: it cannot be made, or another service takes too long over it.
            OSError: the directory cannot be written to.
        """
        installer = installer_for(search_path, may_build=self._may_build or isolation.is_complete)
        # A setup installs with pip, as everybody does.
        brought = (*((_RUNNER,) if with_pytest else ()), *(() if own_setup is None else ("pip",)))
        requirements = _requirements(recipe, brought)
        python = python or own_python()
        key = _key(requirements, installer, python, "" if own_setup is None else own_setup.key)

        def make(place: Path, left_s: float) -> Mapping[str, Any]:
            installer_settings = InstallerSettings(isolation, left_s, self._settings, search_path, python)
            made = self._made_as_far_as_possible(place, requirements, installer, installer_settings)
            if own_setup is None:
                return made
            self._say(f"running the setup of the repository: {own_setup.shown}")
            return own_setup.made_in(place, installer_settings, made)

        prefix = self._kept.made(key, make, limit_s=limit_s)
        described = (
            f"environment {key[:12]} of {len(requirements.wanted)} requirement(s), made by {installer.name}"
        )
        programs = prefix / "bin"
        unprotected = () if isolation.is_complete else ("reach the network while packages are installed",)
        noted = self._kept.noted(key)
        notes = (
            *recipe.left_out,
            *([installer.note] if installer.note else []),
            *([str(noted[_UNLOCKED])] if noted.get(_UNLOCKED) else []),
        )
        made = Interpreter(
            programs / "python", prefix, described, (programs,), notes, unprotected, base=python.base
        )
        return made if own_setup is None else own_setup.added_to(made, noted)

    def built(
        self,
        project: Project,
        checkout: Checkout,
        python: Python,
        *,
        isolation: Isolation,
        search_path: str,
        limit_s: float,
    ) -> Built:
        """The build of a project, which is built now if that was not done.

        Raises:
            NotBuilt: it cannot be built, or another service takes too long over it.
            OSError: the directory cannot be written to.
        """
        version = checkout.version if project.looks_at_history else ""
        key = inputs_key(project, checkout.blobs, f"{version} {json.dumps(_python_inputs(python))}")

        def make(place: Path, left_s: float) -> Mapping[str, Any]:
            # Slow to import, and seldom needed: a build is there far more often than it is made.
            from cogworks.services.python.building.builds import Builder  # noqa: PLC0415 - slow, and seldom needed

            installer = installer_for(search_path, may_build=True)
            installer_settings = InstallerSettings(isolation, left_s, self._settings, search_path, python)
            return Builder(project, checkout, installer, installer_settings, self._say).make(place)

        return read_built(self._builds.made(key, make, limit_s=limit_s), self._builds.noted(key))

    def _made_as_far_as_possible(
        self,
        place: Path,
        requirements: Requirements,
        installer: Installer,
        installer_settings: InstallerSettings,
    ) -> Mapping[str, Any]:
        """The environment, without what is wished and cannot be had, and without locked versions of which that is true."""
        deadline = time.monotonic() + installer_settings.limit_s
        unlocked: tuple[str, ...] = ()
        while True:
            try:
                made = self._made(place, requirements, installer, installer_settings)
            except NotBuilt as error:
                is_of_packages = error.code is ErrorCode.TOOL_FAILED and not error.is_recoverable
                if not is_of_packages or not (requirements.locked or requirements.wished):
                    raise
                opposed = requirements.wished
                if requirements.wished:
                    requirements = requirements.without_wishes()
                else:
                    requirements, opposed = requirements.without_locks_in(str(error))
                    unlocked = (*unlocked, *opposed)
                self._say(f"not to be had: {', '.join(opposed)}; trying without")
            else:
                return {**made, _UNLOCKED: _unlocked(unlocked)}
            left_s = max(deadline - time.monotonic(), 1.0)
            installer_settings = installer_settings._replace(limit_s=left_s)
            remove_tree(place, ignore_errors=True)

    def _made(
        self,
        place: Path,
        requirements: Requirements,
        installer: Installer,
        installer_settings: InstallerSettings,
    ) -> Mapping[str, Any]:
        started_s = time.monotonic()
        named = place.parents[1].name[:12]
        names = ", ".join(Requirement(each).name for each in requirements.wanted) or "no packages"
        if installer.note:
            self._say(installer.note)
        self._say(f"making the environment {named} with {installer.name}: {names}")
        from cogworks.services.python.installing import install  # noqa: PLC0415 - slow, and seldom needed

        install(requirements, place, installer, installer_settings)
        seconds = time.monotonic() - started_s
        self._say(f"the environment {named} was made in {seconds:.1f} s")
        return {
            "requirements": requirements.wanted,
            "constraints": (*requirements.constraints, *requirements.locked),
            "installer": installer.name,
            **measured(place, seconds),
        }


def _requirements(recipe: Recipe, brought: tuple[str, ...]) -> Requirements:
    names = {canonicalize_name(Requirement(each).name) for each in recipe.requirements}
    further = (each for each in brought if Requirement(each).name not in names)
    required = (*recipe.requirements, *further)
    return Requirements(required, recipe.constraints, recipe.hashed, recipe.locked, recipe.wished)


def _unlocked(given_up: tuple[str, ...]) -> str:
    if not given_up:
        return ""
    more = f" and {len(given_up) - _MOST_NAMED} more" if len(given_up) > _MOST_NAMED else ""
    return (
        f"the lock file's {', '.join(given_up[:_MOST_NAMED])}{more} cannot be installed here, for the package index does not have it or "
        "something else excludes it; the version that goes with the others is installed instead."
    )


def _key(requirements: Requirements, installer: Installer, python: Python, setup: str) -> str:
    """A name for everything that decides what is in an environment."""
    inputs = {
        "form": _FORM,
        "requirements": requirements.wanted,
        "constraints": (*requirements.constraints, *requirements.locked),
        "hashed": requirements.hashed,
        "installer": installer.name,
        "built": installer.may_build,
        "python": _python_inputs(python),
    }
    if setup:
        inputs["setup"] = setup
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:40]


def _python_inputs(python: Python) -> list[str]:
    return [python.version, sysconfig.get_platform(), str(python.base)]

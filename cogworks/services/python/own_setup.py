"""The setup of a repository of Python: run in its environment once the packages are there, and kept with it."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.domain_services.checking import Choice
from cogworks.domain_services.messages import RepositorySettings
from cogworks.services.python.building.built import LAYER, Built
from cogworks.services.python.building.checkout import Checkout, store_of
from cogworks.services.python.installer import InstallerSettings
from cogworks.services.python.keeping import measured
from cogworks.services.python.pythons import Interpreter, NotBuilt, own_python
from cogworks.services.setup.layers import FILES, HOME
from cogworks.services.setup.setups import SCRIPT, Setup, setup_key

_BESIDE = "setup"
"""Beside the environment."""


class OwnSetup(NamedTuple):
    """A setup, and what it works on."""

    setup: Setup
    checkout: Checkout
    built: Built | None
    key: str
    """Changes exactly when it has to run anew."""

    @property
    def shown(self) -> str:
        """Its commands in one line."""
        return "; ".join((*self.setup.lines, *([SCRIPT] if self.setup.script.strip() else [])))

    def made_in(
        self, place: Path, installer_settings: InstallerSettings, made: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Run it in an environment that was just made, and return the notes about both.

        Raises:
            NotBuilt: it did not finish, or replaced the Python of the environment.
        """
        # Slow to import, and seldom needed.
        from cogworks.services.python.installing import pythons_of  # noqa: PLC0415 - slow, and seldom needed
        from cogworks.services.setup.running import Ground, Means, set_up  # noqa: PLC0415 - slow, and seldom needed

        pythons = pythons_of(place)
        base = (installer_settings.python or own_python()).base
        built = () if self.built is None else (self.built.folder,)
        means = Means(
            installer_settings.isolation,
            installer_settings.search_path or os.defpath,
            installer_settings.settings,
            Path(pwd.getpwuid(os.getuid()).pw_dir),
            readable=(base, base.resolve(), *built),
            writable=(place,),
            programs=(place / "bin",),
            variables={"VIRTUAL_ENV": str(place)},
        )
        layers = () if self.built is None else (self.built.folder / LAYER,)
        left_s = max(installer_settings.limit_s - float(made["seconds"]), 1.0)
        ground = Ground(self.checkout, layers)
        about = set_up(self.setup, ground, means, place.parent / _BESIDE, limit_s=left_s)
        if not pythons.items() <= pythons_of(place).items():
            raise NotBuilt(
                "the setup replaced the Python of its environment; nothing of it was kept. Install into it by `pip`."
            )
        whole = measured(place, float(made["seconds"]) + about["seconds"])
        disk_bytes = whole["disk_bytes"] + about["disk_bytes"]
        return {**made, **whole, "disk_bytes": disk_bytes, "notes": about["notes"]}

    def added_to(self, interpreter: Interpreter, noted: Mapping[str, Any]) -> Interpreter:
        """The interpreter with what the setup left besides packages."""
        beside = interpreter.prefix.parent / _BESIDE
        files = beside / FILES / self.checkout.root
        return interpreter._replace(
            layers=(*interpreter.layers, *((files,) if files.is_dir() else ())),
            home=beside / HOME,
            notes=(*interpreter.notes, *(str(each) for each in noted.get("notes", ()))),
        )


def own_setup(
    settings: RepositorySettings, checkout: Checkout, built: Built | None, *, search_path: str
) -> OwnSetup:
    """The setup that a repository's settings say.

    Raises:
        GitFailed: the repository is broken.
    """
    variables = tuple(sorted(settings.variables.items()))
    setup = Setup(settings.setup, settings.setup_script, variables)
    store = store_of(checkout, search_path=search_path)
    others = (checkout.root, "" if built is None else built.folder.parents[1].name)
    return OwnSetup(setup, checkout, built, setup_key(setup, checkout.blobs, store, others))


def setup_choices(settings: RepositorySettings) -> tuple[Choice, ...]:
    """The choices of a setup; none where nothing is run."""
    if settings.mode == "prepared":
        return ()
    lines = tuple(Choice(what=f"setup `{line}`", source=".cogworks/config.toml") for line in settings.setup)
    script = (Choice(what="setup", source=SCRIPT),) if settings.setup_script.strip() else ()
    return (*lines, *script)

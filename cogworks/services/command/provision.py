"""What the setup of a repository leaves for its runs: the one place where a setup with a door to registries belongs."""

from pathlib import Path
from typing import NamedTuple

from cogworks.domain_services.messages import Request
from cogworks.services.command.ground import Ground


class Provision(NamedTuple):
    """What every run of a root is given besides its copy."""

    before: tuple[str, ...] = ()
    """Lines for `sh` that run in the copy before the tests, without a network."""
    layers: tuple[Path, ...] = ()
    """Folders whose files are laid into the copy where it has none."""
    variables: tuple[tuple[str, str], ...] = ()


def provided(request: Request, ground: Ground) -> Provision:
    """What is there for a run.

    In `prepared` mode an earlier step installed everything. Else the setup that is configured runs in every copy; one
    that is only a default of the manifest runs where what it installs is not there.
    """
    settings = request.repository.settings if request.repository else None
    variables = tuple(settings.variables.items()) if settings else ()
    if settings and settings.mode == "prepared":
        return Provision(variables=variables)
    own = (*settings.setup, *([settings.setup_script] if settings.setup_script else [])) if settings else ()
    return Provision(before=own or _of_recipe(ground), variables=variables)


def _of_recipe(ground: Ground) -> tuple[str, ...]:
    recipe = ground.recipe
    is_there = recipe.language == "typescript" and (ground.place / "node_modules").is_dir()
    # What these fetch lies in the packages of this user, which every run may read; a setup without network adds nothing.
    fetches = (
        recipe.language in ("go", "rust", "java", "csharp") and recipe.source != ".cogworks/services.toml"
    )
    return () if is_there or fetches else recipe.setup

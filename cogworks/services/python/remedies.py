"""What a maintainer can do about tests that cannot be loaded."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from cogworks.services.python.distributions import Catalogue
from cogworks.services.python.recipe.pytest_settings import Settings, plugins_used

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[\w.]+)'")
_UNKNOWN_OPTIONS = re.compile(r"unrecognized arguments: (?P<words>[^\n]{1,1000})")
_MOST_NOTES = 5


def remedies(
    errors: Iterable[str],
    *,
    is_own: Callable[[str], bool],
    left_out: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> tuple[str, ...]:
    """A sentence for each thing that can be mended; none where nothing is known.

    Args:
        errors: the collection errors of a run.
        is_own: whether a top-level module is one of the repository.
        left_out: what was not obeyed.
        packages: those that `[environment] packages` has already.
    """
    errors = tuple(errors)
    missing = {found[-1] for error in errors if (found := _MISSING.findall(error))}
    own = sorted(name for name in missing if is_own(name.split(".")[0]))
    foreign = sorted(name for name in missing if name not in own)
    told = []
    if foreign:
        told.append(
            f"Name the package that brings {_listed(foreign)} in `.cogworks/config.toml` of the default branch: under `[environment]`: "
            f"`{_line(foreign, packages)}`. Or declare it where the project does, as a dependency, an extra or a group for its tests."
        )
        told += [f"This was not installed: {note}." for note in left_out[:_MOST_NOTES]]
    if own:
        told.append(
            f"{_listed(own)} belongs to this repository and is not in it: where building the project generates it, "
            "declare in pyproject.toml how it is built (`[build-system]`); else commit it to the base branch."
        )
    return (*told, *dict.fromkeys(_plugins(errors)))


def _plugins(errors: Iterable[str]) -> Iterator[str]:
    """Of the plugins whose options pytest does not know."""
    words = [
        word
        for error in errors
        for found in _UNKNOWN_OPTIONS.finditer(error)
        for word in found["words"].split()
    ]
    for used in plugins_used(Settings(), tuple(words)):
        yield (
            f"An option of pytest belongs to {used.distribution}, which is not installed. Under `[environment]`: "
            f'`packages = ["{used.distribution}"]`; or take the option out of the configuration of pytest.'
        )


def is_module_of(folder: Path, name: str) -> bool:
    """Whether a top-level module or package lies in a repository, below `src` or not."""
    return any((root / name).is_dir() or (root / f"{name}.py").is_file() for root in (folder, folder / "src"))


def _line(modules: Sequence[str], packages: Sequence[str]) -> str:
    """The line of configuration that adds what usually brings them to what is configured."""
    catalogue = Catalogue({})
    names = [
        min(catalogue.bringing(top) or {top.replace("_", "-")})
        for top in (each.split(".")[0] for each in modules)
    ]
    listed = ", ".join(f'"{name}"' for name in dict.fromkeys((*packages, *names)))
    return f"packages = [{listed}]"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

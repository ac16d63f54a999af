"""What a maintainer can do about tests that cannot be loaded."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from cogworks.services.python.manifest import place_for_tests

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[\w.]+)'")
_MOST_NOTES = 5


def remedies(
    errors: Iterable[str],
    *,
    files: Mapping[str, str],
    is_own: Callable[[str], bool],
    left_out: Sequence[str] = (),
) -> tuple[str, ...]:
    """A sentence for each thing that can be mended; none where nothing is known.

    Args:
        errors: the collection errors of a run.
        files: those that say what is installed: path -> text.
        is_own: whether a top-level module is one of the repository.
        left_out: what of these files was not obeyed.
    """
    missing = {found[-1] for error in errors if (found := _MISSING.findall(error))}
    own = sorted(name for name in missing if is_own(name.split(".")[0]))
    foreign = sorted(name for name in missing if name not in own)
    told = []
    if foreign:
        told.append(
            f"Name the package that brings {_listed(foreign)} under {place_for_tests(files)} on the base branch: cogworks "
            "installs what stands there, and reads no tox.ini, noxfile or workflow."
        )
        told += [f"This was not installed: {note}." for note in left_out[:_MOST_NOTES]]
    if own:
        told.append(
            f"Commit {_listed(own)} to the base branch: it belongs to this repository and is not in it, and the project "
            "is not built before its tests run."
        )
    return tuple(told)


def is_module_of(folder: Path, name: str) -> bool:
    """Whether a top-level module or package lies in a repository, below `src` or not."""
    return any((root / name).is_dir() or (root / f"{name}.py").is_file() for root in (folder, folder / "src"))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

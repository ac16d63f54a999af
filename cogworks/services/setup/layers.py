"""What a setup or a build leaves for the runs of tests: a layer, laid into each copy of the repository."""

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from cogworks.folders import copy_folder
from cogworks.services.sandbox.inside.order import Overlay

HOME, FILES = "home", "files"
"""Folders of what a setup leaves: what lies in the home of every run, and what is laid into every copy of the repository."""
GEMS = ".gem"
"""Of a home, where gems are installed."""
OWN_PREFIX = ".local"
"""Of a home, below whose `bin` programs are found."""
_INSTALLED = frozenset({"node_modules", "vendor"})
"""Folders of so many files that no run gets a copy of them where it can do without."""
_SEPARATORS = (":", ",", "\\")
"""The kernel reads places as a list with these."""


def own_programs(home: Path) -> tuple[str, ...]:
    """Folders of a home with the programs that a setup installed there, for PATH."""
    return (str(home / OWN_PREFIX / "bin"), str(home / GEMS / "bin"))


def lay_over(layers: Iterable[Path], copy: Path, *, apart: Path | None = None) -> tuple[Overlay, ...]:
    """Put the files and links of layers where the copy has nothing of that name; no link of any is followed.

    Args:
        apart: where runs keep what they change of installed packages, which are shown to them then; None: all is copied.

    Returns:
        What is to be shown in the copy.
    """
    shown: dict[Path, Overlay] = {}
    for layer in layers:
        waiting = [""]
        while waiting:
            below = waiting.pop()
            for entry in sorted(os.scandir(layer / below), key=lambda entry: entry.name):
                target = copy / below / entry.name
                if not entry.is_dir(follow_symlinks=False):
                    if not os.path.lexists(target):
                        shutil.copy2(entry.path, target, follow_symlinks=False)
                elif _is_shown(Path(entry.path), target, shown, apart):
                    continue
                elif _is_folder(target):
                    waiting.append(f"{below}{entry.name}/")
    return tuple(shown.values())


def lay_home(home: Path, target: Path, *, apart: Path | None = None) -> tuple[Overlay, ...]:
    """The same for the whole home that a setup left, in an empty folder."""
    if apart is not None and _can_be_shown(home, apart):
        return (_overlay(home, target, apart),)
    copy_folder(home, target, may_exist=True)
    return ()


def written_in(folder: Path, overlays: tuple[Overlay, ...]) -> Path:
    """Where a file belongs that shall be seen in a folder, before the first run."""
    return next((Path(each.kept) / "upper" for each in overlays if each.target == str(folder)), folder)


def _is_folder(target: Path) -> bool:
    """Whether files belong there; it is made where there is nothing."""
    if not os.path.lexists(target):
        target.mkdir()
    return target.is_dir() and not target.is_symlink()


def _is_shown(lower: Path, target: Path, shown: dict[Path, Overlay], apart: Path | None) -> bool:
    """Whether nothing is to be copied of a folder, which is among what is shown then."""
    if apart is None or lower.name not in _INSTALLED or not _can_be_shown(lower, apart):
        return False
    if (before := shown.get(target)) is not None:
        shown[target] = before._replace(lowers=(*before.lowers, str(lower)))
        return True
    if os.path.lexists(target):
        return False
    target.mkdir()
    shown[target] = _overlay(lower, target, apart)
    return True


def _can_be_shown(lower: Path, apart: Path) -> bool:
    return not any(sign in f"{lower}{apart}" for sign in _SEPARATORS)


def _overlay(lower: Path, target: Path, apart: Path) -> Overlay:
    apart.mkdir(exist_ok=True)
    kept = Path(tempfile.mkdtemp(dir=apart))
    for name in ("upper", "work"):
        (kept / name).mkdir()
    return Overlay((str(lower),), str(target), str(kept))

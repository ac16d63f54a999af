"""What is to be shown to a command, as a copy, where the file systems that hold it take nothing that is laid over."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from cogworks.services.sandbox.inside.order import Overlay


def copy_instead(overlays: Iterable[Overlay], writable: Sequence[Path]) -> None:
    """Copy what overlays show into their folders; one in which something lies already has its copy.

    Raises:
        OSError: it cannot be copied.
    """
    for overlay in overlays:
        target = Path(overlay.target)
        if _is_own(target, writable) and not any(target.iterdir()):
            for shown in (f"{overlay.kept}/upper", *overlay.lowers):
                _lay(Path(shown), target)


def _is_own(target: Path, writable: Sequence[Path]) -> bool:
    """Whether no link leads there: a run before this one may have put one in place of a folder above it."""
    return target.is_dir() and any(
        target.resolve() == place.resolve() / target.relative_to(place)
        for place in writable
        if target.is_relative_to(place)
    )


def _lay(source: Path, target: Path) -> None:
    """What is there already stays, and no link is followed."""
    for entry in os.scandir(source):
        place = target / entry.name
        if not entry.is_dir(follow_symlinks=False):
            if not os.path.lexists(place):
                shutil.copy2(entry.path, place, follow_symlinks=False)
            continue
        if not os.path.lexists(place):
            place.mkdir()
        if place.is_dir() and not place.is_symlink():
            _lay(Path(entry.path), place)

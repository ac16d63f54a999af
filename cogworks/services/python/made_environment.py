"""What an environment that was made says of itself: its key, what making it took, and its size."""

import json
import os
import time
from pathlib import Path
from typing import NamedTuple

SOURCES = "SOURCES_UNDER_TEST"
"""The variable that names the folders of modules of a run, for a Python that is told to obey none of its own (`-I`, `-E`)."""
_FINDS = "import os, sys; sys.path += [each for each in os.environ.get({name!r}, '').split(os.pathsep) if each and each not in sys.path]\n"
READY = "ready.json"
"""The file whose presence says that an environment is finished."""


class MadeEnvironment(NamedTuple):
    """As its maker wrote it down."""

    key: str
    seconds: float = 0.0
    disk_bytes: int = 0
    made_at: float = 0.0
    """Seconds since the epoch."""


def let_sources_be_found(prefix: Path) -> None:
    """Make the Python of a bare environment look into the folders of `SOURCES`, behind its own packages.

    Has to be done before anything is installed: packages may put links there.
    """
    for folder in prefix.glob("lib/python*/site-packages"):
        (folder / "cogworks_sources.pth").write_text(_FINDS.format(name=SOURCES), encoding="utf-8")


def measured(prefix: Path, seconds: float) -> dict[str, float | int]:
    """What is written down of an environment that was just made."""
    return {"seconds": round(seconds, 3), "disk_bytes": _disk_bytes(prefix), "made_at": time.time()}


def made_environment(prefix: Path) -> MadeEnvironment | None:
    """The environment that has its packages here; None: nothing says that it was made."""
    for place in list(prefix.parents)[:3]:
        try:
            told = json.loads((place / READY).read_text(encoding="utf-8"))
            numbers = float(told["seconds"]), int(told["disk_bytes"]), float(told["made_at"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return MadeEnvironment(place.name, *numbers)
    return None


def _disk_bytes(folder: Path) -> int:
    """Of the files themselves; nothing that a link leads to."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            total += os.lstat(Path(place) / name).st_blocks * 512
    return total

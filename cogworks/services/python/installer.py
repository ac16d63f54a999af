"""What is installed, by what, and within which walls and limits."""

import shutil
import sys
from collections.abc import Mapping
from typing import NamedTuple

from cogworks.services.sandbox.walls import Walls


class Requirements(NamedTuple):
    """What has to be in an environment."""

    wanted: tuple[str, ...]
    constraints: tuple[str, ...] = ()


class Surroundings(NamedTuple):
    """What an installation may use."""

    walls: Walls
    limit_s: float
    settings: Mapping[str, str]
    """Environment of pip where it only tells its configuration; may hold credentials of an index."""


class Installer(NamedTuple):
    """What puts packages into environments on this machine."""

    name: str
    """`uv` or `pip`."""
    program: str
    """The path of uv, or of the Python that has pip."""
    may_build: bool = False
    """Whether packages that come only as source are built, which runs code of theirs."""


def found_installer(search_path: str, *, may_build: bool) -> Installer:
    """uv where it is on the path, else pip."""
    uv = shutil.which("uv", path=search_path)
    return Installer("pip", sys.executable, may_build) if uv is None else Installer("uv", uv, may_build)

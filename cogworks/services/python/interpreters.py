"""With which Python, and which packages, code of a repository is run."""

import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cogworks.domain_services.messages import ErrorCode

_BROUGHT = frozenset({"pytest"})
"""What our own interpreter is known to have."""


class Interpreter(NamedTuple):
    """A Python and the packages it finds."""

    python: Path
    prefix: Path
    """Where its packages and programs are."""
    described: str
    """For people."""
    programs: tuple[Path, ...] = ()
    """Directories of the commands that its packages bring; of our own none, for they are nobody else's."""
    notes: tuple[str, ...] = ()
    """What of the manifest it does not have, and what else must not go unsaid."""

    unprotected: tuple[str, ...] = ()
    """What nothing keeps the one from that puts the packages there."""

    loads_plugins: bool = True
    """Whether pytest loads the plugins that it finds there without being asked to."""

    layers: tuple[Path, ...] = ()
    """Folders whose files are laid into every copy of the repository where it has none: what a build or a setup made."""

    paths: tuple[Path, ...] = ()
    """Folders outside of the repository that are on the path of modules, behind its own."""

    sources: tuple[str, ...] | None = None
    """Folders of the repository that its modules are found in, in order; None: `src` where there is one, else the root."""

    home: Path | None = None
    """A folder that every run gets a copy of as its home: what a setup left there; None: an empty one."""

    base: Path = Path(sys.base_prefix)
    """Where the standard library is that the environment was made with."""

    variables: Mapping[str, str] = MappingProxyType({})
    """For every run, below what the request itself sets."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """What a command in isolation must see to run it; not where it was installed from."""
        # Known before anything was installed. A link in an environment is not asked, for packages may have put it there.
        bases = {self.base, self.base.resolve()}
        others = (Path(sys.executable).resolve(), *self.programs, *self.layers, *self.paths)
        beside = (each for each in others if not each.is_relative_to(self.prefix))
        return (*sorted({self.prefix, *bases}), *beside)


class NotBuilt(Exception):
    """There is no environment that the repository's code could be run in; the text says why and what to do."""

    def __init__(
        self, message: str, code: ErrorCode = ErrorCode.TOOL_FAILED, *, is_recoverable: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.is_recoverable = is_recoverable


def own(notes: Iterable[str] = ()) -> Interpreter:
    """The service's own."""
    return Interpreter(Path(sys.executable), Path(sys.prefix), "the service's own Python", notes=tuple(notes))


def bare(notes: Iterable[str] = ()) -> Interpreter:
    """The service's own for who asks for nothing but pytest: plugins that happen to be beside it are nobody else's."""
    return own(notes)._replace(loads_plugins=False)


def suffices(requirements: Iterable[str]) -> bool:
    """Whether our own interpreter has all of them: none, or nothing but what it is known to have."""
    return all(_is_here(Requirement(text)) for text in requirements)


def _is_here(requirement: Requirement) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return True
    name = canonicalize_name(requirement.name)
    if name not in _BROUGHT or requirement.extras:
        return False
    try:
        return requirement.specifier.contains(version(name), prereleases=True)
    except PackageNotFoundError:
        return False

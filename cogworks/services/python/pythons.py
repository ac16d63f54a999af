"""The Pythons of this machine, and with which of them and which packages code of a repository is run."""

import json
import os
import platform
import pwd
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
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


_PROGRAM = re.compile(r"python3\.\d{1,2}")
_OLDEST = (3, 9)
"""Below it neither pip nor the reporters of test results run."""
_NEWEST_MINOR, _MOST_PATCHES = 100, 40
_TRIAL_S = 10.0
_ASK = "import json, platform, sys; print(json.dumps([platform.python_version(), sys.base_prefix, sys.executable]))"
_MANAGED = (".pyenv/versions/*/bin", ".local/share/uv/python/*/bin")
"""Below the home of the user who runs the service: where pyenv and uv keep Pythons."""


class Python(NamedTuple):
    """A Python that environments can be made of."""

    program: Path
    version: str
    base: Path
    """Where its standard library is."""


def own_python() -> Python:
    """The one that the service runs with."""
    return Python(Path(sys.executable), platform.python_version(), Path(sys.base_prefix))


def python_for(requires: str, wanted: str, search_path: str) -> Python:
    """The service's own where it will do, else the newest of this machine that does.

    Args:
        requires: what the project says (`requires-python`); what cannot be read is ignored.
        wanted: a version such as `3.12` that the repository's configuration asks for; it wins. Empty: any.

    Raises:
        NotBuilt: there is none; the text says which is wanted and how to provide it.
    """
    own = own_python()
    if _suits(own.version, requires, wanted):
        return own
    suited = [each for each in others(search_path) if _suits(each.version, requires, wanted)]
    if suited:
        return max(suited, key=lambda each: _numbers(each.version))
    wish = f"the repository wants Python {wanted or requires}"
    if not (example := _example(requires, wanted)):
        oldest = ".".join(map(str, _OLDEST))
        text = f"{wish}, and tests are run with Python {oldest} and later versions of Python 3 alone."
        raise NotBuilt(text, ErrorCode.TOOL_NOT_FOUND)
    here = ", ".join(dict.fromkeys([own.version, *(each.version for each in others(search_path))]))
    raise NotBuilt(
        f"{wish}, and this machine has {here}. Put one on PATH, or install one with `uv python install {example}`; or start the "
        "service with another one: install cogworks there, and name that program in `command` of `.cogworks/services.toml`.",
        ErrorCode.TOOL_NOT_FOUND,
    )


def minor_version_for(requires: str, wanted: str, search_path: str) -> str:
    """The version of `python_for` as `3.12`, with its arguments; that of the service's own where there is none."""
    try:
        version = python_for(requires, wanted, search_path).version
    except NotBuilt:
        version = own_python().version
    return ".".join(version.split(".")[:2])


@cache
def others(search_path: str) -> tuple[Python, ...]:
    """The Pythons on PATH, and those of pyenv and uv, that run and are new enough; each version once."""
    by_version: dict[str, Python] = {}
    for program in _programs(search_path):
        python = asked_python(program)
        if python is not None and _numbers(python.version) >= _OLDEST:
            by_version.setdefault(python.version, python)
    return tuple(by_version.values())


def home_of_user() -> Path:
    """The home of the user who runs this process, by the machine's list of users: the variable `HOME` of a service is an empty folder."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path.home()


def _programs(search_path: str) -> Iterator[Path]:
    home = home_of_user()
    folders = [Path(each) for each in search_path.split(os.pathsep) if each]
    folders += [place for pattern in _MANAGED for place in sorted(home.glob(pattern))]
    for folder in folders:
        try:
            names = sorted(entry.name for entry in os.scandir(folder))
        except OSError:
            continue
        yield from (folder / name for name in names if _PROGRAM.fullmatch(name))


def asked_python(program: Path) -> Python | None:
    """What a Python says of itself; None: it does not run (a version manager's stand-in, a broken installation)."""
    try:
        done = subprocess.run(
            [program, "-I", "-c", _ASK],
            env={"PATH": os.defpath, "HOME": os.devnull},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_TRIAL_S,
        )
        version, base, real = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Python(Path(real), str(version), Path(base))


def _suits(version: str, requires: str, wanted: str) -> bool:
    if wanted:
        return f"{version}.".startswith(f"{wanted.removeprefix('python').strip()}.")
    try:
        return SpecifierSet(requires).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version)[:3])


def _example(requires: str, wanted: str) -> str:
    """A version that fits, for a command to paste; empty: tests are run with none that does."""
    fitting = (
        (minor, patch)
        for minor in range(_OLDEST[1], _NEWEST_MINOR)
        for patch in range(_MOST_PATCHES)
        if _suits(f"3.{minor}.{patch}", requires, wanted)
    )
    minor, _ = next(fitting, (None, None))
    return "" if minor is None else wanted or f"3.{minor}"

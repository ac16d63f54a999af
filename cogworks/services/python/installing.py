"""Makes one environment: a virtual environment, and packages put into it in isolation with only the index to reach."""

import os
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cogworks.domain_services.messages import ErrorCode
from cogworks.removal import remove_tree, temporary_folder
from cogworks.services.python.building.complaints import missing_tools
from cogworks.services.python.index_gateway import Gateway, index_door
from cogworks.services.python.install_complaints import complaint, concerned, of_other_python
from cogworks.services.python.installer import Installer, InstallerSettings, Requirements, bare_environment
from cogworks.services.python.keeping import let_sources_be_found
from cogworks.services.python.package_index import Indexes, default_index, read_indexes
from cogworks.services.python.pythons import NotBuilt, Python, own_python
from cogworks.services.sandbox.inside.order import Limits
from cogworks.services.sandbox.running import Confined, Ended, run
from cogworks.services.setup.door import OPENER, through

_LIMITS = Limits(disk_bytes=4 * 1024**3, file_bytes=2 * 1024**3, disk_entries=400_000)
_PIP_LIMIT_S = 60.0
_CPU_FACTOR = 4
_MOST_CHARS = 600
_TOO_OLD = "This version of pip does not support python"


def install(
    requirements: Requirements, place: Path, installer: Installer, installer_settings: InstallerSettings
) -> None:
    """Make an environment with these packages; nothing is removed when it fails.

    Args:
        place: where; does not exist yet.

    Raises:
        NotBuilt: a package is not available, the index cannot be reached, or time or room ran out.
    """
    _make_bare(place, installer_settings.python or own_python())
    let_sources_be_found(place)
    pythons = pythons_of(place)
    indexes = configured_indexes(installer_settings.settings)
    gateway = Gateway(indexes)
    deadline = time.monotonic() + installer_settings.limit_s
    try:
        for part in (each for each in requirements.passes if each.wanted):
            ended = _installed(part, place, installer, installer_settings, gateway)
            # Before the failure is reported: the missing Python alone may have caused it.
            _check_python(place, pythons, requirements)
            if installer.may_build and _failed_by_itself(ended, gateway):
                left_s = max(deadline - time.monotonic(), 1.0)
                late = installer_settings._replace(limit_s=left_s)
                ended = _installed_from_sources(part, place, installer, late, gateway)
                _check_python(place, pythons, requirements)
            if ended.code != 0:
                raise _not_built(requirements, ended, gateway.problems, installer)
    finally:
        gateway.close()


def _make_bare(place: Path, python: Python) -> None:
    """An environment without packages. Only the standard library runs here: no code of the repository, none of packages.

    Raises:
        NotBuilt: that Python cannot make one.
    """
    if python == own_python():
        venv.EnvBuilder(with_pip=False, symlinks=True).create(place)
        return
    command = [str(python.program), "-I", "-m", "venv", "--without-pip", "--symlinks", str(place)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PIP_LIMIT_S)
    except (subprocess.SubprocessError, OSError) as error:
        output = (getattr(error, "stdout", "") or "").strip() or str(error)
        raise NotBuilt(
            f"{python.program} (Python {python.version}) makes no environment: {output[-_MOST_CHARS:]} "
            "Install its module `venv` (Debian: the package python3.X-venv), or take another Python of that version from PATH."
        ) from error


def pythons_of(place: Path) -> dict[str, str]:
    """Where the links lead that are the Python of an environment, by name; none of them is followed."""
    programs = place / "bin"
    links = () if programs.is_symlink() else sorted(programs.glob("python*"))
    return {each.name: str(each.readlink()) for each in links if each.is_symlink()}


def _check_python(place: Path, pythons: Mapping[str, str], requirements: Requirements) -> None:
    """Refuse an environment whose Python was replaced.

    Raises:
        NotBuilt: it is not the one that the environment was made with.
    """
    if not pythons.items() <= pythons_of(place).items():
        raise NotBuilt(
            f"a package replaced the Python of its environment: one of {', '.join(requirements.wanted)}, or of what these "
            "need. Leave it out on the base branch; nothing of it was kept."
        )


def _failed_by_itself(ended: Ended, gateway: Gateway) -> bool:
    """Whether packages are what is wrong, and not the index, the time or the isolation."""
    return not (ended.code == 0 or gateway.problems or ended.timed_out or ended.blocked)


def configured_indexes(settings: Mapping[str, str]) -> Indexes:
    """The package indexes of this machine, as pip is configured.

    Raises:
        NotBuilt: pip does not say.
    """
    listed = _pip(settings, "config", "list")
    return read_indexes(listed, settings, default=lambda: default_index(_pip(settings, "install", "--help")))


def _pip(settings: Mapping[str, str], *arguments: str) -> str:
    # The folder that this process works in may be anybody's checkout, with a module of that name.
    command = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", *arguments]
    environment = {**settings, "COLUMNS": "500", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=True, text=True, timeout=_PIP_LIMIT_S
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise NotBuilt(
            f"`pip {' '.join(arguments)}` failed, which says where packages come from: {error}"
        ) from error
    return done.stdout


def _installed(
    requirements: Requirements,
    place: Path,
    installer: Installer,
    installer_settings: InstallerSettings,
    gateway: Gateway,
) -> Ended:
    with installers_room() as room:
        options = _listed(requirements, room, gateway)
        command = [*_installing(installer, place), *options]
        return run_installer(command, room, installer, installer_settings, Reach(gateway, writable=(place,)))


def _installed_from_sources(
    requirements: Requirements,
    place: Path,
    installer: Installer,
    installer_settings: InstallerSettings,
    gateway: Gateway,
) -> Ended:
    """The same where some packages come as source alone: they become wheels in a room out of which nothing else is taken."""
    with installers_room() as room:
        wheels = room.home / "wheels"
        wheels.mkdir()
        options = _listed(requirements, room, gateway)
        pip = [sys.executable, "-P", "-m", "pip", "--python", str(place / "bin" / "python"), "--no-input"]
        build = [
            "--disable-pip-version-check",
            "wheel",
            "--retries=0",
            "--no-cache-dir",
            "--progress-bar=off",
        ]
        ended = run_installer(
            [*pip, *build, f"--wheel-dir={wheels}", *options],
            room,
            installer,
            installer_settings,
            Reach(
                gateway, readable=(place,), environment={"PATH": installer_settings.search_path or os.defpath}
            ),
        )
        if ended.code != 0:
            return ended
        for odd in (each for each in wheels.iterdir() if each.is_symlink() or not each.is_file()):
            odd.unlink() if odd.is_symlink() else remove_tree(odd)
        with installers_room() as second:
            options = [*_listed(requirements, second, gateway), "--no-index", f"--find-links={wheels}"]
            command = [*_installing(installer, place), *options]
            reach = Reach(gateway, writable=(place,), readable=(wheels,))
            return run_installer(command, second, installer, installer_settings, reach)


def _listed(requirements: Requirements, room: "InstallerSandbox", gateway: Gateway) -> list[str]:
    """The options that name what is wanted, in files of the room."""
    (room.lists / "requirements.txt").write_text("\n".join(requirements.wanted) + "\n", encoding="utf-8")
    own = room.lists / "constraints.txt"
    own.write_text("\n".join(requirements.constraints) + "\n", encoding="utf-8")
    constraints = [f"--constraint={each}" for each in (str(own), *gateway.indexes.constraints)]
    return [f"--requirement={room.lists / 'requirements.txt'}", *constraints]


class InstallerSandbox(NamedTuple):
    """The directories of one run of an installer; all of them end with it."""

    home: Path
    temporary: Path
    scratch: Path
    """Out of the installer's reach."""
    lists: Path
    """What it gets in files; it may only read them."""


class Reach(NamedTuple):
    """What a run of an installer has besides its room."""

    gateway: Gateway
    """Of the package index."""
    writable: Sequence[Path] = ()
    readable: Sequence[Path] = ()
    directory: Path | None = None
    """Where it starts; None: its home."""
    environment: Mapping[str, str] = MappingProxyType({})
    """Variables on top of those of every installer."""


@contextmanager
def installers_room() -> Iterator[InstallerSandbox]:
    """A room for the length of a `with` block."""
    with temporary_folder("cogworks-install-") as folder:
        room = InstallerSandbox(*(folder / each for each in ("home", "tmp", "scratch", "lists")))
        for each in room:
            each.mkdir()
        yield room


def run_installer(
    command: Sequence[str],
    room: InstallerSandbox,
    installer: Installer,
    installer_settings: InstallerSettings,
    reach: Reach,
) -> Ended:
    """Run an installer, or a build by it, in isolation with a door to the package index and to nothing else.

    Args:
        command: gets `--index-url` added, and `--find-links` as this machine is configured.
    """
    indexes = reach.gateway.indexes
    isolation = installer_settings.isolation
    with index_door(reach.gateway) as door:
        links = (f"--find-links={each}" for each in indexes.find_links)
        confined = Confined(
            command=through([door], [*command, *links, "--index-url", f"{door.address}/simple/"]),
            directory=reach.directory or room.home,
            environment={**_environment(room.home, room.temporary), **reach.environment},
            readable=[
                *_own(installer, installer_settings),
                room.lists,
                *map(Path, (*indexes.find_links, *indexes.constraints)),
                *reach.readable,
            ],
            writable=(*reach.writable, room.home, room.temporary),
            timeout_s=installer_settings.limit_s,
            limits=_LIMITS._replace(cpu_s=int(installer_settings.limit_s * _CPU_FACTOR) + 1),
            # Without a network of its own it has to be let into ours to reach even the index; a filter would stop that.
            has_network=isolation.engine == "none",
        )
        return run(confined, isolation, scratch=room.scratch, kept=(door.theirs,))


def _installing(installer: Installer, place: Path) -> list[str]:
    python = str(place / "bin" / "python")
    if installer.name == "uv":
        options = ["--no-config", "--link-mode=copy", "--compile-bytecode", f"--python={python}"]
        return [
            installer.program,
            "pip",
            "install",
            *options,
            "--no-build",
        ]
    pip = [installer.program, "-m", "pip", "--python", python, "--no-input", "--disable-pip-version-check"]
    return [
        *pip,
        "install",
        # Whoever offers the index tries again itself.
        "--retries=0",
        "--no-cache-dir",
        "--progress-bar=off",
        "--no-warn-script-location",
        "--only-binary=:all:",
    ]


def _own(installer: Installer, installer_settings: InstallerSettings) -> list[Path]:
    """The installer, and the Python that the environment is made of."""
    base = (installer_settings.python or own_python()).base
    prefixes = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.base_prefix).resolve(),
        base,
        base.resolve(),
    }
    return [*sorted(prefixes), Path(sys.executable).resolve(), Path(installer.program).resolve(), OPENER]


def _environment(home: Path, temporary: Path) -> dict[str, str]:
    return {
        **bare_environment(),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "COLUMNS": "500",
        "PIP_CONFIG_FILE": os.devnull,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_HTTP_RETRIES": "0",
    }


def _not_built(
    requirements: Requirements, ended: Ended, problems: Sequence[str], installer: Installer
) -> NotBuilt:
    """What went wrong, with a remedy."""
    if problems:
        listed = "; ".join(dict.fromkeys(problems))
        text = f"the package index could not be used: {listed}. Check pip's configuration and the network of this machine."
        return NotBuilt(text, is_recoverable=True)
    if ended.timed_out:
        text = f"installing {len(requirements.wanted)} requirement(s) took longer than it may; raise the time limit of the operation."
        return NotBuilt(text, ErrorCode.TIMEOUT)
    if ended.blocked:
        return NotBuilt(
            f"installing the requirements of the repository was ended: {'; '.join(ended.blocked)}"
        )
    message = complaint(ended.output)
    named = concerned(message, requirements.wanted)
    which = f"requirement(s) {', '.join(named)}" if named else "the requirements of the repository"
    remedy = "Correct the manifest on the base branch."
    if of_other_python(ended.output):
        remedy = (
            "Under `[environment]` in `.cogworks/config.toml`, name a Python that fits (`python`), or only what tests need "
            "(`extras`, `groups`, `requirements`)."
        )
    if hint := missing_tools(ended.output):
        remedy = hint
    if _TOO_OLD in message:
        remedy = "Put uv on PATH of the service: it installs for each version."
    if not installer.may_build:
        remedy += (
            " What comes only as source is built in complete isolation, which this machine does not have, or when the service "
            "is started with `--build-from-source`."
        )
    return NotBuilt(f"{which} cannot be installed: {message} {remedy}")

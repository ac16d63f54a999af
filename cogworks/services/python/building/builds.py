"""Builds a project in isolation, and keeps of its wheel what a run of its tests needs besides the repository's own files."""

import configparser
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, NamedTuple

from cogworks.codebase.failures import GitFailed
from cogworks.domain_services.messages import ErrorCode
from cogworks.services.python.building.built import LAYER, PROGRAMS, SITE
from cogworks.services.python.building.checkout import Checkout, lay_out
from cogworks.services.python.building.complaints import build_complaint
from cogworks.services.python.building.project import Project
from cogworks.services.python.building.wheel import MAX_BYTES, UnusableWheel, Wheel, placed, read_wheel
from cogworks.services.python.index_gateway import Gateway
from cogworks.services.python.installer import Installer, InstallerSettings
from cogworks.services.python.installing import Reach, configured_indexes, installers_room, run_installer
from cogworks.services.python.pythons import NotBuilt, home_of_user, own_python
from cogworks.services.sandbox.running import Ended

_LIMIT_S = 20.0
_RUSTUP_VARIABLES = ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN")
_MANIFEST = "Cargo.toml"


def wants_rust(paths: Iterable[str]) -> bool:
    """Whether a repository has something for cargo."""
    return any(path.rpartition("/")[2] == _MANIFEST for path in paths)


def rust_toolchain(search_path: str, settings: Mapping[str, str]) -> Path | None:
    """The folder of the toolchain that `rustc` on a path stands for; None: there is none that runs.

    Args:
        settings: environment of this process, as far as it says where rustup keeps them.
    """
    program = shutil.which("rustc", path=search_path)
    if program is None:
        return None
    variables = {
        "HOME": str(home_of_user()),
        **{name: settings[name] for name in _RUSTUP_VARIABLES if name in settings},
    }
    try:
        done = subprocess.run(
            [program, "--print", "sysroot"],
            # Not in the repository: rustup would obey a file there that names a toolchain, and fetch it.
            cwd="/",
            env={"PATH": search_path, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            text=True,
            timeout=_LIMIT_S,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    folder = Path(done.stdout.removesuffix("\n"))
    return folder if (folder / "bin" / "cargo").is_file() else None


_COMPILED = (".so", ".pyd", ".dylib")
_SCRIPT = b"#!"
_PYTHON = "#!/usr/bin/env python3"
"""The environment's own: its folder of programs comes first on PATH."""
_ENTRY = re.compile(r"(?P<module>[\w.]++)\s*+(:\s*+(?P<name>[\w.]++))?\s*+(\[.*\])?")
_PROGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_MODE = 0o755
_PRETENDED = "0.1.dev0"
_PRETENDING = ("SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION", "PDM_BUILD_SCM_VERSION")


class Builder(NamedTuple):
    """One build."""

    project: Project
    checkout: Checkout
    installer: Installer
    installer_settings: InstallerSettings
    say: Callable[[str], None]

    def make(self, place: Path) -> Mapping[str, Any]:
        """Build the project, lay out what is kept of it in a folder that does not exist yet, and return the notes about it.

        Raises:
            NotBuilt: with the backend's own words and what to do.
        """
        started_s = time.monotonic()
        self.say(f"building the project with {self.project.backend}")
        wheel = self._wheel()
        layout = placed(wheel.modules, self.checkout.blobs)
        for folder, files in ((SITE, wheel.metadata), (LAYER, layout.made)):
            (place / folder).mkdir(parents=True)
            _write(place / folder, files)
        (place / PROGRAMS).mkdir()
        _write_programs(place / PROGRAMS, wheel)
        self.say(
            f"the project was built in {time.monotonic() - started_s:.1f} s: {len(layout.made)} file(s) made"
        )
        return {
            "sources": layout.sources,
            "unplaced": layout.unplaced,
            "requires": _requires(wheel),
            "compiled": any(path.endswith(_COMPILED) for path in layout.made)
            or not all(content.startswith(_SCRIPT) for content in wheel.scripts.values()),
        }

    def _wheel(self) -> Wheel:
        installer_settings = self.installer_settings
        rust = self._rust()
        gateway = Gateway(configured_indexes(installer_settings.settings))
        try:
            with installers_room() as room:
                source, target = room.home / "project", room.home / "wheel"
                target.mkdir()
                try:
                    readable = lay_out(self.checkout, source, search_path=installer_settings.search_path)
                except GitFailed as error:
                    raise NotBuilt(f"the project cannot be checked out to be built: {error}") from error
                ended = run_installer(
                    self._command(source / self.checkout.root, target),
                    room,
                    self.installer,
                    installer_settings,
                    Reach(
                        gateway,
                        readable=(*readable, *rust),
                        directory=source / self.checkout.root,
                        environment=self._environment(rust),
                    ),
                )
                return self._read(target, ended, gateway.problems)
        finally:
            gateway.close()

    def _command(self, source: Path, target: Path) -> list[str]:
        if self.installer.name == "uv":
            options = ["--wheel", "--no-config", "--no-python-downloads", f"--python={self._python}"]
            return [self.installer.program, "build", *options, f"--out-dir={target}", str(source)]
        pip = [
            self.installer.program,
            "-m",
            "pip",
            f"--python={self._python}",
            "--no-input",
            "--disable-pip-version-check",
        ]
        options = [
            "--no-deps",
            "--retries=0",
            "--no-cache-dir",
            "--progress-bar=off",
            f"--wheel-dir={target}",
        ]
        return [*pip, "wheel", *options, str(source)]

    @property
    def _python(self) -> Path:
        return (self.installer_settings.python or own_python()).program

    def _rust(self) -> tuple[Path, ...]:
        if not wants_rust(self.checkout.blobs):
            return ()
        toolchain = rust_toolchain(self.installer_settings.search_path, self.installer_settings.settings)
        return () if toolchain is None else (toolchain,)

    def _environment(self, toolchains: Sequence[Path]) -> dict[str, str]:
        programs = [str(each / "bin") for each in toolchains]
        variables = {
            "PATH": os.pathsep.join([*programs, self.installer_settings.search_path or os.defpath]),
            # The clone belongs to the user who runs the service, the build to the user in isolation.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "SOURCE_DATE_EPOCH": "315532800",
        }
        if not self.checkout.commit:
            variables |= dict.fromkeys(_PRETENDING, _PRETENDED)
        return variables

    def _read(self, target: Path, ended: Ended, problems: Sequence[str]) -> Wheel:
        wheels = sorted(target.glob("*.whl"))
        wheels = [each for each in wheels if each.is_file() and not each.is_symlink()]
        if ended.code == 0 and len(wheels) == 1:
            if wheels[0].stat().st_size > MAX_BYTES:
                raise NotBuilt(f"building the project made a wheel of more than {MAX_BYTES} bytes")
            try:
                return read_wheel(wheels[0].read_bytes())
            except UnusableWheel as error:
                raise NotBuilt(f"{error}. {_WITHOUT}") from error
        if problems:
            listed = "; ".join(dict.fromkeys(problems))
            text = f"the package index could not be used to build the project: {listed}. Check pip's configuration and the network of this machine."
            raise NotBuilt(text, is_recoverable=True)
        if ended.timed_out:
            text = f"building the project took longer than {self.installer_settings.limit_s:.0f} s; raise the time limit of the operation, or {_WITHOUT}"
            raise NotBuilt(text, ErrorCode.TIMEOUT)
        if ended.blocked:
            raise NotBuilt(f"building the project was ended: {'; '.join(ended.blocked)}. {_WITHOUT}")
        raise NotBuilt(f"{build_complaint(ended.output, self.project.backend)} {_WITHOUT}")


_WITHOUT = 'Where its tests do without the build, `install = "never"` under `[environment]` in `.cogworks/config.toml` leaves it out.'


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _write_programs(folder: Path, wheel: Wheel) -> None:
    for name, target in _entry_points(wheel).items():
        text = f"{_PYTHON}\nimport sys\nfrom {target[0]} import {target[1].partition('.')[0]}\n\nsys.exit({target[1]}())\n"
        _write_program(folder / name, text.encode())
    for name, content in wheel.scripts.items():
        if _PROGRAM.fullmatch(name):
            first, _, rest = content.partition(b"\n")
            is_python = first.startswith(b"#!python")
            _write_program(folder / name, f"{_PYTHON}\n".encode() + rest if is_python else content)


def _write_program(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    place.chmod(_MODE)


def _requires(wheel: Wheel) -> list[str]:
    """The dependencies that the metadata names."""
    text = next((data for path, data in wheel.metadata.items() if path.endswith("/METADATA")), b"")
    headers = HeaderParser().parsestr(text.decode(errors="replace"))
    return [str(each) for each in headers.get_all("Requires-Dist", [])]


def _entry_points(wheel: Wheel) -> dict[str, tuple[str, str]]:
    """Console programs: name -> module and function."""
    text = next((data for path, data in wheel.metadata.items() if path.endswith("/entry_points.txt")), b"")
    parser = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names are as they are written
    try:
        parser.read_string(text.decode(errors="replace"))
    except configparser.Error:
        return {}
    entries = {}
    for name, value in parser.items("console_scripts") if parser.has_section("console_scripts") else ():
        entry = _ENTRY.fullmatch(value.strip())
        if entry and entry["name"] and _PROGRAM.fullmatch(name):
            entries[name] = (entry["module"], entry["name"])
    return entries

"""Install cogworks for the Action: from its own checkout, once for all steps of a job, every package by its hash.

`look` tells what is there, `install` installs it; both by the outputs of a workflow step. Only the standard library is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Run = Callable[[Sequence[str]], None]

SOURCE = Path(__file__).resolve().parents[1]
LOCK = "requirements.lock"
PARTS = (LOCK, "pyproject.toml", "README.md", "LICENSE", "cogworks", "prompts", "schemas")
"""What decides what is installed."""
OLDEST = (3, 11)
KEPT = frozenset(
    {
        "HOME", "LANG", "LC_ALL", "NO_PROXY", "PATH", "REQUESTS_CA_BUNDLE", "RUNNER_TEMP", "SSL_CERT_DIR", "SSL_CERT_FILE",
        "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
    }
)  # fmt: skip
"""What an installer needs of the environment, besides pip's own settings. A workflow may have put secrets into the rest."""


class Failed(Exception):
    """A command did not do its work; what it said stands in the log above."""


@dataclass(frozen=True)
class Place:
    """Where this checkout is installed for this Python, if it is."""

    home: Path
    key: str
    """Of the packages: the lock file, the minor version of Python, the kind of machine."""
    name: str
    """Of the installation: all that, the very Python, and the checkout."""

    @property
    def packages(self) -> Path:
        """The files of the packages, complete or not there."""
        return self.home / f"packages-{self.key}"

    @property
    def pointer(self) -> Path:
        """Says where the installation is, and is there only when that is complete."""
        return self.home / f"{self.name}.path"

    def python(self) -> str:
        """The Python that has cogworks; empty where there is none yet."""
        if not self.pointer.is_file():
            return ""
        found = self.pointer.read_text(encoding="utf-8")
        return found if Path(found).exists() else ""


def place_in(home: Path, source: Path = SOURCE) -> Place:
    """The place for this checkout and the Python that runs this."""
    kind = f"{sysconfig.get_platform()}-py{sys.version_info.major}.{sys.version_info.minor}"
    key = f"cogworks-{kind}-{_digest(kind, source / LOCK)}"
    parts = [file for part in PARTS for file in files_of(source / part)]
    return Place(home, key, f"{key}-{_digest(f'{sys.version} {sys.executable} {source}', *parts)}")


def files_of(part: Path) -> Sequence[Path]:
    """The files of one part of the checkout, without what Python compiled."""
    if part.is_file():
        return [part]
    return sorted(path for path in part.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _digest(words: str, *files: Path) -> str:
    digest = hashlib.sha256(words.encode())
    for file in files:
        digest.update(f"\0{file.name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:24]


def install(place: Place, run: Run, source: Path = SOURCE) -> str:
    """Install into a folder of its own, which gets its name only when it is complete; the Python in it.

    Raises:
        Failed: a package is not to be had, or is not the one of the lock file.
    """
    place.home.mkdir(parents=True, exist_ok=True)
    # It is never moved: programs in it name their place. What a killed run left has no pointer, and is never looked at.
    made = Path(tempfile.mkdtemp(prefix="made-", dir=place.home))
    # The job may have checked out anybody's code: no module in the folder that it works in is taken for Python's own.
    run([sys.executable, "-P", "-m", "venv", str(made)])
    python = str(made / "bin" / "python")
    pip = [python, "-P", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(source / LOCK)]
    _bring(place, run, pip, locked)
    # pip is among them: it replaces itself, and the new one installs the checkout with the build backend of the lock file.
    run([*pip, "install", "--no-index", "--no-compile", "--no-deps", "--no-build-isolation", str(source)])
    aside = made / "pointer"
    aside.write_text(python, encoding="utf-8")
    aside.replace(place.pointer)
    return python


def _bring(place: Place, run: Run, pip: Sequence[str], locked: Sequence[str]) -> None:
    """The packages of the lock file: from files that are there, else from the index that pip is configured for."""
    offline = ["install", "--no-index", "--no-compile", "--find-links", str(place.packages), *locked]
    if place.packages.is_dir():
        try:
            run([*pip, *offline])
        except Failed:
            shutil.rmtree(place.packages)
        else:
            return
    fresh = Path(tempfile.mkdtemp(prefix="fresh-", dir=place.home))
    run([*pip, "download", "--dest", str(fresh), *locked])
    fresh.replace(place.packages)
    run([*pip, *offline])


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of venv and pip: no secret of the workflow is in it."""
    return {name: value for name, value in environ.items() if name in KEPT or name.startswith("PIP_")}


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, env=child_environment(os.environ), check=False)
    if done.returncode:
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}")


def _hand_on(**outputs: str) -> None:
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def main() -> None:
    """Look or install, as the only argument says."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"cogworks: `python3` is Python {sys.version.split()[0]}; wanted is 3.11 or newer. Put actions/setup-python before "
            "this step, or name a Python that has cogworks with the input `python`."
        )
    place = place_in(Path(os.environ["RUNNER_TEMP"]) / "cogworks")
    if sys.argv[1:] == ["look"]:
        _hand_on(python=place.python(), key=place.key, packages=str(place.packages))
        return
    try:
        _hand_on(python=place.python() or install(place, _run))
    except Failed as error:
        sys.exit(
            f"cogworks: it cannot be installed: {error}. The lines above say why: an index that does not answer, or a package "
            "that is not the one of requirements.lock. Run the job again, or configure pip's index with PIP_INDEX_URL."
        )


if __name__ == "__main__":
    main()

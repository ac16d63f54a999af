"""Packages of npm that a test needs: installed once per lock file into a cache of this machine."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

REQUIRED = "COGWORKS_TESTS_NEED_NODE"
"""Set where a check that cannot be made is a failure, as it is before a change lands."""


def installed(folder: Path) -> Path:
    """Where the packages of the lock file in a folder are; skips the test, with the reason, where that cannot be."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        give_up(f"{'Node.js' if node is None else 'npm'} is not on this machine")
    lock = folder / "package-lock.json"
    version = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cogworks-tests"
    place = home / f"{folder.name}-{version}"
    if not place.exists():
        home.mkdir(parents=True, exist_ok=True)
        _install(npm or "npm", folder, place)
    return place


def _install(npm: str, folder: Path, place: Path) -> None:
    # Under another name first: two test runs may install at the same time, and one may be interrupted.
    with tempfile.TemporaryDirectory(dir=place.parent) as directory:
        making = Path(directory) / "made"
        making.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(folder / name, making)
        done = subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=making,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        if done.returncode:
            give_up(f"npm could not install {folder.name}: {done.stderr.strip()[-500:]}")
        try:
            making.rename(place)
        except OSError:
            assert place.exists(), f"neither we nor anybody else could install {folder.name}"


def give_up(reason: str) -> None:
    """Skip with the reason, or fail where the check must be made."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"this check has to be made here, and {reason}")
    pytest.skip(reason)

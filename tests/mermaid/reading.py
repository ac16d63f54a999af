"""The real mermaid, installed once per version into a cache of this machine, and what it reads in a picture."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
REQUIRED = "COGWORKS_TESTS_NEED_MERMAID"
"""Set where a check that cannot be made is a failure, as it is before a change lands."""


class Read(NamedTuple):
    """One picture as mermaid understands it."""

    error: str
    """Why it draws nothing; empty when it does."""
    nodes: list[tuple[str, str, str, tuple[str, ...]]]
    """Identifier, text as people see it, shape, classes."""
    edges: list[tuple[str, str, str, str]]
    """From, to, text, stroke."""
    boxes: list[tuple[str, str, tuple[str, ...]]]
    """Identifier, title, nodes in it."""
    classes: frozenset[str]
    kinds: frozenset[str]
    """How the labels are read; `markdown` would format them."""


def installed() -> Path:
    """Where the packages of the lock file are; skips the test, with the reason, where that cannot be."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        give_up(f"{'Node.js' if node is None else 'npm'} is not on this machine")
    lock = HERE / "package-lock.json"
    version = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cogworks-tests"
    place = home / f"mermaid-{version}"
    if not place.exists():
        home.mkdir(parents=True, exist_ok=True)
        _install(npm or "npm", place)
    return place


def _install(npm: str, place: Path) -> None:
    # Under another name first: two test runs may install at the same time, and one may be interrupted.
    with tempfile.TemporaryDirectory(dir=place.parent) as directory:
        making = Path(directory) / "made"
        making.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, making)
        done = subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=making,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        if done.returncode:
            give_up(f"npm could not install mermaid: {done.stderr.strip()[-500:]}")
        try:
            making.rename(place)
        except OSError:
            assert place.exists(), "neither we nor anybody else could install mermaid"


def give_up(reason: str) -> None:
    """Skip with the reason, or fail where the check must be made."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"the pictures have to be read by the real mermaid here, and {reason}")
    pytest.skip(reason)


def read(place: Path, pictures: Sequence[str]) -> list[Read]:
    """What mermaid reads in each picture, all in one Node process."""
    done = subprocess.run(
        ["node", str(HERE / "read.mjs"), str(place)],
        input=json.dumps(list(pictures)),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return [_read(each) for each in json.loads(done.stdout)]


def _read(told: dict[str, list[list[object]]]) -> Read:
    if "error" in told:
        return Read(str(told["error"]), [], [], [], frozenset(), frozenset())
    return Read(
        error="",
        nodes=[_tupled(each) for each in told["nodes"]],
        edges=[_tupled(each) for each in told["edges"]],
        boxes=[_tupled(each) for each in told["boxes"]],
        classes=frozenset(map(str, told["classes"])),
        kinds=frozenset(map(str, told["kinds"])),
    )


def _tupled(values: list[object]) -> tuple[object, ...]:
    return tuple(_tupled(each) if isinstance(each, list) else each for each in values)

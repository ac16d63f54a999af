"""A package's tests as its own maintainers run them: a plain virtual environment, pip, and their command. Without cogworks."""

import json
import os
import shlex
import subprocess
import time
import venv
from collections.abc import Mapping
from pathlib import Path

from cogworks.vocabulary import Value
from scripts.benchmarks.zoo.animals import Animal

_REPORTERS = Path(__file__).with_name("reporters")
_KEPT_LINES = 15
_CUT_OFF = "it did not end within"
_PASSED_ON = ("PATH", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE")


class OwnRun(Value):
    """What came of it."""

    outcomes: Mapping[str, str]
    """Test as its runner names it -> `passed`, `failed` or `skipped`; of a file that could not be loaded `unloaded`, and of a test
    that passes although its maintainers mark it as flaky or failing `unsure`."""
    problem: str = ""
    """Why there are none: the last lines of what failed."""
    install_s: float = 0.0
    test_s: float = 0.0


def own_run(animal: Animal, checkout: Path, room: Path, *, limit_s: float) -> OwnRun:
    """Install and test a package in a checkout of its own.

    Args:
        checkout: may be changed.
        room: an empty folder.
        limit_s: of each command.
    """
    environment = _environment(room)
    python = room / "venv" / "bin" / "python"
    started_s = time.monotonic()
    venv.EnvBuilder(with_pip=True).create(room / "venv")
    for line in ("--upgrade pip", *animal.install):
        words = [str(python), "-m", "pip", "install", "--quiet", *shlex.split(line)]
        if problem := _problem(words, checkout, environment, limit_s):
            return OwnRun(outcomes={}, problem=f"pip install {line}: {problem}")
    installed_s = time.monotonic()
    problem = _problem(_words(animal.test, python), checkout, environment, limit_s)
    told = room / "outcomes"
    # Of a suite that was cut off nobody knows the rest.
    is_whole = told.is_file() and not problem.startswith(_CUT_OFF)
    outcomes = _read(told.read_text(encoding="utf-8")) if is_whole else {}
    return OwnRun(
        outcomes=outcomes,
        # Tests that fail end a run with another code than 0, too.
        problem="" if outcomes else problem or "it reported no test",
        install_s=installed_s - started_s,
        test_s=time.monotonic() - installed_s,
    )


def _environment(room: Path) -> dict[str, str]:
    (room / "home").mkdir()
    return {
        **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        "PATH": os.pathsep.join([str(room / "venv" / "bin"), os.environ.get("PATH", os.defpath)]),
        "HOME": str(room / "home"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONPATH": str(_REPORTERS),
        "PYTHONHASHSEED": "0",
        "ZOO_OUTCOMES": str(room / "outcomes"),
    }


def _words(command: str, python: Path) -> list[str]:
    words = shlex.split(command)
    if words[0] == "pytest":
        return [str(python), "-m", "pytest", "-p", "zoo_outcomes", *words[1:]]
    return [str(python), *words[1:]] if words[0] == "python" else words


def _problem(words: list[str], checkout: Path, environment: Mapping[str, str], limit_s: float) -> str:
    """The last lines of a command that failed; empty: it did not."""
    try:
        done = subprocess.run(
            words,
            cwd=checkout,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        return f"{_CUT_OFF} {limit_s:g} s"
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else "\n".join(lines[-_KEPT_LINES:]) or f"exit code {done.returncode}"


def _read(text: str) -> dict[str, str]:
    """Of a test that is told twice, e.g. by its own failure and by that of its end, the worse counts."""
    order = ("skipped", "unsure", "passed", "failed", "unloaded")
    found: dict[str, str] = {}
    for line in text.splitlines():
        test, outcome = json.loads(line)
        found[test] = max(found.get(test, outcome), outcome, key=order.index)
    return found

"""`scripts/bench packages`: what a run of tests costs where a setup installed very many files.

The packages are those of the lock file that npm makes here of `WANTED`; they are downloaded from the registry of this machine.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cogworks.domain_services.messages import TestReport
from cogworks.services.command.answering import CommandService
from cogworks.services.command.ground import Machine
from cogworks.services.sandbox.disk import usage
from cogworks.services.sandbox.probing import strongest

WANTED = {
    "@babel/core": "7.24.0", "@babel/preset-env": "7.24.0", "@mui/icons-material": "5.15.0", "@mui/material": "5.15.0",
    "core-js": "3.36.0", "date-fns": "3.6.0", "eslint": "8.57.0", "jest": "29.7.0", "lodash": "4.17.21", "prettier": "3.2.5",
    "react": "18.2.0", "react-dom": "18.2.0", "rxjs": "7.8.1", "typescript": "5.4.2", "vite": "5.1.5", "vitest": "1.3.1",
    "webpack": "5.90.3",
}  # fmt: skip
SCRIPTS = {"node:test": "node --test", "vitest": "vitest run"}
NODE = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport ms from "lodash";\ntest("adds", () => assert.equal(ms.add(1, 2), 3));\n'
VITEST = 'import { add } from "lodash";\nimport { expect, test } from "vitest";\ntest("adds", () => expect(add(1, 2)).toBe(3));\n'
RUNS = 3
LIMIT_S = 1800.0


class Spent(NamedTuple):
    """By the clock, and of processors: of this process and of all that it waited for."""

    clock_s: float
    processor_s: float


def main() -> None:
    """Print a row for each runner."""
    with TemporaryDirectory(prefix="cogworks-packages-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lock = _lock(folder / "lock")
        sys.stdout.write(
            "| runner | entries | MiB | the first run, with its setup | each later run | of processors |\n|---|---|---|---|---|---|\n"
        )
        for runner, script in SCRIPTS.items():
            place = _project(folder / runner.replace(":", "-"), script, lock)
            first = _run(place, folder / "kept")
            later = sorted(_run(place, folder / "kept") for _ in range(RUNS))[RUNS // 2]
            installed = usage([*(folder / "kept").glob("setups/**/node_modules")][:1])
            sys.stdout.write(
                f"| {runner} | {installed.entries} | {installed.size // 1024**2} | {first.clock_s:.1f} s | {later.clock_s:.1f} s "
                f"| {later.processor_s:.1f} s |\n"
            )
            sys.stdout.flush()


def _lock(folder: Path) -> str:
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps(_manifest("true")))
    _said(folder, "npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund")
    return (folder / "package-lock.json").read_text()


def _manifest(script: str) -> dict[str, object]:
    return {
        "name": "big",
        "version": "1.0.0",
        "type": "module",
        "scripts": {"test": script},
        "dependencies": WANTED,
    }


def _project(place: Path, script: str, lock: str) -> Path:
    place.mkdir()
    files = {
        "package.json": json.dumps(_manifest(script)),
        "package-lock.json": lock,
        "test/add.test.js": NODE if "node" in script else VITEST,
        ".gitignore": "node_modules\n",
    }
    for path, text in files.items():
        (place / path).parent.mkdir(exist_ok=True)
        (place / path).write_text(text)
    _said(place, "git", "init", "--quiet")
    _said(place, "git", "add", ".")
    _said(place, "git", "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "-m", "All")
    return place


def _run(place: Path, kept: Path) -> Spent:
    path = os.environ["PATH"]
    machine = Machine(path, strongest(path), kept=kept, settings=os.environ)
    asked = {
        "request_id": "1",
        "method": "simulate",
        "caller": {"work_item_id": 1},
        "repository": {"path": str(place), "base": _said(place, "git", "rev-parse", "HEAD").strip()},
        "params": {"timeout_s": LIMIT_S},
    }
    began_s, began = time.monotonic(), _processor_s()
    response = CommandService(machine).answer(json.dumps(asked).encode())
    spent = Spent(time.monotonic() - began_s, _processor_s() - began)
    report = None if response.error else TestReport.model_validate(response.result)
    if report is None or [case.outcome for case in report.cases] != ["passed"]:
        raise SystemExit(f"the test did not pass: {response}")
    return spent


def _processor_s() -> float:
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _said(place: Path, *command: str) -> str:
    program = shutil.which(command[0]) or command[0]
    return subprocess.run(
        [program, *command[1:]], cwd=place, check=True, capture_output=True, text=True, timeout=LIMIT_S
    ).stdout


if __name__ == "__main__":
    main()

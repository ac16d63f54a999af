"""Runs a driver of killed repairs in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.limits import LONG_RUN_ENDS_WITHIN_S

ROOT = Path(__file__).parents[2]


def left_over(driver: str, folder: Path, first: int, count: int) -> list[dict[str, Any]]:
    """What a driver found after each of its sequences.

    Args:
        driver: a module of this package.
        first: number of the first sequence.
    """
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", f"tests.repair.{driver}", str(folder), str(first), str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]

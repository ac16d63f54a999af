"""The plain loop beside a repair: each offer in its order is applied and all tests run, until the fix is among what was kept."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks.realbugs.offers import Offer
from scripts.benchmarks.realbugs.plainruns import LIMIT_S

_PYTEST = ("-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors")


class Spent(NamedTuple):
    """What a stretch of work took: seconds, and seconds of processor of this process and all it waited for."""

    wall_s: float
    processor_s: float


class ByHand(NamedTuple):
    """The plain loop of one bug."""

    spent: Spent
    runs: int
    """Of all tests."""


def now() -> Spent:
    """The clocks as they stand; the time is what differs between two of these."""
    times = os.times()
    processor_s = times.user + times.system + times.children_user + times.children_system
    return Spent(time.monotonic(), processor_s)


def since(began: Spent) -> Spent:
    """What was spent from then on."""
    ended = now()
    return Spent(ended.wall_s - began.wall_s, ended.processor_s - began.processor_s)


def by_hand(
    tree: Path, stock: Sequence[Sequence[Offer]], python: Path, environment: Mapping[str, str]
) -> ByHand:
    """What the plain loop takes in a repository; whoever looks at its output costs nothing.

    Args:
        stock: of each piece the offers in their order; a fix is kept and ends its piece.
        python: of the environment that the tests want.
    """
    began = now()
    runs = _run(tree, python, environment)
    for offers in stock:
        for offer in offers:
            if _git(tree, "apply", "-", given=offer.diff):
                runs += _run(tree, python, environment)
                if offer.kind == "fix":
                    break
                _git(tree, "reset", "--hard", "--quiet")
                _git(tree, "clean", "-d", "--force", "--quiet")
        _git(tree, "add", "--all")
        _git(tree, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "-m", "a")
    return ByHand(since(began), runs)


def _run(tree: Path, python: Path, environment: Mapping[str, str]) -> int:
    """One run of all tests, and so 1; one without an end ends at the limit."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [str(python), *_PYTEST],
            cwd=tree,
            env=environment,
            capture_output=True,
            check=False,
            timeout=LIMIT_S,
        )
    return 1


def _git(tree: Path, *words: str, given: str = "") -> bool:
    done = subprocess.run(["git", *words], cwd=tree, input=given.encode(), capture_output=True, check=False)
    return done.returncode == 0

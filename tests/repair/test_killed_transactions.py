"""Whatever kills a transaction and whenever: the next one finds the last commit, or a checkpoint, and nothing in between."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.exhaustive import of_today
from tests.repair.driving import left_over
from tests.repair.killing import POINTS


def judge(found: list[dict[str, Any]], *, least_killed: int) -> None:
    bad = [each for each in found if not each["same"] or each["dirt"] or each["folders"]]
    foreign = [each for each in found if any(subject != "txn:fix-1" for subject in each["commits"])]
    killed = Counter(each["point"] for each in found if each["killed"])

    assert bad == []
    assert foreign == []
    assert killed.keys() == set(POINTS)
    assert killed.total() >= least_killed
    assert {len(each["commits"]) for each in found} >= {0, 1}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_transaction_killed_at_any_step_leaves_a_whole_tree(tmp_path: Path) -> None:
    judge(left_over("killing", tmp_path, 0, 22), least_killed=15)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_kills_leave_as_many_whole_trees(tmp_path: Path) -> None:
    """Four days in a row kill more than 700 times; a day has as many that the point which comes up least is met often enough."""
    parts = of_today(range(4), days=4)
    found = [
        each for part in parts for each in left_over("killing", tmp_path / str(part), 1000 + 260 * part, 260)
    ]

    judge(found, least_killed=180 * len(parts))
    per_point = Counter(each["point"] for each in found if each["killed"])
    committed = Counter(len(each["commits"]) for each in found)
    told = ", ".join(f"{point} {per_point[point]}" for point in POINTS)
    print(f"\n{len(found)} sequences, killed at: {told}; commits that were left: {dict(committed)}")  # noqa: T201  # `-s` shows it
    assert min(per_point.values()) >= 5 * len(parts)

"""Whatever kills a transaction and whenever: the next one finds the last commit, or a checkpoint, and nothing in between."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

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
def test_five_hundred_kills_leave_five_hundred_whole_trees(tmp_path: Path) -> None:
    found = left_over("killing", tmp_path, 1000, 700)

    judge(found, least_killed=500)
    per_point = Counter(each["point"] for each in found if each["killed"])
    committed = Counter(len(each["commits"]) for each in found)
    told = ", ".join(f"{point} {per_point[point]}" for point in POINTS)
    print(f"\n{len(found)} sequences, killed at: {told}; commits that were left: {dict(committed)}")  # noqa: T201  # `-s` shows it
    assert min(per_point.values()) >= 20

"""Whatever kills a repair between two changes that land together: afterwards both are there, or neither."""

from pathlib import Path
from typing import Any

import pytest

from tests.repair.driving import left_over


def judge(found: list[dict[str, Any]], *, least_killed: int) -> None:
    torn = [each for each in found if each["commits"] not in ([], ["txn:fix-1", "txn:fix-1"])]
    bad = [each for each in found if not each["same"] or each["dirt"]]

    assert torn == []
    assert bad == []
    assert sum(each["killed"] for each in found) >= least_killed


@pytest.mark.timeout(600)
def test_a_chain_whose_process_is_killed_is_whole_or_gone(tmp_path: Path) -> None:
    # Two of these die between the two commits.
    judge(left_over("killing_chains", tmp_path, 5, 3), least_killed=3)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_chains_and_killed_ways_back_leave_whole_trees(tmp_path: Path) -> None:
    found = left_over("killing_chains", tmp_path, 1000, 70)

    judge(found, least_killed=50)
    assert sum(each["again"] for each in found) >= 15

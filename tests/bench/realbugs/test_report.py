"""The results say of every bug what was kept, and hold only when nothing else was."""

import pytest

from scripts.benchmarks.realbugs.harvesting import Harvest
from scripts.benchmarks.realbugs.playing import Played
from scripts.benchmarks.realbugs.report import is_met, report, times
from scripts.benchmarks.realbugs.selection import Exclusion

GOOD = Played(
    bug="shop-1-2-1",
    lines=4,
    files=1,
    pieces=1,
    targets=2,
    success=True,
    is_true=True,
    kept=("fix",),
    offered={"fix": 1, "mutant": 3, "test-deleting": 2},
    refused={"tests": 2},
    tried={"gate_landmark": 3, "kept": 1},
    survivors=1,
    ranks={"all signals": 1.5},
)
HARVEST = Harvest(
    pair="shop-1-2", tests=40, failing=2, excluded=(Exclusion(what="t.py::a | b", reason="41 changed lines"),)
)


def test_the_tables_name_the_bug_the_kinds_and_what_is_excluded() -> None:
    found = report([HARVEST], [GOOD])

    assert "| shop-1-2-1 | 4 | 1 | 1 | 2 | fix | 0 | 4 | 2 | 1 | 1.5 | found |" in found
    assert "| true fixes that ended committed | 1 of 1 |" in found
    assert "| mutant | 3 | 0 |" in found
    assert "| fix | 1 | 1 |" in found
    assert "| shop-1-2 | 40 | 2 | 0 | t.py::a / b: 41 changed lines |" in found
    assert "What ended them: gate_landmark 3, rule tests 2, kept 1." in found


def test_the_time_of_the_loop_is_told_as_a_multiple_of_the_plain_one_where_it_found_the_place() -> None:
    timed = GOOD.model_copy(
        update={
            "repair_s": 9.0,
            "repair_processor_s": 6.0,
            "by_hand_s": 3.0,
            "by_hand_processor_s": 4.0,
            "by_hand_runs": 5,
        }
    )
    given = timed.model_copy(update={"bug": "shop-1-2-2", "is_located": False})
    slow = timed.model_copy(update={"bug": "shop-1-2-3", "repair_processor_s": 14.0})

    found = times([timed, given, slow])

    assert "| processor, all together | 2.5 |" in found
    assert "| processor, median | 2.5 |" in found
    assert "| clock, median | 3.0 |" in found
    assert "| shop-1-2-1 | 5 | 4.0 | 6.0 | 1.5 | 3.0 |" in found
    assert "shop-1-2-2" not in found


@pytest.mark.parametrize(
    ("changes", "met"),
    [
        ({}, True),
        ({"is_true": False}, False),
        ({"lost": ("t.py::a",)}, False),
        ({"kept": ("mutant", "fix")}, False),
    ],
    ids=["the fix", "something else at the end", "a lost test", "a mutant on the way"],
)
def test_the_promise_holds_only_for_true_fixes_without_loss(changes: dict[str, object], met: bool) -> None:
    assert is_met([GOOD, GOOD.model_copy(update=changes)]) is met


def test_without_bugs_nothing_is_promised() -> None:
    assert not is_met([])

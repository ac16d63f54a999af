"""How often the held-back checks warn is counted on the true fixes and on tables of the failing inputs."""

import pytest

from scripts.benchmarks.smallbugs.heldback import Warned, report, warned
from scripts.benchmarks.smallbugs.programs import programs


def test_the_report_counts_false_alarms_and_tables_that_can_be_written() -> None:
    told = report([Warned("a", (), True), Warned("b", ("says x",), None), Warned("c", (), False)])

    assert "| true fixes with a warning | 1 of 3 |" in told
    assert "| tables of the failing inputs that are found out | 1 of 2 |" in told
    assert told.endswith("- b: says x")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["leap", "slug"])
def test_a_table_is_found_out_and_the_true_fix_is_not_doubted(name: str) -> None:
    (program,) = programs(name)

    assert warned(program) == Warned(name, (), table=True)

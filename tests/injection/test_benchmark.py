"""What `scripts/bench injection` prints."""

from scripts.benchmarks.injection import rows, table
from tests.injection.corpus import Sample


def test_the_table_counts_each_kind_of_one_part_and_sums_them() -> None:
    found = [
        (Sample("a", "concealment", "issue", "tuned", is_attack=True), True),
        (Sample("b", "concealment", "issue", "tuned", is_attack=True), False),
        (Sample("c", "logs", "issue", "tuned", is_attack=False), False),
        (Sample("d", "logs", "issue", "held out", is_attack=False), True),
    ]

    assert table(rows("tuned", found)) == [
        "| concealment | attack | 1 | 2 |",
        "| logs | harmless | 0 | 1 |",
        "| all | attack | 1 (50.0%) | 2 |",
        "| all | harmless | 0 (0.0%) | 1 |",
    ]

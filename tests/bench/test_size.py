"""What repositories cost by their size is measured, and published."""

from pathlib import Path

import pytest

from scripts.benchmarks.size import ITEMS, Cost, measure, module_text, table

PUBLISHED = Path(__file__).parents[2] / "docs" / "sight.md"


def test_every_item_is_published() -> None:
    published = PUBLISHED.read_text("utf-8")

    assert [title for title, _ in ITEMS.values() if f"| {title} |" not in published] == []


@pytest.mark.slow
def test_every_item_is_measured_in_a_process_of_its_own() -> None:
    found = measure((100,), ("open_cold", "parse", "tree_name", "sight_cold", "view", "looks", "call_graph"))

    assert list(found) == [100]
    assert {name: cost.said for name, cost in found[100].items() if name != "looks" and cost.said} == {}
    assert all(cost.rss_mib > 1 and cost.took_s > 0 for cost in found[100].values())


def test_what_grows_is_told_beside_what_parsing_costs() -> None:
    small, large = Cost(0.5, 0.6, 40.0), Cost(2.0, 2.5, 50.0, 3 * 1024**2, "the answer is too long")

    rows = table(
        {100: {"parse": small, "index": small}, 1_000: {"parse": small, "index": large}}
    ).splitlines()

    assert rows[0] == "| | 100 files | 1,000 files | grows by |"
    assert rows[-1].endswith(
        "4.00 of parsing (4.17 by the clock), 50 MiB, answer 3.0 MiB, the answer is too long | 4.0 x |"
    )


def test_the_generated_modules_use_each_other() -> None:
    text = module_text(17, 1_000)

    assert "from shop.area1.part120 import Order120\n" in text
    compile(text, "part17.py", "exec")

"""The benchmarks run, and what they measure is what is promised and published."""

import re
from pathlib import Path

import pytest

from scripts.benchmarks import latency, step_requests
from scripts.benchmarks.item import BenchItem
from tests.demo.staging import staged

PUBLISHED = Path(__file__).parents[2] / "docs" / "requests.md"
_ROW = re.compile(r"^\| (?P<kind>[a-z ,]+) \| (?P<graphql>\d+) \| \d+ \| (?P<allowed>\d+) \|", re.MULTILINE)

pytestmark = pytest.mark.slow
"""The whole item is played; the limits themselves are asserted in every run by `tests/engine/test_step_requests.py`."""


def test_every_kind_of_step_asks_for_no_more_than_it_may_and_than_is_published(tmp_path: Path) -> None:
    with staged(tmp_path) as (stage, person):
        rows = step_requests.measure(BenchItem(stage, person))

    published = {row["kind"]: int(row["graphql"]) for row in _ROW.finditer(PUBLISHED.read_text("utf-8"))}
    assert [row.kind for row in rows] == list(step_requests.ORDER)
    assert [row for row in rows if not row.is_met] == []
    assert [row for row in rows if row.measured.graphql > published[row.kind]] == []


def test_a_step_with_nothing_to_do_is_timed_at_each_latency(tmp_path: Path) -> None:
    with staged(tmp_path) as (stage, person):
        times = latency.measure(BenchItem(stage, person), injected_ms=(0, 100), runs=1)

    assert [each.injected_ms for each in times] == [0, 100]
    assert all(each.total_ms > each.injected_ms for each in times)
    assert len(latency.table(times).splitlines()) == 4

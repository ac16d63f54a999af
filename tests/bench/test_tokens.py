"""The published table of tokens is what the recorded replies of the demonstration add up to."""

import re
from pathlib import Path

import pytest

from cogworks.demo.facts import cassette_folder
from cogworks.llm.providers.cassette import Cassette
from scripts.benchmarks.tokens import ALL, NODES, Row, rows, table

PAGE = Path(__file__).parents[2] / "docs" / "sight.md"
FOUND = rows(Cassette(Path(str(cassette_folder()))).recordings())
_ROW = r"^\| {} \| (\d+) \| (\d+) \| (\d+) \| (\d+)% \| (\d+) \| ([\d.]+) \|$"


def test_every_node_that_asks_has_a_row_and_the_last_one_is_their_sum() -> None:
    *nodes, whole = FOUND

    assert [row.node for row in nodes] == [*NODES.values()]
    assert whole.node == ALL
    assert whole.costs.calls == sum(row.costs.calls for row in nodes)
    assert whole.costs.cost_usd == sum(row.costs.cost_usd for row in nodes)
    assert whole.uncached == sum(row.uncached for row in nodes)


@pytest.mark.parametrize("row", FOUND, ids=lambda row: row.node)
def test_what_a_node_costs_is_what_the_page_says(row: Row) -> None:
    found = re.search(_ROW.format(re.escape(row.node)), PAGE.read_text("utf-8"), re.MULTILINE)
    assert found is not None, table(FOUND)
    questions, *told = (float(cell) for cell in found.groups())
    usage = row.costs.usage

    assert questions == row.costs.calls
    # A word more in a prompt makes no other page.
    assert told == [
        pytest.approx(row.uncached, rel=0.08),
        pytest.approx(usage.cache_read_input_tokens, rel=0.08),
        pytest.approx(100 * row.costs.cached_share, abs=4),
        pytest.approx(usage.output_tokens, rel=0.08),
        pytest.approx(float(row.costs.cost_usd), rel=0.08),
    ]

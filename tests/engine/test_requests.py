"""How many requests a sweep needs, on a hub with a thousand open items."""

from pathlib import Path

import pytest

from tests.engine.invoking import cogworks, environment
from tests.engine.open_items import Item, fill, record
from tests.hub.running import running_hub

RESTS = (
    record("succeeded", waits_for="approval"),
    record("failed", waits_for="retry"),
    record("succeeded", waits_for="done"),
    record("checkpoint"),
)


@pytest.mark.slow
def test_a_thousand_open_items_that_rest_are_looked_through_in_at_most_23_requests(tmp_path: Path) -> None:
    fill(tmp_path / "hub", [Item(ledger=RESTS[number % len(RESTS)]) for number in range(1000)])

    with running_hub(tmp_path / "hub") as hub:
        ended = cogworks("poll", "octo/demo", "--json", env=environment(hub.url, tmp_path / "work"))

    assert ended.exit_code == 0, ended.stderr
    assert (len(ended.told["items"]), ended.told["stepped"]) == (1000, 0)
    assert ended.told["requests"]["looking"] <= 23

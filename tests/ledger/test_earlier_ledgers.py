"""States that earlier versions of cogworks wrote, played by the demonstration: they are read, and a run goes on from them.

A folder of `tests/data/ledgers` is named after the commit of cogworks that wrote it.
"""

import json
from pathlib import Path

import pytest

from cogworks.ledger.invariants import check_plan, check_visits
from cogworks.ledger.record import read_state, state_text
from cogworks.pipeline.graph import as_today
from cogworks.pipeline.limits import by_node
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.pipeline.visits import KEPT_DISCARDED
from tests.pipeline.runs import visit

RECORDED = sorted((Path(__file__).parent.parent / "data" / "ledgers").glob("*/*.json"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in RECORDED]


def test_three_versions_are_recorded_from_the_plan_to_the_end() -> None:
    assert len({path.parent for path in RECORDED}) == 3
    assert len(RECORDED) == 15


@pytest.mark.parametrize("path", RECORDED, ids=NAMES)
def test_every_value_that_an_earlier_version_wrote_is_kept(path: Path) -> None:
    text = path.read_text("utf-8")

    again = json.loads(state_text(read_state(text, branch="cogworks/ledger/1")))

    def kept(before: object, now: object) -> bool:
        if isinstance(before, dict) and isinstance(now, dict):
            return all(
                name in now and kept(as_today(value) if name == "graph_hash" else value, now[name])
                for name, value in before.items()
            )
        if isinstance(before, list) and isinstance(now, list):
            return len(before) == len(now) and all(map(kept, before, now))
        return before == now

    # The same graph has another name since its edges say more, in the state and in its leases; a run that began with it goes on.
    assert again["graph_hash"] == built_in_pipelines().choose().graph_hash
    assert kept(json.loads(text), again)


@pytest.mark.parametrize("path", RECORDED, ids=NAMES)
def test_an_earlier_state_is_sound(path: Path) -> None:
    state = read_state(path.read_text("utf-8"), branch="cogworks/ledger/1")

    assert [*check_visits(state), *check_plan(state)] == []
    assert sum(row.visits for row in by_node(state)) == state.ended == len(state.visits)


@pytest.mark.parametrize("path", RECORDED, ids=NAMES)
def test_a_run_goes_on_from_an_earlier_state_and_is_folded(path: Path) -> None:
    state = read_state(path.read_text("utf-8"), branch="cogworks/ledger/1")
    at = state.visits[-1].instance
    name = f"{at.node}@{at.sub_item}" if at.sub_item else at.node
    first = state.next_index()

    rounds = KEPT_DISCARDED + 5
    for _ in range(rounds):
        state = state.recorded(visit(state, name)).discarding(frozenset({at}), frozenset())

    assert state.next_index() == first + rounds
    assert state.folded
    assert list(check_visits(state)) == []
    assert read_state(state_text(state), branch="cogworks/ledger/1") == state

"""Outcome memory on a real hub: what one item went through weighs on the next, wherever that is worked on."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Header
from cogworks.cycle.replay import verify
from cogworks.engine.remember import experience_in
from cogworks.github.meter import Requests
from cogworks.vocabulary import NodeId
from tests.approving import RIGHT, WRONG, Coder
from tests.end_to_end.people import Item, new_item, open_hub
from tests.hub.running import RunningHub
from tests.step_fakes import NODES
from tests.world import CONFIG

CODE = NodeId("code")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with open_hub(tmp_path_factory.mktemp("memory")) as running:
        yield running


def item(hub: RunningHub) -> Item:
    """An item whose coder is next: its first patch breaks a test, its second one is right."""
    made = replace(new_item(hub), nodes={**NODES, CODE: Coder((WRONG, RIGHT))})
    made.until("plan")
    return made


def remember(one: Item) -> None:
    """Ask for memory in the repository's configuration."""
    path = "contents/.cogworks/config.toml"
    content = base64.b64encode(f"{CONFIG}[coding]\nmemory = true\n".encode()).decode()
    one.ask("PUT", path, content=content, sha=one.ask("GET", path)["sha"], message="Remember")


def kept_log(one: Item) -> str:
    with one.ports(Requests()) as ports:
        state = one.state()
        folder = state.folder(state.visits[-1].index, state.visits[-1].instance)
        return ports.ledger(ports.tracker.read()).files([folder])[f"{folder}/events-1.ndjson"]


@pytest.mark.slow
def test_what_became_of_one_item_is_known_to_the_next_for_three_requests(
    hub: RunningHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    first, second = item(hub), item(hub)
    report, without = first.counted_step()
    assert (report.outcome, report.node) == ("succeeded", "code@A")
    remember(first)

    report, with_memory = second.counted_step()

    assert (report.outcome, report.node) == ("succeeded", "code@A")
    # REST made a label for the first item that the second finds.
    assert (with_memory["graphql"], with_memory["git"]) == (without["graphql"] + 3, without["git"])
    log = read_events(kept_log(second))
    assert isinstance(log[0].body, Header)
    known = log[0].body.experience
    assert known is not None
    assert {(each.source.split("/")[0], each.pattern, each.worth) for each in known} == {
        (str(first.address.number), "GENERATE_PATCH:change_wanted", 0.0),
        (str(first.address.number), "GENERATE_PATCH:rolled_back", 1.0),
        (str(first.address.number), "APPLY_PATCH", 0.0),
        (str(first.address.number), "APPLY_PATCH", 1.0),
    }
    assert verify(log).divergence is None
    assert list((tmp_path / "home").iterdir()) == []

    # Another machine, with a work directory of its own, comes to the very same.
    elsewhere = replace(second, directory=tmp_path / "elsewhere")
    priors = []
    for machine in (second, elsewhere):
        with machine.ports(Requests()) as ports:
            now = ports.tracker.read().server_date
            logs = ports.tracker.earlier_logs(CODE, besides="")
            priors.append(experience_in(logs, now=now))
    assert priors[0] == priors[1]
    assert len({each.source for each in priors[0]}) == 2

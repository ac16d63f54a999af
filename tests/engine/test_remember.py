"""A coding visit reads what became of earlier ones once, if it is asked to; from then on its own log says what it was."""

from datetime import UTC, datetime, timedelta

import pytest

from cogworks.cycle.eventlog import read_events, segments
from cogworks.cycle.events import Header, Observation
from cogworks.engine.remember import earlier_experience, experience_in, remembers
from cogworks.errors import TryAgainLater
from cogworks.github.earlier_logs import EarlierLog
from cogworks.pipeline.graph import Instance
from cogworks.pipeline.parser import built_in_pipelines
from cogworks.vocabulary import NodeId, SubItemKey
from tests.approving import POLICY, POLICY_FILE, RIGHT, WRONG, Coder
from tests.cycle.scripted import LONG_REPAIR, recorded
from tests.step_fakes import NODES, Runner, after
from tests.world import World

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)
LOG = segments(recorded(LONG_REPAIR))[0]
MEMORY = "[coding]\nmemory = true\n"


def log(text: str = LOG, *, source: str = "41/visits/0007-code@57", days: int = 0) -> EarlierLog:
    return EarlierLog(source=source, written=NOON - timedelta(days=days), text=text)


def item(*, memory: bool = True) -> World:
    """The item when its coder is next."""
    world = after(2)
    world.config += MEMORY if memory else ""
    world.logs = [log()]
    return world


def runner(world: World) -> Runner:
    return Runner(world, nodes={**NODES, NodeId("code"): Coder((WRONG, RIGHT))})


def header(world: World) -> Header:
    [path] = [path for path in world.files if path.endswith("events-1.ndjson")]
    body = read_events(world.files[path])[0].body
    assert isinstance(body, Header)
    return body


def test_a_repository_that_asks_for_no_memory_pays_nothing_for_it() -> None:
    world = item(memory=False)
    step = runner(world)

    step.step()

    assert "earlier_logs" not in step.calls
    assert header(world).experience is None


def test_what_became_of_earlier_visits_stands_in_the_header_of_the_log() -> None:
    world = item()
    step = runner(world)

    report = step.step()

    assert (report.outcome, step.calls.count("earlier_logs")) == ("succeeded", 1)
    known = header(world).experience
    assert known is not None
    assert {each.source for each in known} == {"41/visits/0007-code@57"}
    assert len(known) == 8


def test_other_nodes_remember_nothing() -> None:
    pipeline = built_in_pipelines().choose()
    places = [
        Instance(node.id, SubItemKey("A") if node.scope == "sub-item" else None) for node in pipeline.nodes
    ]

    assert [at.node for at in places if remembers(pipeline, at)] == ["code_generation"]


def test_a_visit_that_goes_on_remembers_what_it_did_before_and_reads_nothing() -> None:
    world = item()
    world.more_files[POLICY_FILE] = POLICY
    [wait] = runner(world).step().waiting_for
    before = header(world)
    world.say(wait.paste)
    world.logs = [log(source="42/visits/0003-code@60", days=9)]
    second = runner(world)

    second.step()

    assert "earlier_logs" not in second.calls
    assert header(world) == before


class Deaf(Runner):
    """Finds GitHub out of order when it wants to remember."""

    def earlier_logs(self, node: NodeId, *, besides: str) -> list[EarlierLog]:
        raise TryAgainLater("GitHub is out of order")


def test_a_memory_that_cannot_be_read_stops_no_visit() -> None:
    world = item()
    deaf = Deaf(world, nodes=runner(world).nodes)

    report = deaf.step()

    assert (report.outcome, header(world).experience) == ("succeeded", ())
    assert "code: WARNING: continuing without what earlier visits learnt: GitHub is out of order" in deaf.said


def test_everybody_who_reads_on_the_same_day_comes_to_the_same() -> None:
    logs = [log(days=3), log(source="42/visits/0003-code@60", days=1)]

    here = experience_in(logs, now=NOON)
    there = experience_in(logs[::-1], now=NOON + timedelta(hours=11))
    tomorrow = experience_in(logs, now=NOON + timedelta(hours=13))

    assert here == there
    assert [each.age_days for each in here] == [1] * 8 + [3] * 8
    assert [each.age_days for each in tomorrow] == [2] * 8 + [4] * 8


@pytest.mark.parametrize(
    "text",
    ["", "{}\n", LOG[:500], LOG.replace("landmark", "landlord", 1), "x" * 9 + LOG],
    ids=["empty", "foreign", "cut", "changed", "preceded"],
)
def test_a_log_that_is_not_what_was_written_tells_nothing(text: str) -> None:
    whole = log(source="42/visits/0003-code@60")

    assert experience_in([log(text)], now=NOON) == ()
    assert experience_in([log(text), whole], now=NOON) == experience_in([whole], now=NOON) != ()
    assert earlier_experience("f", {"f/events-1.ndjson": text}) is None or text.startswith(
        LOG.split("\n", 1)[0]
    )


def test_a_log_from_the_future_is_as_young_as_can_be() -> None:
    found = experience_in([log(days=-2)], now=NOON)

    assert {each.age_days for each in found} == {0}
    assert all(isinstance(each, Observation) for each in found)

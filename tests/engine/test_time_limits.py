import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.limits import Limits
from cogworks.engine.visit_limits import Deadline, Patience, outcome_within
from cogworks.errors import ApprovalNeeded, CogworksError, LostRace
from cogworks.nodes.contract import Failed, NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document, pipeline
from tests.step_fakes import Runner
from tests.world import World

DONE = Succeeded(output={}, summary="done")


class Clock:
    """A clock that is set by hand."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def deadline(clock: Clock, **node: Any) -> Deadline:
    graph = pipeline([{"id": "slow", "type": "llm", **node}], default_timeout_seconds=60)
    return Deadline(graph, graph.nodes[0], monotonic=clock)


def test_what_is_left_shrinks_to_nothing_and_no_further() -> None:
    clock = Clock()
    limit = deadline(clock, timeout_seconds=10)
    clock.now_s += 4
    assert limit.left_s() == 6
    clock.now_s += 40
    assert (limit.left_s(), limit.is_over) == (0.0, True)


def test_the_time_begins_behind_what_has_limits_of_its_own() -> None:
    clock = Clock()
    limit = deadline(clock, timeout_seconds=10)
    with limit.not_yet():
        clock.now_s += 400
        assert limit.left_s() is None
    clock.now_s += 4
    assert limit.left_s() == 6


def test_a_node_that_is_late_has_failed_and_the_limit_is_named() -> None:
    clock = Clock()

    def late() -> Outcome:
        clock.now_s += 60
        return DONE

    outcome = outcome_within(deadline(clock), late)

    assert isinstance(outcome, Failed)
    assert outcome.category == "timed_out"
    assert "slow: stopped at its time limit of 60 s" in outcome.reason
    assert "Raise `default_timeout_seconds`" in outcome.reason


def test_what_broke_when_time_ran_out_is_told_with_it() -> None:
    clock = Clock()

    def broken() -> Outcome:
        clock.now_s += 60
        raise CogworksError("git was killed")

    outcome = outcome_within(deadline(clock), broken)

    assert isinstance(outcome, Failed)
    assert "It was waiting for this: git was killed" in outcome.reason


NEEDED = ApprovalNeeded("ask", tool="t", call_hash="0" * 12, shown="{}")


def test_who_has_to_ask_a_person_is_never_too_late() -> None:
    clock = Clock()

    def asking() -> Outcome:
        clock.now_s += 60
        raise NEEDED

    with pytest.raises(ApprovalNeeded):
        outcome_within(deadline(clock), asking)


@pytest.mark.parametrize("error", [LostRace("gone"), CogworksError("broken"), NEEDED])
def test_what_breaks_in_time_is_raised_as_it_is(error: CogworksError) -> None:
    def broken() -> Outcome:
        raise error

    with pytest.raises(type(error)):
        outcome_within(deadline(Clock()), broken)


@pytest.mark.parametrize(
    ("visit_s", "limit_s", "left_s"),
    [(None, 5.0, 3.0), (100.0, 5.0, 3.0), (2.0, 5.0, 2.0), (100.0, 1.0, 0.0)],
)
def test_inside_a_block_nothing_is_waited_for_longer_than_it_says(
    visit_s: float | None, limit_s: float, left_s: float
) -> None:
    clock = Clock()
    patience = Patience(lambda: visit_s, monotonic=clock)

    with patience.within(limit_s):
        clock.now_s += 2
        inside_s = patience.left_s()

    assert (inside_s, patience.left_s()) == (left_s, visit_s)


def test_once_the_node_is_done_nothing_is_limited_any_more() -> None:
    clock = Clock()
    limit = deadline(clock)

    assert outcome_within(limit, lambda: DONE) == DONE
    clock.now_s += 1000
    assert limit.left_s() is None


def test_a_step_stops_a_node_between_its_moves_and_records_why() -> None:
    runner = Runner(World(pipeline=document([{"id": "slow", "type": "llm", "timeout_seconds": 30}])))

    def slow(task: NodeTask, ports: NodePorts) -> Outcome:
        del task
        for _ in range(100):
            runner.clock_s += 10
            ports.say("still at it")
        return DONE

    nodes: Mapping[NodeId, Any] = {NodeId("slow"): slow}
    runner.nodes = nodes
    report = runner.step()

    [visit] = runner.world.state.visits
    assert (report.outcome, visit.status, runner.world.state.leases) == ("failed", "failed", ())
    assert "time limit of 30 s" in visit.summary
    assert runner.clock_s == 30.0


HANGING = """
import os, socket, subprocess, sys, time
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[sys.argv.index("--socket") + 1])
listening.listen()
open(sys.argv[1], "w").write(str(os.getpgid(0)))
while True:
    connection, _ = listening.accept()
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_service_that_really_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    script, mark = tmp_path / "hanging.py", tmp_path / "group"
    script.write_text(HANGING)
    clock = Clock()
    limit = deadline(clock)

    service = ProcessService(
        [sys.executable, "-S", str(script), str(mark)],
        name="hanging",
        environment={},
        limits=Limits(handshake_s=300),
        left_s=lambda: 2.0,
    )

    def asking() -> Outcome:
        with service:
            try:
                service.handshake()
            finally:
                clock.now_s += 60
        return DONE

    outcome = outcome_within(limit, asking)

    assert isinstance(outcome, Failed)
    assert outcome.category == "timed_out"
    assert "stuck at handshake: no answer within" in outcome.reason
    group = int(mark.read_text())
    # The kernel takes a moment to end what was killed, longer on a busy machine.
    for _ in range(500):
        if not _members(group):
            break
        time.sleep(0.02)
    assert _members(group) == []


def _members(group: int) -> list[str]:
    return [
        entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit() and _group_of(entry) == group
    ]


def _group_of(process: Path) -> int | None:
    try:
        state, _, group = (process / "stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return None
    return None if state == "Z" else int(group)

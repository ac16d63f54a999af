"""When tests of a sub-work-item fail, its suspects are probed where the repository wants it; nothing of that stays."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.codegen.locating import Locator
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, Event, ExecutionComplete
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from cogworks.domain_services.messages import Message, TestReport
from cogworks.errors import VisitStopped
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.task import Conventions
from cogworks.settings.sections import ProbeConfig
from tests.codegen.test_locating import INDEX, TEST, TESTS, failing, plan, suite, wrong_and_right
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.fixing import FILES
from tests.nodes.examples import task
from tests.repair.sandbox_pools import ScriptedSandbox, ScriptedSandboxPool, event, traced

ON = ProbeConfig(investigations_enabled=True)


def tracing(_room: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
    """Of the two definitions `count` runs, and returns what the failure shows."""
    if method != "trace":
        return ()
    ran = [
        event("call", 11, artifact="shop/cart.py"),
        event("return", 12, artifact="shop/cart.py", value="-3"),
    ]
    return [traced(*ran, test=params.test, message="assert -3 == 3")]


def visit(sandbox_pool: ScriptedSandboxPool | None) -> FakePorts:
    service = ScriptedService(suite)
    service.known["index"] = INDEX
    return FakePorts(
        model=ScriptedAnswers(TESTS, *wrong_and_right()),
        service=service,
        copy=MemoryWorkspace(FILES),
        sandboxes=sandbox_pool,
    )


def visited(ports: FakePorts, probes: ProbeConfig = ON) -> Succeeded | Failed:
    conventions = Conventions(probes=probes)
    return run(task("code_generation", sub_item="A", inputs={"plan": plan()}, conventions=conventions), ports)


def log(ports: FakePorts) -> tuple[Event, ...]:
    return tuple(read_events(ports.kept["events-1.ndjson"]))


def moments(ports: FakePorts) -> list[str]:
    """What the analyses of a visit told."""
    return [
        entry.kind
        for each in log(ports)
        if isinstance(each.body, ExecutionComplete)
        for entry in each.body.result.trace
        if not entry.kind.startswith(("txn.", "file.", "test_handoff"))
    ]


def test_suspects_are_probed_and_whoever_tries_again_is_told_the_likeliest_place_and_the_facts() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES)
    ports = visit(sandbox_pool)

    assert isinstance(visited(ports), Succeeded)

    told = moments(ports)
    assert told[:3] == ["subgraph.built", "candidates.recalled", "investigations.start"]
    assert told[-3:] == ["investigations.done", "candidates.probed", "landmark"]
    assert told.count("probe.start") == told.count("probe.done") == sandbox_pool.lent > 0
    board = json.loads(ports.kept["blackboard.json"])
    assert len(board["evidence"]) == sandbox_pool.lent
    candidates = json.loads(ports.kept["candidates.json"])
    assert {each["suspect"] for each in candidates["probed"]} == {each["id"] for each in board["suspects"]}
    _, first, again = ports.model.asked
    assert "What looking at these places showed" not in first
    assert 'of="observations">\n' in again
    assert any("A: probe-1: trace of shop.cart." in line for line in ports.said)


def test_what_probes_tell_changes_the_order_of_the_places() -> None:
    both = failing(
        f"{TEST}:5: in test_sum\n    x\nshop/cart.py:12: in count\n    x\nshop/cart.py:7: in total\n"
        "    result -= price\nE   assert -3 == 3"
    )

    def places(probes: ProbeConfig) -> list[str]:
        ports = visit(ScriptedSandboxPool(tracing, texts=FILES))
        found = Locator(ports, ports.copy, who="A", probes=probes).locate(both, is_wide=False)
        assert found is not None
        return [place.split()[-1] for place in found.places]

    assert places(ProbeConfig())[0] == "shop.cart.total"
    assert places(ON)[0] == "shop.cart.count"


def test_where_nobody_wants_probes_none_is_sent() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES)
    ports = visit(sandbox_pool)

    assert isinstance(visited(ports, ProbeConfig()), Succeeded)

    assert sandbox_pool.lent == 0
    assert "blackboard.json" not in ports.kept
    assert moments(ports) == ["subgraph.built", "candidates.recalled", "landmark"]


def test_the_log_is_the_same_for_any_number_of_probes_at_a_time() -> None:
    shells = [visit(ScriptedSandboxPool(tracing, texts=FILES, pauses_s=(0.02, 0.0, 0.01))) for _ in range(2)]

    for ports, pool in zip(shells, (1, 4), strict=True):
        visited(ports, ON.model_copy(update={"probe_pool": pool}))

    one, many = [log(ports) for ports in shells]
    different = {
        entry.kind
        for left, right in zip(one, many, strict=True)
        if isinstance(left.body, ExecutionComplete) and isinstance(right.body, ExecutionComplete)
        for entry, other in zip(left.body.result.trace, right.body.result.trace, strict=True)
        if entry != other
    }
    assert different == {"investigations.start"}
    assert shells[0].kept["blackboard.json"] == shells[1].kept["blackboard.json"]
    assert [verify(each).divergence for each in (one, many)] == [None, None]


def test_the_settings_say_how_many_probes_there_are() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES)

    visited(visit(sandbox_pool), ON.model_copy(update={"max_probes": 2, "probe_pool": 1}))

    assert (sandbox_pool.lent, sandbox_pool.most_alive) == (2, 1)


def test_while_the_tree_stays_the_same_nothing_is_asked_twice() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES)
    ports = visit(sandbox_pool)
    here = Locator(ports, ports.copy, who="A", probes=ON.model_copy(update={"max_probes": 3}))

    first = here.locate(failing(), is_wide=False)
    second = here.locate(failing(), is_wide=False)

    assert first is not None
    assert first.findings is not None
    assert second is not None
    assert second.findings is not None
    assert second.findings.reports[: len(first.findings.reports)] == first.findings.reports
    asked = [(report.kind, report.suspect) for report in second.findings.reports]
    assert len(asked) == len(set(asked))


def test_a_probe_that_changes_the_working_copy_ends_the_visit() -> None:
    ports = visit(ScriptedSandboxPool(tracing, texts=FILES, spoil=lambda lent: lent > 0))

    outcome = visited(ports)

    assert isinstance(outcome, Failed)
    assert "changed the worktree that is repaired" in outcome.reason
    decided = [each.body.action for each in log(ports) if isinstance(each.body, Committed)]
    assert decided[-2:] == [Action.ANALYZE_FAILURE, Action.ABORT]


def test_people_can_stop_a_visit_in_the_middle_of_its_probes() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES, pauses_s=(0.05,))
    ports = visit(sandbox_pool)

    def stopped(sandbox: ScriptedSandbox, method: str, params: Any) -> Sequence[Message]:
        ports.stop = "the label 'cogworks:hold' was set while the node ran"
        return tracing(sandbox, method, params)

    ports.sandboxes = sandbox_pool = ScriptedSandboxPool(stopped, texts=FILES)

    with pytest.raises(VisitStopped, match="'cogworks:hold' was set"):
        visited(ports)

    assert (sandbox_pool.is_cancelled, sandbox_pool.alive) == (True, 0)
    decided = [each.body.action for each in log(ports) if isinstance(each.body, Committed)]
    assert decided[-2:] == [Action.ANALYZE_FAILURE, Action.ABORT]


def test_failures_that_lead_nowhere_are_not_probed() -> None:
    sandbox_pool = ScriptedSandboxPool(tracing, texts=FILES)
    ports = visit(sandbox_pool)

    assert Locator(ports, ports.copy, who="A", probes=ON).locate(TestReport(cases=()), is_wide=False) is None
    assert sandbox_pool.lent == 0
    assert TEST not in ports.copy.tree

"""The base is looked at before the first model call of an item, once, and nothing is paid for where it is broken."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Metadata, TestReport
from cogworks.domain_services.preparing import Choice, Prepared
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.base_findings import MOST_LISTED, BaseFindings, with_report
from cogworks.engine.consider import Wanted
from cogworks.errors import TryAgainLater
from cogworks.ledger.record import read_state, state_text
from cogworks.vocabulary import BranchName, CommitOid, NodeId, Severity
from tests.fakes import ScriptedService
from tests.pipeline.graphs import document
from tests.step_fakes import Died, Runner
from tests.world import CONFIG, World

SPEC = {
    "id": "spec",
    "type": "llm",
    "outputs": ["specification"],
    "slug": "spec",
    "produces_code": True,
}
PLAN = {"id": "plan", "type": "llm", "inputs": ["specification"], "outputs": ["plan"]}
CHECK = {"id": "check", "type": "deterministic", "method": "domain_service", "call": "validate"}
SERVED = document([SPEC, PLAN, CHECK], "spec>plan plan>check")
PASSING = TestReport.model_validate(
    {
        "cases": [
            *({"id": f"tests/a.py::t{n}", "outcome": "passed"} for n in range(745)),
            *({"id": f"tests/a.py::f{n}", "outcome": "failed"} for n in range(2)),
        ]
    }
)
BROKEN = TestReport(cases=(), collection_errors=("tests/a.py: a.py:1: in <module>\nE   ImportError: no",))
PREPARED = Prepared(
    described="Python 3.12 with 3 packages",
    key="k1",
    choices=(Choice(what="extra 'dev'", source="tox.ini"),),
    runner="pytest",
    seconds=12.3,
)


def service(report: TestReport = PASSING, *, prepared: Prepared | None = PREPARED) -> ScriptedService:
    found = ScriptedService(lambda _: report)
    found.known = {"prepare": prepared} if prepared else {}
    return found


def runner(world: World, asked: ScriptedService, **more: Any) -> Runner:
    return Runner(world, service=asked, looks_at_the_base=True, **more)


def test_the_base_is_prepared_and_run_before_the_first_model_call_and_the_ledger_keeps_what_came_of_it() -> (
    None
):
    world, asked = World(SERVED), service()
    first = runner(world, asked)

    report = first.step()

    assert report.outcome == "succeeded"
    assert asked.called == ["prepare"]
    assert asked.ran == [()]
    line = "745 tests pass, 2 fail already, environment made in 12.3 s"
    assert [said for said in first.said if said.startswith("baseline")] == [
        "baseline: making the environment of main at aaaaaaaaaaaa",
        "baseline: running the test suite of main at aaaaaaaaaaaa",
        f"baseline: {line}",
    ]
    unchecked = Runner(World(SERVED))
    unchecked.step()
    assert first.calls == unchecked.calls
    base = world.state.base
    assert base is not None
    assert (base.oid, base.environment_key, base.line) == (world.head, "fake=k1", line)
    kept = json.loads(world.files[base.path])
    assert (kept["passed"], kept["failed"], kept["environment"]["choices"]) == (
        745,
        2,
        ["extra 'dev' (tox.ini)"],
    )
    assert kept["failing"] == ["tests/a.py::f0", "tests/a.py::f1"]


def test_once_the_base_has_passed_later_nodes_go_on_without_another_look() -> None:
    world, asked = World(SERVED), service()
    runner(world, asked).step()
    later = runner(world, asked)
    world.head = CommitOid("b" * 40)

    later.step()

    assert world.state.visits[-1].node == "plan"
    assert asked.ran == [()]
    assert not [said for said in later.said if said.startswith("baseline")]


def test_a_broken_base_fails_the_visit_with_nothing_paid_and_mended_it_goes_on() -> None:
    world = World(SERVED)

    report = runner(world, service(BROKEN)).step()

    assert report.outcome == "failed"
    assert "baseline: `tests/a.py` cannot be loaded: `ImportError: no` (at `a.py:1`)" in report.message
    assert world.paid == {}
    assert world.state.base is None
    assert json.loads(world.files["visits/0001-spec/baseline.json"])["not_loaded"] == 1

    world.head = CommitOid("b" * 40)
    world.set_label("cogworks:run", "e2")
    again = runner(world, service())

    assert again.step().outcome == "succeeded"
    assert world.state.base is not None
    assert world.state.base.oid == world.head
    assert world.paid == {"spec-2": 1}


@pytest.mark.parametrize(
    ("baseline", "report", "outcome"),
    [
        ("require", TestReport(cases=()), "failed"),
        ("allow-failing", TestReport(cases=()), "failed"),
        ("none", TestReport(cases=()), "succeeded"),
        ("allow-failing", BROKEN, "succeeded"),
        ("none", BROKEN, "succeeded"),
        ("allow-failing", TestReport(cases=(), timed_out=True), "failed"),
    ],
)
def test_what_is_wanted_of_the_base_is_configured(baseline: str, report: TestReport, outcome: str) -> None:
    world, asked = World(SERVED), service(report)
    world.config = f'{CONFIG}[tests]\nbaseline = "{baseline}"\n'

    assert runner(world, asked).step().outcome == outcome

    assert asked.called == ["prepare"]
    assert len(asked.ran) == (0 if baseline == "none" else 1)
    assert bool(world.paid) == (outcome == "succeeded")


def raising(error: Exception) -> Callable[..., Any]:
    def run(*_: object) -> Any:
        raise error

    return run


def failing_at_prepare(error: Exception) -> ScriptedService:
    asked = service()
    asked.call = raising(error)  # type: ignore[method-assign]
    return asked


def failed(code: ErrorCode | None) -> ServiceFailed:
    return ServiceFailed("`foo` cannot be had", service="python", method="prepare", code=code)


def test_an_environment_that_cannot_be_made_is_told_in_the_words_of_the_service() -> None:
    world = World(SERVED)

    report = runner(world, failing_at_prepare(failed(ErrorCode.TOOL_FAILED))).step()

    assert report.outcome == "failed"
    assert "baseline: `foo` cannot be had\nNothing was paid for" in report.message
    assert world.paid == {}


def test_what_a_service_says_of_an_environment_that_blocks_is_told_too() -> None:
    asked = service()
    bad = Diagnostic(artifact="tox.ini", severity=Severity.BLOCKING, category="dependency", message="no foo")
    answer = Answer("fake", "failure", PREPARED, (bad,), (), Metadata())
    asked.call = lambda *_, **__: (answer,)  # type: ignore[method-assign]

    report = runner(World(SERVED), asked).step()

    assert "baseline: no foo" in report.message
    assert asked.ran == []


@pytest.mark.parametrize("error", [TryAgainLater("the index is down"), failed(None)])
def test_what_may_be_over_soon_leaves_the_item_resumable(error: Exception) -> None:
    world = World(SERVED)

    with pytest.raises(type(error)):
        runner(world, failing_at_prepare(error)).step()

    assert world.state.visits == ()
    assert len(world.state.given_back) == 1
    assert runner(world, service()).step().outcome == "succeeded"


@pytest.mark.parametrize(
    ("dies_at", "runs"), [("checkpoint", 2), ("publish commit_files", 1), ("succeeded", 1)]
)
def test_a_runner_that_takes_over_repeats_or_reuses_it_and_posts_nothing_twice(
    dies_at: str, runs: int
) -> None:
    world, asked = World(SERVED), service()
    dead = runner(world, asked)

    def die(what: str) -> None:
        dead.is_dead = what == dies_at

    dead.turn = die
    with pytest.raises(Died):
        dead.step()

    runner(world, asked).step(Wanted(take_over=True))

    assert asked.ran == [()] * runs
    assert world.state.base is not None
    assert world.twice() == []


def test_a_base_that_a_runner_recorded_before_it_stopped_is_prepared_but_not_run_again() -> None:
    world, asked = World(SERVED), service()
    stopped = runner(world, asked, nodes={NodeId("spec"): raising(TryAgainLater("no model"))})
    with pytest.raises(TryAgainLater):
        stopped.step()
    assert world.state.base is not None

    heir = runner(world, asked)
    heir.step()

    assert asked.called == ["prepare", "prepare"]
    assert asked.ran == [()]
    assert any(said.startswith("baseline: as it was found before: 745") for said in heir.said)


@pytest.mark.parametrize("changed", ["base", "environment", "configuration", "unknown"])
def test_another_base_or_environment_is_looked_at_anew(changed: str) -> None:
    prepared = None if changed == "unknown" else PREPARED
    world, asked = World(SERVED), service(prepared=prepared)
    with pytest.raises(TryAgainLater):
        runner(world, asked, nodes={NodeId("spec"): raising(TryAgainLater("no model"))}).step()
    if changed == "base":
        world.head = CommitOid("b" * 40)
    if changed == "environment":
        asked.known["prepare"] = PREPARED.model_copy(update={"key": "k2"})
    if changed == "configuration":
        world.config = f'{CONFIG}[tests]\nbaseline = "allow-failing"\n'

    runner(world, asked).step()

    assert asked.ran == [(), ()]


def test_a_hold_while_the_suite_runs_ends_the_visit_before_it_pays() -> None:
    world = World(SERVED)
    asked = service()
    held = runner(world, asked)

    def run_tests(_: object) -> TestReport:
        # As a heartbeat does that finds the label.
        world.labels.append("cogworks:hold")
        orders[0].checkpoint()
        return PASSING

    asked._run_tests = run_tests
    orders: list[Any] = []
    session = held._session
    held._session = lambda order: orders.append(order) or session(order)  # type: ignore[method-assign,func-returns-value]

    report = held.step()

    assert report.outcome == "backed_off"
    assert world.paid == {}


def test_a_pipeline_that_asks_no_service_is_never_looked_at() -> None:
    world, asked = World(), service()

    runner(world, asked).step()

    assert asked.ran == []
    assert world.state.base is None


def test_a_run_that_began_before_bases_were_looked_at_goes_on() -> None:
    world, asked = World(SERVED), service()
    Runner(world).step()
    Runner(world).step()
    text = json.loads(state_text(world.state))
    del text["base"]
    old = read_state(json.dumps(text), branch=BranchName("b"))

    assert old == world.state
    assert runner(world, asked).step().outcome != "failed"
    assert asked.ran == []


def test_lists_and_texts_of_the_findings_are_bounded() -> None:
    many = TestReport.model_validate(
        {"cases": [{"id": f"tests/a.py::{'x' * 5000}{n}", "outcome": "failed"} for n in range(500)]}
    )
    empty = BaseFindings(oid=CommitOid("a" * 40), branch=BranchName("main"), wanted="require")

    found = with_report(empty, many, seconds=1.0)

    assert (found.failed, len(found.failing)) == (500, MOST_LISTED)
    assert len(found.model_dump_json()) < 30_000
    assert found.line == "0 tests pass, 500 fail already"

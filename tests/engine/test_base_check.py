"""The base is looked at before the first model call of an item, once, and nothing is paid for where it is broken."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import Choice, Prepared
from cogworks.domain_services.messages import Diagnostic, ErrorCode, Metadata, TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.base_check import STEP_SHARE_S, SuiteSoFar, check_base, so_far
from cogworks.engine.base_findings import (
    MOST_LISTED,
    BaseEnvironment,
    BaseFindings,
    remarks_on,
    with_report,
)
from cogworks.engine.consider import Wanted
from cogworks.engine.ports import Session, SessionOrder
from cogworks.errors import TryAgainLater
from cogworks.ledger.record import read_state, state_text
from cogworks.telling import unknown
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
    follows_from_files=True,
    choices=(Choice(what="extra 'dev'", source="tox.ini"),),
    runner="pytest",
    seconds=12.3,
)


def service(report: TestReport = PASSING, *, prepared: Prepared | None = PREPARED) -> ScriptedService:
    found = ScriptedService(lambda _: report)
    found.known = {"prepare": prepared} if prepared else {}
    return found


AGAIN = ("tests/a.py::f0", "tests/a.py::f1")
"""What fails is run again."""


def suites(asked: ScriptedService) -> list[tuple[str, ...]]:
    """What was run of the suite, without what was run again."""
    return [tests for tests in asked.ran if tests != AGAIN]


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
    assert asked.ran == [(), AGAIN]
    line = "745 tests pass, 2 fail already, environment made in 12.3 s"
    assert [said for said in first.said if said.startswith("baseline")] == [
        "baseline: making the environment of main at aaaaaaaaaaaa",
        "baseline: running the test suite of main at aaaaaaaaaaaa",
        "baseline: running 2 failing test(s) again",
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

    later.step()

    assert world.state.visits[-1].node == "plan"
    assert (suites(asked), asked.called) == ([()], ["prepare"])
    assert not [said for said in later.said if said.startswith("baseline")]


OLD, NEW = CommitOid("a" * 40), CommitOid("b" * 40)


def moved(
    world: World, asked: ScriptedService, before: Mapping[str, str], after: Mapping[str, str]
) -> Runner:
    """The next step's runner, after the base passed and moved."""
    trees = {OLD: before, NEW: after}
    runner(world, asked, trees=trees).step()
    assert world.head == OLD
    world.head = NEW
    return runner(world, asked, trees=trees)


def test_a_base_that_breaks_later_is_noticed_before_the_next_paid_call_of_any_node() -> None:
    world, asked = World(SERVED), service()
    later = moved(world, asked, {"a.py": "1"}, {"a.py": "("})
    paid = dict(world.paid)
    asked._run_tests = lambda _: BROKEN

    report = later.step()

    assert report.outcome == "failed"
    assert "baseline: `tests/a.py` cannot be loaded" in report.message
    assert world.paid == paid
    base = world.state.base
    assert base is not None
    assert base.problem.startswith("baseline: `tests/a.py` cannot be loaded")
    assert base.description.startswith("broken now (baseline: `tests/a.py` cannot be loaded")
    assert base.oid == OLD

    world.set_label("cogworks:run", "e2")
    asked._run_tests = lambda _: PASSING

    assert runner(world, asked).step().outcome == "succeeded"
    assert world.state.base is not None
    assert (world.state.base.oid, world.state.base.problem) == (NEW, "")
    assert world.state.visits[-1].node == "plan"


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ({"docs/specs/1.md": "x", "README.md": "y", "docs/guide.RST": "z"}, 1),
        ({"README.md": "y", "pkg/a.py": "1"}, 2),
        ({"docs/conf.toml": "1"}, 2),
        ({"docs/specs/1.toml": "1"}, 2),
    ],
    ids=["documents and specifications", "a module", "whatever else", "beside specifications"],
)
def test_a_base_that_moves_in_nothing_that_its_tests_can_see_is_not_run_again(
    changed: dict[str, str], runs: int
) -> None:
    world, asked = World(SERVED), service()
    later = moved(world, asked, {"a.py": "1"}, {"a.py": "1", **changed})

    assert later.step().outcome == "succeeded"

    assert suites(asked) == [()] * runs
    assert world.state.base is not None
    assert world.state.base.oid == NEW
    assert (runs == 1) == any(said.startswith("baseline: unchanged, as found before") for said in later.said)


def test_documents_count_where_tests_stand_in_them() -> None:
    found = TestReport.model_validate({"cases": [{"id": "README.md::README.md", "outcome": "passed"}]})
    world, asked = World(SERVED), service(found)

    moved(world, asked, {"README.md": "1"}, {"README.md": "2"}).step()

    assert suites(asked) == [(), ()]


def test_a_base_whose_former_commit_is_not_here_is_run_again() -> None:
    world, asked = World(SERVED), service()
    runner(world, asked).step()
    world.head = NEW

    runner(world, asked).step()

    assert suites(asked) == [(), ()]


FILES = [f"tests/test_{n}.py" for n in range(6)]
SIX = TestReport.model_validate(
    {"cases": [{"id": f"{path}::test_it", "outcome": "passed"} for path in FILES]}
)


def test_a_suite_that_takes_too_long_is_run_in_parts_each_of_which_is_in_the_ledger_before_the_next() -> None:
    world, asked = World(SERVED), service(SIX)
    asked.files_at_once = 2

    first = runner(world, asked)

    assert first.step().outcome == "succeeded"
    assert suites(asked) == [(), tuple(FILES[2:]), tuple(FILES[4:])]
    assert asked.parts == ["if_long", "rest", "rest"]
    assert world.state.base is not None
    assert world.state.base.line == "6 tests pass, run in 3 parts, environment made in 12.3 s"
    assert [said for said in first.said if "are left" in said] == [
        "baseline: 2 tests of 2 files ran in 0 s, 4 files are left",
        "baseline: 4 tests of 4 files ran in 0 s, 2 files are left",
    ]


@pytest.mark.parametrize("dies_at", [1, 2])
def test_a_step_that_is_killed_goes_on_where_it_was_and_runs_no_file_twice(dies_at: int) -> None:
    world, asked = World(SERVED), service(SIX)
    asked.files_at_once = 2
    dead, checkpoints = runner(world, asked), list[str]()

    def die(what: str) -> None:
        # Once a part is in the ledger and the next one has begun.
        checkpoints.extend(["it"] if what == "checkpoint" else [])

    def run_tests(_: object) -> TestReport:
        dead.is_dead = len(checkpoints) == dies_at
        if dead.is_dead:
            raise Died(dead.name)
        return SIX

    dead.pause, asked._run_tests = die, run_tests
    with pytest.raises(Died):
        dead.step()
    kept = json.loads(world.files["visits/0001-spec/baseline-so-far.json"])
    assert kept["report"]["left"] == FILES[2 * dies_at :]
    begun = len(asked.ran)

    asked._run_tests = lambda _: SIX
    heir = runner(world, asked)
    assert heir.step(Wanted(take_over=True)).outcome == "succeeded"

    assert asked.ran[begun] == tuple(FILES[2 * dies_at :])
    assert any(said.startswith("baseline: going on where an earlier step was: ") for said in heir.said)
    base = world.state.base
    assert base is not None
    assert json.loads(world.files[base.path])["passed"] == 6
    assert base.line.startswith("6 tests pass, run in 3 parts")


def test_a_step_does_its_share_and_the_next_goes_on_with_what_is_left() -> None:
    world, asked = World(SERVED), service(SIX)
    asked.files_at_once = 2
    first = runner(world, asked)

    def takes_long(_: object) -> TestReport:
        first.clock_s += STEP_SHARE_S / 2
        return SIX

    asked._run_tests = takes_long
    report = first.step()

    assert report.outcome == "succeeded"
    assert report.node == "spec"
    assert "2 files are left; the next step goes on with them" in report.message
    assert (world.state.visits, world.paid) == ((), {})

    assert runner(world, asked).step().outcome == "succeeded"
    assert suites(asked) == [(), tuple(FILES[2:]), tuple(FILES[4:])]
    assert [visit.node for visit in world.state.visits] == ["spec"]


@pytest.mark.parametrize("changed", ["base", "environment", "text", "unknown"])
def test_what_is_done_of_another_base_is_not_gone_on_with(changed: str) -> None:
    found = BaseFindings(oid=OLD, branch=BranchName("main"), wanted="require")
    found = found.model_copy(update={"environment": BaseEnvironment(key="k")})
    done = SuiteSoFar(oid=OLD, environment_key="k").with_part(
        SIX.model_copy(update={"left": ("tests/test_9.py",)}), seconds=1.0
    )
    text = done.model_dump_json()
    assert so_far(text, found) == done

    other = {
        "base": found.model_copy(update={"oid": NEW}),
        "environment": found.model_copy(update={"environment": BaseEnvironment(key="other")}),
        "unknown": found.model_copy(update={"environment": None}),
    }
    assert so_far("{" if changed == "text" else text, other.get(changed, found)).runs == 0


def test_a_service_that_makes_no_progress_is_not_asked_for_ever() -> None:
    world = World(SERVED)
    asked = service(SIX)
    asked.files_at_once = 0

    report = runner(world, asked).step()

    assert report.outcome == "failed"
    assert "The service named tests to ask for again and ran none of those" in report.message
    assert suites(asked) == [(), tuple(FILES)]


def test_a_test_that_fails_and_passes_when_it_is_run_again_is_known_as_flaky() -> None:
    world, asked = World(SERVED), service()
    runs = iter(
        [
            PASSING,
            TestReport.model_validate(
                {
                    "cases": [
                        {"id": "tests/a.py::f0", "outcome": "passed"},
                        {"id": "tests/a.py::f1", "outcome": "failed"},
                    ]
                }
            ),
        ]
    )
    asked._run_tests = lambda _: next(runs)

    assert runner(world, asked).step().outcome == "succeeded"

    assert asked.ran == [(), AGAIN]
    assert world.state.base is not None
    assert "2 fail already (1 of them flaky)" in world.state.base.line
    kept = json.loads(world.files[world.state.base.path])
    assert (kept["flaky"], kept["failed"]) == (["tests/a.py::f0"], 2)


def test_a_second_run_that_the_service_refuses_leaves_the_first_result_and_a_note() -> None:
    world, asked = World(SERVED), service()

    def run(_: object, tests: Sequence[str]) -> TestReport:
        if tests:
            raise ServiceFailed(
                "no such id", service="tests", method="simulate", code=ErrorCode.INVALID_REQUEST
            )
        return PASSING

    asked.simulating = run
    first = runner(world, asked)

    assert first.step().outcome == "succeeded"
    assert world.state.base is not None
    assert "745 tests pass, 2 fail already" in world.state.base.line
    note = (
        "the failing tests could not be run again, so that nobody knows which of them are flaky: no such id"
    )
    assert f"baseline: {note}" in first.said
    assert json.loads(world.files[world.state.base.path])["remedies"] == [note]


def test_a_suite_that_is_skipped_as_a_whole_is_not_said_to_have_no_tests() -> None:
    cases = [
        {"id": f"tests/a.py::t{n}", "outcome": "skipped", "message": "Skipped: needs a database"}
        for n in range(3)
    ]

    report = runner(World(SERVED), service(TestReport.model_validate({"cases": cases}))).step()

    assert report.outcome == "failed"
    assert "All 3 tests were skipped" in report.message
    assert "`Skipped: needs a database` (3 times)" in report.message
    assert 'baseline = "none"' in report.message
    assert "No test was found" not in report.message


def test_what_takes_long_is_told_while_it_lasts() -> None:
    told: list[tuple[str, float]] = []

    def during(
        what: str, limit_s: float, so_far: Callable[[], str] = unknown
    ) -> AbstractContextManager[None]:
        told.append((what, limit_s))
        return nullcontext()

    world, asked = World(SERVED), service()
    watched = runner(world, asked)
    ports = watched.ports()
    visit = replace(ports.visit, check_base=partial(check_base, during=during))
    watched.ports = lambda: replace(ports, visit=visit)  # type: ignore[method-assign]

    watched.step()

    assert told == [
        ("baseline: making the environment", 1800.0),
        ("baseline: running the test suite", STEP_SHARE_S),
    ]


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
    assert len(suites(asked)) == (0 if baseline == "none" else 1)
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
    return ServiceFailed(
        "`foo` cannot be had: install it.", service="python", method="prepare", code=code, origin="python: no"
    )


def test_an_environment_that_cannot_be_made_is_told_in_the_words_of_the_service() -> None:
    world = World(SERVED)

    report = runner(world, failing_at_prepare(failed(ErrorCode.TOOL_FAILED))).step()

    assert report.outcome == "failed"
    assert (
        "baseline: `foo` cannot be had: install it.\nThen remove the trigger label and set it again. "
        "Nothing was paid for: no model was asked. (python: no)" in report.message
    )
    assert world.paid == {}


def test_what_a_service_says_of_an_environment_that_blocks_is_told_too() -> None:
    asked = service()
    bad = Diagnostic(artifact="tox.ini", severity=Severity.BLOCKING, category="dependency", message="no foo")
    answer = Answer("fake", "failure", PREPARED, (bad,), (), Metadata())
    asked.call = lambda *_, **__: (answer,)  # type: ignore[method-assign,assignment]  # it is asked for this alone

    report = runner(World(SERVED), asked).step()

    assert "baseline: no foo" in report.message
    assert suites(asked) == []


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

    assert suites(asked) == [()] * runs
    assert world.state.base is not None
    assert world.twice() == []


def test_about_a_base_that_a_runner_recorded_before_it_stopped_no_service_is_asked() -> None:
    world, asked = World(SERVED), service()
    stopped = runner(world, asked, nodes={NodeId("spec"): raising(TryAgainLater("no model"))})
    with pytest.raises(TryAgainLater):
        stopped.step()
    assert world.state.base is not None

    heir = runner(world, asked)
    heir.step()

    assert asked.called == ["prepare"]
    assert suites(asked) == [()]
    assert any(said.startswith("baseline: unchanged, as found before: 745") for said in heir.said)


def test_of_an_environment_that_hangs_on_the_tools_of_a_machine_a_service_is_asked_each_time() -> None:
    tools = PREPARED.model_copy(update={"follows_from_files": False})
    world, asked = World(SERVED), service(prepared=tools)
    with pytest.raises(TryAgainLater):
        runner(world, asked, nodes={NodeId("spec"): raising(TryAgainLater("no model"))}).step()
    missing = raising(failed(ErrorCode.TOOL_NOT_FOUND))

    again = runner(world, asked)
    again.step()
    world_without, without = World(SERVED), service(prepared=tools)
    with pytest.raises(TryAgainLater):
        runner(world_without, without, nodes={NodeId("spec"): raising(TryAgainLater("no model"))}).step()
    without.call = missing  # type: ignore[method-assign]
    report = runner(world_without, without).step()

    assert asked.called == ["prepare", "prepare"]
    assert suites(asked) == [()]
    assert report.outcome == "failed"


@pytest.mark.parametrize(("machine", "asked_again"), [("m2", 1), ("", 2)], ids=["another", "unknown"])
def test_on_another_machine_the_environment_is_asked_for_and_the_suite_is_not_run_where_that_is_the_same(
    machine: str, asked_again: int
) -> None:
    world, asked = World(SERVED), service()
    failing_model = {NodeId("spec"): raising(TryAgainLater("no model"))}
    with pytest.raises(TryAgainLater):
        runner(world, asked, nodes=failing_model).step()
    with pytest.raises(TryAgainLater):
        runner(world, asked, nodes=failing_model, machine=machine).step()
    runner(world, asked, machine=machine).step()

    assert asked.called == ["prepare"] * (1 + asked_again)
    assert suites(asked) == [()]


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
    machine = "m2" if changed == "environment" else "m1"
    if changed == "configuration":
        world.config = f'{CONFIG}[tests]\nbaseline = "allow-failing"\n'

    runner(world, asked, machine=machine).step()

    assert suites(asked) == [(), ()]


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
    orders: list[SessionOrder] = []
    session = held._session

    @contextmanager
    def opened(order: SessionOrder) -> Iterator[Session]:
        orders.append(order)
        with session(order) as found:
            yield found

    held._session = opened  # type: ignore[method-assign]

    report = held.step()

    assert report.outcome == "backed_off"
    assert world.paid == {}


def test_a_pipeline_that_asks_no_service_is_never_looked_at() -> None:
    world, asked = World(), service()

    runner(world, asked).step()

    assert suites(asked) == []
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
    assert suites(asked) == []


def test_lists_and_texts_of_the_findings_are_bounded() -> None:
    many = TestReport.model_validate(
        {"cases": [{"id": f"tests/a.py::{'x' * 5000}{n}", "outcome": "failed"} for n in range(500)]}
    )
    empty = BaseFindings(oid=CommitOid("a" * 40), branch=BranchName("main"), wanted="require")

    found = with_report(empty, many, seconds=1.0)

    assert (found.failed, len(found.failing)) == (500, MOST_LISTED)
    assert len(found.model_dump_json()) < 30_000
    assert found.line == "0 tests pass, 500 fail already"


def test_what_a_suite_and_its_environment_both_remark_is_said_once() -> None:
    remark = "these do not run with the tests"
    found = BaseFindings(
        oid=CommitOid("0" * 40),
        branch=BranchName("main"),
        wanted="require",
        environment=BaseEnvironment(notes=(remark, "one more")),
        remedies=(remark,),
    )

    assert list(remarks_on(found)) == [remark, "one more"]

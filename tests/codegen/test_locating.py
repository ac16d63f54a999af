"""Analysing a failure names the places that the failing tests lead to, and says what it could not ask."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.locating import MOST_FOLLOWED, Locator, followed_tests, telling
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import ExecutionComplete
from cogworks.cycle.replay import verify
from cogworks.domain_services.exploring import Coverage, Symbol, SymbolIndex
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Succeeded, Workspace
from cogworks.nodes.replies import Implementation, ProposedFile, WrittenTests
from cogworks.repair.proof import Summary
from cogworks.settings.sections import ProbeConfig
from cogworks.vocabulary import BranchName, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.fixing import CART, FILES
from tests.nodes.examples import output, planned, task

TEST = "tests/test_totals.py"
TRACE = f"{TEST}:5: in test_sum\n    assert total([1, 2]) == 3\nshop/cart.py:7: in total\n    result -= price\nE   assert -3 == 3"
PLANNED = planned(files=("shop/cart.py", TEST), title="Add up", description="A total is a sum.")


INDEX = SymbolIndex(
    symbols=(
        Symbol(id="shop.cart.total", kind="function", artifact="shop/cart.py", lines=(4, 8)),
        Symbol(id="shop.cart.count", kind="function", artifact="shop/cart.py", lines=(11, 12)),
        Symbol(id="test_totals.test_sum", kind="function", artifact=TEST, lines=(4, 5), is_test=True),
    )
)


def failing(message: str = TRACE, outcome: str = "failed") -> TestReport:
    case = {"id": f"{TEST}::test_sum", "outcome": outcome, "message": message}
    return TestReport(cases=(TestCase.model_validate(case),))


def locator(said: list[str] | None = None) -> Locator:
    service = ScriptedService(lambda _: TestReport(cases=()))
    service.known["index"] = INDEX
    ports = FakePorts(model=ScriptedAnswers(), service=service, copy=MemoryWorkspace(FILES))
    ports.said = said if said is not None else []
    return Locator(ports, ports.copy, who="A", probes=ProbeConfig())


def test_without_what_a_service_knows_the_stack_leads_to_the_fault_and_the_rest_is_named() -> None:
    found = locator().locate(failing(), is_wide=False)

    assert found is not None
    (first, *_) = found.landmark.target_spans
    assert (found.landmark.id, first.artifact, first.symbol) == ("A", "shop/cart.py", "shop.cart.total")
    assert first.lines[0] <= 7 <= first.lines[1]
    assert found.localised.ranking.missing == ("coverage", "hop")
    assert found.places[0] == "shop/cart.py:4-8 shop.cart.total"


def test_what_the_tests_execute_is_asked_once_for_each_tree() -> None:
    service = ScriptedService(lambda _: TestReport(cases=()))
    service.known |= {"index": INDEX, "coverage": Coverage(report=TestReport(cases=()), tests=())}
    ports = FakePorts(model=ScriptedAnswers(), service=service, copy=MemoryWorkspace(FILES))
    here = Locator(ports, ports.copy, who="A", probes=ProbeConfig())

    here.locate(failing(), is_wide=False)
    here.locate(failing(), is_wide=True)
    once = service.called.count("coverage")
    ports.copy.tree["shop/cart.py"] += "# more\n"
    here.locate(failing(), is_wide=False)

    assert (once, service.called.count("coverage")) == (1, 2)


@pytest.mark.parametrize(
    "report", [TestReport(cases=()), failing("E   no place is named")], ids=["nothing-fails", "no-place"]
)
def test_where_nothing_leads_anywhere_there_are_no_suspects(report: TestReport) -> None:
    said: list[str] = []

    assert locator(said).locate(report, is_wide=False) is None
    assert len(said) == len(report.cases)


def ran(**counts: int) -> TestReport:
    """So many tests of each file, all of them good."""
    return TestReport(
        cases=tuple(
            TestCase(id=f"{path.replace('__', '/')}.py::test_{number}", outcome="passed")
            for path, count in counts.items()
            for number in range(count)
        )
    )


def test_of_a_long_suite_the_files_near_what_fails_are_followed_as_far_as_there_is_room() -> None:
    suite = ran(other__test_a=60, tests__test_b=80, tests__test_c=MOST_FOLLOWED, tests__test_d=100)
    bad = TestReport(cases=(TestCase(id="tests/test_b.py::test_1", outcome="failed"),))

    assert followed_tests(bad, suite) == ("tests/test_b.py", "tests/test_d.py")
    assert followed_tests(bad, ran(tests__test_b=MOST_FOLLOWED)) == ()
    assert followed_tests(bad, None) == ()


def test_of_a_file_with_too_many_tests_the_failing_ones_are_followed_with_some_of_the_others() -> None:
    suite = ran(tests__test_a=1, tests__test_b=2 * MOST_FOLLOWED)
    last = f"tests/test_b.py::test_{2 * MOST_FOLLOWED - 1}"
    bad = TestReport(cases=(TestCase(id=last, outcome="failed"),))

    followed = followed_tests(bad, suite)

    assert followed[:2] == (last, "tests/test_b.py::test_0")
    assert len(followed) == len({*followed}) == MOST_FOLLOWED


def test_a_file_that_cannot_be_loaded_is_followed_as_a_whole() -> None:
    suite = ran(tests__test_a=2 * MOST_FOLLOWED)
    bad = TestReport(cases=(), collection_errors=("tests/test_b.py: E   boom",))

    assert followed_tests(bad, suite) == ("tests/test_b.py",)


def test_old_failures_and_what_is_still_to_be_written_lead_nowhere() -> None:
    old = failing()
    unwritten = failing(f"{TEST}:1: in <module>\nE   ImportError: cannot import name 'mean' from 'shop.cart'")
    unloaded = TestReport(
        cases=(), collection_errors=(f"{TEST}: No module named 'shop.mean'", "conftest.py: E   SyntaxError")
    )

    assert telling(old, old, FILES).cases == ()
    assert telling(unwritten, TestReport(cases=()), FILES).cases == ()
    assert telling(unloaded, TestReport(cases=()), FILES).collection_errors == (
        "conftest.py: E   SyntaxError",
    )
    assert telling(old, TestReport(cases=()), FILES) == old


def wrong_and_right() -> tuple[Implementation, Implementation]:
    texts = CART.replace("-= price", "-= -price - 1"), CART.replace("-= price", "+= price")
    wrong, right = (
        Implementation(
            summary="Add up",
            files=(ProposedFile(path="shop/cart.py", action="modify", content=text),),
        )
        for text in texts
    )
    return wrong, right


TESTS = WrittenTests(
    test_path=TEST,
    files=(
        ProposedFile(
            path=TEST,
            action="create",
            content="from shop.cart import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n",
        ),
    ),
)


def trace_of(ports: FakePorts) -> dict[str, Any]:
    """The first entry of each kind in the log."""
    found: dict[str, Any] = {}
    for event in read_events(ports.kept["events-1.ndjson"]):
        if isinstance(event.body, ExecutionComplete):
            for entry in event.body.result.trace:
                found.setdefault(entry.kind, entry.data)
    return found


def suite(workspace: Workspace) -> TestReport:
    """`test_sum`, where it is there, passes once the bug is gone."""
    is_there = workspace.read(TEST) is not None
    is_fixed = "+= price" in (workspace.read("shop/cart.py") or "")
    kept = TestCase(id="tests/test_shop.py::test_count", outcome="passed")
    new = failing(outcome="passed" if is_fixed else "failed").cases if is_there else ()
    return TestReport(cases=(kept, *new))


def test_the_suspects_are_data_in_the_question_to_whoever_tries_again() -> None:
    ports = FakePorts(
        model=ScriptedAnswers(TESTS, *wrong_and_right()),
        service=ScriptedService(suite),
        copy=MemoryWorkspace(FILES),
    )
    ports.service.known["index"] = INDEX

    outcome = run(task("code_generation", sub_item="A", inputs={"plan": plan()}), ports)

    assert isinstance(outcome, Succeeded)
    _, first, again = ports.model.asked
    assert "Where the failing tests lead" not in first
    assert "## Where the failing tests lead" in again
    assert 'of="places">\n' in again
    assert "shop/cart.py:4-8 shop.cart.total" in again
    assert trace_of(ports)["landmark"]["places"][0] == "shop/cart.py:4-8 shop.cart.total"
    assert verify(read_events(ports.kept["events-1.ndjson"])).divergence is None
    (landmark,) = json.loads(ports.kept["landmarks.json"])
    assert landmark["target_spans"][0]["symbol"] == "shop.cart.total"
    assert json.loads(ports.kept["candidates.json"])["missing"] == ["coverage", "hop"]


def plan() -> dict[str, Any]:
    return {"sub_work_items": [output(PLANNED)]}


@pytest.mark.slow
def test_a_planted_bug_is_found_by_all_signals_and_its_repair_is_one_proven_transaction(
    tmp_path: Path,
) -> None:
    remote = BareRepository(tmp_path)
    files = {path: text for path, text in FILES.items() if path != "tests/test_shop.py"}
    kept = "from shop.cart import count\n\n\ndef test_count():\n    assert count([1]) == 1\n"
    remote.put("main", {**files, "tests/test_shop.py": kept})
    with (
        WorkingCopies(tmp_path / "cache", identity=BOT, environment=ENVIRONMENT) as copies,
        ServicePanel([Member(open_client(BUNDLED, environment=os.environ))], warn=print) as panel,
    ):
        copy = copies.open(
            remote=Remote(remote.url, None),
            run=RunId("r"),
            name="A",
            branch=BranchName("work"),
            base=BranchName("main"),
        )
        start = copy.head
        ports: Any = FakePorts(model=ScriptedAnswers(TESTS, *wrong_and_right()), service=panel, copy=copy)  # type: ignore[arg-type]  # the real ones

        outcome = run(task("code_generation", sub_item="A", inputs={"plan": plan()}), ports)

        assert isinstance(outcome, Succeeded), outcome.reason
        (landmark,) = json.loads(ports.kept["landmarks.json"])
        assert landmark["target_spans"][0]["symbol"] == "shop.cart.total"
        assert json.loads(ports.kept["candidates.json"])["missing"] == []
        proof = Summary.model_validate(outcome.output["proof"])
        assert proof.is_proven
        assert [(test.id, test.base, test.head, test.reruns) for test in proof.tests] == [
            (f"{TEST}::test_sum", "failed", "passed", ("passed", "passed"))
        ]
        assert proof.head.commit == copy.head
        assert copy.read("shop/cart.py") == CART.replace("-= price", "+= price")
        log = copy._git.run("log", "--format=%s", f"{start}..HEAD", cwd=copy.path).splitlines()
        assert log == ["Add up", "Add tests: Add up"]
        assert "## Where the failing tests lead" in ports.model.asked[2]

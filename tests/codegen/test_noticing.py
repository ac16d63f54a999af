"""Tests that assert nothing: a few mistakes in the change are tried on them before the change is shown as proven."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cogworks.codegen.noticing import with_mistakes
from cogworks.codegen.proving import Side, proof_of
from cogworks.codegen.suite import Judged
from cogworks.domain_services.answers import Answer, NotOffered
from cogworks.domain_services.checking import DependencyGraph
from cogworks.domain_services.exploring import Beside, BesideParams, Mutant
from cogworks.domain_services.messages import ErrorCode, Metadata, TestCase, TestReport
from cogworks.domain_services.opening import BUNDLED, open_client
from cogworks.domain_services.panel import Member, ServicePanel
from cogworks.domain_services.transport import ServiceFailed
from cogworks.nodes import code_generation
from cogworks.nodes.contract import Succeeded
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.repair.proof import Proof, Summary, Tree, caution
from cogworks.settings.sections import ChangeLimits
from cogworks.vocabulary import CommitOid
from tests.codebase.repositories import git
from tests.codegen.test_test_writing import implemented, world, written
from tests.nodes.examples import task

BEFORE = "def total(prices):\n    return 0\n"
AFTER = "def total(prices):\n    return sum(prices) + 1 - 1\n"
ASSERTS = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
SILENT = "from shop import total\n\n\ndef test_total():\n    total([1, 2])\n"
OLD = "from shop import total\n\n\ndef test_nothing_costs_nothing():\n    assert total([]) == 0\n"
NEW = "tests/test_total.py"
NEAR = "tests/test_old.py"
BLIND = Mutant(artifact="shop.py", line=2, change="`-` for `+`", is_noticed=False)
TOLD = "No test of the change, and none near it, notices a mistake at shop.py:2 (`-` for `+`): nothing guards these lines."
GRAPH = DependencyGraph(
    modules={"shop": "shop.py", "old": NEAR},
    uses={"old": ("shop",)},
)


def proof(*tests: str, flaky: str = "") -> Proof:
    """Of tests that failed before, or were not there, and pass now."""
    side = Side(Tree(commit=CommitOid("a" * 40), tree="b"), TestReport(cases=()), Judged())
    cases = tuple(TestCase(id=each, outcome="passed") for each in tests)
    rerun = TestReport(cases=tuple(TestCase(id=each, outcome="failed") for each in tests if each == flaky))
    return proof_of(side, Side(side.tree, TestReport(cases=cases)), (rerun,), diff="")


@dataclass
class Copy:
    """A working copy that knows its change."""

    path: Path
    text: str = ""

    def diff(self, base: str) -> str:
        return self.text or git(self.path, "diff", base)

    def files(self) -> Sequence[str]:
        return ("shop.py", NEW, NEAR)


@dataclass
class Ports:
    """What is asked of a visit's ports."""

    service: Any
    said: list[str] = field(default_factory=list)
    seconds: Callable[[], float] = lambda: 0.0

    def say(self, line: str) -> None:
        self.said.append(line)

    def now(self) -> float:
        return self.seconds()


@dataclass
class Service:
    """Answers the question about mistakes from a list, and knows which test imports the change."""

    answers: list[Any]
    asked: list[BesideParams] = field(default_factory=list)

    def call(self, operation: Any, workspace: Any, params: Any) -> Any:
        del workspace
        if operation.result is DependencyGraph:
            return (Answer("fake", "success", GRAPH, (), (), Metadata()),)
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return (
            answer
            if isinstance(answer, NotOffered)
            else (Answer("fake", "success", answer, (), (), Metadata()),)
        )


DIFF = f"""diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,2 @@
 def total(prices):
-{BEFORE.splitlines()[1]}
+{AFTER.splitlines()[1]}
"""
FOUND = proof(f"{NEW}::test_total", f"{NEAR}::test_nothing_costs_nothing")


def asked(
    service: Service, found: Proof = FOUND, given: NodeTask | None = None, **ports: Any
) -> tuple[str, ...]:
    place: Any = Ports(service, **ports)
    copy: Any = Copy(Path("/"), DIFF)
    return with_mistakes(found, given or task("code_generation", sub_item="A"), place, copy, (NEW,)).warnings


def test_a_mistake_that_the_tests_of_the_change_notice_is_nothing_to_tell() -> None:
    service = Service([Beside(mutants=(BLIND.model_copy(update={"is_noticed": True}),))])

    assert asked(service) == ()
    [params] = service.asked
    assert (params.tests, params.lines, params.mistakes_in) == (
        (f"{NEW}::test_total",),
        {},
        {"shop.py": ((2, 2),)},
    )
    assert (params.max_mutants, params.timeout_s) == (8, 20.0)


def test_what_they_do_not_notice_is_tried_on_tests_that_import_the_change() -> None:
    noticed = BLIND.model_copy(update={"is_noticed": True})
    service = Service([Beside(mutants=(BLIND,)), Beside(mutants=(noticed,))])

    assert asked(service) == ()
    assert service.asked[1].tests == (f"{NEAR}::test_nothing_costs_nothing",)


def test_what_nobody_notices_is_told() -> None:
    assert asked(Service([Beside(mutants=(BLIND,)), Beside(mutants=(BLIND,))])) == (TOLD,)


def many(count: int, *, new: str) -> Proof:
    """Of a file with so many tests that passed before, and one that is new at its end."""
    old = tuple(TestCase(id=f"{NEW}::test_{number}", outcome="passed") for number in range(count))
    side = Side(Tree(commit=CommitOid("a" * 40), tree="b"), TestReport(cases=old), Judged())
    head = TestReport(cases=(*old, TestCase(id=new, outcome="passed")))
    return proof_of(side, Side(side.tree, head), (), diff="")


def test_of_a_long_file_the_tests_that_are_new_are_tried_first() -> None:
    service = Service([Beside(mutants=(BLIND.model_copy(update={"is_noticed": True}),))])

    assert asked(service, many(500, new=f"{NEW}::test_zero_prices")) == ()
    [params] = service.asked
    assert (params.tests[0], len(params.tests)) == (f"{NEW}::test_zero_prices", 100)


def test_whoever_tried_a_part_of_the_tests_says_nothing_of_the_others() -> None:
    service = Service([Beside(mutants=(BLIND,))])

    assert asked(service, many(500, new=f"{NEW}::test_zero_prices")) == (
        "None of the 100 tests that were tried notices a mistake at shop.py:2 (`-` for `+`); 401 others were not tried.",
    )


def test_a_test_that_fails_sometimes_is_not_asked() -> None:
    service = Service([])

    assert asked(service, proof(f"{NEW}::test_total", flaky=f"{NEW}::test_total")) == ()
    assert service.asked == []


def test_no_second_look_is_taken_when_the_time_is_over() -> None:
    clock = iter((0.0, 1.0, 21.0))
    service = Service([Beside(mutants=(BLIND,))])

    assert asked(service, seconds=lambda: next(clock)) == (TOLD,)
    assert [each.timeout_s for each in service.asked] == [19.0]


def test_the_repository_says_how_long_mistakes_are_tried() -> None:
    service = Service([])
    limits = ChangeLimits(mistakes_s=0)

    given = task("code_generation", sub_item="A", conventions=Conventions(change_limits=limits))

    assert asked(service, given=given) == ()
    assert service.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        NotOffered(service="fake", method="beside", offered=()),
        ServiceFailed("it hangs", service="fake", method="beside"),
        Beside(notes=("no isolation",)),
    ],
    ids=["not offered", "failed", "not tried"],
)
def test_where_nobody_can_tell_nothing_is_warned_of(answer: Any) -> None:
    assert asked(Service([answer])) == ()


def test_a_try_that_did_not_end_in_time_is_no_fault_of_a_service() -> None:
    late = ServiceFailed("it hangs", service="fake", method="beside", code=ErrorCode.TIMEOUT)
    place: Any = Ports(Service([late]))
    copy: Any = Copy(Path("/"), DIFF)

    with_mistakes(FOUND, task("code_generation", sub_item="A"), place, copy, (NEW,))

    assert place.said[1:] == [
        "mistakes were not tried to the end, which would have taken more than the 20 s that were left"
    ]


def test_the_warning_stands_in_the_proof_of_a_visit() -> None:
    place = world(written(), implemented())
    place.service.known["beside"] = Beside(mutants=(BLIND,))

    outcome = code_generation.run(task("code_generation", sub_item="A"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    found = Summary.model_validate(outcome.output["proof"])
    assert found.is_proven
    assert TOLD in caution(found)
    assert TOLD in place.kept["proof.json"]


@pytest.fixture
def panel() -> Iterator[ServicePanel]:
    with ServicePanel([Member(open_client(BUNDLED, environment=os.environ))], warn=print) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize(("tests", "is_told"), [(ASSERTS, False), (SILENT, True)], ids=["asserts", "silent"])
def test_tests_that_assert_nothing_are_found_by_running_them(
    tests: str, is_told: bool, tmp_path: Path, panel: ServicePanel
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "shop.py").write_text(BEFORE, "utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Begin")
    (tmp_path / "shop.py").write_text(AFTER, "utf-8")
    (tmp_path / NEW).write_text(tests, "utf-8")
    ports: Any = Ports(panel)
    copy: Any = Copy(tmp_path)

    found = with_mistakes(
        proof(f"{NEW}::test_total"), task("code_generation", sub_item="A"), ports, copy, (NEW,)
    )

    assert bool(found.warnings) == is_told, ports.said
    assert all(each.startswith("No test of the change, and none near it, notices") for each in found.warnings)

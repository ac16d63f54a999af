"""What the coding node can do beside the plan: look without touching, and take a kept change back."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import Rules, WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.work import CodingWork
from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.events import Committed, Header
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.results import SIDE, Action, ActionResult, Outcome, Payload
from cogworks.cycle.signals import Forced
from cogworks.domain_services.messages import Diagnostic, TestReport
from cogworks.nodes.code_generation import LIMITS
from cogworks.nodes.contract import Workspace
from cogworks.nodes.task import Conventions
from cogworks.vocabulary import BranchName, RunId, Severity
from tests.codebase.repositories import BOT, BareRepository, git
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.nodes.examples import FILES, change, ports, report, suite, task

CONTEXT = CycleContext(task=Task(goal="g"))
TESTS_COME_WITH_THE_CODE = Conventions(test_writer="none")


def did(work: CodingWork, action: Action, context: CycleContext = CONTEXT, **parameters: Any) -> ActionResult:
    payload = Payload(action=action, goal="g", parameters=parameters)
    return work.handlers()[action](payload, context, 1000)


def working(world: FakePorts) -> CodingWork:
    return CodingWork(task("code_generation", sub_item="A", conventions=TESTS_COME_WITH_THE_CODE), world)


def complaining(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
    """One remark about every file."""
    return [
        Diagnostic(
            artifact=path, line=1, severity=Severity.INFORMATIONAL, category="style", message="too short"
        )
        for path in paths
    ]


def test_focused_tests_are_those_that_failed_or_are_named() -> None:
    world = ports()
    asked: list[Sequence[str]] = []
    simulate = world.service.simulating

    def focused(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        asked.append(tests)
        return simulate(workspace, tests)

    world.service.simulating = focused
    work = working(world)

    failed_last = did(work, Action.RUN_FOCUSED_TESTS, CONTEXT.model_copy(update={"failing": ("t.py::a",)}))
    named = did(work, Action.RUN_FOCUSED_TESTS, tests=["tests/test_adding.py::test_zero"])

    assert (failed_last.outcome, named.outcome) == (Outcome.DONE, Outcome.DONE)
    assert asked == [("t.py::a",), ("tests/test_adding.py::test_zero",)]
    assert named.tests is not None
    assert named.tests.passed == 1
    assert did(work, Action.RUN_FOCUSED_TESTS).error_code == "no_tests"


@pytest.mark.parametrize(
    ("action", "parameters", "files"),
    [
        (Action.LINT, {"files": ["README.md"]}, ("README.md",)),
        (Action.LINT, {}, ()),
        (Action.BUILD, {}, tuple(sorted(FILES))),
    ],
    ids=["named", "nothing-changed", "all"],
)
def test_checks_say_what_they_found_in_which_files(
    action: Action, parameters: Mapping[str, Any], files: Sequence[str]
) -> None:
    result = did(working(ports(check=complaining)), action, **parameters)

    assert (result.outcome, result.files) == (Outcome.DONE, files)
    assert result.output.splitlines() == [f"{path}:1: informational: style: too short" for path in files]


def test_files_are_shown_and_missing_ones_named() -> None:
    work = working(ports())

    result = did(work, Action.INSPECT_FILES, files=["README.md", "lost.py"])

    assert result.files == ("README.md",)
    assert result.output == "README.md:\n# adder\n\nlost.py: no such text file"
    assert did(work, Action.INSPECT_FILES).error_code == "no_files"


def test_a_traceback_is_that_of_the_last_run_with_the_files_it_names() -> None:
    files = {**FILES, "tests/test_adding.py": "def test_sum(): ...\n"}
    work = working(ports(files=files))

    assert did(work, Action.ANALYZE_TRACEBACK).error_code == "no_tests"
    did(work, Action.RUN_TESTS)
    result = did(work, Action.ANALYZE_TRACEBACK)

    assert result.output == "tests/test_adding.py::test_sum failed:\nE   test_sum is wrong"
    assert result.files == ("tests/test_adding.py",)


@pytest.mark.parametrize("action", sorted(SIDE - {Action.IDLE}))
def test_an_aside_of_the_node_leads_back_and_leaves_the_tree_alone(action: Action) -> None:
    world = ports(change(), check=lambda *_: ())
    run = forced(world, {2: action})

    assert run.run_until_done().success
    assert decided(run) == [
        "RUN_TESTS", action.value, "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE",
    ]  # fmt: skip
    assert len(world.copy.commits) == 1


def forced(world: FakePorts, wishes: Mapping[int, Action]) -> CodingCycle:
    """A run in which somebody wants these actions in these cycles."""
    header = Header(
        item="octo-org/adder#7",
        task=Task(goal="Add", wants_change=True, has_validators=True),
        config_digest="",
        limits=LIMITS,
    )
    around = CyclePorts(
        handlers=working(world).handlers(),
        signals=lambda cycle: [Forced("operator", wishes[cycle], "a look")] if cycle in wishes else [],
    )
    return CodingCycle(header, around)


def decided(run: CodingCycle) -> list[str]:
    return [event.body.action.value for event in run.events if isinstance(event.body, Committed)]


class InRepository(FakePorts):
    """A shell around a real working copy."""

    def __init__(self, real: WorkingCopy) -> None:
        super().__init__(ScriptedAnswers(), ScriptedService(suite), MemoryWorkspace({}))
        self._real = real

    def workspace(self) -> Workspace:
        return self._real


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[WorkingCopy]:
    """The example in a real repository."""
    remote = BareRepository(tmp_path)
    remote.put("main", FILES)
    branch, base = BranchName("cogworks/7/swi-1"), BranchName("main")
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ, rules=Rules()) as copies:
        yield copies.open(remote=Remote(remote.url, None), run=RunId("r"), name="A", branch=branch, base=base)


def test_a_reverted_patch_leaves_the_tree_of_the_transaction_before(copy: WorkingCopy) -> None:
    world = InRepository(copy)
    work = working(world)
    did(work, Action.RUN_TESTS)
    second = change("def add(a, b):\n    return a + b  # sum\n")
    heads, trees, digests = [copy.head], [git(copy.path, "rev-parse", "HEAD^{tree}")], [""]
    for each in (change(), second):
        applied = did(work, Action.APPLY_PATCH, candidate="1", change=each.model_dump(mode="json"))
        assert applied.outcome is Outcome.COMMITTED, applied
        heads.append(copy.head)
        trees.append(git(copy.path, "rev-parse", "HEAD^{tree}"))
        digests.append(applied.tree or "")

    (copy.path / "left-over.txt").write_text("of a transaction that broke off")
    reverted = did(work, Action.REVERT_PATCH)

    assert (reverted.outcome, reverted.tree) == (Outcome.DONE, digests[1])
    assert (copy.head, git(copy.path, "write-tree")) == (heads[1], trees[1])
    assert git(copy.path, "status", "--porcelain") == ""
    did(work, Action.REVERT_PATCH)
    assert (copy.head, git(copy.path, "write-tree")) == (heads[0], trees[0])
    assert did(work, Action.REVERT_PATCH).error_code == "nothing_kept"


def test_after_a_revert_the_failure_is_analysed_and_another_change_made() -> None:
    world = ports(change(), change("def add(a, b):\n    return b + a  # a + b\n"))
    run = forced(world, {4: Action.REVERT_PATCH})

    assert run.run_until_done().success
    assert decided(run) == [
        "RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "REVERT_PATCH",
        "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE",
    ]  # fmt: skip
    assert "b + a" in world.copy.tree["src/adder/adding.py"]
    assert run.result().patches_applied == 1


def test_a_tree_that_the_suite_ran_on_is_not_run_again(copy: WorkingCopy) -> None:
    world = InRepository(copy)
    work = working(world)

    did(work, Action.RUN_TESTS)
    did(work, Action.APPLY_PATCH, candidate="1", change=change().model_dump(mode="json"))
    after = did(work, Action.RUN_TESTS)
    did(work, Action.REVERT_PATCH)
    runs = world.service.runs
    found = did(work, Action.RUN_TESTS)

    assert world.service.runs == runs
    assert after.tests is not None
    assert found.tests is not None
    assert (after.tests.passed, found.tests.passed) == (2, 1)


def test_a_suite_that_ran_out_of_time_is_run_again() -> None:
    limits = iter([False, True, False])
    found = report(["test_zero"])
    world = ports(run_tests=lambda _: found.model_copy(update={"timed_out": next(limits)}))
    work = working(world)
    did(work, Action.RUN_TESTS)
    world.copy.tree["README.md"] = "another tree\n"

    outcomes = [did(work, Action.RUN_TESTS).outcome for _ in range(3)]

    assert (outcomes, world.service.runs) == ([Outcome.FAILED, Outcome.PASSED, Outcome.PASSED], 3)

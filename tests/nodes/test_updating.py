"""A base that moved is merged into a branch of code: kept only where no test is worse than on either side."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.canonical import sha256
from cogworks.codegen.handoff import RedRun, TestHandoff
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.forge.effects import PushBranch
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import ProposedFile, ResolvedConflicts
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.visits import AskedChange
from cogworks.repair.replies import Edit
from cogworks.vocabulary import BranchName, CommitOid, IssueNumber, Severity
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.nodes.examples import CODE, FILES, task

THEIRS, FORK = CommitOid("7" * 40), CommitOid("6" * 40)
ADDING, TESTS = "src/adder/adding.py", "tests/test_adding.py"
FIXED = "def add(a, b):\n    return a + b\n"
TYPED = "def add(a: int, b: int) -> int:\n    return a - b\n"
BOTH = "def add(a: int, b: int) -> int:\n    return a + b\n"
SUM = "def test_zero(): ...\ndef test_sum(): ...\n"
OURS = {**FILES, ADDING: FIXED, TESTS: SUM}
MERGE = AskedChange(by="ann", pull_request=IssueNumber(13), merges=THEIRS, text="Merge its base branch.")


def verdicts(workspace: Workspace) -> TestReport:
    """`test_sum` passes where `add` adds, `test_typed` (of the base) where it has types."""
    code, tests = workspace.read(ADDING) or "", workspace.read(TESTS) or ""
    found = {"test_zero": True}
    if "test_sum" in tests:
        found["test_sum"] = "a + b" in code
    if "tests/test_typed.py" in workspace.files():
        found["test_typed"] = "int" in code
    return TestReport(
        cases=tuple(
            TestCase(
                id=f"{'tests/test_typed.py' if name == 'test_typed' else TESTS}::{name}",
                outcome="passed" if is_right else "failed",
                message="" if is_right else "assert 0 == 4",
            )
            for name, is_right in found.items()
        )
    )


def marked(workspace: Workspace, paths: Any) -> list[Diagnostic]:
    return [
        Diagnostic(artifact=path, severity=Severity.BLOCKING, category="syntax_error", message="nonsense")
        for path in paths
        if "NONSENSE" in (workspace.read(path) or "")
    ]


def world(
    *replies: ResolvedConflicts,
    theirs: Mapping[str, str | None] | None = None,
    ours: Mapping[str, str] = OURS,
) -> FakePorts:
    """A branch with the sum, whose base went on from the files that both began with."""
    copy = MemoryWorkspace(ours, base=FILES)
    copy.approve(FORK, FILES)
    moved: dict[str, str | None] = {**FILES, **(theirs or {})}
    copy.approve(THEIRS, {path: text for path, text in moved.items() if text is not None})
    copy.forks[THEIRS] = FORK
    return FakePorts(model=ScriptedAnswers(*replies), service=ScriptedService(verdicts, marked), copy=copy)


def the_task(*changes: AskedChange, code: Mapping[str, Any] = CODE, **more: Any) -> NodeTask:
    earlier = {"code": code} if code else {}
    return task(
        "code_generation", sub_item="A", ordinal=2, asked_changes=changes or (MERGE,), earlier=earlier, **more
    )


def answer(content: str, path: str = ADDING, **more: Any) -> ResolvedConflicts:
    file = ProposedFile(path=path, action="modify", content=content)
    return ResolvedConflicts.model_validate({"files": (file,), **more})


def succeeded(outcome: object) -> Succeeded:
    assert isinstance(outcome, Succeeded), outcome
    return outcome


TYPES = {ADDING: TYPED, "tests/test_typed.py": "def test_typed(): ...\n"}


def test_a_base_that_conflicts_with_nothing_is_merged_without_a_model() -> None:
    ports = world(theirs={"README.md": "# adder, again\n"})

    outcome = succeeded(run(the_task(), ports))

    assert ports.model.asked == []
    assert (ports.copy.read("README.md"), ports.copy.read(ADDING)) == ("# adder, again\n", FIXED)
    assert outcome.effects == (PushBranch(branch=BranchName("cogworks/7/swi-1"), oid=ports.copy.head),)
    assert outcome.output["head"] == ports.copy.head
    assert (outcome.output["merged"], outcome.output["summary"]) == (THEIRS, CODE["summary"])
    assert outcome.output["tests"]["passed"] == 2
    assert outcome.summary == f"main at {THEIRS[:12]} is merged in, 2 tests pass"
    assert ports.copy.commits[-1][0].startswith("Merge branch 'main'\n\n")
    assert "proof.json" in ports.kept


def test_the_proof_is_about_the_base_as_it_is_now() -> None:
    ports = world(theirs={"README.md": "# adder, again\n"})

    proof = succeeded(run(the_task(), ports)).output["proof"]

    assert (proof["base"]["commit"], proof["head"]["commit"]) == (THEIRS, ports.copy.head)
    assert proof["counts"] == {"new_and_passes": 1, "pass_to_pass": 1}


def test_conflicts_are_shown_with_both_sides_and_the_answer_is_kept_where_both_hold() -> None:
    ports = world(answer(BOTH, notes="The types stay."), theirs=TYPES)

    outcome = succeeded(run(the_task(), ports))

    [prompt] = ports.model.asked
    for shown in ("<<<<<<< HEAD", "return a + b", "a: int", "Change it on the base", ">>>>>>>"):
        assert shown in prompt
    assert ports.copy.read(ADDING) == BOTH
    assert ports.model.purposes == ["merge_conflicts-A-v2-1"]
    message = ports.copy.commits[-1][0]
    assert f"Resolves conflicts in {ADDING}.\n\nThe types stay.\n\n" in message
    assert outcome.output["notes"].endswith("The types stay.")


def test_edits_are_placed_in_the_file_with_its_marks() -> None:
    conflict = f"<<<<<<< HEAD\n{FIXED}||||||| {FORK}\n{FILES[ADDING]}=======\n{TYPED}>>>>>>> {THEIRS}\n"
    edit = Edit(path=ADDING, search=conflict, replace=BOTH)
    ports = world(ResolvedConflicts(files=(), edits=(edit,)), theirs=TYPES)

    succeeded(run(the_task(), ports))

    assert ports.copy.read(ADDING) == BOTH


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            answer(FIXED),
            "these tests passed on one side and do not pass in the merge:\ntests/test_typed.py::test_typed: assert 0 == 4",
        ),
        (answer(TYPED), f"{TESTS}::test_sum: assert 0 == 4"),
        (answer(f"<<<<<<< HEAD\n{BOTH}"), f"{ADDING} still holds marks of git"),
        (answer(BOTH + "# NONSENSE\n"), "nonsense"),
        (answer("# mine\n", "src/adder/__init__.py"), "src/adder/__init__.py was changed by neither side"),
        (ResolvedConflicts(files=()), f"{ADDING} still holds marks of git"),
    ],
    ids=["theirs is lost", "ours is lost", "a mark", "a finding", "another file", "nothing"],
)
def test_an_answer_that_is_worse_than_a_side_goes_back(wrong: ResolvedConflicts, told: str) -> None:
    ports = world(wrong, answer(BOTH), theirs=TYPES)

    succeeded(run(the_task(), ports))

    assert told in ports.model.asked[1]
    assert ports.copy.read(ADDING) == BOTH


def test_three_answers_that_are_worse_leave_the_branch_as_it_was() -> None:
    ports = world(answer(TYPED), answer(TYPED), answer(FIXED), theirs=TYPES)
    head = ports.copy.head

    outcome = run(the_task(), ports)

    assert isinstance(outcome, Failed)
    assert (
        f"main at {THEIRS[:12]} was not merged into cogworks/7/swi-1, which is as it was." in outcome.reason
    )
    assert "comment `/cogworks update`" in outcome.reason
    assert (ports.copy.head, ports.copy.tree) == (head, OURS)


def test_a_clean_merge_that_breaks_a_test_is_for_people() -> None:
    uses = {"tests/test_typed.py": "def test_typed(): ...\n", "src/adder/other.py": "x: int\n"}
    ports = world(theirs={**uses, TESTS: None}, ours={**FILES, ADDING: FIXED})
    ports.service = ScriptedService(_broken_together)

    outcome = run(the_task(), ports)

    assert isinstance(outcome, Failed)
    assert "tests/test_typed.py::test_typed" in outcome.reason
    assert ports.model.asked == []


def _broken_together(workspace: Workspace) -> TestReport:
    """What the base brought passes there and fails beside our change."""
    if "tests/test_typed.py" not in workspace.files():
        return TestReport(cases=(TestCase(id=f"{TESTS}::test_zero", outcome="passed"),))
    is_right = workspace.read(ADDING) != FIXED
    return TestReport(
        cases=(TestCase(id="tests/test_typed.py::test_typed", outcome="passed" if is_right else "failed"),)
    )


def test_what_people_have_to_choose_between_ends_the_visit() -> None:
    ports = world(answer(BOTH, missing_capability="Either types or none."), theirs=TYPES)

    outcome = run(the_task(), ports)

    assert isinstance(outcome, Failed)
    assert "Either types or none." in outcome.reason
    assert ports.copy.tree == OURS


def test_a_branch_that_holds_the_commit_already_is_left_alone() -> None:
    ports = world()
    ports.copy.forks[THEIRS] = THEIRS

    outcome = succeeded(run(the_task(), ports))

    assert (outcome.effects, outcome.summary) == ((), f"main has nothing new at {THEIRS[:12]}")
    assert ports.service.runs == 0


def test_a_base_that_was_rewritten_is_for_people() -> None:
    ports = world()
    del ports.copy.forks[THEIRS]

    outcome = run(the_task(), ports)

    assert isinstance(outcome, Failed)
    assert f"main no longer holds {THEIRS[:12]}" in outcome.reason


def test_tests_that_were_handed_over_are_handed_over_as_the_merge_has_them() -> None:
    handoff = TestHandoff.model_validate(
        {
            "schema": 1,
            "work_item": 7,
            "sub_work_item": 21,
            "feature_id": "wi-7",
            "test_path": TESTS,
            "source": "reported",
            "sha256": sha256(SUM),
            "red": RedRun(collected=1, failed=1, passed=0),
            "written_by": "test-writer",
            "attempt": 1,
            "commit": "1" * 40,
        }
    )
    merged = f"{SUM}def test_more(): ...\n"
    theirs = {TESTS: "def test_zero(): ...\ndef test_more(): ...\n"}
    ports = world(answer(merged, TESTS), theirs=theirs)

    output = succeeded(run(the_task(code={**CODE, "test_handoff": handoff.as_json()}), ports)).output

    assert (output["test_handoff"]["sha256"], output["test_handoff"]["commit"]) == (
        sha256(merged),
        ports.copy.head,
    )


def test_with_other_wishes_the_work_goes_on_behind_the_merge() -> None:
    wish = AskedChange(by="bob", pull_request=IssueNumber(13), text="Call it total.")
    ports = world(theirs={"README.md": "# adder, again\n"})

    outcome = run(the_task(MERGE, wish), ports)

    # The merge is there, and then the coder is asked.
    assert isinstance(outcome, Failed)
    assert ports.model.purposes[0] == "code_generation-A-v2-1"
    assert "Call it total." in ports.model.asked[0]
    assert "Merge its base branch" not in ports.model.asked[0]
    assert ports.copy.commits[0][0].startswith("Merge branch 'main'")

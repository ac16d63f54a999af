"""Code generation whose tests come with the code: a change is kept only when the suite is no worse; else it is asked for again."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any, Literal

import pytest

from cogworks.codebase.treefacts import PastCommit
from cogworks.codegen.governed import coding_policy
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, CycleEnd, ExecutionComplete, ForcedInjection, Header
from cogworks.cycle.monitor import verify_seriality
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport
from cogworks.errors import ApprovalNeeded, LostRace, VisitStopped
from cogworks.forge.effects import PushBranch
from cogworks.llm.prompts import shipped_prompts
from cogworks.nodes.code_generation import moved, run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import BeyondPlan, CodeChange, ProposedFile
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.settings.config import DependencyConfig
from cogworks.vocabulary import BranchName, CommitOid, Severity
from tests.fakes import FakePorts, MemoryWorkspace
from tests.nodes.examples import (
    CODE,
    FILES,
    FIXED,
    KEY,
    REVIEW,
    change,
    finding,
    output,
    planned,
    ports,
    report,
    task,
)

TESTS_COME_WITH_THE_CODE = Conventions(test_writer="none")
MAY_BE_UNLOADED = Conventions(test_writer="none", baseline="allow-failing")
WRONG = "def add(a, b):\n    return a * b\n"


def the_task(**changes: Any) -> NodeTask:
    return task("code_generation", sub_item="A", **{"conventions": TESTS_COME_WITH_THE_CODE, **changes})


def test_commits_are_named_as_the_repository_names_its_own() -> None:
    world = ports(change())
    world.copy.history = [PastCommit(f"fix: mend {number}\n", ()) for number in range(6)]

    run(the_task(kind="bug_fix"), world)

    ((message, _),) = world.copy.commits
    assert message.startswith("fix: let add() add\n\n")


def failed(outcome: object) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


def test_a_change_that_passes_is_committed_and_pushed() -> None:
    world = ports(change())

    outcome = run(the_task(), world)

    log = read_events(world.kept["events-1.ndjson"])
    assert outcome == Succeeded(
        output={
            "sub_item": "A",
            "head": f"{1:040x}",
            "summary": "Let add() add",
            "notes": "One character.",
            "files": [
                {"path": "src/adder/adding.py", "action": "modify"},
                {"path": "tests/test_adding.py", "action": "modify"},
            ],
            "test_files": ["tests/test_adding.py"],
            "tests": {
                "passed": 2,
                "added": ["tests/test_adding.py::test_sum"],
                "changed": [],
                "failed_before": 0,
            },
            "attempts": 1,
            "proof": {
                "base": {"commit": f"{0:040x}", "tree": MemoryWorkspace(FILES).tree_name()},
                "head": {"commit": f"{1:040x}", "tree": world.copy.tree_name()},
                "commands": [],
                "versions": {},
                "counts": {"new_and_passes": 1, "pass_to_pass": 1},
                "tests": [
                    {
                        "id": "tests/test_adding.py::test_sum",
                        "base": "absent",
                        "head": "passed",
                        "reruns": ["passed", "passed"],
                        "verdict": "new_and_passes",
                    }
                ],
                "weakened": [],
                "uncollected": [],
                "unloaded": [],
                "guard": "suite",
                "restated": [],
                "warnings": [],
                "is_proven": False,
            },
            "cycle": {
                "success": True,
                "final_action": "FINALIZE",
                "cycles_executed": 6,
                "tests_passing": True,
                "patches_applied": 1,
                "seriality_maintained": True,
                "error": "",
                "events": len(log),
                "events_head": log[-1].hash,
            },
        },
        effects=(PushBranch(branch=BranchName("cogworks/7/swi-1"), oid=CommitOid(f"{1:040x}")),),
        summary="2 files, 2 tests pass (1 new), attempt 1",
    )
    ((message, tree),) = world.copy.commits
    assert message.startswith(
        f"Let add() add\n\nSub-work-item A of #7: Item A\n\nOne character.\n\nCogworks-Visit: {KEY}\n"
        "Cogworks-Step: A-1\nCogworks-Proposal: "
    )
    # Two lines of code and one of a test, of which only half counts.
    assert message.endswith("\nCogworks-Mu-Pre: 0\nCogworks-Mu-Post: 1.25\n")
    assert tree["src/adder/adding.py"] == FIXED


@pytest.mark.parametrize(
    ("added", "gone", "count"),
    [
        (["t.py::a[x-1]", "t.py::a[b-2]", "t.py::a[c-3]"], ["t.py::a[b-1]", "t.py::a[c-2]"], 2),
        (["t.py::a[x-1]", "t.py::b[x-1]"], ["t.py::c[x-1]"], 0),
        (["t.py::a"], ["t.py::a[1]"], 0),
        ([], ["t.py::a[1]"], 0),
    ],
    ids=["put in", "another test", "no table", "only gone"],
)
def test_cases_that_only_have_another_id_are_counted(added: list[str], gone: list[str], count: int) -> None:
    assert moved(added, gone) == count


def actions(world: FakePorts) -> list[str]:
    return [
        event.body.action.value
        for event in read_events(world.kept["events-1.ndjson"])
        if isinstance(event.body, Committed)
    ]


def test_the_visit_is_a_series_of_single_decisions() -> None:
    world = ports(change(WRONG), change())

    run(the_task(), world)

    assert actions(world) == [
        "RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE",
    ]  # fmt: skip
    # As it was found; the tests of the first attempt, and what fails in them twice more; the tests of the second, the whole
    # suite with it, and those tests a third time. What the transaction found out is not asked again.
    assert world.service.runs == 7


def test_what_the_validators_find_is_analysed_and_told_to_the_model() -> None:
    # The transaction looks at the files without and with the change; then VALIDATE; the same for the second change.
    verdicts = iter([False, False, True, False, False, False])

    def check(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        found = Diagnostic(
            artifact=paths[0], line=1, severity=Severity.BLOCKING, category="type_error", message="no sum"
        )
        return [found] if next(verdicts) else []

    world = ports(change(), change(f"{FIXED}# typed\n"), check=check)

    assert isinstance(run(the_task(), world), Succeeded)
    assert actions(world) == [
        "RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "ANALYZE_FAILURE",
        "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE",
    ]  # fmt: skip
    assert "src/adder/adding.py:1: type_error: no sum" in world.model.asked[1]


def test_a_suite_that_fails_before_the_change_is_analysed_first() -> None:
    def with_an_old_failure(workspace: Workspace) -> TestReport:
        is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
        return report(["test_zero", *(["test_sum"] if is_fixed else [])], ["test_old"])

    world = ports(change(), run_tests=with_an_old_failure)
    run(the_task(), world)

    assert actions(world)[:3] == ["RUN_TESTS", "ANALYZE_FAILURE", "GENERATE_PATCH"]


@pytest.mark.parametrize(
    "answers",
    [
        [change()],
        [change(WRONG), change()],
        [change(WRONG), change(WRONG)],
        [change(missing_capability="It needs the network.")],
    ],
    ids=["at-once", "second-try", "repeat", "person"],
)
def test_the_log_of_a_visit_is_kept_and_decides_itself_again(answers: list[CodeChange]) -> None:
    world = ports(*answers)

    outcome = run(the_task(), world)

    log = read_events(world.kept["events-1.ndjson"])
    replayed = verify(log)
    assert (replayed.divergence, replayed.is_complete) == (None, True)
    assert verify_seriality(log) == ()
    assert outcome.output["cycle"]["events_head"] == log[-1].hash


def test_the_log_says_in_which_words_the_model_was_asked() -> None:
    world = ports(change())

    run(the_task(), world)

    header = read_events(world.kept["events-1.ndjson"])[0].body
    assert isinstance(header, Header)
    assert header.prompt_digests == {"code_generation": shipped_prompts().digest("code_generation")}
    assert len(header.prompt_digests["code_generation"]) == 64


def test_the_log_is_there_up_to_where_a_visit_is_broken_off() -> None:
    world = ports(change())
    finished = world.service.simulating

    def lost(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        if world.model.purposes:
            raise LostRace("another runner took it over")
        return finished(workspace, tests)

    world.service.simulating = lost

    with pytest.raises(LostRace):
        run(the_task(), world)
    replayed = verify(read_events(world.kept["events-1.ndjson"]))
    assert (replayed.divergence, replayed.is_complete) == (None, False)
    assert replayed.steps[-1].action is Action.APPLY_PATCH


def test_the_log_of_an_heir_ends_before_what_a_dead_runner_may_have_left() -> None:
    heir = the_task()
    heir = heir.model_copy(update={"visit": heir.visit.model_copy(update={"attempt": 2})})
    world = ports(change())

    run(heir, world)

    assert [name for name in world.kept if name.startswith("events-")] == [
        "events-1.ndjson",
        "events-2.ndjson",
    ]
    assert world.kept["events-2.ndjson"] == ""


def test_two_visits_with_the_same_answers_have_the_same_log_but_for_the_clock() -> None:
    logs = []
    for step in (0.5, 2.0):
        world = ports(change(WRONG), change())
        world.seconds = partial(next, count(0.0, step))
        run(the_task(), world)
        logs.append(read_events(world.kept["events-1.ndjson"]))

    assert [event.hash for event in logs[0]] == [event.hash for event in logs[1]]
    assert logs[0][-1].wall != logs[1][-1].wall


def test_a_visit_that_takes_too_long_is_ended_and_says_so() -> None:
    world = ports(change())
    world.seconds = lambda: 100_000.0 if world.service.runs else 0.0

    outcome = failed(run(the_task(), world))

    assert outcome.category == "service_failed"
    assert "timeout: the run took more than 14400 s" in outcome.reason
    assert world.model.purposes == []


def test_what_people_stop_ends_within_one_cycle_with_a_forced_abort() -> None:
    world = ports(change())
    simulate = world.service.simulating

    def stopped_in_the_midst(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        if world.model.purposes:
            world.stop = "the label 'cogworks:hold' was set while the node ran"
        return simulate(workspace, tests)

    world.service.simulating = stopped_in_the_midst

    with pytest.raises(VisitStopped, match="'cogworks:hold' was set"):
        run(the_task(), world)
    log = read_events(world.kept["events-1.ndjson"])
    (signal,) = [event.body for event in log if isinstance(event.body, ForcedInjection)]
    assert actions(world) == ["RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "ABORT"]
    assert (signal.source, signal.action, signal.reason) == ("people", Action.ABORT, world.stop)
    assert verify(log).divergence is None
    assert verify_seriality(log) == ()


def test_an_action_that_meets_the_stop_itself_is_the_last_but_the_abort() -> None:
    def stopped_before_the_tests(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        world.stop = "the issue was closed while its node ran"
        return []

    world = ports(change(), check=stopped_before_the_tests)

    with pytest.raises(VisitStopped, match="the issue was closed"):
        run(the_task(), world)
    codes = [
        event.body.error_code
        for event in read_events(world.kept["events-1.ndjson"])
        if isinstance(event.body, ExecutionComplete)
    ]
    assert actions(world) == ["RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "ABORT"]
    assert codes == ["", "", "stopped", ""]
    assert world.service.runs == 1


def test_a_reply_is_in_the_ledger_before_the_tests_run_on_it() -> None:
    world = ports(change(WRONG), change())

    run(the_task(), world)

    logs = [read_events(saved["events-1.ndjson"]) for saved in world.saved]
    ends = [log[-1].body for log in logs]
    assert [end.action for end in ends if isinstance(end, CycleEnd)] == [Action.RUN_TESTS, Action.APPLY_PATCH]


def test_a_failing_test_is_fed_back_and_the_next_attempt_starts_clean() -> None:
    world = ports(change(WRONG), change())

    outcome = run(the_task(), world)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["attempts"] == 2
    assert world.model.purposes == ["code_generation-A-1", "code_generation-A-2"]
    assert "tests/test_adding.py::test_sum failed:" in world.model.asked[1]
    assert "E   test_sum is wrong" in world.model.asked[1]
    assert "return a * b" in world.model.asked[1]
    assert "return a - b" in world.model.asked[1]
    assert len(world.copy.commits) == 1


def test_all_earlier_attempts_stand_in_the_conversation() -> None:
    late = change(WRONG, tests=("tests/test_nothing.py",))
    world = ports(late, variants(1)[0], change())

    run(the_task(), world)

    assert world.model.asked[2].startswith(world.model.asked[1])
    assert world.model.asked[1].startswith(world.model.asked[0])
    assert "tests/test_nothing.py is listed in `tests` and does not exist" in world.model.asked[2]
    assert "tests/test_adding.py::test_sum failed" in world.model.asked[2]


ADDING = "src/adder/adding.py"


def replacing_the_tests(content: str) -> CodeChange:
    fixed = change()
    tests = ProposedFile(path="tests/test_adding.py", action="modify", content=content)
    return fixed.model_copy(update={"files": (fixed.files[0], tests)})


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (change(tests=()), "no test file is listed in `tests`"),
        (change(tests=("tests/lost.py",)), "tests/lost.py is listed in `tests` and does not exist"),
        (
            replacing_the_tests("def test_sum(): ...\n"),
            "tests/test_adding.py::test_zero passed before and did not run now",
        ),
        (replacing_the_tests("\n"), "no test of tests/test_adding.py passed"),
        (
            change(files=(ProposedFile(path="tests/new.py", action="modify", content="x\n"),)),
            "'tests/new.py' does not exist, so it cannot be modified",
        ),
        (
            change(files=(ProposedFile(path=ADDING, action="modify", content=FILES[ADDING]),)),
            "the files are the same as before",
        ),
    ],
    ids=["no-tests", "missing-test-file", "vanished", "empty-test-file", "misfit", "no-change"],
)
def test_what_a_change_lacks_is_fed_back(reply: CodeChange, problem: str) -> None:
    world = ports(reply, change())

    assert isinstance(run(the_task(), world), Succeeded)
    assert problem in world.model.asked[1]


def test_a_blocking_diagnostic_is_fed_back_before_any_test_runs() -> None:
    def check(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        broken = "a * b" in (workspace.read("src/adder/adding.py") or "")
        found = Diagnostic(
            artifact=paths[0],
            line=2,
            severity=Severity.BLOCKING,
            category="syntax_error",
            message="no such thing",
        )
        return [found] if broken else []

    world = ports(change(WRONG), change(), check=check)

    assert isinstance(run(the_task(), world), Succeeded)
    assert "src/adder/adding.py:2: syntax_error: no such thing" in world.model.asked[1]
    # As it was found; the second change's own tests, all of them, and its own a third time.
    assert world.service.runs == 4


def test_a_change_is_kept_in_the_project_s_own_formatting() -> None:
    tidy = {path: text.replace(", ", ",") for path, text in FILES.items()}
    world = ports(change(), files=tidy, layout=lambda text: text.replace(", ", ","))

    outcome = run(the_task(), world)

    assert isinstance(outcome, Succeeded)
    ((_, tree),) = world.copy.commits
    assert tree["src/adder/adding.py"] == FIXED.replace(", ", ",")
    assert "A: formatted src/adder/adding.py" in world.said


def test_a_change_of_formatting_alone_is_no_change() -> None:
    tidy = {path: text.replace(", ", ",") for path, text in FILES.items()}
    spaced = ProposedFile(path="src/adder/adding.py", action="modify", content=FILES["src/adder/adding.py"])
    reply = change().model_copy(update={"files": (spaced,)})
    world = ports(reply, change(), files=tidy, layout=lambda text: text.replace(", ", ","))

    assert isinstance(run(the_task(), world), Succeeded)
    assert "the files are the same as before" in world.model.asked[1]


def test_an_old_fault_in_a_changed_file_does_not_block_the_change() -> None:
    old = Diagnostic(
        artifact="src/adder/adding.py",
        line=1,
        severity=Severity.BLOCKING,
        category="type_error",
        message="old",
    )
    world = ports(change(), check=lambda _, paths: [old] if "src/adder/adding.py" in paths else [])

    outcome = run(the_task(), world)

    assert isinstance(outcome, Succeeded)
    assert world.copy.tree["src/adder/adding.py"] == FIXED


def test_a_test_that_failed_before_may_go_on_failing() -> None:
    def with_an_old_failure(workspace: Workspace) -> TestReport:
        is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
        return report(["test_zero", *(["test_sum"] if is_fixed else [])], ["test_old"])

    outcome = run(the_task(), ports(change(), run_tests=with_an_old_failure))

    assert isinstance(outcome, Succeeded)
    assert outcome.output["tests"]["failed_before"] == 1


@pytest.mark.parametrize(
    ("place", "left"),
    [("tests/test_old.py", ()), ("tests/old", ("tests/old/test_x.py: no",)), (".", ("docs/test_y.py: no",))],
    ids=["a file", "a folder", "everything"],
)
def test_a_test_that_could_not_be_loaded_before_may_fail_afterwards(
    place: str, left: tuple[str, ...]
) -> None:
    def with_an_old_file(workspace: Workspace) -> TestReport:
        is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
        if not is_fixed:
            passing = [] if place == "." else ["test_zero"]
            return report(passing, collection_errors=(f"{place}: ImportError: no `add`",))
        old = TestCase(id=OLD[place], outcome="failed")
        found = report(["test_zero", "test_sum"], collection_errors=left)
        return found.model_copy(update={"cases": (*found.cases, old)})

    world = ports(change(), run_tests=with_an_old_file)
    outcome = run(the_task(conventions=MAY_BE_UNLOADED), world)

    assert isinstance(outcome, Succeeded)
    assert [
        test["id"]
        for test in json.loads(world.kept["proof.json"])["tests"]
        if test["verdict"] == "still_fails"
    ] == [OLD[place]]
    assert json.loads(world.kept["proof.json"])["uncollected"] == []


OLD = {
    "tests/test_old.py": "tests/test_old.py::test_old",
    "tests/old": "tests/old/test_old.py::test_old",
    ".": "tests/test_old.py::test_old",
}
"""What could not be loaded -> a test in it."""


def test_the_same_change_failing_in_the_same_way_is_given_up_at_once() -> None:
    world = ports(change(WRONG), change(WRONG))

    outcome = failed(run(the_task(), world))

    assert outcome.category == "retry_exhausted"
    assert "the model gave the same change twice and it failed in the same way" in outcome.reason
    assert "- attempt 1: tests/test_adding.py::test_sum failed" in outcome.reason
    assert world.copy.tree == FILES
    assert world.copy.commits == []


def variants(count: int) -> list[CodeChange]:
    return [change(f"{WRONG}# variant {number}\n") for number in range(count)]


def test_the_same_kind_of_problem_three_times_running_is_given_up() -> None:
    outcome = failed(run(the_task(), ports(*variants(3))))

    assert "the last 3 attempts failed with the same kind of problem" in outcome.reason


def test_retries_are_limited_and_every_attempt_is_listed() -> None:
    without_tests = [each.model_copy(update={"tests": ()}) for each in variants(6)]
    alternating = [pair for both in zip(variants(6), without_tests, strict=True) for pair in both]
    world = ports(*alternating)

    outcome = failed(run(the_task(), world))

    assert "5 retries are used up" in outcome.reason
    assert len(world.model.purposes) == 6
    assert len(outcome.output["attempts"]) == 6


@pytest.mark.parametrize(
    ("reply", "category", "said"),
    [
        (
            change(
                files=(
                    ProposedFile(path=".cogworks/config.toml", action="create", content="x"),
                    *change().files,
                )
            ),
            "refused_change",
            ".cogworks/config.toml",
        ),
        (change(missing_capability="It needs the network."), "escalated", "It needs the network."),
    ],
    ids=["protected-path", "missing-capability"],
)
def test_what_a_person_has_to_decide_is_not_asked_again(reply: CodeChange, category: str, said: str) -> None:
    world = ports(reply)

    outcome = failed(run(the_task(), world))

    assert outcome.category == category
    assert said in outcome.reason
    assert world.copy.tree == FILES


@pytest.mark.parametrize("action", ["create", "modify", "delete"])
def test_a_change_to_a_manifest_stops_for_a_person(action: Literal["create", "modify", "delete"]) -> None:
    edit = ProposedFile(path="Requirements-dev.txt", action=action, content="evil\n")
    world = ports(change(files=(*change().files, edit)))
    conventions = Conventions(test_writer="none", manifests=DependencyConfig().asked_about)

    outcome = failed(run(the_task(conventions=conventions), world))

    assert outcome.category == "refused_change"
    assert (
        "code_generation proposed to change Requirements-dev.txt, which says what is installed"
        in outcome.reason
    )
    assert world.copy.tree == FILES


def test_a_repository_may_let_changes_to_manifests_pass() -> None:
    edit = ProposedFile(path="pyproject.toml", action="create", content="[project]\n")
    beyond = BeyondPlan(path="pyproject.toml", reason="The package needs a name.")
    world = ports(change(files=(*change().files, edit), beyond_plan=(beyond,)))
    conventions = Conventions(test_writer="none", manifests=DependencyConfig(changes="allow").asked_about)

    outcome = run(the_task(conventions=conventions), world)

    assert isinstance(outcome, Succeeded)
    assert world.copy.tree["pyproject.toml"] == "[project]\n"


def test_a_suite_that_does_not_finish_before_the_change_fails_the_node() -> None:
    outcome = failed(run(the_task(), ports(run_tests=lambda _: report(timed_out=True))))

    assert outcome.category == "service_failed"


def rework(world: FakePorts, review: dict[str, object]) -> object:
    return run(the_task(ordinal=2, inputs={"review": review}), world)


def test_a_rework_is_told_the_findings_with_the_blocking_ones_first() -> None:
    findings = [
        {"pass": "quality", **output(finding(Severity.WARNING, explanation="Name it better."))},
        {"pass": "security", **output(finding(Severity.BLOCKING))},
    ]
    world = ports(change())

    outcome = rework(world, {**REVIEW, "passed": False, "findings": findings})

    assert isinstance(outcome, Succeeded)
    assert world.model.purposes == ["code_generation-A-v2-1"]
    prompt = world.model.asked[0]
    assert "The review sent this sub-work-item back" in prompt
    assert prompt.index("Wrong for negative numbers.") < prompt.index("Name it better.")


def test_the_review_of_another_sub_work_item_is_no_findings_of_ours() -> None:
    findings = [{"pass": "quality", **output(finding(Severity.BLOCKING))}]
    world = ports(change())

    rework(world, {**REVIEW, "sub_item": "B", "passed": False, "findings": findings})

    assert "sent this sub-work-item back" not in world.model.asked[0]


def test_a_rework_may_rename_the_tests_it_brought_itself() -> None:
    mine = "tests/test_sums.py"
    on_branch = {**FILES, "src/adder/adding.py": FIXED, mine: "def test_old_name(): ...\n"}

    def run_tests(workspace: Workspace) -> TestReport:
        name = "test_new_name" if "new" in (workspace.read(mine) or "") else "test_old_name"
        cases = report(["test_zero"]).cases
        renamed = cases[0].model_copy(update={"id": f"{mine}::{name}"})
        return TestReport(cases=(*cases, renamed))

    renaming = change(
        files=(ProposedFile(path=mine, action="modify", content="def test_new_name(): ...\n"),), tests=(mine,)
    )
    outcome = rework(ports(renaming, files=on_branch, base=FILES, run_tests=run_tests), REVIEW)

    assert isinstance(outcome, Succeeded)
    assert outcome.output["tests"]["added"] == [f"{mine}::test_new_name"]


def test_what_the_dependencies_did_is_in_the_prompt() -> None:
    plan = {"sub_work_items": [output(planned("A")), output(planned("B", depends_on=("A",)))]}
    world = ports(change())
    dependent = task(
        "code_generation",
        sub_item="B",
        inputs={"plan": plan},
        dependency_outputs={"A": {"code": CODE}},
        conventions=TESTS_COME_WITH_THE_CODE,
    )

    run(dependent, world)

    assert "What the items it depends on have done already" in world.model.asked[0]
    assert '"summary": "Let add() add"' in world.model.asked[0]
    assert "0" * 40 not in world.model.asked[0]


ASK_FIRST = coding_policy({"policies/coding.toml": 'profile = "coding"\napproval_for = ["write"]'})


def asked_about(*answers: CodeChange, approved: tuple[str, ...] = ()) -> tuple[str, FakePorts]:
    """The call that the visit asks about, from the files as they were found."""
    world = ports(*answers)
    conventions = the_task().conventions.model_copy(update={"coding_policy": ASK_FIRST})

    with pytest.raises(ApprovalNeeded) as asked:
        run(the_task(conventions=conventions, approved_calls=approved), world)
    assert asked.value.tool == "APPLY_PATCH"
    return asked.value.call_hash, world


def test_a_policy_that_wants_a_person_stops_the_visit_before_the_call() -> None:
    call, world = asked_about(change())

    log = read_events(world.kept["events-1.ndjson"])
    assert len(call) == 12
    assert (world.copy.commits, world.copy.tree) == ([], FILES)
    assert actions(world)[-2:] == ["APPLY_PATCH", "ABORT"]
    assert verify(log).divergence is None
    assert '"event":"step_waiting"' in world.kept["tools-1.ndjson"]


def test_an_approved_patch_is_tried_and_a_second_one_is_asked_about_by_its_own_hash() -> None:
    first, _ = asked_about(change(WRONG))

    second, world = asked_about(change(WRONG), change(), approved=(first,))

    assert second != first
    assert actions(world).count("APPLY_PATCH") == 2
    # What the log of the earlier claim held beyond this one is cut off.
    assert world.kept["events-2.ndjson"] == ""


def test_a_visit_whose_calls_are_all_approved_ends_as_one_without_such_a_policy() -> None:
    first, _ = asked_about(change(WRONG))
    second, _ = asked_about(change(WRONG), change(), approved=(first,))
    conventions = the_task().conventions.model_copy(update={"coding_policy": ASK_FIRST})

    asked = run(the_task(conventions=conventions, approved_calls=(first, second)), ports(change(WRONG), change()))  # fmt: skip

    free = run(the_task(), ports(change(WRONG), change()))
    assert isinstance(asked, Succeeded)
    assert isinstance(free, Succeeded)
    assert (asked.summary, asked.effects) == (free.summary, free.effects)

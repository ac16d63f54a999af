"""Tests are written before the code, handed over with their path, and may not be changed by whoever makes them pass."""

import ast
import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cogworks.canonical import digest, sha256
from cogworks.codebase.remotes import Remote
from cogworks.codebase.worktree import WorkingCopies
from cogworks.codegen.coder import Coder
from cogworks.codegen.handoff import TestHandoff
from cogworks.codegen.prompt import HandedOver, ShownFile, implementation_opening
from cogworks.codegen.test_writing import TestWriting
from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, ExecutionComplete
from cogworks.cycle.monitor import verify_seriality
from cogworks.cycle.replay import verify
from cogworks.domain_services.messages import Diagnostic, TestCase, TestReport, hides
from cogworks.errors import ConfigurationError
from cogworks.forge.wordings import EditedText
from cogworks.llm.prompts import shipped_prompts
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import Implementation, ProposedFile, WrittenTests
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import RunId, Severity
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository, git
from tests.cycle.test_handoff import handoff
from tests.fakes import FakePorts
from tests.nodes.examples import (
    CLASSIFICATION,
    CODE,
    FILES,
    FIXED,
    REVIEW,
    finding,
    output,
    planned,
    ports,
    task,
)

CUSTOM = "tests/custom/test_sums.py"
USUAL = "tests/generated/wi-7/test_issue_21.py"
TEXT = "def test_sum(): ...\n"
IMPORTING = "from adder import twice\n\n\ndef test_twice(): ...\n"
FIX = ProposedFile(path="src/adder/adding.py", action="modify", content=FIXED)
WRONG = ProposedFile(
    path="src/adder/adding.py", action="modify", content="def add(a, b):\n    return a * b\n"
)


def suite(workspace: Workspace) -> TestReport:
    """`test_sum` passes once the bug is gone, `test_lost_cause` never, `twice` has to be there for whoever imports it, all other tests pass."""
    code = "".join(workspace.read(path) or "" for path in workspace.files() if path.startswith("src/"))
    cases, errors = [], []
    for path in workspace.files():
        text = (workspace.read(path) or "") if path.startswith("tests/") else ""
        if "import twice" in text and "def twice" not in code:
            errors.append(f"{path}: E   ImportError: cannot import name 'twice' from 'adder'")
            continue
        for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE):
            is_bad = name == "test_lost_cause" or (name == "test_sum" and "a + b" not in code)
            message = f"E   {name} is wrong" if is_bad else ""
            cases.append(
                TestCase(id=f"{path}::{name}", outcome="failed" if is_bad else "passed", message=message)
            )
    return TestReport(cases=tuple(cases), collection_errors=tuple(errors))


def world(*answers: Any, files: dict[str, str] | None = None, **changes: Any) -> FakePorts:
    return ports(*answers, files=files or FILES, run_tests=suite, **changes)


def written(path: str = CUSTOM, text: str = TEXT, **changes: Any) -> WrittenTests:
    action = "modify" if path in FILES else "create"
    file = ProposedFile(path=path, action=action, content=text)  # type: ignore[arg-type] # one of the two
    return WrittenTests.model_validate({"test_path": path, "files": (file,), **changes})


def implemented(*files: ProposedFile, **changes: Any) -> Implementation:
    return Implementation.model_validate({"summary": "Let add() add", "files": files or (FIX,), **changes})


def the_task(**changes: Any) -> NodeTask:
    return task("code_generation", sub_item="A", **changes)


def played(ports: FakePorts, **changes: Any) -> Succeeded:
    outcome = run(the_task(**changes), ports)
    assert isinstance(outcome, Succeeded), outcome.reason
    return outcome


def failed(ports: FakePorts, **changes: Any) -> Failed:
    outcome = run(the_task(**changes), ports)
    assert isinstance(outcome, Failed)
    return outcome


def log(ports: FakePorts) -> Any:
    return read_events(ports.kept["events-1.ndjson"])


def actions(ports: FakePorts) -> list[str]:
    return [event.body.action.value for event in log(ports) if isinstance(event.body, Committed)]


def traced(ports: FakePorts) -> list[tuple[str, dict[str, Any]]]:
    """What the results of the actions tell, but for the transactions."""
    return [
        (entry.kind, entry.data)
        for event in log(ports)
        if isinstance(event.body, ExecutionComplete)
        for entry in event.body.result.trace
        if not entry.kind.startswith(("txn.", "file."))
    ]


def test_tests_come_first_and_are_handed_over_with_the_path_their_writer_reported() -> None:
    place = world(written(), implemented())

    outcome = played(place)

    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]
    assert actions(place) == [
        "RUN_TESTS", "WRITE_TESTS", "RUN_TESTS", "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE",
        "FINALIZE",
    ]  # fmt: skip
    # As it was found, with the tests in it, and with the change in it: its own tests, all of them, its own a third time.
    assert place.service.runs == 5
    assert outcome.output["test_handoff"] == {
        "schema": 1,
        "work_item": 7,
        "sub_work_item": 21,
        "feature_id": "wi-7",
        "test_path": CUSTOM,
        "extra_paths": [],
        "source": "reported",
        "sha256": sha256(TEXT),
        "extra_sha256": [],
        "test_ids": [f"{CUSTOM}::test_sum"],
        "red": {"collected": 1, "failed": 1, "passed": 0, "missing": [], "failing_before": []},
        "written_by": "test-writer",
        "attempt": 1,
        "commit": f"{1:040x}",
    }
    assert outcome.output["test_files"] == [CUSTOM]
    assert outcome.output["tests"] == {
        "passed": 2,
        "added": [f"{CUSTOM}::test_sum"],
        "changed": [],
        "failed_before": 0,
    }
    assert outcome.output["files"] == [
        {"path": "src/adder/adding.py", "action": "modify"},
        {"path": CUSTOM, "action": "create"},
    ]


def editing(*edits: tuple[str, str, str], **changes: Any) -> WrittenTests:
    given = [{"path": path, "search": search, "replace": replace} for path, search, replace in edits]
    return WrittenTests.model_validate({"test_path": edits[0][0], "files": (), "edits": given, **changes})


OLD = "def test_lost_cause(): ...\n"


def test_a_test_that_failed_before_in_the_same_file_is_asked_of_nobody() -> None:
    place = world(editing((CUSTOM, OLD, f"{OLD}\n\n{TEXT}")), implemented(), files={**FILES, CUSTOM: OLD})

    outcome = played(place)

    assert outcome.output["test_handoff"]["red"] == {
        "collected": 2,
        "failed": 1,
        "passed": 0,
        "missing": [],
        "failing_before": [f"{CUSTOM}::test_lost_cause"],
    }
    assert "test_sum is wrong" in place.model.asked[1]
    assert "test_lost_cause is wrong" not in place.model.asked[1]
    assert (
        "These tests fail already, without yours. Unless the item is about them, nobody has to make them pass:\n\n"
        in (place.model.asked[0])
    )
    for asked in place.model.asked[:2]:
        assert f"{CUSTOM}::test_lost_cause" in asked


def test_a_test_that_failed_before_has_to_pass_where_nothing_else_is_red() -> None:
    noted = f"{TEXT}# It adds.\n"
    place = world(editing((CUSTOM, TEXT, noted)), implemented(), files={**FILES, CUSTOM: TEXT})

    outcome = played(place)

    assert outcome.output["test_handoff"]["red"]["failing_before"] == []


def test_a_test_is_added_to_a_file_that_is_there_by_an_edit() -> None:
    there = "tests/test_adding.py"
    place = world(editing((there, FILES[there], f"{FILES[there]}\n\n{TEXT}")), implemented())

    outcome = played(place)

    assert outcome.output["test_handoff"]["test_path"] == there
    (_, with_tests), _ = place.copy.commits
    assert with_tests[there] == f"{FILES[there]}\n\n{TEXT}"


def test_an_assertion_that_is_added_to_a_test_makes_it_a_changed_one() -> None:
    there = "tests/test_adding.py"
    more = "def test_zero():\n    assert add(2, 2) == 4\n"

    def by_its_text(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        is_fixed = "a + b" in (workspace.read(FIX.path) or "")
        fails = "assert" in (workspace.read(there) or "") and not is_fixed
        case = TestCase(id=f"{there}::test_zero", outcome="failed" if fails else "passed")
        return TestReport(cases=(case,))

    place = world(editing((there, FILES[there], more)), implemented())
    place.service.simulating = by_its_text

    outcome = played(place)

    changed = [f"{there}::test_zero"]
    assert outcome.output["tests"] == {"passed": 1, "added": [], "changed": changed, "failed_before": 0}


def test_an_edit_that_stands_nowhere_goes_back_to_the_writer() -> None:
    there = "tests/test_adding.py"
    place = world(editing((there, "def test_one", TEXT)), written(), implemented())

    played(place)

    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2", "implementation-A-1"]
    assert "the text to replace stands 0 times" in place.model.asked[1]


def test_tests_that_were_sent_back_are_corrected_by_edits_of_the_answer_that_held_them() -> None:
    data, too_much = "tests/custom/data.csv", "tests/custom/more.csv"
    passing = written(
        text="def test_all_is_well(): ...\n",
        extra_paths=(data, too_much),
        files=[
            ProposedFile(path=CUSTOM, action="create", content="def test_all_is_well(): ...\n"),
            ProposedFile(path=data, action="create", content="1,2,3\n"),
            ProposedFile(path=too_much, action="create", content="4,5,9\n"),
        ],
    )
    place = world(
        passing, editing((CUSTOM, "test_all_is_well", "test_sum"), extra_paths=(data,)), implemented()
    )

    outcome = played(place)

    assert outcome.output["test_handoff"]["extra_paths"] == [data]
    (_, with_tests), _ = place.copy.commits
    assert (with_tests[CUSTOM], with_tests[data]) == (TEXT, "1,2,3\n")
    assert too_much not in with_tests


def test_an_answer_that_was_tried_is_placed_as_it_was_tried_without_what_was_sent_back() -> None:
    data = "tests/custom/data.csv"
    passing = written(
        text="def test_all_is_well(): ...\n",
        extra_paths=(data,),
        files=[
            ProposedFile(path=CUSTOM, action="create", content="def test_all_is_well(): ...\n"),
            ProposedFile(path=data, action="create", content="1,2,3\n"),
        ],
    )
    place = world(passing, editing((CUSTOM, "", TEXT), tried=1), implemented())

    outcome = played(place)

    assert outcome.output["test_handoff"]["extra_paths"] == []
    (_, with_tests), _ = place.copy.commits
    assert with_tests[CUSTOM] == TEXT
    assert data not in with_tests


def test_tests_that_are_in_the_repository_are_changed_as_they_stand_there() -> None:
    """The formatter may have changed them since their writer gave them."""
    dispute = {"test_id": f"{CUSTOM}::test_sum", "reason": "R1 says otherwise."}
    place = world(
        written(text=f"{TEXT}def test_more(): ...   \n"),
        implemented(test_dispute=dispute),
        editing((CUSTOM, "def test_more(): ...\n", "def test_most(): ...\ndef test_more(): ...\n")),
        implemented(),
        layout=lambda text: text.replace("   \n", "\n"),
    )

    played(place)

    (_, first), (_, second), *_ = place.copy.commits
    assert first[CUSTOM] == f"{TEXT}def test_more(): ...\n"
    assert second[CUSTOM] == f"{TEXT}def test_most(): ...\ndef test_more(): ...\n"


def by_case(workspace: Workspace) -> TestReport:
    """As `suite`, with a case of `test_rounds` for each word in the brackets behind it; `up` holds once the bug is gone."""
    cases = list(suite(workspace).cases)
    is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
    for path in workspace.files():
        text = (workspace.read(path) or "") if path.startswith("tests/") else ""
        for case in re.findall(r"# case (\w+-\w+)", text):
            holds = case.endswith("same") or case.endswith("up") is is_fixed
            cases.append(TestCase(id=f"{path}::test_rounds[{case}]", outcome="passed" if holds else "failed"))
    return TestReport(cases=tuple(cases))


def at_another_minute() -> Callable[[Workspace], TestReport]:
    """As `suite`, with two cases of a test whose ids hold the minute of the run, and every run is in another one."""
    minutes = count(10)

    def run(workspace: Workspace) -> TestReport:
        minute = next(minutes)
        names = [f"tests/test_clock.py::test_now[{day}-2026-11-28T22:{minute}:00]" for day in ("-1d", "-2d")]
        cases = [TestCase(id=name, outcome="passed") for name in names]
        return TestReport(cases=(*suite(workspace).cases, *cases))

    return run


def rounding(*cases: str) -> str:
    return "".join(f"# case {case}\n" for case in cases)


def test_a_case_of_a_parametrized_test_may_be_stated_in_another_way() -> None:
    """Its id holds what is expected, so a changed expectation is another id."""
    there = "tests/test_rounding.py"
    files = {**FILES, there: rounding("1-same", "2-down", "3-down")}
    place = ports(
        editing((there, "2-down", "2-up"), (there, "3-down", "3-up")),
        implemented(),
        files=files,
        run_tests=by_case,
    )

    outcome = played(place)

    assert outcome.output["proof"]["restated"] == [
        f"{there}::test_rounds[2-down]",
        f"{there}::test_rounds[3-down]",
    ]
    assert outcome.output["proof"]["is_proven"]
    assert "deleted" not in outcome.output["proof"]["counts"]


def by_title(workspace: Workspace) -> TestReport:
    """As `suite`, with a test for each `it` of a file of JavaScript; one that throws holds once the bug is gone."""
    is_fixed = "a + b" in (workspace.read("src/adder/adding.py") or "")
    titles = re.findall(r"it\('([^']+)'", workspace.read("test/range.js") or "")
    cases = [
        TestCase(
            id=f"test/range.js::range > {title}",
            outcome="passed" if "throws" not in title or is_fixed else "failed",
        )
        for title in titles
    ]
    return TestReport(cases=(*suite(workspace).cases, *cases))


def test_a_test_whose_expectation_changes_may_get_the_name_that_is_true_now() -> None:
    """Where names are sentences, the old name would say what no longer holds."""
    there = "test/range.js"
    empty, throws = (
        "it('is empty without a step', range(0, 0))\n",
        "it('throws without a step', range(0, 0))\n",
    )
    files = {**FILES, there: f"it('counts', counts)\n{empty}"}
    place = ports(editing((there, empty, throws)), implemented(), files=files, run_tests=by_title)

    proof = played(place).output["proof"]

    assert proof["restated"] == [f"{there}::range > is empty without a step"]
    assert proof["is_proven"]
    assert "deleted" not in proof["counts"]
    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]


def test_a_test_that_is_dropped_while_another_one_is_added_elsewhere_goes_back_to_the_writer() -> None:
    there = "test/range.js"
    empty, throws = (
        "it('is empty without a step', range(0, 0))\n",
        "it('throws without a step', range(0, 0))\n",
    )
    counts = "it('counts', counts)\n"
    files = {**FILES, there: f"{empty}{counts}"}
    place = ports(
        editing((there, f"{empty}{counts}", f"{counts}{throws}")),
        editing((there, f"{counts}{throws}", f"{throws}{counts}")),
        implemented(),
        files=files,
        run_tests=by_title,
    )

    played(place)

    assert (
        f"{there}::range > is empty without a step passed before and did not run now" in place.model.asked[1]
    )
    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2", "implementation-A-1"]


def test_tests_that_the_clock_renames_are_no_tests_that_are_gone() -> None:
    place = ports(written(), implemented(), files=FILES, run_tests=at_another_minute())

    outcome = played(place)

    proof = outcome.output["proof"]
    assert proof["is_proven"]
    assert "deleted" not in proof["counts"]
    assert "test_clock" not in str(proof["tests"])
    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]


def test_a_case_with_another_day_in_a_file_that_was_written_is_listed_as_stated_in_another_way() -> None:
    """Nobody can tell it from a case that the clock renames, so the file that changed decides."""
    there = "tests/test_days.py"
    files = {**FILES, there: "# day 2020-01-01\n# day 2020-02-01\n"}

    def by_day(workspace: Workspace) -> TestReport:
        days = re.findall(r"# day (\S+)", workspace.read(there) or "")
        cases = [TestCase(id=f"{there}::test_day[{day}]", outcome="passed") for day in days]
        return TestReport(cases=(*suite(workspace).cases, *cases))

    changed = ProposedFile(path=there, action="modify", content="# day 2020-01-01\n# day 2021-02-01\n")
    new = ProposedFile(path=CUSTOM, action="create", content=TEXT)
    answer = WrittenTests(test_path=CUSTOM, files=(new, changed), extra_paths=(there,))
    place = ports(answer, implemented(), files=files, run_tests=by_day)

    proof = played(place).output["proof"]

    assert proof["restated"] == [f"{there}::test_day[2020-02-01]"]


def test_a_case_that_is_dropped_goes_back_to_the_writer() -> None:
    there = "tests/test_rounding.py"
    files = {**FILES, there: rounding("1-same", "2-down", "3-down")}
    place = ports(
        editing((there, rounding("2-down", "3-down"), rounding("2-up"))),
        editing((there, "# case 2-up\n", rounding("2-up", "3-up"))),
        implemented(),
        files=files,
        run_tests=by_case,
    )

    played(place)

    assert f"{there}::test_rounds[3-down] passed before and did not run now" in place.model.asked[1]
    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2", "implementation-A-1"]


def test_a_rework_still_tells_what_an_earlier_visit_stated_in_another_way() -> None:
    there = "tests/test_rounding.py"
    files = {**FILES, there: rounding("1-same", "2-down")}
    first = played(ports(editing((there, "2-down", "2-up")), implemented(), files=files, run_tests=by_case))
    again = {**FILES, there: rounding("1-same", "2-up"), "src/adder/adding.py": FIXED}
    more = ProposedFile(path="src/adder/adding.py", action="modify", content=f"# Adds.\n{FIXED}")

    second = played(
        ports(implemented(more), files=again, run_tests=by_case),
        ordinal=2,
        earlier={"code": first.output},
        inputs={"review": {**REVIEW, "findings": [output(finding(Severity.BLOCKING))]}},
    )

    assert second.output["proof"]["restated"] == [f"{there}::test_rounds[2-down]"]


def test_the_tests_are_committed_before_the_coder_starts() -> None:
    place = world(written(notes="Sums only."), implemented())

    played(place)

    (tests, with_tests), (code, with_code) = place.copy.commits
    assert tests.startswith(
        "Add tests: Item A\n\nSub-work-item A of #7: Item A\n\nSums only.\n\nCogworks-Visit: "
    )
    assert (with_tests[CUSTOM], with_tests["src/adder/adding.py"]) == (TEXT, FILES["src/adder/adding.py"])
    assert code.startswith("Let add() add\n")
    assert (with_code[CUSTOM], with_code["src/adder/adding.py"]) == (TEXT, FIXED)


def test_every_answer_is_in_the_ledger_before_a_test_runs_on_it() -> None:
    place = world(written(), implemented())
    asked_and_saved: list[tuple[int, int]] = []
    simulate = place.service.simulating

    def watched(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        asked_and_saved.append((len(place.model.purposes), len(place.saved)))
        return simulate(workspace, tests)

    place.service.simulating = watched
    played(place)

    assert asked_and_saved == [(0, 0), (1, 1), (2, 2), (2, 2), (2, 2)]


def test_the_hand_off_is_an_event_and_a_file_of_the_visit() -> None:
    place = world(written(), implemented())

    outcome = played(place)

    [(kind, told)] = traced(place)
    kept = TestHandoff.model_validate_json(place.kept["test_handoff.json"])
    assert kind == "test_handoff"
    # The name of a commit depends on its parent's date, and a log must not.
    assert {**told, "commit": kept.commit} == kept.as_json()
    assert outcome.output["test_handoff"] == kept.as_json()


def test_whoever_takes_over_makes_the_same_hand_off_from_the_same_replies(tmp_path: Path) -> None:
    remote = BareRepository(tmp_path)
    remote.put("main", FILES)
    at = the_task()
    found = []
    for machine in ("first", "second"):
        with WorkingCopies(tmp_path / machine, identity=BOT, environment=ENVIRONMENT) as copies:
            place = world(written(), implemented())
            place.copy = copies.open(  # type: ignore[assignment] # a real one, whose commits have real names
                remote=Remote(remote.url, None),
                run=RunId("r"),
                name="A",
                branch=at.branch,
                base=at.base_branch,
            )
            outcome = run(at, place)
            assert isinstance(outcome, Succeeded)
            commits = git(place.copy.path, "log", "-2", "--format=%H").split()
            found.append((outcome.output["test_handoff"], [event.hash for event in log(place)], commits))

    assert found[0] == found[1]
    handoff, _, (_, tests) = found[0]
    assert handoff["commit"] == tests


@pytest.mark.parametrize(
    "answers",
    [
        [written(), implemented()],
        [written(text="def test_fine(): ...\n"), written(), implemented(WRONG), implemented()],
        [written(path="../x.py"), written(path="/x.py")],
    ],
    ids=["at-once", "second-tries", "no-tests"],
)
def test_the_log_decides_itself_again(answers: list[Any]) -> None:
    place = world(*answers)

    run(the_task(), place)

    replayed = verify(log(place))
    assert (replayed.divergence, replayed.is_complete) == (None, True)
    assert verify_seriality(log(place)) == ()


def test_the_coder_is_shown_that_path_and_its_content_and_no_other_test_path() -> None:
    plan = {"sub_work_items": [output(planned("A")), output(planned("B", depends_on=("A",)))]}
    earlier = {**CODE, "files": [*CODE["files"], {"path": "tests/test_before.py", "action": "create"}]}
    place = world(
        written(), implemented(), files={**FILES, "tests/test_before.py": "def test_before(): ...\n"}
    )
    dependent = task(
        "code_generation", sub_item="B", inputs={"plan": plan}, dependency_outputs={"A": {"code": earlier}}
    )

    run(dependent, place)

    writer, coder = place.model.asked
    assert "tests/test_before.py" in writer
    assert "add(2, 2) in tests/test_adding.py" in writer
    assert set(re.findall(r"tests?/[\w./]*", coder)) == {CUSTOM}
    assert TEXT in coder


def test_the_writer_sees_the_tests_of_the_module_and_the_coder_is_told_how_many_files_are_not_for_it() -> (
    None
):
    near = "from adder.adding import add\n\n\ndef test_signs():\n    assert add(-1, 1) == 0\n"
    place = world(written(), implemented(), files={**FILES, "tests/test_signs.py": near})

    run(the_task(), place)

    writer, coder = place.model.asked
    assert "def test_signs():" in writer
    assert f"It has {len(place.copy.files()) - 1} files. These are all:" in writer
    told = re.search(
        r"It has (\d+) files; (\d+) of them are not for you to see or run. The others are:\n\n<[^>]*>\n([^<]*)\n</",
        coder,
    )
    assert told is not None
    assert int(told[1]) - int(told[2]) == len(told[3].splitlines())


def test_all_files_of_the_hand_off_are_shown_and_frozen() -> None:
    data = ProposedFile(path="tests/custom/sums.json", action="create", content="[[2, 2, 4]]\n")
    tests = written().model_copy(update={"files": (*written().files, data), "extra_paths": (data.path,)})
    spoilt = data.model_copy(update={"action": "modify", "content": "[]\n"})
    place = world(tests, implemented(FIX, spoilt), implemented())

    outcome = played(place)

    assert data.content in place.model.asked[1]
    assert f"{data.path} was handed over with the tests and may not be changed" in place.model.asked[2]
    assert place.copy.tree[data.path] == data.content
    assert outcome.output["test_files"] == [CUSTOM]


def test_tests_that_no_runner_knows_are_named_to_the_coder_and_in_the_output() -> None:
    script = ProposedFile(path="tests/custom/sums.spec.js", action="create", content="it('adds')\n")
    tests = written().model_copy(update={"files": (*written().files, script), "extra_paths": (script.path,)})
    place = world(tests, implemented())

    outcome = played(place)

    assert f'of="files whose tests are not run">\n{script.path}\n</data-' in place.model.asked[1]
    assert outcome.output["unrun"] == [script.path]


def test_a_case_that_another_file_makes_of_new_data_is_handed_over_with_that_file() -> None:
    reader, name = "tests/test_cases.py", "tests/test_cases.py::test_case[sums]"
    data = ProposedFile(path="tests/custom/sums.txt", action="create", content="2 + 2\n")
    tests = written().model_copy(update={"files": (*written().files, data), "extra_paths": (data.path,)})

    def with_cases(workspace: Workspace) -> TestReport:
        report = suite(workspace)
        if workspace.read(data.path) is None:
            return report
        is_right = workspace.read(FIX.path) == FIX.content
        case = TestCase(id=name, outcome="passed" if is_right else "failed", message="E   assert 0 == 4")
        return report.model_copy(update={"cases": (*report.cases, case)})

    place = ports(
        tests, implemented(), files={**FILES, reader: "def test_case(): ...\n"}, run_tests=with_cases
    )

    outcome = played(place)

    handoff = outcome.output["test_handoff"]
    assert handoff["extra_paths"] == [data.path, reader]
    assert name in handoff["test_ids"]
    assert (handoff["red"]["collected"], handoff["red"]["failed"]) == (3, 2)


SHOWN = ShownFile(path=CUSTOM, text=TEXT)
WANTED = CycleContext(task=Task(goal="add() adds", writes_tests=True))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"files": (SHOWN,)}, "test_path\n  Field required"),
        ({"test_path": "", "files": (SHOWN,)}, "test_path\n  String should have at least 1 character"),
        ({"test_path": CUSTOM}, "files\n  Field required"),
        ({"test_path": CUSTOM, "files": ()}, "files\n  Tuple should have at least 1 item"),
        ({"test_path": USUAL, "files": (SHOWN,)}, "none of the files that are shown"),
    ],
    ids=["no path", "empty path", "no files", "none of them", "another file"],
)
def test_what_the_coder_is_shown_has_the_path_and_the_text_of_the_tests(
    given: dict[str, Any], problem: str
) -> None:
    assert HandedOver(test_path=CUSTOM, files=(SHOWN,)).test_path == CUSTOM
    with pytest.raises(ValueError, match=problem):
        HandedOver.model_validate(given)


def test_nobody_can_be_asked_for_code_without_a_hand_off() -> None:
    place = world()
    nothing = TestWriting(the_task(), place, workspace=place.copy, item=planned())
    coder = Coder(the_task(), place, workspace=place.copy, item=planned(), tests=nothing)

    with pytest.raises(ValueError, match="test_path"):
        nothing.handed_over()
    with pytest.raises(ValueError, match="test_path"):
        coder.ask(WANTED)
    with pytest.raises(TypeError, match="handed_over"):
        implementation_opening(the_task(), place, planned())  # type: ignore[call-arg] # what is tried
    assert (place.model.purposes, place.model.asked, place.saved) == ([], [], [])


def test_a_hand_off_whose_file_is_gone_is_not_asked_about() -> None:
    place = world()
    given = handoff(test_path=CUSTOM, extra_paths=("README.md",)).as_json()
    stored = the_task(earlier={"code": {**CODE, "test_handoff": given}})
    gone = TestWriting(stored, place, workspace=place.copy, item=planned())

    with pytest.raises(ValueError, match="none of the files that are shown"):
        Coder(stored, place, workspace=place.copy, item=planned(), tests=gone).ask(WANTED)
    assert place.model.asked == []


def test_a_question_for_code_cannot_be_put_into_words_without_a_hand_off() -> None:
    shown = HandedOver(test_path=CUSTOM, files=(SHOWN,))
    told = implementation_opening(the_task(), world(), planned(), shown).variables
    without = {name: value for name, value in told.items() if name != "handed_over"}

    assert CUSTOM in shipped_prompts().render("implementation", told).user
    with pytest.raises(ConfigurationError, match="'handed_over' is undefined"):
        shipped_prompts().render("implementation", without)
    with pytest.raises(ConfigurationError, match="'dict object' has no attribute 'files'"):
        shipped_prompts().render("implementation", {**told, "handed_over": {}})


def test_code_for_those_who_test_with_the_project_is_not_hidden_from_the_coder() -> None:
    scripts = {
        "shop/test.py": "class Client: ...\n",
        "tests/test.py": "def test_b(): ...\n",
    }
    place = world(written(), implemented(), files={**FILES, **scripts})

    played(place)

    asked = place.model.asked[1]
    assert "shop/test.py" in asked
    assert "tests/test.py" not in asked


def test_a_script_of_another_language_than_all_tests_is_not_hidden_from_the_coder() -> None:
    scripts = {
        "test_wasm.js": "run()\n",
        "tests/helper.js": "help()\n",
        "test_other.py": "def test_a(): ...\n",
    }
    place = world(written(), implemented(), files={**FILES, **scripts})

    played(place)

    asked = place.model.asked[1]
    assert "test_wasm.js" in asked
    assert "tests/helper.js" not in asked
    assert "test_other.py" not in asked


@pytest.mark.parametrize(
    ("code", "advised"),
    [
        ("src/lib.rs", "like tests/lib.rs"),
        ("basket/src/bin/shop.rs", "like basket/tests/shop.rs"),
        ("build.rs", "like tests/build.rs"),
    ],
)
def test_a_crate_is_advised_to_have_its_tests_where_they_are_compiled(code: str, advised: str) -> None:
    item = planned(files=(code, "tests/test_adding.py"))
    file = ProposedFile(path=code, action="create", content="fn a() {}\n")
    refused = written(extra_paths=(code,), files=(*written().files, file))
    place = world(refused, written(), implemented())

    run(the_task(inputs={"plan": {"sub_work_items": [item.model_dump(mode="json")]}}), place)

    assert advised in "\n".join(place.said)


def test_one_place_asks_for_code_to_handed_over_tests_and_one_makes_its_variables() -> None:
    package = Path(__file__).parents[2] / "cogworks"
    asking, making = [], []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8")
        if "implementation" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called == "self._answer" and ast.unparse(node).count("'implementation'"):
                    asking.append(path.name)
                if called == "implementation_opening":
                    making.append(path.name)

    assert (asking, making) == (["coder.py"], ["coder.py"])


@pytest.mark.parametrize("path", ["tests/test_adding.py", "tests/./custom/test_sums.py", CUSTOM])
def test_the_coder_cannot_change_the_handed_over_tests(path: str) -> None:
    given = (
        written(path="tests/test_adding.py", text=FILES["tests/test_adding.py"] + TEXT)
        if path in FILES
        else written()
    )
    weaker = ProposedFile(path=path, action="modify", content="def test_sum(): pass\n")
    place = world(given, implemented(FIX, weaker), implemented())

    played(place)

    assert "was handed over with the tests and may not be changed" in place.model.asked[2]
    assert len(place.copy.commits) == 2


def test_a_coder_that_insists_on_changing_the_tests_is_given_up() -> None:
    weaker = ProposedFile(path=CUSTOM, action="modify", content="def test_sum(): pass\n")
    place = world(written(), implemented(FIX, weaker), implemented(FIX, weaker))

    assert failed(place).category == "retry_exhausted"
    assert place.copy.tree[CUSTOM] == TEXT


MIXED = "from adder import twice\n\n\ndef test_twice(): ...\n"
ODD_FRAMES = (
    "tests/custom/test_sums.py:9: in test_odd\nsrc/adder/adding.py:2: in add\nE   ValidationError: no number"
)


def mixed(workspace: Workspace) -> TestReport:
    """Two tests miss what is to be written, a third fails in code that is there."""
    code = workspace.read("src/adder/adding.py") or ""
    is_done, is_there = "a + b" in code, workspace.read(CUSTOM) is not None
    missing = "E   ImportError: cannot import name 'twice' from 'adder'"
    said = {"test_a": missing, "test_b": missing, "test_odd": ODD_FRAMES} if is_there else {}
    cases = [
        TestCase(
            id=f"{CUSTOM}::{name}", outcome="passed" if is_done else "failed", message="" if is_done else text
        )
        for name, text in said.items()
    ]
    return TestReport(cases=(TestCase(id="tests/test_adding.py::test_old", outcome="passed"), *cases))


@pytest.mark.parametrize(
    "second",
    [WrittenTests(test_path="", files=(), confirmed="R1 asks for it."), written(text=MIXED)],
    ids=["confirmed", "given-again-without-a-word"],
)
def test_a_writer_is_asked_once_about_tests_that_fail_in_existing_code(second: WrittenTests) -> None:
    place = ports(written(text=MIXED), second, implemented(), files=FILES, run_tests=mixed)

    played(place)

    asked = place.model.asked[1]
    assert "2 × ImportError: cannot import name 'twice' from 'adder', 1 × ValidationError: no number" in asked
    assert f"{CUSTOM}::test_odd failed:\n{ODD_FRAMES}" in asked
    assert place.copy.tree[CUSTOM] == MIXED
    assert verify(log(place)).divergence is None


def test_the_first_prompt_of_the_coder_holds_what_the_handed_over_tests_say_and_nothing_of_others() -> None:
    place = world(written(), implemented())

    played(place)

    writer, coder = place.model.asked
    assert f"{CUSTOM}::test_sum failed:\nE   test_sum is wrong" in coder
    assert "What they say now" not in writer


def test_an_answer_without_files_is_asked_again() -> None:
    place = world(written(), Implementation(summary="Nothing", files=()), implemented())

    played(place)

    assert "nothing would change" in place.model.asked[2]


@pytest.mark.parametrize(
    ("reply", "path", "source"),
    [
        (written(), CUSTOM, "reported"),
        (
            written("tests/test_adding.py", FILES["tests/test_adding.py"] + TEXT, test_path=""),
            "tests/test_adding.py",
            "planned",
        ),
    ],
    ids=["reported", "planned"],
)
def test_a_path_nobody_reported_is_the_one_of_the_plan(reply: WrittenTests, path: str, source: str) -> None:
    handoff = played(world(reply, implemented())).output["test_handoff"]

    assert (handoff["test_path"], handoff["source"]) == (path, source)


def test_where_the_plan_names_no_test_the_convention_does() -> None:
    plan = {"sub_work_items": [output(planned(files=("src/adder/adding.py",)))]}
    given = written(USUAL, test_path="")

    handoff = played(world(given, implemented()), inputs={"plan": plan}).output["test_handoff"]

    assert (handoff["test_path"], handoff["source"]) == (USUAL, "convention")


@pytest.mark.parametrize(
    ("reply", "said", "kind"),
    [
        (written(test_path="tests/lost.py", extra_paths=(CUSTOM,)), "Test file not found: tests/lost.py", "test_file_missing"),
        (written("../test_out.py"), "Test file refused: '../test_out.py'", "test_path_escape"),
        (written(".cogworks/test_rules.py"), "it is protected by '.cogworks/**'", "test_path_escape"),
        (written(text="\n"), f"Test file not found: {CUSTOM}", "test_file_missing"),
        (written(text="x = 1\n"), f"0 tests collected in {CUSTOM}", "test_empty"),
        (written(text="def test_fine(): ...\n"), f"These pass already: {CUSTOM}::test_fine", "test_not_red"),
        (written(path="tests/test_adding.py", text=TEXT), "tests/test_adding.py::test_zero passed before and did not run now", "vanished_tests"),
        (written(extra_paths=("src/adder/adding.py",), files=(*written().files, FIX)), "or is named as one, like src/adder/adding_test.py", "refused_change"),
        (written(files=(*written().files, FIX)), "named neither in `test_path` nor in `extra_paths`", "refused_change"),
        (
            written("tests/test_adding.py", files=(ProposedFile(path="tests/test_adding.py", action="delete", content=""),)),
            "deletes nothing",
            "refused_change",
        ),
    ],
    ids=["missing", "escape", "protected", "blank", "no-tests", "green", "vanished", "code", "unnamed", "deleted"],
)  # fmt: skip
def test_tests_that_cannot_be_handed_over_go_back_to_their_writer(
    reply: WrittenTests, said: str, kind: str
) -> None:
    place = world(reply, written(), implemented())

    played(place)

    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2", "implementation-A-1"]
    assert said in place.model.asked[1]
    assert [each for each, _ in traced(place)] == [kind, "test_handoff"]
    assert len(place.copy.commits) == 2


def test_a_test_file_that_git_ignores_goes_back_to_its_writer_with_the_rule() -> None:
    ignored = "tests/local/test_sum.py"
    place = world(written(ignored), written(), implemented())
    place.copy.rules = {ignored: f"{ignored} is ignored by .gitignore:3 `local/`"}

    played(place)

    assert f"{ignored} is ignored by .gitignore:3 `local/`" in place.model.asked[1]


def test_tests_that_break_others_go_back_to_their_writer() -> None:
    def spoilt(workspace: Workspace) -> TestReport:
        report = suite(workspace)
        if "spoil" not in (workspace.read(CUSTOM) or ""):
            return report
        broken = [case.model_copy(update={"outcome": "failed"}) for case in report.cases]
        return report.model_copy(
            update={"cases": tuple(broken), "collection_errors": ("tests/test_b.py: E   boom",)}
        )

    spoiling = written(text=f"{TEXT}# spoil\n")
    place = ports(spoiling, written(), implemented(), run_tests=spoilt)

    played(place)

    assert "tests/test_adding.py::test_zero failed" in place.model.asked[1]
    assert "tests/test_b.py: E   boom" in place.model.asked[1]
    assert f"{CUSTOM}::test_sum failed" not in place.model.asked[1]


@pytest.mark.parametrize(
    ("place", "is_theirs"),
    [("tests/custom", True), ("tests", False), (".", False)],
    ids=["theirs", "above", "all"],
)
def test_a_conftest_that_needs_what_is_to_be_written_may_hide_the_new_tests_alone(
    place: str, is_theirs: bool
) -> None:
    conftest = ProposedFile(
        path="tests/custom/conftest.py", action="create", content="from adder import twice\n"
    )
    tests = written().model_copy(
        update={"files": (*written().files, conftest), "extra_paths": (conftest.path,)}
    )
    twice = FIX.model_copy(update={"content": f"{FIXED}def twice(a):\n    return a + a\n"})
    missing = "cannot import name 'twice' from 'adder'"

    def with_a_conftest(workspace: Workspace) -> TestReport:
        report = suite(workspace)
        code = workspace.read(twice.path) or ""
        if workspace.read(conftest.path) is None or "def twice" in code:
            return report
        cases = tuple(case for case in report.cases if not hides(place, case.id))
        return report.model_copy(update={"cases": cases, "collection_errors": (f"{place}: E   {missing}",)})

    scene = ports(
        tests, implemented(twice) if is_theirs else written(), implemented(twice), run_tests=with_a_conftest
    )

    outcome = played(scene)

    told = scene.model.asked[1]
    assert missing in told
    assert outcome.output["test_handoff"]["red"]["missing"] == ([missing] if is_theirs else [])
    assert scene.model.purposes[1].startswith("implementation" if is_theirs else "write_tests")


def test_another_spelling_of_a_path_is_the_same_path() -> None:
    given = written(test_path="tests/./custom//test_sums.py", extra_paths=(f"./{CUSTOM}",))

    handoff = played(world(given, implemented())).output["test_handoff"]

    assert (handoff["test_path"], handoff["extra_paths"]) == (CUSTOM, [])


def test_a_missing_file_stops_the_coder_and_costs_it_nothing() -> None:
    lost = written(test_path="tests/lost.py", extra_paths=(CUSTOM,))
    place = world(lost, lost)

    outcome = failed(place)

    assert place.model.purposes == ["write_tests-A-1", "write_tests-A-2"]
    assert outcome.reason.startswith(
        "Test file not found: tests/lost.py (source: reported, from test-writer)"
    )
    assert f"By convention it would be {USUAL}." in outcome.reason
    assert "so no code was written" in outcome.reason
    assert outcome.category == "retry_exhausted"
    assert (
        traced(place)
        == [
            (
                "test_file_missing",
                {"feature_id": "wi-7", "issue_number": 21, "expected_path": "tests/lost.py"},
            )
        ]
        * 2
    )
    assert (place.copy.tree, place.copy.commits) == (FILES, [])


def test_a_file_that_goes_away_later_stops_the_coder_too() -> None:
    place = world(written(), implemented(WRONG), implemented())
    told = place.say

    def and_lose_it(line: str) -> None:
        told(line)
        if "attempt 1 refused" in line:
            del place.copy.tree[CUSTOM]

    place.say = and_lose_it  # type: ignore[method-assign] # somebody else works in the copy

    outcome = failed(place)

    assert outcome.reason.startswith(f"Test file not found: {CUSTOM} (source: stored")
    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]


def test_a_syntax_error_is_found_before_any_test_runs() -> None:
    def check(workspace: Workspace, paths: Sequence[str]) -> list[Diagnostic]:
        broken = "(:" in (workspace.read(CUSTOM) or "")
        found = Diagnostic(
            artifact=CUSTOM, line=1, severity=Severity.BLOCKING, category="syntax_error", message="bad"
        )
        return [found] if broken else []

    place = world(written(text="def test_sum(:\n"), written(), implemented(), check=check)

    played(place)

    assert f"{CUSTOM}, line 1: syntax error: bad." in place.model.asked[1]
    # As for tests that are let through at once.
    assert place.service.runs == 5


@pytest.mark.parametrize("waived", [(), ("TEST_NOT_RED",)], ids=["refused", "waived"])
def test_a_check_may_be_made_to_warn_only(waived: tuple[str, ...]) -> None:
    green = written(text="def test_fine(): ...\n")
    place = world(green, *([implemented()] if waived else [green]))

    outcome = run(the_task(conventions=Conventions(test_warnings=waived)), place)

    assert isinstance(outcome, Succeeded) is bool(waived)
    assert any(
        "WARNING: TEST_NOT_RED: No test fails without the change" in line for line in place.said
    ) is bool(waived)


def test_a_missing_file_cannot_be_made_to_warn_only() -> None:
    lost = written(test_path="tests/lost.py", extra_paths=(CUSTOM,))

    outcome = failed(world(lost, lost), conventions=Conventions(test_warnings=("TEST_FILE_MISSING",)))

    assert outcome.reason.startswith("Test file not found:")


def test_a_refactoring_may_begin_with_tests_that_pass() -> None:
    refactoring = {"classification": output(CLASSIFICATION.model_copy(update={"type": "refactor"}))}
    place = world(written(text="def test_fine(): ...\n"), implemented())

    played(place, inputs=refactoring)

    assert "ANALYZE_FAILURE" not in actions(place)


def test_what_the_tests_cannot_import_yet_is_named_and_holds_the_end_up() -> None:
    twice = FIX.model_copy(update={"content": f"{FIXED}def twice(a):\n    return a + a\n"})
    place = world(written(text=IMPORTING), implemented(FIX), implemented(twice))

    outcome = played(place)

    handed = next(line for line in place.said if "tests handed over" in line)
    assert handed.endswith(
        "0 fail, 0 pass, and these are still to be written: cannot import name 'twice' from 'adder'"
    )
    assert "cannot import name 'twice' from 'adder'" in place.model.asked[1]
    assert "The tests could not be loaded:" in place.model.asked[2]
    assert outcome.output["test_handoff"]["red"]["missing"] == ["cannot import name 'twice' from 'adder'"]
    assert outcome.output["test_handoff"]["test_ids"] == [f"{CUSTOM}::test_twice"]


def test_tests_that_dropped_what_they_hid_from_the_gate_stop_at_a_person() -> None:
    # The file cannot be loaded without the change, so nobody could see before that `test_zero` is gone.
    twice = FIX.model_copy(update={"content": f"{FIXED}def twice(a):\n    return a + a\n"})
    place = world(written("tests/test_adding.py", IMPORTING), implemented(twice))

    outcome = failed(place)

    assert outcome.category == "escalated"
    assert "no longer hold tests/test_adding.py::test_zero, which passed before" in outcome.reason
    assert len(place.copy.commits) == 1


def test_a_test_that_failed_before_it_was_handed_over_has_to_pass_now() -> None:
    files = {**FILES, CUSTOM: TEXT}
    adopted = WrittenTests(test_path=CUSTOM, files=())
    place = world(adopted, implemented(WRONG), implemented(), files=files)

    outcome = played(place)

    assert f"{CUSTOM}::test_sum failed" in place.model.asked[2]
    assert outcome.output["tests"]["failed_before"] == 1


def test_what_only_a_person_can_decide_ends_the_writing_at_once() -> None:
    outcome = failed(world(written(missing_capability="It needs the network.")))

    assert (outcome.category, "It needs the network." in outcome.reason) == ("escalated", True)


def on_branch(**changes: Any) -> dict[str, Any]:
    """What the first visit put out, its tests at the place of their own."""
    handoff = {**played(world(written(), implemented())).output["test_handoff"], **changes}
    return {"code": {**CODE, "test_handoff": handoff}}


BRANCH = {**FILES, CUSTOM: TEXT, "src/adder/adding.py": FIXED}
BETTER = ProposedFile(path="src/adder/adding.py", action="modify", content=f"{FIXED}\n# exact\n")


def reworked(place: FakePorts, *findings: dict[str, Any], earlier: dict[str, Any] | None = None) -> Any:
    review = {**REVIEW, "passed": False, "findings": list(findings)}
    return run(
        the_task(ordinal=2, inputs={"review": review}, earlier=on_branch() if earlier is None else earlier),
        place,
    )


def about(path: str) -> dict[str, Any]:
    return {"pass": "quality", **output(finding(Severity.BLOCKING, file=path, line=1))}


def test_rework_goes_on_with_the_stored_tests() -> None:
    place = world(implemented(BETTER), files=BRANCH, base=FILES)

    outcome = reworked(place, about("src/adder/adding.py"))

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["implementation-A-v2-1"]
    assert (TEXT in place.model.asked[0], "Wrong for negative numbers." in place.model.asked[0]) == (
        True,
        True,
    )
    assert outcome.output["test_handoff"] == on_branch()["code"]["test_handoff"]


def test_findings_about_the_tests_go_to_their_writer_and_may_be_all_there_is_to_do() -> None:
    more = f"{TEXT}\n\ndef test_negative(): ...\n"
    revised = written().model_copy(
        update={"files": (ProposedFile(path=CUSTOM, action="modify", content=more),)}
    )
    place = world(revised, files=BRANCH, base=FILES)
    remark = {"pass": "quality", **output(finding(Severity.WARNING))}

    outcome = reworked(place, about(CUSTOM), remark)

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["write_tests-A-v2-1"]
    assert "Wrong for negative numbers." in place.model.asked[0]
    assert actions(place) == ["RUN_TESTS", "WRITE_TESTS", "RUN_TESTS", "VALIDATE", "FINALIZE"]
    assert (outcome.output["summary"], outcome.output["attempts"]) == (CODE["summary"], 0)
    assert outcome.output["test_handoff"]["sha256"] == sha256(more)
    assert place.copy.tree[CUSTOM] == more


def test_what_people_ask_for_is_shared_out_by_its_file_and_told_with_their_name() -> None:
    more = f"{TEXT}\n\ndef test_negative(): ...\n"
    revised = written().model_copy(
        update={"files": (ProposedFile(path=CUSTOM, action="modify", content=more),)}
    )
    place = world(revised, implemented(BETTER), files=BRANCH, base=FILES)
    asked = (
        AskedChange(by="ann", text="Call it sum."),
        AskedChange(by="ann", file="src/adder/adding.py", line=2, text="Add numbers only."),
        AskedChange(by="ann", file=CUSTOM, line=1, text="Test negative ones."),
    )

    outcome = run(the_task(ordinal=2, earlier=on_branch(), asked_changes=asked), place)

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["write_tests-A-v2-1", "implementation-A-v2-1"]
    assert "Test negative ones." in place.model.asked[0]
    told = place.model.asked[1]
    assert [text in told for text in ("Call it sum.", "Add numbers only.", "asked for by ann")] == [True] * 3
    assert "Test negative ones." not in told


def test_findings_about_both_are_shared_out() -> None:
    more = f"{TEXT}\n\ndef test_negative(): ...\n"
    revised = written().model_copy(
        update={"files": (ProposedFile(path=CUSTOM, action="modify", content=more),)}
    )
    place = world(revised, implemented(BETTER), files=BRANCH, base=FILES)

    outcome = reworked(place, about(CUSTOM), about("src/adder/adding.py"))

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["write_tests-A-v2-1", "implementation-A-v2-1"]
    assert [asked.count("Wrong for negative numbers.") for asked in place.model.asked] == [2, 1]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {**BRANCH, CUSTOM: "def test_weak(): ...\n"},
            f"Test file changed: {CUSTOM} was handed over by test-writer",
        ),
        (
            {path: text for path, text in BRANCH.items() if path != CUSTOM},
            f"Test file not found: {CUSTOM} (source: stored",
        ),
    ],
    ids=["changed", "gone"],
)
def test_stored_tests_that_are_not_what_they_were_are_written_again(files: dict[str, str], said: str) -> None:
    action = "modify" if CUSTOM in files else "create"
    again = written().model_copy(
        update={"files": (ProposedFile.model_validate({"path": CUSTOM, "action": action, "content": TEXT}),)}
    )
    place = world(again, implemented(BETTER), files=files, base=FILES)

    outcome = reworked(place, about("src/adder/adding.py"))

    assert isinstance(outcome, Succeeded)
    assert said in place.model.asked[0]
    assert place.model.purposes == ["write_tests-A-v2-1", "implementation-A-v2-1"]


EDITED = EditedText(
    title="Add exactly",
    body="Adds to the last digit.\n\n### Done when\n\n- [ ] add(0.1, 0.2) is 0.3\n\n### Tests\n\nuse decimals\n",
)


def edited(**changes: Any) -> NodeTask:
    """A task whose sub-issue people rewrote."""
    found = the_task(**changes)
    assert found.sub_item is not None
    ref = found.sub_item.model_copy(update={"edited": EDITED})
    return found.model_copy(update={"sub_item": ref, "sub_items": (ref,)})


def test_an_edited_sub_issue_is_what_the_writer_of_the_tests_and_the_coder_are_asked_for() -> None:
    place, unedited = world(written(), implemented()), world(written(), implemented())

    outcome = run(edited(), place)
    played(unedited)

    assert isinstance(outcome, Succeeded)
    for asked, before in zip(place.model.asked, unedited.model.asked, strict=True):
        assert "Adds to the last digit." in asked
        assert "add(0.1, 0.2) is 0.3" in asked
        # Nothing of what the plan said is left; the specification may say the same.
        assert "- add(2, 2) is 4\n" in before
        assert "- add(2, 2) is 4\n" not in asked
    assert ["use decimals" in asked for asked in place.model.asked] == [True, False]
    assert outcome.output["test_handoff"]["request"] == digest(EDITED)


def test_stored_tests_of_another_text_than_the_sub_issue_has_now_are_written_anew() -> None:
    again = written().model_copy(
        update={"files": (ProposedFile(path=CUSTOM, action="modify", content=f"{TEXT}\n# exact\n"),)}
    )
    place = world(again, implemented(BETTER), files=BRANCH, base=FILES)
    review = {**REVIEW, "passed": False, "findings": [about("src/adder/adding.py")]}

    outcome = run(edited(ordinal=2, inputs={"review": review}, earlier=on_branch()), place)

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["write_tests-A-v2-1", "implementation-A-v2-1"]
    assert "The sub-issue was edited since" in place.model.asked[0]
    assert outcome.output["test_handoff"]["request"] == digest(EDITED)


def test_stored_tests_of_the_same_text_are_kept() -> None:
    place = world(implemented(BETTER), files=BRANCH, base=FILES)
    review = {**REVIEW, "passed": False, "findings": [about("src/adder/adding.py")]}
    earlier = on_branch(request=digest(EDITED))

    assert isinstance(run(edited(ordinal=2, inputs={"review": review}, earlier=earlier), place), Succeeded)
    assert place.model.purposes == ["implementation-A-v2-1"]


def test_a_specification_that_was_changed_after_its_merge_is_what_everybody_is_told() -> None:
    place = world(written(), implemented())
    place.copy.newest["docs/specs/7.md"] = "# Let add() add exactly\n"

    played(place)

    assert all("# Let add() add exactly" in asked for asked in place.model.asked)


def test_a_retry_after_a_failure_writes_the_tests_again_because_nothing_of_it_was_kept() -> None:
    place = world(written(), implemented())

    outcome = run(the_task(ordinal=2), place)

    assert isinstance(outcome, Succeeded)
    assert place.model.purposes == ["write_tests-A-v2-1", "implementation-A-v2-1"]


def building_on(test_path: str) -> NodeTask:
    """A sub-work-item that depends on another one, whose tests are in this file."""
    plan = {"sub_work_items": [output(planned("A")), output(planned("B", depends_on=("A",)))]}
    stored = {**on_branch()["code"]["test_handoff"], "test_path": test_path}
    return task(
        "code_generation",
        sub_item="B",
        inputs={"plan": plan},
        dependency_outputs={"A": {"code": {**CODE, "test_handoff": stored}}},
    )


def test_the_tests_of_a_finished_sub_work_item_have_to_go_on_proving_something() -> None:
    files = {**FILES, "checks/before.py": "x\n"}
    place = world(written(), implemented(), implemented(), files=files)

    outcome = run(building_on("checks/before.py"), place)

    assert isinstance(outcome, Failed)
    assert "no test of checks/before.py passed" in outcome.reason


def test_a_visit_runs_the_suite_three_times_and_its_own_tests_twice_besides() -> None:
    files = {**FILES, "tests/test_before.py": "def test_before(): ...\n"}
    place = world(written(), implemented(), files=files)

    outcome = run(building_on("tests/test_before.py"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    # As it was found, with the tests, the tests with the code, everything with the code, the tests a third time; those of
    # finished work are among everything.
    assert place.service.ran == [(), (), (CUSTOM,), (), (CUSTOM,)]
    (proven,) = outcome.output["proof"]["tests"]
    assert (proven["head"], proven["reruns"]) == ("passed", ["passed", "passed"])


def test_a_visit_after_one_that_failed_is_told_why_it_failed() -> None:
    place = world(written(), implemented())

    played(place, earlier_failure="A has no tests that could be handed over: they passed at once.")

    first, second = place.model.asked
    assert "## This was tried before" in first
    assert "they passed at once." in first
    assert "they passed at once." in second

"""Tests that stand in the very files of the code are written with it, and proven without it as far as that can be told."""

import re
from typing import Any

import pytest

from cogworks.codegen.inline import code_with_tests, unshown, with_tests_of, with_untried
from cogworks.codegen.proving import Side, proof_of
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, ExecutionComplete
from cogworks.cycle.replay import verify
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.replies import CodeChange, PlannedItem, ProposedFile
from cogworks.nodes.task import Conventions
from cogworks.repair.proof import Tree, summarised, verdict_word
from cogworks.vocabulary import CommitOid
from tests.codegen.test_test_writing import editing, implemented, written
from tests.fakes import FakePorts
from tests.nodes.examples import CLASSIFICATION, output, planned, ports, task

LIB = "src/lib.rs"
OLD = """pub fn add(a: i64, b: i64) -> i64 {
    assert!(a < MOST);
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing() {
        assert_eq!(add(0, 0), 0);
    }
}
"""
FIXED = OLD.replace("a - b", "a + b")
NEW_TEST = """
    #[test]
    fn sums() {
        assert_eq!(add(2, 2), 4);
    }
"""
WITH_TEST = OLD.removesuffix("}\n") + NEW_TEST + "}\n"
DONE = WITH_TEST.replace("a - b", "a + b")
FILES = {"Cargo.toml": "[package]\n", "README.md": "# adder\n", LIB: OLD}
ITEM = planned(files=(LIB, "README.md"), test_specification=f"add(2, 2) in `mod tests` of {LIB}")
TREE = Tree(commit=CommitOid("0" * 40), tree="0" * 40)


def rust(workspace: Workspace) -> TestReport:
    """Every function below `mod tests`; `sums` passes once the bug is gone, and what is not there cannot be compiled."""
    cases, errors = [], []
    for path in workspace.files():
        text = (workspace.read(path) or "") if path.endswith(".rs") else ""
        group = "tests > " if "mod tests" in text else ""
        below = text.partition("mod tests")[2] if group else text if path.startswith("tests/") else ""
        code = workspace.read(LIB) or ""
        if "twice(" in below and "fn twice" not in code:
            errors.append(f"{path}: cannot find function `twice` in this scope")
            continue
        for name in re.findall(r"fn (\w+)\(\) \{", below):
            is_bad = name == "sums" and "a + b" not in code
            cases.append(TestCase(id=f"{path}::{group}{name}", outcome="failed" if is_bad else "passed"))
    return TestReport(cases=tuple(cases), collection_errors=tuple(errors))


def world(*answers: Any, files: dict[str, str] | None = None) -> FakePorts:
    return ports(*answers, files=files or FILES, run_tests=rust)


def coded(
    text: str = DONE, *, tests: tuple[str, ...] = (LIB,), more: tuple[ProposedFile, ...] = ()
) -> CodeChange:
    files = (ProposedFile(path=LIB, action="modify", content=text), *more)
    return CodeChange(summary="Let add() add", files=files, tests=tests, notes="")


def visited(place: FakePorts, item: PlannedItem = ITEM, **changes: Any) -> Succeeded | Failed:
    inputs = {"plan": {"sub_work_items": [item.model_dump(mode="json")]}, **changes.pop("inputs", {})}
    return run(task("code_generation", sub_item="A", inputs=inputs, **changes), place)


def played(place: FakePorts, item: PlannedItem = ITEM, **changes: Any) -> Succeeded:
    outcome = visited(place, item, **changes)
    assert isinstance(outcome, Succeeded), outcome.reason
    return outcome


def verdicts(outcome: Succeeded) -> dict[str, tuple[str, str, str]]:
    return {
        each["id"]: (each["base"], each["head"], each["verdict"]) for each in outcome.output["proof"]["tests"]
    }


def log(place: FakePorts) -> Any:
    return read_events(place.kept["events-1.ndjson"])


def found(*ids: str) -> TestReport:
    return TestReport(cases=tuple(TestCase(id=each, outcome="passed") for each in ids))


@pytest.mark.parametrize(
    ("files", "ids", "wanted"),
    [
        ((LIB, "README.md"), (f"{LIB}::tests > nothing",), (LIB,)),
        ((LIB, "src/b.rs"), (f"{LIB}::tests > nothing", "src/b.rs::b > tests > x"), (LIB, "src/b.rs")),
        ((LIB, "src/new.rs"), (f"{LIB}::tests > nothing", "tests/it.rs::works"), (LIB,)),
        ((LIB, "tests/sums.rs"), (f"{LIB}::tests > nothing",), ()),
        ((LIB,), ("src/other.rs::tests > nothing",), ()),
        ((LIB,), ("tests/it.rs::works",), ()),
        ((LIB,), (f"{LIB}::doc total", "tests/it.rs::works"), ()),
        (("adder/adding.py",), ("adder/adding.py::adder.adding.add", "tests/test_adding.py::test_a"), ()),
        (("adder/adding.py",), ("adder/adding.py::adder.adding.add",), ("adder/adding.py",)),
        ((LIB,), (), ()),
    ],
    ids=[
        "crate", "modules", "new-file-beside", "plan-names-tests", "of-another-file", "in-their-folder", "documentation",
        "doctests-beside-tests", "doctests-alone", "nothing-known",
    ],
)  # fmt: skip
def test_they_stand_in_the_code_where_planned_files_hold_them_and_the_plan_names_no_file_of_tests(
    files: tuple[str, ...], ids: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    assert code_with_tests(planned(files=files), found(*ids)) == wanted


def test_code_and_tests_of_one_file_are_written_together_and_the_tests_fail_without_the_code() -> None:
    place = world(coded())

    outcome = played(place)

    assert place.model.purposes == ["code_generation-A-1"]
    assert "test_handoff" not in outcome.output
    assert outcome.output["test_files"] == [LIB]
    assert outcome.output["tests"]["added"] == [f"{LIB}::tests > sums"]
    assert verdicts(outcome) == {f"{LIB}::tests > sums": ("failed", "passed", "fail_to_pass")}
    assert outcome.output["proof"]["is_proven"]
    assert outcome.caution == ""
    # Nothing of the run without the code is left, and the log decides itself again.
    assert place.copy.read(LIB) == DONE
    assert verify(log(place)).divergence is None


def test_the_coder_is_told_where_the_tests_stand_and_nobody_else_is() -> None:
    place = world(coded())

    played(place)

    (asked,) = place.model.asked
    assert "The tests of what it changes stand in the files of the code" in asked
    events = [event.body for event in log(place)]
    actions = [body.action.value for body in events if isinstance(body, Committed)]
    assert actions == ["RUN_TESTS", "WRITE_TESTS", "RUN_TESTS", "GENERATE_PATCH", "APPLY_PATCH", "RUN_TESTS", "VALIDATE", "FINALIZE"]  # fmt: skip
    traced = [entry for body in events if isinstance(body, ExecutionComplete) for entry in body.result.trace]
    assert [entry.data for entry in traced if entry.kind == "tests_in_code"] == [{"files": [LIB]}]
    assert f"A: tests stand in {LIB}, and are written with the code" in place.said


def test_where_the_plan_names_a_file_of_tests_they_are_handed_over() -> None:
    item = planned(files=(LIB, "tests/sums.rs"))
    tests = written("tests/sums.rs", "fn sums() {\n}\n")
    fix = ProposedFile(path=LIB, action="modify", content=FIXED)
    place = world(tests, implemented(fix))

    outcome = played(place, item)

    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]
    assert outcome.output["test_handoff"]["test_path"] == "tests/sums.rs"


def test_an_answer_that_leaves_the_tests_as_they_were_is_sent_back() -> None:
    place = world(coded(FIXED), coded())

    outcome = played(place)

    assert outcome.output["attempts"] == 2
    problem = f"{LIB} is listed in `tests`, and its tests are as they were; add tests there that fail without the change"
    assert any(problem in line for line in place.said)


def test_a_refactoring_may_leave_them_as_they_were() -> None:
    place = world(coded(OLD.replace("a - b", "-b + a")))

    inputs = {"classification": {**output(CLASSIFICATION), "type": "refactor"}}
    outcome = played(place, inputs=inputs)

    assert outcome.output["attempts"] == 1


def test_a_test_that_is_taken_away_is_refused() -> None:
    gone = re.sub(r"    #\[test\]\n    fn nothing.*?\n    }\n", "", DONE, flags=re.DOTALL)
    place = world(coded(gone), coded())

    outcome = played(place)

    assert outcome.output["attempts"] == 2
    assert any(f"{LIB}::tests > nothing" in line for line in place.said)


def test_an_assertion_that_is_taken_out_of_a_test_weakens_it_and_one_of_the_code_does_not() -> None:
    weaker = DONE.replace("        assert_eq!(add(0, 0), 0);\n", "").replace("    assert!(a < MOST);\n", "")
    place = world(coded(weaker))

    outcome = played(place)

    proof = outcome.output["proof"]
    assert proof["weakened"] == [[LIB, "assert_eq!(add(0, 0), 0);"]]
    assert not proof["is_proven"]


def test_a_test_of_what_is_still_to_be_written_fails_without_the_code() -> None:
    code = FIXED.replace("\n#[cfg", "\npub fn twice(a: i64) -> i64 {\n    2 * a\n}\n\n#[cfg")
    text = code.removesuffix("}\n") + "\n    #[test]\n    fn doubles() {\n        twice(2);\n    }\n}\n"
    place = world(coded(text))

    outcome = played(place)

    assert verdicts(outcome) == {f"{LIB}::tests > doubles": ("error", "passed", "fail_to_pass")}


def test_what_nobody_can_tell_apart_is_said() -> None:
    # A second block of tests: which lines are code then?
    before = f"{OLD}\n#[cfg(test)]\nmod tests {{\n    fn more() {{\n    }}\n}}\n"
    after = before.replace("a - b", "a + b").replace("    fn more", f"{NEW_TEST.lstrip()}\n    fn more")
    place = world(coded(after), files={**FILES, LIB: before})

    outcome = played(place)

    assert verdicts(outcome) == {f"{LIB}::tests > sums": ("absent", "passed", "new_and_passes")}
    assert outcome.caution == (
        f"1 new test(s) in `{LIB}` were not run without the change, for they stand in files of its code: that they pass with it "
        "is shown, that they fail without it is not."
    )


def test_rework_writes_them_together_as_well() -> None:
    first = played(place := world(coded()))
    more = DONE.removesuffix("}\n") + NEW_TEST.replace("sums", "again") + "}\n"
    second = world(coded(more), files=dict(place.copy.tree))

    outcome = played(second, earlier={"code": first.output}, ordinal=2)

    assert second.model.purposes == ["code_generation-A-v2-1"]
    assert "The tests of what it changes stand in the files of the code" in second.model.asked[0]
    assert outcome.output["test_files"] == [LIB]


def test_a_repository_whose_suite_is_not_run_has_its_tests_handed_over() -> None:
    tests = editing(("tests/sums.rs", "", "fn sums() {\n}\n")).model_copy(
        update={
            "edits": (),
            "files": (ProposedFile(path="tests/sums.rs", action="create", content="fn sums() {\n}\n"),),
        }
    )
    place = world(tests, implemented(ProposedFile(path=LIB, action="modify", content=FIXED)))

    played(place, conventions=Conventions(baseline="none"))

    assert place.model.purposes == ["write_tests-A-1", "implementation-A-1"]


BOTH = ("src/a.rs::a > tests > x", "src/a.rs::a > tests > deeper > y")


@pytest.mark.parametrize(
    ("before", "after", "tests", "wanted"),
    [
        (OLD, DONE, (f"{LIB}::tests > nothing", f"{LIB}::tests > sums"), WITH_TEST),
        ("one\nmod tests {\n  a\n}\n", "two\nmod tests {\n  a\n  b\n}\nrest\n", BOTH, "one\nmod tests {\n  a\n  b\n}\n"),
        ("x = 1\nclass TestA:\n    a\n", "x = 2\nclass TestA:\n    b\n\ny = 3\n", ("a.py::TestA > test_b",), "x = 1\nclass TestA:\n    b\n"),
        ("mod tests {\n  a\n}\n", "mod tests {\n  a\n}\n", ("a.rs::tests > x", "a.rs::y"), None),
        ("one\n", "two\nmod tests {\n  a\n}\n", BOTH, None),
        ("mod tests {\n  a\n}\n", 'mod tests {\n  r"{\n}\n"\n  a\n}\n', BOTH, None),
        ("one\n", "two\n", (), None),
    ],
    ids=["crate", "module", "class", "outside-of-the-block", "no-block-before", "text-that-ends-the-block", "nothing-known"],
)  # fmt: skip
def test_the_tests_of_a_change_are_put_into_the_text_as_it_was(
    before: str, after: str, tests: tuple[str, ...], wanted: str | None
) -> None:
    assert with_tests_of(before, after, tests) == wanted


def test_nothing_is_held_against_an_answer_whose_tests_cannot_be_found_in_the_text() -> None:
    report = found("zig/lib.zig::test_0")
    reply = CodeChange(
        summary="s",
        files=(ProposedFile(path="zig/lib.zig", action="modify", content="b\n"),),
        tests=("zig/lib.zig",),
        notes="",
    )
    assert unshown(reply, {"zig/lib.zig": "a\n"}, report) == ()


def test_files_of_tests_need_no_warning() -> None:
    side = Side(TREE, found())
    proof = proof_of(side, Side(TREE, found("tests/it.rs::new", "src/a.rs::tests > new")), (), diff="")
    assert with_untried(proof, ["tests/it.rs"]).warnings == ()
    (warning,) = with_untried(proof, ["tests/it.rs", "src/a.rs"]).warnings
    assert warning.startswith("1 new test(s) in `src/a.rs` were not run without the change")
    assert verdict_word(summarised(proof)) == "Nothing is worse"

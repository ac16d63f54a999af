"""What a sub-work-item's change is proven by: every test on both sides, over all visits of it."""

import json
from collections.abc import Sequence
from typing import Any

from cogworks.codegen.proving import (
    MAX_PROOF_CHARS,
    Side,
    base_of,
    proof_of,
    proof_text,
    unsteady,
    with_hidden,
)
from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Succeeded, Workspace
from cogworks.nodes.pull_request_texts import change_body
from cogworks.repair.proof import Proof, Summary, Tree, summarised
from cogworks.vocabulary import CommitOid
from tests.codegen.test_test_writing import (
    CUSTOM,
    FIX,
    IMPORTING,
    implemented,
    on_branch,
    reworked,
    world,
    written,
)
from tests.fakes import FakePorts
from tests.nodes.examples import CODE, FILES, REVIEW, planned, task

OLD, NEW = Tree(commit=CommitOid("a" * 40), tree="1" * 40), Tree(commit=CommitOid("b" * 40), tree="2" * 40)


def report(**outcomes: str) -> TestReport:
    cases = ({"id": name.replace("__", ".py::"), "outcome": outcome} for name, outcome in outcomes.items())
    return TestReport(cases=tuple(TestCase.model_validate(case) for case in cases))


def proof(base: TestReport, head: TestReport, reruns: Sequence[TestReport] = (), diff: str = "") -> Proof:
    return proof_of(Side(OLD, base), Side(NEW, head), reruns, diff=diff)


def proven(place: FakePorts, **changes: Any) -> Summary:
    outcome = run(task("code_generation", sub_item="A", **changes), place)
    assert isinstance(outcome, Succeeded), outcome.reason
    return Summary.model_validate(outcome.output["proof"])


def test_handed_over_tests_fail_without_the_change_and_pass_with_it_three_times() -> None:
    place = world(written(), implemented())

    found = proven(place)

    (test,) = found.tests
    assert (test.id, test.base, test.head, test.reruns, test.verdict) == (
        f"{CUSTOM}::test_sum", "failed", "passed", ("passed", "passed"), "fail_to_pass",
    )  # fmt: skip
    assert found.is_proven
    assert Proof.model_validate(json.loads(place.kept["proof.json"])).is_proven


def test_a_test_that_could_not_be_loaded_without_the_change_failed_without_it() -> None:
    twice = FIX.model_copy(update={"content": f"{FIX.content}def twice(a):\n    return a + a\n"})

    found = proven(world(written(text=IMPORTING), implemented(twice)))

    assert [(test.base, test.verdict) for test in found.tests] == [("error", "fail_to_pass")]


def test_a_handed_over_test_that_passes_by_chance_is_sent_back_to_the_coder() -> None:
    place = world(
        written(), implemented(), implemented(FIX.model_copy(update={"content": f"{FIX.content}# steady\n"}))
    )
    steady, runs = place.service.simulating, iter(range(100))

    def by_chance(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        found = steady(workspace, tests)
        is_fixed = "a + b" in (workspace.read(FIX.path) or "")
        if is_fixed and tests and "# steady" not in (workspace.read(FIX.path) or "") and next(runs):
            return found.model_copy(
                update={"cases": tuple(c.model_copy(update={"outcome": "failed"}) for c in found.cases)}
            )
        return found

    place.service.simulating = by_chance
    found = proven(place)

    actions = [
        event.body.action.value
        for event in read_events(place.kept["events-1.ndjson"])
        if isinstance(event.body, Committed)
    ]
    assert actions.count("VALIDATE") == 2
    assert f"{CUSTOM}::test_sum passed, then passed, then failed on the same files" in place.model.asked[2]
    assert found.is_proven


def test_on_rework_the_change_is_still_compared_with_what_the_first_visit_found() -> None:
    stored = summarised(proof(report(tests_custom__x="failed"), report(tests_custom__x="passed")))
    first = stored.model_dump(mode="json")
    first["tests"][0]["id"] = f"{CUSTOM}::test_sum"
    earlier = on_branch()
    earlier["code"]["proof"] = first

    outcome = reworked(
        world(implemented(), files={**FILES, CUSTOM: "def test_sum(): ...\n"}), earlier=earlier
    )

    found = Summary.model_validate(outcome.output["proof"])
    assert found.base == OLD
    assert [(test.id, test.verdict) for test in found.tests] == [(f"{CUSTOM}::test_sum", "fail_to_pass")]


def test_a_test_of_an_earlier_visit_was_not_there_before_all_of_them() -> None:
    found = Side(NEW, report(own__a="passed", old__b="passed", old__c="passed"))
    stored = summarised(
        proof(report(old__b="passed", old__c="failed"), report(old__b="passed", old__c="passed"))
    )

    base = base_of(found, stored, {"own.py"})

    assert {case.id: case.outcome for case in base.report.cases} == {
        "old.py::b": "passed",
        "old.py::c": "failed",
    }
    assert base.tree == OLD
    assert base_of(found, None, {"own.py"}) is found


def test_what_a_rewritten_test_file_hides_is_still_known_from_before() -> None:
    merged = with_hidden(report(t__a="failed"), report(t__a="passed", t__b="passed"))

    assert [(case.id, case.outcome) for case in merged.cases] == [
        ("t.py::a", "failed"),
        ("t.py::b", "passed"),
    ]


def test_only_the_tests_that_prove_it_have_to_be_steady() -> None:
    flaky = proof(
        report(t__a="failed", u__b="passed"),
        report(t__a="passed", u__b="passed"),
        [report(t__a="failed", u__b="failed")],
    )

    assert unsteady(flaky, ["t.py"]) == (
        "t.py::a passed, then failed on the same files; make it pass every time",
    )
    assert unsteady(flaky, ["other.py"]) == ()


def test_assertions_that_are_gone_are_shown() -> None:
    diff = (
        "diff --git a/tests/t.py b/tests/t.py\n--- a/tests/t.py\n+++ b/tests/t.py\n@@ -1 +0,0 @@\n-assert x\n"
    )

    assert [each.line for each in proof(report(), report(), diff=diff).weakened] == ["assert x"]


def test_a_proof_too_large_for_a_file_is_kept_without_what_did_not_change() -> None:
    many = {f"t__{number:05}_{'x' * 80}": "passed" for number in range(4_000)}

    text = proof_text(proof(report(new__a="failed", **many), report(new__a="passed", **many)))

    assert len(text) < MAX_PROOF_CHARS
    assert Summary.model_validate_json(text).counts == {"fail_to_pass": 1, "pass_to_pass": 4_000}


def told(command: str, python: str = "3.12.1") -> TestReport:
    """A run of which the service says how it was made."""
    return report(t__a="passed").model_copy(update={"commands": (command,), "versions": {"python": python}})


def test_a_proof_says_how_its_tests_were_run_and_with_what() -> None:
    place = world(written(), implemented())
    steady = place.service.simulating

    def as_told(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        command = " ".join(("pytest", *tests))
        return steady(workspace, tests).model_copy(
            update={"commands": (command,), "versions": {"pytest": "8.4.1"}}
        )

    place.service.simulating = as_told

    assert proven(place).commands == ("pytest", f"pytest {CUSTOM}")
    kept = Proof.model_validate(json.loads(place.kept["proof.json"]))
    assert (kept.commands, kept.versions) == (("pytest", f"pytest {CUSTOM}"), {"pytest": "8.4.1"})


def test_of_a_tool_in_two_versions_the_proof_names_both() -> None:
    found = proof(told("pytest"), told("pytest", "3.13.0"), [told("pytest t.py", "3.13.0")])

    assert (found.commands, found.versions) == (("pytest", "pytest t.py"), {"python": "3.12.1, 3.13.0"})


def test_on_rework_the_proof_says_as_well_how_the_first_visit_ran_the_tests() -> None:
    stored = summarised(proof(told("pytest -q", "3.11.9"), told("pytest -q", "3.11.9")))

    base = base_of(Side(NEW, told("pytest")), stored, ())

    assert base.report.commands == ("pytest -q", "pytest")
    assert base.report.versions == {"python": "3.11.9, 3.12.1"}


def test_the_pull_request_shows_the_proof() -> None:
    head = report(t__a="passed", t__b="passed").model_copy(update={"commands": ("python -m pytest -q",)})
    head = head.model_copy(update={"versions": {"python": "3.12.1"}})
    found = summarised(proof(report(t__a="failed", t__b="passed"), head))
    code = {**CODE, "proof": found.model_dump(mode="json")}

    body = change_body(task("integration", sub_item="A"), planned(), code, REVIEW)

    assert "- **Proven**: `t.py::a` failed before this change and passes now." in body
    assert "| `t.py::a` | failed | passed | fail to pass |" in body
    assert (
        "- Run with `python -m pytest -q` (python 3.12.1) on the trees 111111111111 and 222222222222." in body
    )
    assert "proof" not in change_body(task("integration", sub_item="A"), planned(), CODE, REVIEW).lower()

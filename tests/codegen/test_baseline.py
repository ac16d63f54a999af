"""What is wanted of the tests that are there before a change, and what is said where it is not to be had."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.nodes.code_generation import run
from cogworks.nodes.contract import Failed, Succeeded, Workspace
from cogworks.nodes.pull_request_texts import change_body
from cogworks.nodes.task import Conventions
from cogworks.repair.proof import Summary, markdown
from tests.codegen.test_test_writing import CUSTOM, implemented, on_branch, world, written
from tests.codegen.test_test_writing import suite as custom_suite
from tests.fakes import FakePorts
from tests.nodes.examples import FILES, REVIEW, change, planned, ports, suite, task

OLD = "tests/test_old.py"
ERROR = f"{OLD}: ImportError\n{OLD}:2: in <module>\nE   ModuleNotFoundError: No module named 'y'"
FIRST = f"Not proven for `{OLD}`, which could not be loaded: `ModuleNotFoundError: No module named 'y'`."


def with_an_old_file(suite: Callable[[Workspace], TestReport]) -> Callable[[Workspace], TestReport]:
    """The suite, and a file in it that cannot be loaded."""

    def run_tests(workspace: Workspace) -> TestReport:
        found = suite(workspace)
        remedies = ("Name `y` in pyproject.toml.",)
        return found.model_copy(
            update={"collection_errors": (*found.collection_errors, ERROR), "remedies": remedies}
        )

    return run_tests


def broken(*answers: Any) -> FakePorts:
    return ports(*answers, files=FILES, run_tests=with_an_old_file(custom_suite))


def wanted(baseline: str, **changes: Any) -> Any:
    conventions = Conventions.model_validate({"baseline": baseline, **changes})
    return task("code_generation", sub_item="A", conventions=conventions)


def test_nobody_is_asked_anything_while_a_file_of_the_base_cannot_be_loaded() -> None:
    place = broken()

    outcome = run(wanted("require"), place)

    assert isinstance(outcome, Failed)
    assert place.model.purposes == []
    assert outcome.reason == (
        f"code_generation: `{OLD}` cannot be loaded: `ModuleNotFoundError: No module named 'y'` (at `{OLD}:2`). This is so "
        "before any change. Tests that cannot be loaded guard nothing, so the model was not asked.\n"
        "Name `y` in pyproject.toml.\n"
        "Then remove the trigger label and set it again. Or let the work go on without these tests: "
        '`baseline = "allow-failing"` under `[tests]` in `.cogworks/config.toml`. Every proof then begins with what it '
        "could not run."
    )
    assert (outcome.category, place.service.runs, place.copy.commits) == ("escalated", 1, [])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "tests: no test could be loaded:\nE   KeyError: 'HOME'",
            "`tests` cannot be loaded: `KeyError: 'HOME'`.",
        ),
        (
            ".: no test could be loaded:\nE   KeyError: 'HOME'",
            "the whole suite cannot be loaded: `KeyError: 'HOME'`.",
        ),
        (
            "pytest ended early (exit code 4):\nERROR: no --cov",
            "the whole suite cannot be loaded: `ERROR: no --cov`.",
        ),
    ],
    ids=["conftest of a folder", "conftest of all", "runner"],
)
def test_what_hides_more_than_a_file_stops_the_visit_too(error: str, said: str) -> None:
    place = ports(run_tests=lambda each: suite(each).model_copy(update={"collection_errors": (error,)}))

    outcome = run(wanted("require"), place)

    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith(f"code_generation: {said}")
    assert "\nMend it on the base branch.\n" in outcome.reason
    assert place.model.purposes == []


def test_a_code_writer_without_a_test_writer_is_not_asked_either() -> None:
    place = ports(run_tests=with_an_old_file(suite))

    assert isinstance(run(wanted("require", test_writer="none"), place), Failed)
    assert place.model.purposes == []


def test_tests_of_the_base_that_fail_stop_nothing_and_are_counted() -> None:
    def with_a_failure(workspace: Workspace) -> TestReport:
        found = suite(workspace)
        old = TestCase(id=f"{OLD}::test_old", outcome="failed")
        return found.model_copy(update={"cases": (*found.cases, old)})

    outcome = run(wanted("require", test_writer="none"), ports(change(), run_tests=with_a_failure))

    assert isinstance(outcome, Succeeded)
    assert (outcome.caution, outcome.output["tests"]["failed_before"]) == ("", 1)


def test_what_could_not_be_run_comes_first_wherever_the_change_is_told_of() -> None:
    place = broken(written(), implemented())

    outcome = run(wanted("allow-failing"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    proof = Summary.model_validate(outcome.output["proof"])
    body = change_body(task("integration", sub_item="A"), planned("A"), outcome.output, REVIEW)
    assert outcome.caution == FIRST
    assert markdown(proof).splitlines()[0] == FIRST
    assert body.splitlines()[0] == f"> {FIRST}"
    assert "No test that could be run and passed before fails, is skipped or is gone." in body
    assert "No test that passed before" not in body
    assert not proof.is_proven
    assert json.loads(place.kept["proof.json"])["unloaded"][0]["place"] == OLD


def test_a_rework_still_says_what_the_base_could_not_run() -> None:
    first = run(wanted("allow-failing"), broken(written(), implemented()))
    assert isinstance(first, Succeeded)
    earlier = on_branch()
    earlier["code"]["proof"] = first.output["proof"]
    place = world(implemented(), files={**FILES, CUSTOM: "def test_sum(): ...\n"})

    again = run(wanted("allow-failing").model_copy(update={"earlier": earlier}), place)

    assert isinstance(again, Succeeded), again.reason
    assert f"Not proven for `{OLD}` as it was before, for it could not be loaded then" in again.caution


def test_only_what_was_handed_over_is_run_where_nothing_is_wanted_of_the_base() -> None:
    place = broken(written(), implemented())

    outcome = run(wanted("none"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert set(place.service.ran) == {(CUSTOM,)}
    assert outcome.caution.startswith(
        'Not proven against the tests that were there before: `[tests] baseline = "none"`'
    )
    proof = Summary.model_validate(outcome.output["proof"])
    assert ([test.id for test in proof.tests], proof.is_proven) == ([f"{CUSTOM}::test_sum"], False)
    body = change_body(task("integration", sub_item="A"), planned("A"), outcome.output, REVIEW)
    assert "passed before fails" not in body


def test_tests_that_come_with_the_code_are_run_alone_where_nothing_is_wanted_of_the_base() -> None:
    place = ports(change(), run_tests=with_an_old_file(suite))

    outcome = run(wanted("none", test_writer="none"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert set(place.service.ran) == {("tests/test_adding.py",)}


def test_a_base_without_tests_goes_on_and_the_proof_says_that_nothing_guarded_the_change() -> None:
    code_alone = {path: text for path, text in FILES.items() if not path.startswith("tests/")}
    place = world(written(), implemented(), files=code_alone)

    outcome = run(wanted("require"), place)

    assert isinstance(outcome, Succeeded), outcome.reason
    assert outcome.caution == "No test guarded this change: none passed before it."
    proof = Summary.model_validate(outcome.output["proof"])
    assert markdown(proof).startswith(f"{outcome.caution}\n\n**Proven**: ")
    assert "passed before fails" not in change_body(
        task("integration", sub_item="A"), planned("A"), outcome.output, REVIEW
    )


@pytest.mark.parametrize("baseline", ["require", "allow-failing"])
def test_a_suite_that_does_not_end_is_waited_for_by_nobody(baseline: str) -> None:
    place = ports(run_tests=lambda _: TestReport(cases=(), timed_out=True))

    outcome = run(wanted(baseline), place)

    assert isinstance(outcome, Failed)
    assert "did not finish in time" in outcome.reason
    assert place.model.purposes == []

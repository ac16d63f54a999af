"""Nodes that call the domain service, a built-in procedure or a script."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cogworks.codebase.scripts import ScriptRun
from cogworks.domain_services.messages import Diagnostic
from cogworks.domain_services.transport import ServiceFailed
from cogworks.errors import NodeFailed
from cogworks.forge.effects import OpenPullRequest, PostComment, SetLabels
from cogworks.nodes.contract import Failed, Succeeded
from cogworks.nodes.registry import procedure_for
from cogworks.vocabulary import BranchName, IssueNumber, Severity
from tests.fakes import ScriptedService
from tests.nodes.declared import Desk, declared, desk
from tests.nodes.examples import KEY, report, task


def run(at: Desk | None = None, inputs: dict[str, Any] | None = None, **keys: Any) -> Any:
    node = declared(**{"type": "deterministic", "inputs": ["plan"], **keys})
    procedure = procedure_for(node, {}, {})
    assert procedure is not None
    return procedure(task("note", inputs=inputs), at or desk())


@pytest.mark.parametrize("call", ["validate", "review_rules", "validate_deps"])
def test_blocking_diagnostics_are_an_output_that_did_not_pass(call: str) -> None:
    found = Diagnostic(
        artifact="a.py", line=1, severity=Severity.BLOCKING, category="type_error", message="no"
    )
    checked: list[str] = []

    def check(_: object, paths: Sequence[str]) -> list[Diagnostic]:
        checked.extend(paths)
        return [found]

    service = ScriptedService(lambda _: report(), check, rules=check)

    outcome = run(desk(service=service), method="domain_service", call=call)

    assert (outcome.output["passed"], outcome.output["blocking"]) == (False, 1)
    assert outcome.output["diagnostics"] == [found.model_dump(mode="json")]
    assert outcome.summary == "4 file(s) checked, 1 blocking of 1 diagnostic(s): a.py:1: no"
    assert len(checked) == 4


def test_failing_tests_are_an_output_that_did_not_pass() -> None:
    service = ScriptedService(lambda _: report(["test_one"], failed=["test_two"]))

    outcome = run(desk(service=service), method="domain_service", call="simulate")

    assert outcome.output == {
        "passed": False,
        "tests": {"passed": 1, "failed": 1, "error": 0, "skipped": 0},
        "failures": [{"id": "tests/test_adding.py::test_two", "message": "E   test_two is wrong"}],
        "collection_errors": [],
        "timed_out": False,
    }


def test_a_service_that_cannot_be_used_fails_the_node() -> None:
    def broken(_: object) -> Any:
        raise ServiceFailed("service 'x' is broken", service="x", method="simulate")

    outcome = run(desk(service=ScriptedService(broken)), method="domain_service", call="simulate")

    assert outcome == Failed(reason="note: service 'x' is broken", category="service_failed")


def test_paths_that_no_machine_may_write_are_told() -> None:
    files = [{"path": "src/a.py"}, {"path": "../b"}, {"path": ".github/workflows/ci.yml"}]

    outcome = run(call="validate_paths", inputs={"plan": {"files": files}})

    assert outcome.output["passed"] is False
    assert [problem.split(":")[0] for problem in outcome.output["problems"]] == [
        "../b",
        ".github/workflows/ci.yml",
    ]


def test_the_branch_of_another_node_gets_its_pull_request() -> None:
    outcome = run(call="open_pull_request", slug="spec", inputs={"plan": {"title": "All  of it"}})

    assert outcome.effects == (
        OpenPullRequest(
            slug="spec",
            head=BranchName("cogworks/7/spec"),
            base=BranchName("main"),
            title="All of it",
            body="Part of #7.",
        ),
    )


def test_labels_are_set_on_the_issue() -> None:
    assert run(call="set_labels", labels=["docs"]).effects == (
        SetLabels(number=IssueNumber(7), add=("docs",)),
    )


def test_a_comment_is_posted_under_the_visits_key() -> None:
    outcome = run(call="comment", inputs={"plan": {"comment": " Done. "}})

    assert outcome.effects == (
        PostComment(number=IssueNumber(7), topic="node-note", body="Done.", visit_key=KEY),
    )
    assert isinstance(run(call="comment", inputs={"plan": {}}), Failed)


def scripted(at: Desk, inputs: dict[str, Any] | None = None) -> Any:
    return run(at, inputs, method="script", call="count", built_in=True)


def test_a_script_is_told_the_issue_and_its_json_is_the_output() -> None:
    at = desk(script_run=ScriptRun(exit_code=0, stdout='{"lines": 3}', stderr="counted"))

    outcome = scripted(at, {"plan": {"a": 1}})

    assert outcome.output == {
        "passed": True,
        "exit_code": 0,
        "stdout": '{"lines": 3}',
        "stderr": "counted",
        "lines": 3,
    }
    assert json.loads(at.scripts[0][1])["inputs"] == {"plan": {"a": 1}}


def test_a_script_that_ends_badly_did_not_pass() -> None:
    outcome = scripted(desk(script_run=ScriptRun(exit_code=3, stdout="", stderr="no")))

    assert isinstance(outcome, Succeeded)
    assert (outcome.output["passed"], outcome.output["exit_code"]) == (False, 3)


def test_a_script_that_prints_something_else_fails() -> None:
    with pytest.raises(NodeFailed, match="printed no JSON object"):
        scripted(desk(script_run=ScriptRun(exit_code=0, stdout="three", stderr="")))

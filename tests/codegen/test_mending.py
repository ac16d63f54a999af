"""What a review proposes word for word is applied without a model, and kept only where nothing is worse with it."""

from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.codegen.mending import MENDED, MENDING, left_after
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.forge.effects import PushBranch
from cogworks.nodes import code_generation, review
from cogworks.nodes.contract import Succeeded, Workspace
from cogworks.nodes.replies import Finding
from cogworks.nodes.task import Conventions, NodeTask
from cogworks.pipeline.visits import AskedChange
from cogworks.vocabulary import BranchName, IssueNumber, Severity
from tests.cycle.test_handoff import handoff
from tests.fakes import FakePorts, MemoryWorkspace, ScriptedAnswers, ScriptedService
from tests.nodes.examples import CODE, FILES, FIXED, REVIEW, change, finding, ports, task, verdict

ADDING, TESTS = "src/adder/adding.py", "tests/test_adding.py"
SUM = "def test_zero(): ...\ndef test_sum(): ...\n"
CHANGED = {**FILES, ADDING: FIXED, TESTS: SUM}
COMMENTED = "def add(a, b):\n    # Of any type.\n    return a + b\n"


def proposed(replacement: str, *, first: int = 2, last: int = 2, **more: Any) -> Finding:
    suggestion = {"first_line": first, "last_line": last, "replacement": replacement}
    return finding(more.pop("severity", Severity.WARNING), suggestion=suggestion, **more)


def sum_is_right(workspace: Workspace) -> TestReport:
    code = workspace.read(ADDING) or ""
    outcomes = {"test_zero": True, "test_sum": "a + b" in code}
    return TestReport(
        cases=tuple(
            TestCase(id=f"{TESTS}::{name}", outcome="passed" if is_right else "failed", message="E  no")
            for name, is_right in outcomes.items()
        )
    )


def given(*findings: Finding) -> dict[str, Any]:
    """A review of sub-work-item A that sends it back only for what it proposes."""
    return {
        **REVIEW,
        "findings": [{"pass": "quality", **each.model_dump(mode="json")} for each in findings],
        MENDING: True,
    }


def world(*replies: Any) -> FakePorts:
    copy = MemoryWorkspace(CHANGED, base=FILES)
    return FakePorts(model=ScriptedAnswers(*replies), service=ScriptedService(sum_is_right), copy=copy)


def visit(found: Mapping[str, Any], **more: Any) -> NodeTask:
    return task(
        "code_generation",
        sub_item="A",
        ordinal=2,
        inputs={"review": found},
        **{"earlier": {"code": CODE}, **more},
    )


def mended(found: Mapping[str, Any], at: FakePorts) -> Succeeded:
    outcome = code_generation.run(visit(found), at)
    assert isinstance(outcome, Succeeded), outcome
    return outcome


def test_a_suggestion_is_applied_without_a_model_and_the_branch_is_pushed() -> None:
    at = world()

    outcome = mended(given(proposed("    # Of any type.\n    return a + b")), at)

    assert at.model.asked == []
    assert at.copy.read(ADDING) == COMMENTED
    assert outcome.effects == (PushBranch(branch=BranchName("cogworks/7/swi-1"), oid=at.copy.head),)
    assert outcome.output["head"] == at.copy.head
    assert outcome.output[MENDED] == {"applied": [0], "why_not": ""}
    assert outcome.summary == "1 of 1 suggestion(s) of the review applied, 2 tests pass"
    assert at.copy.commits[-1][0].startswith("Apply a suggestion of the review\n\n")
    # What the pull request says of the change is what its author said.
    assert (outcome.output["summary"], outcome.output["notes"]) == (CODE["summary"], CODE["notes"])


def test_several_suggestions_in_one_file_each_find_their_lines() -> None:
    at = world()
    first = proposed("def add(a, b):\n    # Of any type.", first=1, last=1, line=1)
    second = proposed("    return a + b  # as Python does")

    outcome = mended(given(first, second), at)

    assert at.copy.read(ADDING) == "def add(a, b):\n    # Of any type.\n    return a + b  # as Python does\n"
    assert outcome.output[MENDED]["applied"] == [0, 1]


def test_of_two_suggestions_for_the_same_line_one_is_applied_and_the_other_told() -> None:
    at = world()

    outcome = mended(given(proposed("    return a + b  # 1"), proposed("    return a + b  # 2")), at)

    assert at.copy.read(ADDING) == "def add(a, b):\n    return a + b  # 1\n"
    assert outcome.output[MENDED] == {
        "applied": [0],
        "why_not": f"{ADDING}:2 was changed by another suggestion, or is gone.",
    }


def test_a_suggestion_with_which_a_test_fails_leaves_the_branch_as_it_was() -> None:
    at = world()
    head = at.copy.head

    outcome = mended(given(proposed("    return a - b")), at)

    assert (at.copy.head, at.copy.read(ADDING), outcome.effects, at.model.asked) == (head, FIXED, (), [])
    told = outcome.output[MENDED]
    assert told["applied"] == []
    assert "test_sum" in told["why_not"]
    assert outcome.summary.startswith("A: no suggestion of the review was applied: ")
    assert {name: outcome.output[name] for name in ("head", "files", "tests")} == {
        name: CODE[name] for name in ("head", "files", "tests")
    }


@pytest.mark.parametrize(
    "more",
    [
        {"asked_changes": (AskedChange(by="ann", pull_request=IssueNumber(13), text="Rename it."),)},
        {"earlier": {}},
    ],
    ids=["people-want-something", "nothing-was-written-yet"],
)
def test_whoever_wants_anything_besides_is_answered_by_a_model(more: Mapping[str, Any]) -> None:
    at = world(change(COMMENTED))

    code_generation.run(visit(given(proposed("    return a + b  # 1")), **more), at)

    assert at.model.asked != []


def test_a_crlf_file_keeps_its_line_ends() -> None:
    copy = MemoryWorkspace({**CHANGED, ADDING: FIXED.replace("\n", "\r\n")}, base=FILES)
    at = FakePorts(model=ScriptedAnswers(), service=ScriptedService(sum_is_right), copy=copy)

    mended(given(proposed("    # Of any type.\n    return a + b")), at)

    assert copy.read(ADDING) == COMMENTED.replace("\n", "\r\n")


def asked_review(*findings: Finding, code: Mapping[str, Any] = CODE, **more: Any) -> Succeeded:
    at = ports(verdict(*findings), files=CHANGED, base=FILES)
    given = task(
        "review", sub_item="A", inputs={"code": code}, conventions=Conventions(combined_review=True), **more
    )
    outcome = review.run(given, at)
    assert isinstance(outcome, Succeeded)
    return outcome


def test_a_review_that_passes_with_an_exact_fix_sends_the_change_back_for_it_alone() -> None:
    outcome = asked_review(proposed("    return b + a"), finding(Severity.WARNING))

    assert (outcome.output["passed"], outcome.output[MENDING]) == (True, True)
    assert outcome.summary == "A: passed with 2 remark(s), 1 of them with the exact fix, which is tried"
    assert ["suggestion" in each for each in outcome.output["findings"]] == [True, False]


@pytest.mark.parametrize(
    ("findings", "earlier"),
    [
        ((finding(Severity.WARNING),), {}),
        ((finding(Severity.BLOCKING), proposed("    return b + a")), {}),
        ((proposed("    return b + a", severity=Severity.INFORMATIONAL),), {}),
        ((proposed("    return b + a"),), {"review": REVIEW}),
    ],
    ids=["no-fix", "something-blocks", "no-warning", "second-round"],
)
def test_nothing_is_sent_back_for_a_fix(findings: tuple[Finding, ...], earlier: Mapping[str, Any]) -> None:
    assert MENDING not in asked_review(*findings, earlier=earlier).output


def test_nothing_is_sent_back_for_a_fix_of_tests_that_were_handed_over() -> None:
    fix = proposed("def test_two(): ...", file=TESTS, line=2)
    code = {**CODE, "test_handoff": handoff(test_path=TESTS).as_json()}
    mixed = asked_review(fix, proposed("    return b + a"), code=code)

    assert MENDING in asked_review(fix).output
    assert MENDING not in asked_review(fix, code=code).output
    assert mixed.summary == "A: passed with 2 remark(s), 1 of them with the exact fix, which is tried"


def after(told: Mapping[str, Any], *, head: str | None = None) -> tuple[object, list[str]]:
    """The review of a change whose suggestions were tried, and what it asked."""
    at = ports(verdict(), files={**CHANGED, ADDING: COMMENTED}, base=FILES)
    before = given(proposed("    # Of any type.\n    return a + b"), finding(Severity.WARNING))
    code = {**CODE, "head": head or at.copy.head, MENDED: told}
    wanted = task(
        "review",
        sub_item="A",
        ordinal=2,
        inputs={"code": code},
        earlier={"review": before},
        conventions=Conventions(combined_review=True),
    )
    return review.run(wanted, at), at.model.asked


def test_the_verdict_stands_where_only_its_own_proposal_was_applied() -> None:
    outcome, asked = after({"applied": [0], "why_not": ""})

    assert isinstance(outcome, Succeeded)
    assert asked == []
    assert (outcome.output["passed"], outcome.output[MENDING]) == (True, False)
    assert [each["explanation"] for each in outcome.output[MENDED]["applied"]] == [
        "Wrong for negative numbers."
    ]
    assert outcome.summary == "A: passed with 1 remark(s), 1 suggestion(s) applied as proposed"


def test_what_could_not_be_applied_stays_a_remark_and_is_told() -> None:
    outcome, asked = after({"applied": [], "why_not": "breaks test_sum\nand more"})

    assert isinstance(outcome, Succeeded)
    assert (asked, len(outcome.output["findings"])) == ([], 2)
    assert outcome.summary.endswith(
        "0 suggestion(s) applied as proposed; others were not applied: breaks test_sum"
    )


@pytest.mark.parametrize(
    ("left", "line", "span"),
    [
        (finding(Severity.WARNING, line=1), 1, None),
        (finding(Severity.WARNING, line=3), 4, None),
        (finding(Severity.WARNING, line=2), 2, None),
        (finding(Severity.WARNING, line=0), 0, None),
        (finding(Severity.WARNING, line=3, file="tests/test_adding.py"), 3, None),
        (proposed("x = 1", first=3, last=4, line=3), 4, (4, 5)),
        (proposed("x = 1", first=2, last=3, line=3), 4, None),
    ],
    ids=["above", "below", "replaced", "whole-file", "elsewhere", "suggestion-below", "suggestion-inside"],
)
def test_what_is_left_stands_at_the_lines_that_it_has_after_the_others_were_applied(
    left: Finding, line: int, span: tuple[int, int] | None
) -> None:
    applied = proposed("    # Of any type.\n    return a + b")
    findings = given(applied, left)["findings"]

    [found] = left_after(findings, [0])

    suggestion = found.get("suggestion") or {"first_line": 0}
    assert found["line"] == line
    lines = (suggestion["first_line"], suggestion["last_line"]) if suggestion["first_line"] else None
    assert lines == span


def test_a_branch_that_somebody_else_moved_is_read_again() -> None:
    outcome, asked = after({"applied": [0], "why_not": ""}, head="f" * 40)

    assert isinstance(outcome, Succeeded)
    assert len(asked) == 1


def test_code_that_a_talked_over_reviewer_proposes_passes_the_gates_of_every_change() -> None:
    at = world()
    call = "    import urllib.request\n    urllib.request.urlopen('https://x.example')\n    return a + b"

    outcome = mended(given(proposed(call)), at)

    [warning] = outcome.output["proof"]["warnings"]
    assert warning.startswith(f"`{ADDING}:2` reaches the network (`urllib.request`)")
    assert outcome.caution.startswith(warning)

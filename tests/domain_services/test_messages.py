"""The messages of the Extension API: when a suite passed, what may be retried, which versions fit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.answers import fields_of
from cogworks.domain_services.messages import (
    Diagnostic,
    ErrorCode,
    Request,
    Response,
    TestCase,
    TestReport,
    compatible,
    frame,
    reported,
    retry_class,
)
from cogworks.vocabulary import Severity

PASSED = TestCase(id="a", outcome="passed")
SKIPPED = TestCase(id="b", outcome="skipped")
FAILED = TestCase(id="c", outcome="failed")


@pytest.mark.parametrize(
    ("report", "passed"),
    [
        (TestReport(cases=(PASSED, SKIPPED)), True),
        (TestReport(cases=()), False),
        (TestReport(cases=(SKIPPED,)), False),
        (TestReport(cases=(PASSED, FAILED)), False),
        (TestReport(cases=(PASSED,), collection_errors=("x",)), False),
        (TestReport(cases=(PASSED,), timed_out=True), False),
    ],
)
def test_a_suite_passes_only_when_something_ran_and_nothing_went_wrong(
    report: TestReport, passed: bool
) -> None:
    assert report.passed is passed


def test_each_error_code_has_a_retry_class() -> None:
    assert {code.value: retry_class(code) for code in ErrorCode} == {
        "tool_not_found": "never",
        "invalid_request": "never",
        "unsupported_method": "never",
        "api_version_mismatch": "never",
        "artifact_not_found": "never",
        "tool_failed": "if_recoverable",
        "timeout": "if_recoverable",
        "internal_error": "if_recoverable",
    }


@pytest.mark.parametrize(
    ("wanted", "offered", "fits"),
    [
        ("1.0", "1.0", True),
        ("1.0", "1.7", True),
        ("1.2", "1.1", False),
        ("1.0", "2.0", False),
        ("1.0", "one", False),
    ],
)
def test_versions_fit_within_a_major_when_the_service_is_not_older(
    wanted: str, offered: str, fits: bool
) -> None:
    assert compatible(wanted, offered) is fits


@given(st.text(max_size=50), st.text(max_size=50))
def test_every_message_is_one_line_and_comes_back_equal(request_id: str, artifact: str) -> None:
    request = Request(request_id=request_id, method="validate", params={"artifacts": [artifact]})

    line = frame(request)

    assert line.count(b"\n") == 1
    assert Request.model_validate_json(line) == request


@given(st.text(st.characters(codec=None), max_size=20), st.sampled_from(["\ud83d", "\udcff", "\ude00\ud83d"]))
def test_half_a_character_spoils_no_message(text: str, half: str) -> None:
    case = TestCase(id=f"t.ts::{half}", outcome="failed", message=f"{text}{half}")
    response = Response(request_id="1", status="success", result={"cases": [fields_of(case)]})

    line = frame(response)

    shown = Response.model_validate_json(line).result["cases"][0]
    assert line.count(b"\n") == 1
    assert shown["id"] == f"t.ts::{'?' * len(half)}"
    assert shown["message"] == f"{text}{half}".encode(errors="replace").decode()


def test_unknown_fields_of_a_later_minor_version_are_ignored() -> None:
    text = json.dumps({"request_id": "1", "status": "success", "novelty": {"x": 1}})

    assert Response.model_validate_json(text) == Response(request_id="1", status="success")


def test_a_diagnostic_travels_with_its_place() -> None:
    diagnostic = Diagnostic(
        artifact="a.py", line=3, severity=Severity.BLOCKING, category="syntax_error", message="m"
    )

    assert reported(diagnostic).model_dump(mode="json", exclude_none=True) == {
        "artifact": "a.py",
        "location": {"line": 3},
        "severity": "blocking",
        "category": "syntax_error",
        "message": "m",
    }

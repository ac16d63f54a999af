"""How the events of a pytest run become a report whose words do not vary."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.services.python.report import MAX_LINES, read_run, stable
from cogworks.services.sandbox.running import Ended

ROOTS = {"/scratch/copy": "", "/scratch/tmp": "<tmp>/", "/usr/lib/python3.11": "<python>/"}


def event(kind: str, **fields: object) -> str:
    return json.dumps({"kind": kind, **fields})


def phases(test: str, *outcomes: tuple[str, str, str]) -> list[str]:
    lines = [
        event("phase", id=test, when=when, outcome=outcome, text=text) for when, outcome, text in outcomes
    ]
    return [event("start", id=test), *lines, event("finish", id=test)]


@pytest.mark.parametrize(
    ("outcomes", "case"),
    [
        ([("setup", "passed", ""), ("call", "passed", "")], TestCase(id="t", outcome="passed")),
        ([("call", "failed", "E x")], TestCase(id="t", outcome="failed", message="E x")),
        ([("setup", "failed", "E x")], TestCase(id="t", outcome="error", message="E x")),
        (
            [("call", "passed", ""), ("teardown", "failed", "E x")],
            TestCase(id="t", outcome="error", message="E x"),
        ),
        ([("setup", "skipped", "no")], TestCase(id="t", outcome="skipped", message="no")),
        ([("call", "rerun", ""), ("call", "passed", "")], TestCase(id="t", outcome="passed")),
    ],
)
def test_the_phases_of_a_test_make_one_result(outcomes: list[tuple[str, str, str]], case: TestCase) -> None:
    lines = [*phases("t", *outcomes), event("end", code=0)]

    assert read_run(lines, Ended(0, ""), ROOTS) == TestReport(cases=(case,))


def test_collection_errors_are_kept_apart() -> None:
    lines = [event("collection", id="tests/test_b.py", text="E  no module"), event("end", code=2)]

    report = read_run(lines, Ended(2, "noise"), ROOTS)

    assert report == TestReport(cases=(), collection_errors=("tests/test_b.py: E  no module",))
    assert not report.passed


def test_a_run_cut_off_names_the_test_that_was_running() -> None:
    lines = [*phases("a", ("call", "passed", "")), event("start", id="b"), '{"kind": "pha']

    assert read_run(lines, Ended(None, "", timed_out=True), ROOTS) == TestReport(
        cases=(
            TestCase(id="a", outcome="passed"),
            TestCase(id="b", outcome="error", message="still running at the time limit of the whole run"),
        ),
        timed_out=True,
    )
    died = read_run(lines, Ended(-11, "Segmentation fault"), ROOTS)
    assert died.cases[1].message == "the test process ended during this test (signal 11)"
    assert died.collection_errors == ("pytest ended early (signal 11):\nSegmentation fault",)


@pytest.mark.parametrize("code", [2, 3, 4, -9])
def test_a_run_that_failed_as_a_whole_does_not_pass(code: int) -> None:
    lines = [*phases("a", ("call", "passed", "")), event("end", code=code)]

    assert not read_run(lines, Ended(code, "/scratch/copy/conftest.py: bad"), ROOTS).passed


def test_an_end_without_a_report_does_not_pass() -> None:
    assert not read_run(phases("a", ("call", "passed", "")), Ended(0, ""), ROOTS).passed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/scratch/copy/tests/a.py:3: in f", "tests/a.py:3: in f"),
        ("in /scratch/copy", "in ."),
        ("'/scratch/tmp/pytest/x0'", "'<tmp>/pytest/x0'"),
        ("open('/tmp/abc123/file')", "open('<tmp>')"),
        ("<object at 0x7f00deadbeef>", "<object at 0x…>"),
        ("assert 0xdeadbeef == 1", "assert 0xdeadbeef == 1"),
        ("finished in 0.123s", "finished in …"),
        ("took 12.5 ms", "took …"),
        ("assert '1.5s' == '2.5s'", "assert '1.5s' == '2.5s'"),
        ("/venv/lib/python3.11/site-packages/x/y.py is there", "<library>/x/y.py is there"),
    ],
)
def test_what_varies_between_runs_is_left_out(text: str, expected: str) -> None:
    assert stable(text, ROOTS) == expected


def test_frames_of_python_and_libraries_and_version_dependent_marks_are_left_out() -> None:
    text = (
        "/scratch/copy/tests/a.py:3: in test_f\n"
        "    call()\n"
        "    ^^^^^^\n"
        "/usr/lib/python3.11/socket.py:851: in create_connection\n"
        "    raise exceptions[0]\n"
        "/venv/lib/python3.11/site-packages/x/y.py:7: in z\n"
        "    deep()\n"
        "E   OSError: nothing"
    )

    assert stable(text, ROOTS) == "tests/a.py:3: in test_f\n    call()\nE   OSError: nothing"


@given(st.lists(st.text(alphabet="abE \t0", max_size=600), max_size=200))
def test_a_message_is_never_longer_than_its_cap_and_keeps_its_end(lines: list[str]) -> None:
    text = "\n".join([*lines, "E last"])

    kept = stable(text, ROOTS).splitlines()

    assert len(kept) <= MAX_LINES
    assert max(len(line) for line in kept) <= 401
    assert kept[-1] == "E last"

"""How the events of a pytest run become a report whose words do not vary."""

import json
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.localise.localising import frames_of
from cogworks.services.python.report import (
    MAX_LINES,
    NEXT,
    may_go_on,
    read_records,
    read_run,
    shut_out,
    stable,
)
from cogworks.services.sandbox.running import Ended

OVER_ITS_TIME = signal.SIGRTMIN + 12
ROOTS = {"/scratch/copy": "", "/scratch/tmp": "<tmp>/", "/usr/lib/python3.11": "<python>/"}


def report_of(lines: Sequence[str], *ended: Ended) -> TestReport:
    return read_run(read_records(line.encode() for line in lines), ended, ROOTS)


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

    assert report_of(lines, Ended(0, "")) == TestReport(cases=(case,))


def test_collection_errors_are_kept_apart() -> None:
    lines = [event("collection", id="tests/test_b.py", text="E  no module"), event("end", code=2)]

    report = report_of(lines, Ended(2, "noise"))

    assert report == TestReport(cases=(), collection_errors=("tests/test_b.py: E  no module",))
    assert not report.passed


def test_versions_are_those_that_were_named_before_the_first_test() -> None:
    honest = event("tools", versions={"pytest": "8.4.1"})
    forged = event("tools", versions={"pytest": "0.1"})
    lines = [*phases("t", ("call", "passed", "")), forged, event("end", code=0)]

    assert report_of([honest, *lines], Ended(0, "")).versions == {"pytest": "8.4.1"}
    assert report_of(lines, Ended(0, "")).versions == {}


def test_a_run_cut_off_names_the_test_that_was_running() -> None:
    lines = [*phases("a", ("call", "passed", "")), event("start", id="b"), '{"kind": "pha']

    assert report_of(lines, Ended(None, "", timed_out=True)) == TestReport(
        cases=(
            TestCase(id="a", outcome="passed"),
            TestCase(id="b", outcome="error", message="still running at the time limit of the whole run"),
        ),
        timed_out=True,
        hung=("b",),
    )
    died = report_of(lines, Ended(-11, "Segmentation fault"))
    assert died.cases[1].message == "the test process ended during this test (signal 11)"
    assert died.collection_errors == ("pytest ended early (signal 11):\nSegmentation fault",)


NO_CONFTEST = "E\nImportError while loading conftest '/copy/tests/sub/conftest.py'.\nE   NameError: x"


@pytest.mark.parametrize(
    ("lines", "said", "folder"),
    [
        ([], NO_CONFTEST, "tests/sub"),
        ([], NO_CONFTEST.replace("tests/sub/", ""), "."),
        ([], NO_CONFTEST.replace("/copy/", "/elsewhere/"), "."),
        ([*phases("a"), json.dumps(NEXT)], NO_CONFTEST, "tests/sub"),
        ([event("tools", versions={})], NO_CONFTEST, ""),
        ([], "ERROR: unrecognized arguments: --cov", ""),
    ],
    ids=[
        "a folder",
        "the root",
        "beyond the repository",
        "the last process",
        "it began",
        "another complaint",
    ],
)
def test_which_folder_kept_pytest_from_beginning(lines: list[str], said: str, folder: str) -> None:
    records = read_records(line.encode() for line in lines)

    assert shut_out(records, Ended(4, said), Path("/copy")) == folder


def test_what_a_process_could_not_load_stands_beside_what_the_next_one_found() -> None:
    records = read_records(
        line.encode()
        for line in [
            json.dumps(NEXT),
            event("tools", versions={"pytest": "9"}),
            *phases("a"),
            event("end", code=0),
        ]
    )

    report = read_run(records, [Ended(4, NO_CONFTEST), Ended(0, "")], ROOTS, hidden={0: "tests/sub"})

    assert [case.id for case in report.cases] == ["a"]
    assert report.versions == {"pytest": "9"}
    (error,) = report.collection_errors
    assert error.startswith("tests/sub: no test could be loaded:\nE\nImportError")


@pytest.mark.parametrize(
    ("lines", "ended", "goes_on"),
    [
        ([event("start", id="a")], Ended(-9, ""), True),
        ([event("start", id="a")], Ended(0, ""), True),
        ([event("start", id="a")], Ended(None, "", timed_out=True), False),
        ([event("start", id="a")], Ended(None, "", blocked=("too much",)), False),
        ([*phases("a"), event("end", code=0)], Ended(0, ""), False),
        (phases("a"), Ended(-9, ""), False),
        ([event("start", id="a"), json.dumps(NEXT)], Ended(-9, ""), False),
        ([event("start", id="a"), json.dumps(NEXT), event("start", id="b")], Ended(-9, ""), True),
        ([], Ended(-9, ""), False),
        ([event("load", id="a.py")], Ended(-9, ""), True),
        ([event("load", id="a.py"), event("loaded", id="a.py")], Ended(-9, ""), False),
        ([event("load", id="")], Ended(-9, ""), False),
        ([event("load", id="a.py"), json.dumps(NEXT)], Ended(-9, ""), False),
    ],
    ids=[
        "killed",
        "left",
        "out-of-time",
        "out-of-room",
        "complete",
        "between-tests",
        "no-progress",
        "progress",
        "before-tests",
        "while-loading",
        "after-loading",
        "nowhere",
        "loading-once",
    ],
)
def test_another_process_goes_on_where_one_died_of_a_test_or_a_file(
    lines: Sequence[str], ended: Ended, goes_on: bool
) -> None:
    assert may_go_on(read_records(line.encode() for line in lines), ended) is goes_on


def test_each_test_that_took_its_process_along_says_how() -> None:
    lines = [
        event("collection", id="b.py", text="E  no module"),
        event("start", id="a"),
        json.dumps(NEXT),
        event("collection", id="b.py", text="E  no module"),
        event("start", id="b"),
        json.dumps(NEXT),
        *phases("c", ("call", "passed", "")),
        event("end", code=0),
    ]

    assert report_of(
        lines, Ended(-9, ""), Ended(-OVER_ITS_TIME, ""), Ended(0, "", blocked=("b",))
    ) == TestReport(
        cases=(
            TestCase(id="a", outcome="error", message="the test process ended during this test (signal 9)"),
            TestCase(
                id="b",
                outcome="error",
                message="the test process ended during this test (over the time limit of one test, and it could "
                "not be stopped otherwise)",
            ),
            TestCase(id="c", outcome="passed"),
        ),
        collection_errors=("b.py: E  no module",),
        blocked=("b",),
        hung=("b",),
    )


def test_a_runner_that_breaks_on_a_test_goes_on_with_the_others() -> None:
    broken = [event("start", id="a"), event("internal", text="RuntimeError: no"), event("end", code=3)]
    others = [*phases("b", ("call", "passed", "")), event("end", code=0)]

    assert may_go_on(read_records(line.encode() for line in broken), Ended(3, ""))
    report = report_of([*broken, json.dumps(NEXT), *others], Ended(3, ""), Ended(0, ""))

    message = "pytest failed itself during this test:\nRuntimeError: no"
    assert report.cases == (
        TestCase(id="a", outcome="error", message=message),
        TestCase(id="b", outcome="passed"),
    )
    assert report.collection_errors == ()


def test_a_runner_that_breaks_between_tests_is_a_complaint_about_the_whole() -> None:
    lines = [
        *phases("a", ("call", "passed", "")),
        event("internal", text="RuntimeError: no"),
        event("end", code=3),
    ]

    assert not may_go_on(read_records(line.encode() for line in lines), Ended(3, ""))
    assert report_of(lines, Ended(3, "")).collection_errors == ("pytest failed itself:\nRuntimeError: no",)


CRASH = """\
a test said this
Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 (most recent call first):
  File "/scratch/copy/other.py", line 5 in wait

Current thread 0x00007f0000000000 (most recent call first):
  File "/scratch/copy/shop.py", line 14 in total
  File "<frozen importlib._bootstrap>", line 241 in _call_with_frames_removed
  File "/usr/lib/site-packages/pluggy/_callers.py", line 121 in _multicall
  File "/scratch/copy/test_a.py", line 3 in test_a

Extension modules: somebody's"""


def test_a_crash_says_where_in_the_code_it_was() -> None:
    lines = [event("start", id="test_a.py::test_a")]

    (case,) = report_of(lines, Ended(-11, CRASH)).cases

    assert case.message == (
        "the test process ended during this test (signal 11)\ntest_a.py:3: in test_a\nshop.py:14: in total"
    )
    assert [frame.artifact for frame in frames_of(case.message)] == ["shop.py", "test_a.py"]


def test_each_file_that_took_its_process_along_is_named_once_with_how() -> None:
    lines = [
        *(event("load", id=name) for name in ("", "sub", "sub/a.py")),
        json.dumps(NEXT),
        *(event("load", id=name) for name in ("", "sub")),
        event("load", id="sub/a.py"),
        event("loaded", id="sub/a.py"),
        event("load", id="sub/b.py"),
    ]

    report = report_of(lines, Ended(0, ""), Ended(None, "", blocked=("too much",)))

    assert report.collection_errors == (
        "sub/a.py: the test process ended while this was loaded (exit code 0)",
        "sub/b.py: the test process ended while this was loaded (too much)",
        "pytest ended early (too much):",
    )


@pytest.mark.parametrize("code", [2, 3, 4, -9])
def test_a_run_that_failed_as_a_whole_does_not_pass(code: int) -> None:
    lines = [*phases("a", ("call", "passed", "")), event("end", code=code)]

    assert not report_of(lines, Ended(code, "/scratch/copy/conftest.py: bad")).passed


def test_an_end_without_a_report_does_not_pass() -> None:
    assert not report_of(phases("a", ("call", "passed", "")), Ended(0, "")).passed


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

"""What `cogworks doctor PATH` shows of what was found."""

import pytest

from cogworks.checkup.findings import Checkup, ServiceCheckup, SuiteRun, reasons
from cogworks.cli.checkup_pages import rows
from cogworks.domain_services.checking import Prepared
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.forge.diagnosis import Check

KNOWN = Check(name="languages", status="ok", found="Go (100 %), known to the service of commands")


def shown(*, prepared: Prepared | None = None, report: TestReport | None = None) -> dict[str, list[str]]:
    services = (ServiceCheckup(service="command", prepared=prepared),)
    suite = SuiteRun(report=report) if report else None
    found = Checkup(folder="/repo", state="commit", languages=KNOWN, services=services, suite=suite)
    return {label: list(lines) for label, lines in rows(found)}


@pytest.mark.parametrize(
    ("is_reused", "seconds", "words"),
    [
        (True, 0.0, "nothing to install"),
        (True, 4.25, "was there before; making it took 4.2 s"),
        (False, 4.25, "made now; making it took 4.2 s"),
    ],
)
def test_an_environment_of_which_nothing_was_made_is_not_said_to_have_been_there(
    is_reused: bool, seconds: float, words: str
) -> None:
    prepared = Prepared(described="go test", key="k", is_reused=is_reused, seconds=seconds)

    assert shown(prepared=prepared)["environment"] == ["go test", words]


def failed(number: int, message: str) -> TestCase:
    return TestCase(id=f"test/a.rb::t{number}", outcome="failed", message=message)


def test_what_failing_tests_say_is_one_line_for_each_reason_the_most_frequent_first() -> None:
    report = TestReport(
        cases=(
            failed(1, "--- expected\n+++ actual\n@@ -1 +1 @@\nno such table\ntest/a.rb:3"),
            failed(2, "Expected: 2\n  Actual: 1\ntest/a.rb:10"),
            failed(3, "Expected: 2\n  Actual: 7\ntest/a.rb:20"),
            failed(4, "a.py:3: in t4\n    assert 1 == 2\nE   assert 1 == 2"),
            failed(5, ""),
        )
    )

    assert reasons(report) == (("Expected: 2", 2), ("no such table", 1), ("assert 1 == 2", 1))
    assert shown(report=report)["they say"] == [
        "Expected: 2 (2 times)",
        "no such table (once)",
        "assert 1 == 2 (once)",
    ]


def test_of_many_reasons_the_first_are_shown_and_the_others_counted() -> None:
    report = TestReport(cases=tuple(failed(number, f"reason {number}" * 100) for number in range(30)))
    lines = shown(report=report)["they say"]

    assert (len(lines), lines[-1]) == (11, "and 20 more")
    assert max(map(len, lines)) < 320
    assert "… (once)" in lines[0]
    assert "they say" not in shown(report=TestReport(cases=(failed(1, ""),)))


def test_an_id_that_holds_a_document_is_shown_in_part() -> None:
    case = TestCase(id=f"tests/test_a.py::test_a[{'word ' * 200}]", outcome="failed")
    [line] = shown(report=TestReport(cases=(case,)))["failing now"]

    assert line == f"{case.id[:200]}…"


def test_of_what_was_refused_a_server_that_was_not_up_yet_counts_only_where_the_test_failed() -> None:
    cases = (
        TestCase(id="tests/test_a.py::test_waits[a: b]", outcome="passed"),
        TestCase(id="tests/test_a.py::test_gives_up", outcome="failed"),
    )
    nobody = "tried to connect to 127.0.0.1:80, where nobody listens inside"
    elsewhere = "tried to connect to 192.0.2.1:80"
    blocked = tuple(f"{case.id}: {words}" for case in cases for words in (nobody, elsewhere))
    report = TestReport(cases=cases, blocked=(*blocked, "ended with the run: processes left running: sleep"))

    assert shown(report=report)["refused"] == [
        *blocked[1:],
        "ended with the run: processes left running: sleep",
    ]
    assert "refused" not in shown(report=TestReport(cases=cases[:1], blocked=blocked[:1]))

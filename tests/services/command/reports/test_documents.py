"""The reports that are one document: Jest, Vitest and TRX."""

import json

from cogworks.services.command.reports import jest_json, trx
from cogworks.services.command.reports.cases import Case, Parsed, Problem

JEST = {
    "numTotalTests": 3,
    "testResults": [
        {
            "name": "/work/test/cart.test.js",
            "status": "failed",
            "message": "…",
            "assertionResults": [
                {"ancestorTitles": ["cart"], "title": "adds", "fullName": "cart adds", "status": "passed"},
                {
                    "ancestorTitles": ["cart"],
                    "title": "fails",
                    "status": "failed",
                    "failureMessages": ["\u001b[31mno\u001b[39m"],
                },
                {"ancestorTitles": [], "title": "later", "status": "pending"},
            ],
        },
        {
            "name": "/work/test/broken.test.ts",
            "status": "failed",
            "message": "SyntaxError: no (3:7)",
            "assertionResults": [],
        },
    ],
}
TRX = """<?xml version="1.0"?><TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
<Results><UnitTestResult testId="1" testName="Shop.CartTest.Adds" outcome="Passed"/>
<UnitTestResult testId="2" testName="Shop.CartTest.Fails" outcome="Failed"><Output><ErrorInfo><Message>no</Message><StackTrace>at CartTest.cs:line 6</StackTrace></ErrorInfo></Output></UnitTestResult>
<UnitTestResult testId="3" testName="Later" outcome="NotExecuted"/></Results>
<TestDefinitions><UnitTest id="1"><TestMethod className="Shop.CartTest, Shop" name="Adds"/></UnitTest><UnitTest id="2"><TestMethod className="Shop.CartTest" name="Fails"/></UnitTest></TestDefinitions></TestRun>"""


def test_jest_tells_suites_and_files_that_cannot_be_loaded() -> None:
    parsed = jest_json.parse(json.dumps(JEST).encode())

    assert parsed.cases == (
        Case("cart > adds", "passed", file="/work/test/cart.test.js"),
        Case("cart > fails", "failed", "no", file="/work/test/cart.test.js"),
        Case("later", "skipped", file="/work/test/cart.test.js"),
    )
    assert parsed.problems == (Problem("SyntaxError: no (3:7)", file="/work/test/broken.test.ts", line=3),)


def test_a_report_of_jest_that_breaks_off_is_said_to() -> None:
    assert jest_json.parse(json.dumps(JEST).encode()[:200]) == Parsed(is_cut=True)


def test_trx_tells_classes_and_what_failed() -> None:
    parsed = trx.parse(TRX.encode())

    assert parsed.cases == (
        Case("Shop.CartTest.Adds", "passed", group="Shop.CartTest"),
        Case("Shop.CartTest.Fails", "failed", "no\nat CartTest.cs:line 6", group="Shop.CartTest"),
        Case("Later", "skipped"),
    )
    assert not parsed.is_cut


def test_a_file_without_tests_that_says_why_could_not_be_loaded_whatever_its_status() -> None:
    said = {
        "name": "/copy/a.test.ts",
        "status": "passed",
        "assertionResults": [],
        "message": "Transform failed",
    }
    quiet = {**said, "message": ""}
    parsed = jest_json.parse(json.dumps({"testResults": [said, quiet]}).encode())

    assert parsed.problems == (Problem("Transform failed", file="/copy/a.test.ts"),)


def test_tests_whose_preparation_failed_under_vitest_are_errors_and_not_skipped() -> None:
    tests = [{"title": "adds", "status": "skipped"}, {"title": "later", "status": "todo"}]
    broken = {"name": "/r/a.test.ts", "status": "failed", "message": "no database", "assertionResults": tests}
    whole = {"name": "/r/b.test.ts", "status": "passed", "message": "", "assertionResults": tests}
    parsed = jest_json.parse(json.dumps({"testResults": [broken, whole]}).encode())

    assert [(each.outcome, each.message) for each in parsed.cases] == [
        ("error", "no database"),
        ("skipped", ""),
        ("skipped", ""),
        ("skipped", ""),
    ]

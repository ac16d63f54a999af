"""JUnit XML as each runner writes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.command.reports.cases import Case, Parsed, Problem
from cogworks.services.command.reports.junit import parse

SUREFIRE = b"""<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="x" name="shop.CartTest" time="0.05" tests="3" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="adds" classname="shop.CartTest" time="0.01"/>
  <testcase name="fails" classname="shop.CartTest"><failure message="expected: &lt;4&gt; but was: &lt;3&gt;" type="AssertionFailedError"><![CDATA[at CartTest.java:6]]></failure></testcase>
  <testcase name="throws" classname="shop.CartTest"><error message="boom" type="java.lang.IllegalStateException">trace</error><system-out>noise</system-out></testcase>
  <testcase name="later" classname="shop.CartTest"><skipped message="not yet"/></testcase>
  <testcase name="flaky" classname="shop.CartTest"><flakyFailure message="once">x</flakyFailure></testcase>
</testsuite>"""
GRADLE = b"""<testsuite name="shop.CartTest" tests="1"><testcase name="adds()" classname="shop.CartTest"/><system-out><![CDATA[]]></system-out></testsuite>"""
JEST_JUNIT = b"""<testsuites name="jest tests"><testsuite name="cart" tests="2" file="test/cart.test.js">
<testcase classname="cart adds" name="cart adds" time="0.003"/>
<testcase classname="cart fails" name="cart fails"><failure>Error: no</failure></testcase></testsuite></testsuites>"""
PYTEST = b"""<testsuites><testsuite name="pytest" errors="1"><testcase classname="tests.test_cart.TestCart" name="test_adds[1-2]"/>
<testcase classname="" name="tests.test_broken"><error message="collection failure">ImportError</error></testcase></testsuite></testsuites>"""
PHPUNIT = b"""<testsuites><testsuite name="Unit"><testsuite name="CartTest" file="/app/tests/CartTest.php">
<testcase name="testAdds" class="CartTest" classname="CartTest" file="/app/tests/CartTest.php" line="9" assertions="1"/></testsuite></testsuite></testsuites>"""
GOTESTSUM = b"""<testsuites><testsuite name="example.org/shop/cart"><testcase classname="example.org/shop/cart" name="TestAdd/negative"/>
<testcase classname="example.org/shop/cart" name="TestMain"><skipped message="--- SKIP"></skipped></testcase></testsuite></testsuites>"""
NEXTEST = b"""<testsuites name="nextest-run"><testsuite name="shop" tests="1"><testcase name="cart::tests::adds" classname="shop"/></testsuite></testsuites>"""
MOCHA = b"""<testsuite name="Mocha Tests" tests="1"><testcase classname="cart" name="adds" file="/x/test/cart.spec.js" time="0"/></testsuite>"""
CTEST = b"""<testsuite name="Linux"><testcase name="unit" classname="unit" status="run"/><testcase name="off" classname="off" status="notrun"><skipped message="Disabled"/></testcase></testsuite>"""


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (
            SUREFIRE,
            [
                ("adds", "passed"),
                ("fails", "failed"),
                ("throws", "failed"),
                ("later", "skipped"),
                ("flaky", "passed"),
            ],
        ),
        (GRADLE, [("adds()", "passed")]),
        (JEST_JUNIT, [("cart adds", "passed"), ("cart fails", "failed")]),
        (PYTEST, [("test_adds[1-2]", "passed"), ("tests.test_broken", "error")]),
        (PHPUNIT, [("testAdds", "passed")]),
        (GOTESTSUM, [("TestAdd/negative", "passed"), ("TestMain", "skipped")]),
        (NEXTEST, [("cart::tests::adds", "passed")]),
        (MOCHA, [("adds", "passed")]),
        (CTEST, [("unit", "passed"), ("off", "skipped")]),
    ],
    ids=["surefire", "gradle", "jest-junit", "pytest", "phpunit", "gotestsum", "nextest", "mocha", "ctest"],
)
def test_each_dialect_tells_its_cases(report: bytes, told: list[tuple[str, str]]) -> None:
    parsed = parse(report)

    assert [(case.name, case.outcome) for case in parsed.cases] == told
    assert not parsed.is_cut


def test_a_case_carries_its_class_its_file_and_why_it_failed() -> None:
    [_, failed, *_] = parse(SUREFIRE).cases

    assert failed == Case(
        "fails", "failed", "expected: <4> but was: <3>\nat CartTest.java:6", group="shop.CartTest"
    )
    assert parse(PHPUNIT).cases[0].file == "/app/tests/CartTest.php"
    assert parse(JEST_JUNIT).cases[0].file == "test/cart.test.js"


def test_what_a_suite_says_outside_of_any_case_is_a_problem() -> None:
    report = (
        b'<testsuite name="shop" file="a.js"><error message="cannot load"/><testcase name="a"/></testsuite>'
    )

    assert parse(report).problems == (Problem("cannot load", file="a.js", group="shop"),)


def test_a_report_that_breaks_off_tells_what_stands_before() -> None:
    parsed = parse(SUREFIRE[: SUREFIRE.index(b'<testcase name="throws"')])

    assert [case.name for case in parsed.cases] == ["adds", "fails"]
    assert parsed.is_cut


def test_entities_are_not_read() -> None:
    bomb = (
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>'
    )

    assert parse(bomb) == Parsed(is_cut=True)


@given(st.binary(max_size=300), st.integers(0, len(SUREFIRE)))
def test_whatever_the_bytes_are_something_is_told(noise: bytes, place: int) -> None:
    assert isinstance(parse(noise), Parsed)
    assert isinstance(parse(SUREFIRE[:place] + noise + SUREFIRE[place:]), Parsed)

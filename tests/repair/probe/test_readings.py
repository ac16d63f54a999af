from typing import Any

import pytest

from cogworks.domain_services.exploring import (
    CallEdge,
    CallGraph,
    CallNode,
    Coverage,
    Lines,
    Signature,
    Signatures,
    SymbolIndex,
    TestCoverage,
    Trace,
)
from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.repair.probe.readings import (
    coverage_seen,
    essence,
    events_within,
    has_fired,
    kinds_in,
    structure_seen,
    trace_seen,
    violations,
)
from tests.repair.examples import suspect, symbol
from tests.repair.sandbox_pools import event, traced

OUTER, INNER = suspect("shop.total", (1, 4), 0.6), suspect("shop.rounded", (6, 7), 0.4)
BOTH = (OUTER, INNER)
WRONG = "E   assert -2 == 2.8\nE    +  where -2 = total([1.4, 1.4])"
HANDED_ON = traced(
    event("call", 1, values={"prices": "[1.4, 1.4]"}),
    event("line", 2),
    event("line", 4, values={"result": "-2.8"}),
    event("call", 6, depth=2, values={"amount": "-2.8"}),
    event("line", 7, depth=2),
    event("return", 7, depth=2, value="-2"),
    event("return", 4, value="-2"),
)
RAISED = traced(
    event("call", 1),
    event("call", 6, depth=2),
    event("exception", 7, depth=2, value="KeyError('x')"),
    event("exception", 3, value="KeyError('x')"),
)


def test_who_first_returned_the_wrong_value_is_likely_and_who_handed_it_on_is_possible() -> None:
    outer, inner = trace_seen(HANDED_ON, OUTER, BOTH, WRONG), trace_seen(HANDED_ON, INNER, BOTH, WRONG)

    assert (outer.recommendation, outer.observations["passed_on"]) == ("possible", "returned -2")
    assert (inner.recommendation, inner.observations["origin"]) == ("likely_cause", "returned -2")


def test_what_a_suspect_did_is_told_without_clock_and_place() -> None:
    seen = trace_seen(HANDED_ON, OUTER, BOTH, WRONG).observations

    assert {key: value for key, value in seen.items() if key not in ("locals_digest", "passed_on")} == {
        "test": "t",
        "executed": True,
        "calls": 1,
        "lines": [[2, 2], [4, 4]],
        "arguments": {"prices": "[1.4, 1.4]"},
        "locals": {"prices": "[1.4, 1.4]", "result": "-2.8"},
        "returned": ["-2"],
        "raised": [],
    }
    assert len(seen["locals_digest"]) == 16


@pytest.mark.parametrize(
    ("trace", "failure", "outer", "inner"),
    [
        (RAISED, "E   KeyError: 'x'", "possible", "likely_cause"),
        (RAISED, "E   ValueError: y", "unknown", "unknown"),
        (traced(event("call", 1), event("return", 4, value="3")), "assert 3 == 4", "likely_cause", "unlikely"),
        (traced(event("call", 1), event("return", 4, value="None")), "assert None == 4", "unknown", "unlikely"),
        (traced(event("call", 1), event("return", 4, value="3")), "assert 1.3 == 4", "unknown", "unlikely"),
        (traced(event("call", 1), truncated=True), "assert 3 == 4", "unknown", "unknown"),
        (traced(event("call", 1), outcome="passed"), WRONG, "unknown", "unknown"),
        (traced(), WRONG, "unlikely", "unlikely"),
    ],
    ids=["raised", "something else raised", "one returned it", "a bare word", "part of a number", "broken off", "passes alone", "nothing ran"],
)  # fmt: skip
def test_what_a_trace_says_of_its_suspects(trace: Trace, failure: str, outer: str, inner: str) -> None:
    assert trace_seen(trace, OUTER, BOTH, failure).recommendation == outer
    assert trace_seen(trace, INNER, BOTH, failure).recommendation == inner


def test_a_value_that_was_expected_is_not_taken_for_the_wrong_one() -> None:
    trace = traced(
        event("return", 7, depth=2, value="9"),
        event("return", 4, depth=1, value="10"),
    )

    assert trace_seen(trace, OUTER, BOTH, "assert 10 == 9").recommendation == "likely_cause"
    assert trace_seen(trace, INNER, BOTH, "assert 10 == 9").recommendation == "unknown"


@pytest.mark.parametrize(
    ("lines", "ran", "recommendation", "executed"),
    [
        (((1, 2),), True, "unknown", [[1, 2]]),
        (((6, 7),), True, "unlikely", []),
        ((), False, "unknown", []),
    ],
    ids=["executed", "not executed", "never ran"],
)
def test_what_the_failing_tests_execute(
    lines: tuple[Lines, ...], ran: bool, recommendation: str, executed: list[list[int]]
) -> None:
    case = TestCase(id="t", outcome="failed" if ran else "error")
    measured = Coverage(
        report=TestReport(cases=(case,)), tests=(TestCoverage(test="t", lines={"shop.py": lines}),)
    )

    seen = coverage_seen(measured, OUTER, ("t",))

    assert (seen.recommendation, seen.observations["executed"]) == (recommendation, executed)


def test_the_head_of_a_definition_is_no_line_that_was_left_out() -> None:
    case = TestCase(id="t", outcome="failed")
    measured = Coverage(
        report=TestReport(cases=(case,)), tests=(TestCoverage(test="t", lines={"shop.py": ((2, 2), (4, 4))}),)
    )

    assert coverage_seen(measured, OUTER, ("t",)).observations["not_executed"] == [[3, 3]]


def test_who_calls_and_what_is_named_is_read_without_running_anything() -> None:
    edges = [("tests.t", "shop.total", "tests"), ("shop.total", "shop.rounded", "calls"), ("a", "b", "calls")]
    graph = CallGraph(
        nodes=(CallNode(symbol=OUTER.symbol, hop=0),),
        edges=tuple(
            CallEdge.model_validate({"source": a, "target": b, "kind": kind}) for a, b, kind in edges
        ),
    )
    names = ("shop.RATE", "shop.UNUSED")
    index = SymbolIndex(symbols=tuple(symbol(name, (1, 1), kind="variable") for name in names))
    signature = Signature(
        id="shop.total", kind="function", artifact="shop.py", line=1, positional=("prices",)
    )

    seen = structure_seen(
        OUTER,
        graph,
        [index],
        [Signatures(signatures=(signature,))],
        "def total(prices):\n    return RATE * sum(prices)\n",
    )

    assert seen.recommendation == "unknown"
    assert seen.observations == {
        "callers": ["tests.t"],
        "callees": ["shop.rounded"],
        "signature": {
            "positional_only": [],
            "positional": ["prices"],
            "keyword_only": [],
            "with_default": [],
        },
        "data": ["shop.RATE"],
    }


def test_kinds_that_no_passing_test_gives_are_violations() -> None:
    failing = kinds_in([traced(event("line", 2, values={"cogworks_probe_a": "'int negative'", "b": "1"}))])
    passing = kinds_in(
        [
            traced(event("line", 2, values={"cogworks_probe_a": kind, "cogworks_probe_b": "'str'"}))
            for kind in ("'int'", "'float'")
        ]
    )

    assert failing == {"a": ("int negative",)}
    assert violations(failing, passing) == {"a": ("float", "int")}
    assert violations(passing, passing) == {}
    assert violations(failing, {}) == {}


@pytest.mark.parametrize(
    ("trace", "fired"),
    [
        (traced(event("exception", 2, value="AssertionError('cogworks_probe_a')"), outcome="passed"), True),
        (traced(message="E   AssertionError: cogworks_probe_sum"), True),
        (traced(event("exception", 2, value="AssertionError('else')"), message="E   else"), False),
    ],
    ids=["caught inside", "in the failure", "another failure"],
)
def test_when_a_check_has_fired(trace: Trace, fired: bool) -> None:
    assert has_fired(trace) is fired


@pytest.mark.parametrize(
    ("other", "is_alike"),
    [
        ("tests/t.py:9: in t\nE   assert 0 == 1", True),
        ("tests/t.py:2: in t\nE   assert 0 == 2", False),
        ("tests/t.py:2: in t\nE   KeyError: 1", False),
    ],
)
def test_when_two_runs_fail_alike(other: str, is_alike: bool) -> None:
    here: Any = essence("tests/t.py:2: in t\n    assert f() == 1\nE   assert 0 == 1")
    assert (essence(other) == here) is is_alike


def test_values_of_events_that_are_left_out_go_to_the_next_event_of_their_frame() -> None:
    events = (
        event("call", 10, values={"a": "1"}),
        event("line", 11, values={"b": "2"}),
        event("line", 1, values={"c": "3"}),
        event("line", 2, values={"b": "4"}),
        event("call", 10, values={"a": "5"}),
        event("line", 1),
    )

    found = events_within(events, {"shop.py"}, [(1, 2)])

    assert [(each.line, each.values) for each in found] == [
        (1, {"a": "1", "b": "2", "c": "3"}),
        (2, {"b": "4"}),
        (1, {"a": "5"}),
    ]
    assert events_within(events, {"other.py"}, [(1, 2)]) == ()

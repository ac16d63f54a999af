"""Which requests a rule strikes, and what a plan may say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError
from cogworks.hub.fault_answers import Replica, spoilt
from cogworks.hub.faults import FaultPlan, Faults, Rule, plan_from_object, plan_from_toml
from cogworks.hub.journal import Asked, asked
from cogworks.hub.node_ids import node_id

READ = Asked(method="GET", path="/repos/octo/demo/issues")
WRITE = Asked(method="POST", path="/repos/octo/demo/issues", is_write=True)


def strikes(rule: Rule, requests: list[Asked]) -> list[int]:
    """At which of the requests, from 1, the rule strikes."""
    faults = Faults(FaultPlan(faults=(rule,)))
    return [number for number, request in enumerate(requests, start=1) if faults.meets(request)]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7]),
        ({"nth": 3}, [3]),
        ({"nth": 3, "times": 2}, [3, 4]),
        ({"every": 3}, [3, 6]),
        ({"nth": 1, "every": 3}, [1, 4, 7]),
        ({"every": 2, "times": 2}, [2, 4]),
        ({"times": 1}, [1]),
    ],
)
def test_a_rule_strikes_at_its_occurrences(when: dict[str, int], expected: list[int]) -> None:
    assert strikes(Rule.model_validate({"kind": "refuse", **when}), [READ] * 7) == expected


@given(nth=st.integers(1, 9), every=st.integers(1, 9), times=st.integers(1, 9))
def test_a_rule_never_strikes_before_its_nth_nor_more_often_than_told(
    nth: int, every: int, times: int
) -> None:
    found = strikes(Rule(kind="refuse", nth=nth, every=every, times=times), [READ] * 60)

    assert found == [nth + every * number for number in range(times) if nth + every * number <= 60]


@pytest.mark.parametrize(
    ("pattern", "is_struck"),
    [
        ({"method": "POST"}, True),
        ({"method": "GET"}, False),
        ({"path": "/repos/*/issues"}, True),
        ({"path": "/repos/*/pulls"}, False),
        ({"is_write": True}, True),
        ({"is_write": False}, False),
        ({"operation": "*"}, True),
        ({"operation": "WorkItem"}, False),
        ({"field": "createIssue"}, False),
    ],
)
def test_a_rule_strikes_what_all_its_patterns_fit(pattern: dict[str, object], is_struck: bool) -> None:
    rule = Rule.model_validate({"kind": "refuse", **pattern})

    assert strikes(rule, [WRITE]) == ([1] if is_struck else [])


def test_only_occurrences_after_another_request_count_where_a_rule_says_so() -> None:
    rule = Rule.model_validate({"kind": "missing", "method": "GET", "times": 1, "after": {"method": "POST"}})
    faults = Faults(FaultPlan(faults=(rule,)))

    assert faults.meets(READ) == ()
    faults.handled(WRITE)
    assert [faults.meets(READ), faults.meets(READ)] == [(rule,), ()]


def test_a_request_meets_every_latency_and_the_first_other_fault() -> None:
    slow = Rule(kind="latency", latency_ms=5)
    rules = (slow, Rule(kind="refuse", method="POST"), Rule(kind="error_before"), slow)
    faults = Faults(FaultPlan(faults=rules))

    assert [rule.kind for rule in faults.meets(WRITE)] == ["latency", "refuse", "latency"]
    assert [rule.kind for rule in faults.meets(READ)] == ["latency", "error_before", "latency"]
    assert faults.standing() == [(2, 2), (1, 1), (2, 1), (2, 2)]


def test_a_graphql_document_is_known_by_its_operation_and_root_fields() -> None:
    body = (
        b'{"query": "fragment F on Mutation { b: addComment { x } } mutation Do { a: createRef { x } ...F }"}'
    )

    assert asked("POST", "/api/graphql", "", body) == Asked(
        method="POST",
        path="/graphql",
        operation="Do",
        fields=("createRef", "addComment"),
        kind="graphql",
        is_write=True,
    )


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"query": "{"}', b"\xff"])
def test_a_body_that_is_no_document_has_neither_operation_nor_fields(body: bytes) -> None:
    assert asked("POST", "/graphql", "", body) == Asked(method="POST", path="/graphql", kind="graphql")


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("POST", "/o/n.git/git-receive-pack", "", ("git", True)),
        ("POST", "/o/n.git/git-upload-pack", "", ("git", False)),
        ("GET", "/o/n.git/info/refs", "service=git-receive-pack", ("git", False)),
        ("PATCH", "/api/v3/repos/o/n", "", ("rest", True)),
        ("GET", "/api/v3/repos/o/n", "", ("rest", False)),
    ],
)
def test_pushes_and_rest_writes_are_told_from_reads(
    method: str, path: str, query: str, expected: tuple[str, bool]
) -> None:
    found = asked(method, path, query)

    assert (found.kind, found.is_write) == expected


def test_every_problem_of_a_plan_is_reported_at_once() -> None:
    text = """
title = "x"
[[fault]]
kind = "refuse"
status = 500
[[fault]]
kind = "explode"
[[fault]]
kind = "partial"
[[fault]]
kind = "error_after"
status = 404
nth = 0
[[fault]]
kind = "refuse"
when = "now"
"""
    with pytest.raises(ConfigurationError) as refused:
        plan_from_toml(text, source="plan.toml")

    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "title",
        "fault 1",
        "fault 2, kind",
        "fault 3",
        "fault 4, nth",
        "fault 5, when",
    ]
    assert str(refused.value).startswith("plan.toml has 6 problem(s):")


@pytest.mark.parametrize("found", [None, [], {"faults": 3}])
def test_a_plan_of_another_shape_is_refused(found: object) -> None:
    with pytest.raises(ConfigurationError):
        plan_from_object(found, source="the plan")


def test_a_partial_answer_has_null_and_an_error_at_the_place() -> None:
    rule = Rule(kind="partial", at="repository.issue", message="Not now")
    whole = {"data": {"repository": {"issue": {"id": "I"}, "id": "R"}}}

    assert spoilt(rule, whole) == {
        "data": {"repository": {"issue": None, "id": "R"}},
        "errors": [{"type": "FORBIDDEN", "path": ["repository", "issue"], "message": "Not now"}],
    }
    assert spoilt(rule, {"data": {"viewer": {}}}) == {"data": {"viewer": {}}}
    assert spoilt(rule, {"errors": []}) == {"errors": []}


def test_a_lagging_list_misses_a_new_entry_for_so_many_reads_and_its_count_is_right() -> None:
    rule = Rule(kind="stale", lag=2)
    old, new = {"id": node_id("IssueComment", 2_200_000_007)}, {"id": node_id("IssueComment", 2_200_000_009)}
    body = {"data": {"issue": {"comments": {"totalCount": 2, "nodes": [old, new]}}}}
    request = Asked(method="POST", path="/graphql", kind="graphql")
    replica = Replica(newest_id=8)

    seen = [replica.seen_through(rule, request, body)["data"]["issue"]["comments"] for _ in range(3)]

    assert seen == [
        {"totalCount": 2, "nodes": [old]},
        {"totalCount": 2, "nodes": [old]},
        {"totalCount": 2, "nodes": [old, new]},
    ]

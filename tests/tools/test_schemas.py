"""What does not fit is told by its path, what is wanted and what is there, and never by its own text."""

from typing import Any

import pytest

from cogworks.tools.schemas import MAX_PROBLEMS, both, misfits, schema_problem, without

NESTED = {
    "type": "object",
    "properties": {
        "where": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]},
        "mode": {"enum": ["fast", "slow"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"where": {}}, "$.where: 'line' is wanted and missing"),
        ({"where": {"line": "7"}}, "$.where.line: wanted integer, got string of 1 characters"),
        ({"where": {"line": True}}, "$.where.line: wanted integer, got boolean true"),
        ({"mode": "medium"}, "$.mode: wanted enum ['fast', 'slow'], got string of 6 characters"),
        ({"names": ["a", 2]}, "$.names[1]: wanted string, got number 2"),
        ({"names": {}}, "$.names: wanted array, got object with 0 keys"),
        ({"count": 0}, "$.count: wanted minimum 1, got number 0"),
        ({"count": 6}, "$.count: wanted maximum 5, got number 6"),
        ({"count": None}, "$.count: wanted integer, got null"),
        ({"cuont": 1}, "$: has a key that is not known; known are count, mode, names, where"),
        ([], "$: wanted object, got array"),
    ],
)
def test_a_misfit_is_told_with_path_expectation_and_finding(value: Any, problem: str) -> None:
    assert misfits(value, NESTED) == (problem,)


def test_what_fits_has_no_problem() -> None:
    assert misfits({"where": {"line": 3}, "mode": "fast", "names": ["a"], "count": 5}, NESTED) == ()


def test_the_text_of_a_value_is_never_repeated() -> None:
    secret = "hunter2-hunter2"

    told = " ".join(misfits({"mode": secret, "count": secret, "where": secret}, NESTED))

    assert told
    assert secret not in told


def test_a_long_list_of_problems_is_cut() -> None:
    many = misfits({"names": list(range(100))}, NESTED)

    assert len(many) == MAX_PROBLEMS + 1
    assert many[-1] == "and 80 more"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "integr"}, "$.type 'integr' is not valid under any of the given schemas"),
        ({"properties": {"a": {"$ref": "https://example.org/a.json"}}}, "$.properties.a.$ref is a reference"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "$.anyOf[1].$ref is a reference"),
    ],
    ids=["no-type", "remote", "circular"],
)
def test_what_is_no_usable_schema_is_named(schema: dict[str, Any], problem: str) -> None:
    assert (schema_problem(schema) or "").startswith(problem)


def test_keys_that_come_later_are_looked_at_later() -> None:
    schema = both({"required": ["a", "b"]}, {"required": ["b"], "properties": {"a": {"type": "string"}}})
    assert schema is not None

    assert misfits({}, without(schema, {"a", "b"})) == ()
    assert misfits({"a": 1}, without(schema, {"a", "b"})) == ("$.a: wanted string, got number 1",)
    assert misfits({}, without(schema, {"a"})) == ("$: 'b' is wanted and missing",)


def test_a_schema_that_is_not_there_refuses_nothing() -> None:
    assert both(None, None) is None
    assert both({"type": "object"}, None) == {"type": "object"}


def test_a_schema_is_judged_as_it_is_and_not_as_its_text_would_read() -> None:
    assert schema_problem({"type": ["object"]}) is None
    assert schema_problem({"type": ("object",)}) is not None

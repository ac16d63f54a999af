from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.expressions import Expression, Not, parse_expression
from cogworks.pipeline.routing import evaluate_expression, same_json
from tests.pipeline.test_expressions import expressions

VIEW: dict[str, Any] = {
    "review": {
        "passed": True,
        "findings": [{"severity": "warning"}, {"severity": "blocking"}],
        "score": 0.95,
    },
    "retry_count": 2,
    "classification": {"kind": "bug", "labels": ["bug", 1], "note": None},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("review.passed == true", True),
        ("review.passed", True),
        ("not review.passed", False),
        ("retry_count < 5", True),
        ("retry_count <= 2 and retry_count >= 2", True),
        ("retry_count == 2.0", True),
        ("review.score >= 0.95", True),
        ("review.findings.1.severity == 'blocking'", True),
        ("review.findings.7.severity == 'blocking'", False),
        ("'bug' in classification.labels", True),
        ("true in classification.labels", False),
        ("'passed' in review", True),
        ("'u' in classification.kind", True),
        ("classification.note == null", True),
        ("classification.kind < 'c'", True),
        ("(retry_count == 2) == true", True),
        ("(retry_count == 2) == false", False),
        ("review == review", True),
    ],
)
def test_what_holds_over_a_view(text: str, *, holds: bool) -> None:
    assert evaluate_expression(parse_expression(text), VIEW) is holds


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize(
    "left", ["unknown.path", "review.passed.deeper", "classification.kind", "review", "null"]
)
def test_unknown_paths_and_mismatched_types_make_every_comparison_false(left: str, operator: str) -> None:
    comparison = f"{left} {operator} 1"

    assert evaluate_expression(parse_expression(comparison), VIEW) is False
    assert evaluate_expression(parse_expression(f"1 {operator} {left}"), VIEW) is False
    assert evaluate_expression(parse_expression(f"not {comparison}"), VIEW) is True


@pytest.mark.parametrize("text", ["1", "'true'", "null", "retry_count", "review", "unknown"])
def test_a_lone_value_holds_only_when_it_is_true(text: str) -> None:
    assert evaluate_expression(parse_expression(text), VIEW) is False


def test_true_and_one_are_different() -> None:
    assert evaluate_expression(parse_expression("review.passed == 1"), VIEW) is False
    assert same_json([True], [1]) is False
    assert same_json({"a": [1]}, {"a": [1.0]}) is True
    assert same_json({"a": 1}, {"b": 1}) is False


@given(expressions, st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_evaluation_never_raises_and_not_is_the_opposite(
    expression: Expression, view: dict[str, Any]
) -> None:
    assert evaluate_expression(Not(expression), view) is not evaluate_expression(expression, view)

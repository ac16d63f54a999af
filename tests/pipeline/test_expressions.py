import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.pipeline.expressions import (
    MAX_EXPRESSION_CHARS,
    MAX_EXPRESSION_DEPTH,
    And,
    Comparison,
    Constant,
    Expression,
    ExpressionError,
    Not,
    Or,
    Path,
    parse_expression,
    print_expression,
)

RESERVED = {"and", "or", "not", "in", "true", "false", "null"}

numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
constants = st.builds(Constant, numbers | st.text(max_size=12) | st.booleans() | st.none())
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
segments = st.from_regex(r"[A-Za-z0-9_]{1,6}", fullmatch=True)
paths = st.builds(
    lambda first, rest: Path((first, *rest)),
    names.filter(lambda name: name not in RESERVED),
    st.lists(segments, max_size=3),
)
operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"])


def _grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return (
        st.builds(Comparison, operators, inner, inner)
        | st.builds(Not, inner)
        | st.builds(And, several)
        | st.builds(Or, several)
    )


expressions = st.recursive(constants | paths, _grow, max_leaves=12)


@given(expressions)
def test_printing_and_parsing_gives_the_same_expression_back(expression: Expression) -> None:
    text = print_expression(expression)

    assert len(text) > MAX_EXPRESSION_CHARS or parse_expression(text) == expression


@given(st.text(alphabet="ab.01 \t\n\"'\\()!=<>&|-~notrui", max_size=40))
def test_any_text_is_either_an_expression_or_refused_at_a_column_inside_it(text: str) -> None:
    try:
        expression = parse_expression(text)
    except ExpressionError as error:
        refused_at = error.column
    else:
        assert parse_expression(print_expression(expression)) == expression
        return
    assert 1 <= refused_at <= len(text) + 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a or b and not c", Or((Path(("a",)), And((Path(("b",)), Not(Path(("c",)))))))),
        ("a || b && !c", Or((Path(("a",)), And((Path(("b",)), Not(Path(("c",)))))))),
        ("not a == 1", Not(Comparison("==", Path(("a",)), Constant(1)))),
        ("(a == 1) == false", Comparison("==", Comparison("==", Path(("a",)), Constant(1)), Constant(False))),
        ("'it''s' in x", None),
        ('"a\\"b" in x.0.y', Comparison("in", Constant('a"b'), Path(("x", "0", "y")))),
        ("-1.5e3 < n", Comparison("<", Constant(-1500.0), Path(("n",)))),
        ("null", Constant(None)),
        ("notable", Path(("notable",))),
    ],
)
def test_the_grammar_binds_as_documented(text: str, expected: Expression | None) -> None:
    if expected is None:
        with pytest.raises(ExpressionError):
            parse_expression(text)
    else:
        assert parse_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "expected a value, found the end"),
        ("a == ", 6, "expected a value, found the end"),
        ("a = 1", 3, "'=' is not an operator; compare with '=='"),
        ("a & b", 3, "'&' is not an operator; write 'and'"),
        ("a | b", 3, "'|' is not an operator; write 'or'"),
        ("a == 1 == 2", 8, "comparisons cannot be chained; join two of them with 'and'"),
        ("(a and b", 9, "expected ')', found 'the end'"),
        ("a and or b", 7, "expected a value, found 'or'"),
        ("a b", 3, "expected 'and', 'or' or the end, found 'b'"),
        ("a == 'open", 6, "the string that starts here has no closing quote"),
        ("a == 'b\\q'", 8, r"'\q' is not an escape; use \\ \' \" \n or \t"),
        ("a == 1e999", 6, "the number is too large"),
        ("a == 1x", 6, "not a number"),
        ("a ==\tü", 6, "'ü' does not belong here"),
        ("a in in", 6, "expected a value, found 'in'"),
    ],
)
def test_an_error_points_at_its_column(text: str, column: int, reason: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse_expression(text)

    assert (refused.value.column, refused.value.reason) == (column, reason)


def test_length_and_depth_are_limited() -> None:
    deepest = "(" * MAX_EXPRESSION_DEPTH + "a" + ")" * MAX_EXPRESSION_DEPTH

    assert parse_expression(deepest) == Path(("a",))
    with pytest.raises(ExpressionError, match="nested deeper than 32 levels"):
        parse_expression(f"({deepest})")
    with pytest.raises(ExpressionError, match="nested deeper than 32 levels"):
        parse_expression("not " * 200 + "a")
    with pytest.raises(ExpressionError, match="at most 1000 are allowed"):
        parse_expression("a" * 1001)

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import UsageError
from cogworks.pipeline.graph import AllOf, AnyOf, Condition, ExpressionCondition, ModelCondition, Negation
from cogworks.pipeline.routing import Undecided, describe, evaluate, without_model

QUESTION = ModelCondition(question="is it risky?", fallback=True)


def _is(name: str) -> ExpressionCondition:
    return ExpressionCondition(expr=name)


def test_no_condition_always_holds() -> None:
    assert evaluate(None, {}) is True


@pytest.mark.parametrize(("a", "b"), list(itertools.product([True, False], repeat=2)))
def test_composites_follow_their_truth_tables(*, a: bool, b: bool) -> None:
    view = {"a": a, "b": b}

    assert evaluate(AllOf(conditions=(_is("a"), _is("b"))), view) is (a and b)
    assert evaluate(AnyOf(conditions=(_is("a"), _is("b"))), view) is (a or b)
    assert evaluate(Negation(condition=_is("a")), view) is (not a)
    nested: Condition = AnyOf(
        conditions=(Negation(condition=AllOf(conditions=(_is("a"), _is("b")))), _is("b"))
    )
    assert evaluate(nested, view) is (not (a and b) or b)


@pytest.mark.parametrize(("answer", "holds"), [(True, True), (False, False), (None, True)])
def test_a_model_answers_and_the_fallback_replaces_a_missing_answer(
    answer: bool | None, *, holds: bool
) -> None:
    assert evaluate(QUESTION, {}, lambda asked: answer) is holds


def test_a_model_condition_nobody_can_ask_is_a_clear_error() -> None:
    with pytest.raises(UsageError, match=r"a model has to answer the condition 'is it risky\?'"):
        evaluate(QUESTION, {})


def test_the_model_is_asked_only_when_the_rest_leaves_it_open() -> None:
    asked: list[Any] = []

    def ask(condition: ModelCondition) -> bool:
        asked.append(condition)
        return True

    assert evaluate(AllOf(conditions=(QUESTION, _is("a"))), {"a": False}, ask) is False
    assert evaluate(AnyOf(conditions=(QUESTION, _is("a"))), {"a": True}, ask) is True
    assert asked == []
    assert evaluate(AllOf(conditions=(QUESTION, _is("a"))), {"a": True}, ask) is True
    assert asked == [QUESTION]


RISKY = ModelCondition(question="is it risky?", fallback=False)
LARGE = ModelCondition(question="is it large?", fallback=False)
LEAVES = [_is("t"), _is("f"), RISKY, LARGE]
CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda each: AllOf(conditions=tuple(each))),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: AnyOf(conditions=tuple(each))),
        inner.map(lambda each: Negation(condition=each)),
    ),
    max_leaves=8,
)


@given(CONDITIONS, st.booleans(), st.booleans())
def test_the_model_is_asked_exactly_when_its_answers_matter(
    condition: Condition, risky: bool, large: bool
) -> None:
    view = {"t": True, "f": False}

    def with_answers(*, is_risky: bool, is_large: bool) -> bool:
        return evaluate(condition, view, lambda asked: is_risky if asked == RISKY else is_large)

    worlds = {with_answers(is_risky=one, is_large=two) for one in (True, False) for two in (True, False)}
    known = without_model(condition, view)

    assert known is None or worlds == {known}
    if known is None:
        with pytest.raises(Undecided):
            evaluate(condition, view)
    else:
        assert evaluate(condition, view) is with_answers(is_risky=risky, is_large=large)


def test_a_description_reads_on_one_line() -> None:
    condition = AllOf(conditions=(_is("a"), AnyOf(conditions=(QUESTION, Negation(condition=_is("b"))))))

    assert describe(condition) == "all(a; any(model: is it risky?; not(b)))"

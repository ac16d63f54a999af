import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.landmarks import (
    FailurePattern,
    RepairTarget,
    Span,
    dependants,
    fallback_pattern,
    landmark_problems,
    ordered,
    pattern_problems,
    units_of,
)
from cogworks.repair.localise.slices import Slice
from tests.repair.examples import numbered_text, suspect

SLICES = [Slice(artifact="shop.py", lines=(1, 50), text=numbered_text(50))]
SEEN = Span(artifact="shop.py", lines=(10, 20))


def landmark(name: str, *after: str, **changes: object) -> RepairTarget:
    known = {"id": name, "intent": "mend it", "target_spans": [SEEN], "try_after": after}
    return RepairTarget.model_validate({**known, **changes})


def ids(landmarks: tuple[RepairTarget, ...] | None) -> list[str] | None:
    return None if landmarks is None else [each.id for each in landmarks]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([landmark("a"), landmark("b")], ["a", "b"]),
        ([landmark("a", "b"), landmark("b")], ["b", "a"]),
        ([landmark("c", "a", "b"), landmark("b", "a"), landmark("a")], ["a", "b", "c"]),
        ([landmark("a", "b"), landmark("b", "a")], None),
        ([landmark("a", "a")], None),
    ],
    ids=["as-given", "turned", "chain", "circle", "itself"],
)
def test_each_landmark_comes_after_those_it_waits_for(
    given: list[RepairTarget], expected: list[str] | None
) -> None:
    assert ids(ordered(given)) == expected


@given(st.data())
def test_an_order_exists_whenever_there_is_no_circle(data: st.DataObject) -> None:
    names = [f"l{number}" for number in range(data.draw(st.integers(1, 6)))]
    marks = [
        landmark(name, *data.draw(st.sets(st.sampled_from(names[:place])) if place else st.just(set())))
        for place, name in enumerate(names)
    ]
    shuffled = data.draw(st.permutations(marks))

    found = ids(ordered(shuffled))

    assert found is not None
    assert sorted(found) == names
    for mark in marks:
        assert all(found.index(before) < found.index(mark.id) for before in mark.try_after)


def test_a_failed_landmark_stops_all_that_wait_for_it() -> None:
    plan = [landmark("d", "c"), landmark("c", "a"), landmark("b"), landmark("a")]

    assert dependants(plan, "a") == ("d", "c")
    assert dependants(plan, "b") == ()


def test_a_good_plan_has_no_problems() -> None:
    plan = [landmark("a", landmark_test="tests/test_shop.py::test_total"), landmark("b", "a")]

    assert landmark_problems(plan, SLICES, tests={"tests/test_shop.py::test_total"}) == ()


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ([], "1 to 4 landmarks, not 0"),
        ([landmark(name) for name in "abcde"], "1 to 4 landmarks, not 5"),
        ([landmark("a"), landmark("a")], "'a' is there 2 times"),
        ([landmark("a", "z")], "comes after 'z', which is none of a"),
        ([landmark("a", landmark_test="t::gone")], "names the test 't::gone'"),
        ([landmark("a", "b"), landmark("b", "a")], "wait for each other in a circle"),
        ([landmark("a", target_spans=[Span(artifact="../x.py", lines=(1, 2))])], "../x.py:1-2"),
        ([landmark("a", target_spans=[Span(artifact="shop.py", lines=(45, 51))])], "shop.py:45-51"),
        ([landmark("a", target_spans=[Span(artifact="shop.py", lines=(20, 10))])], "shop.py:20-10"),
    ],
    ids=["none", "many", "twice", "unknown", "no-such-test", "circle", "outside", "beyond", "backwards"],
)
def test_what_is_wrong_with_a_plan_is_said(plan: list[RepairTarget], problem: str) -> None:
    found = landmark_problems(plan, SLICES, tests={"t::there"})

    assert len(found) == 1
    assert problem in found[0]


def test_all_problems_of_a_plan_are_said_at_once() -> None:
    plan = [landmark("a", "z", landmark_test="t::gone"), landmark("a")]

    assert len(landmark_problems(plan, SLICES, tests=set())) == 3


def test_a_pattern_may_only_name_places_that_were_shown() -> None:
    shown = FailurePattern(summary="s", primary_location=SEEN, confidence=0.5)
    invented = shown.model_copy(update={"primary_location": Span(artifact="other.py", lines=(1, 1))})

    assert pattern_problems(shown, SLICES) == ()
    assert pattern_problems(invented, SLICES) == (
        "the pattern names other.py:1-1, which was not shown; look at it first, or name another place",
    )


def test_without_a_model_the_first_suspect_is_the_place() -> None:
    pattern = fallback_pattern([suspect("shop.f", (3, 9), 0.6), suspect("shop.g", (20, 29), 0.2)])

    assert pattern.primary_location == Span(artifact="shop.py", lines=(3, 9), symbol="shop.f")
    assert [each.span.symbol for each in pattern.alternatives] == ["shop.g"]
    assert pattern.confidence == pytest.approx(0.75)


def test_without_any_suspicion_nothing_is_sure() -> None:
    assert fallback_pattern([suspect("shop.f", (3, 9), 0.0)]).confidence == 0


def test_without_a_suspect_there_is_no_pattern() -> None:
    with pytest.raises(ValueError, match="at least one suspect"):
        fallback_pattern([])


def joined(name: str, *after: str) -> RepairTarget:
    return landmark(name, *after, join="all")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([landmark("a"), landmark("b")], [["a"], ["b"]]),
        ([joined("a"), landmark("b"), joined("c")], [["a", "c"], ["b"]]),
        ([joined("c", "a"), landmark("b"), joined("a", "b")], [["b"], ["a", "c"]]),
        ([landmark("b", "c"), joined("a"), joined("c")], [["a", "c"], ["b"]]),
        ([joined("a"), landmark("b", "a"), joined("c", "b")], None),
        ([joined("a", "c"), joined("c", "a")], None),
        ([joined("a", "a")], None),
        ([joined("a")], [["a"]]),
        ([], []),
    ],
    ids=[
        "none",
        "side by side",
        "after another",
        "before another",
        "between",
        "circle",
        "itself",
        "one",
        "empty",
    ],
)
def test_what_lands_together_is_one_unit_in_an_order_that_works(
    given: list[RepairTarget], expected: list[list[str]] | None
) -> None:
    found = units_of(given)

    assert (None if found is None else [[each.id for each in unit] for unit in found]) == expected

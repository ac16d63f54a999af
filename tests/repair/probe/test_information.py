import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.probe.probes import Recommendation
from cogworks.repair.probe.schedule import beliefs_from, gain, updated, variance

RECOMMENDATIONS: list[Recommendation] = ["likely_cause", "possible", "unlikely", "unknown"]


def test_beliefs_are_in_proportion_to_suspicion() -> None:
    assert beliefs_from([("a", 0.6), ("b", 0.2)]) == pytest.approx({"a": 0.75, "b": 0.25})
    assert beliefs_from([("a", 0.0), ("b", 0.0)]) == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize(
    ("recommendation", "expected", "gained"),
    [
        ("likely_cause", 0.9, 0.64),
        ("possible", 0.6, 0.04),
        ("unlikely", 0.1, 0.64),
        ("unknown", 0.5, 0.0),
    ],
)
def test_what_an_answer_is_worth_between_two_equal_suspects(
    recommendation: Recommendation, expected: float, gained: float
) -> None:
    before = {"a": 0.5, "b": 0.5}

    after = updated(before, "a", recommendation)

    assert after["a"] == pytest.approx(expected)
    assert gain(before, after) == pytest.approx(gained)


def test_a_probe_of_something_else_tells_nothing() -> None:
    before = {"a": 0.5, "b": 0.5}

    after = updated(before, "nobody", "likely_cause")

    assert after == before
    assert gain(before, after) == 0


def test_who_is_shown_to_be_the_cause_is_believed_most() -> None:
    beliefs = beliefs_from([("a", 0.4), ("b", 0.35), ("c", 0.25)])

    after = updated(beliefs, "c", "likely_cause")

    assert max(after, key=lambda each: after[each]) == "c"


def test_a_question_that_is_settled_has_nothing_left_to_gain() -> None:
    settled = {"a": 1.0, "b": 0.0}

    assert variance(settled) == 0
    assert gain(settled, updated(settled, "a", "likely_cause")) == 0


suspicions = st.lists(st.floats(0, 1), min_size=1, max_size=8)
answers = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(RECOMMENDATIONS)), max_size=12)


@given(suspicions, answers)
def test_beliefs_stay_probabilities_and_gains_stay_shares(
    values: list[float], answered: list[tuple[int, Recommendation]]
) -> None:
    beliefs = beliefs_from([(str(place), value) for place, value in enumerate(values)])

    for place, recommendation in answered:
        after = updated(beliefs, str(place), recommendation)
        assert 0 <= gain(beliefs, after) <= 1
        beliefs = after

    assert sum(beliefs.values()) == pytest.approx(1)
    assert all(0 <= probability <= 1 for probability in beliefs.values())

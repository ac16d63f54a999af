"""What earlier outcomes say: how alike situations are, how fast they are forgotten, and what they may change."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.cycle.events import Observation, Situation
from cogworks.cycle.proposing import TOP, Prior, prior, similarity
from tests.cycle.remembered import FRESH, remembered

OTHER: Mapping[str, Any] = {
    "environment": "another",
    "attempts": 4,
    "test_file": "tests/test_b.py",
    "signature": "00000000",
    "is_stalled": True,
}


@pytest.mark.parametrize(
    ("same", "degree"),
    [
        ({"environment"}, 45),
        ({"attempts"}, 20),
        ({"test_file"}, 15),
        ({"signature"}, 10),
        ({"is_stalled"}, 10),
        (set(OTHER), 100),
        (set(), 0),
    ],
    ids=["environment", "attempts", "test-file", "signature", "stalled", "all", "none"],
)
def test_how_alike_two_situations_are(same: set[str], degree: int) -> None:
    other = FRESH.model_copy(update={name: value for name, value in OTHER.items() if name not in same})

    assert similarity(FRESH, other) == similarity(other, FRESH) == degree


def test_what_is_less_alike_than_a_quarter_says_nothing() -> None:
    unlike = {**OTHER, "attempts": 0}
    nearly = {**unlike, "is_stalled": False}

    assert prior("APPLY_PATCH", FRESH, [remembered("APPLY_PATCH", 0, **unlike)]) is None
    assert prior("APPLY_PATCH", FRESH, [remembered("APPLY_PATCH", 0, **nearly)]) is not None


def test_other_decisions_say_nothing() -> None:
    assert prior("GENERATE_PATCH:rolled_back", FRESH, [remembered("GENERATE_PATCH:landmark", 1)]) is None


def test_the_six_that_are_most_alike_count_and_of_these_the_young_more() -> None:
    unlike = [remembered("APPLY_PATCH", 1, cycle=n, attempts=4) for n in range(10)]
    alike = [remembered("APPLY_PATCH", 0, cycle=n) for n in range(TOP)]
    old = [remembered("APPLY_PATCH", 1, age_days=14), remembered("APPLY_PATCH", 0)]

    assert prior("APPLY_PATCH", FRESH, [*unlike, *alike]) == Prior(rate=round(0.25 / 6.5, 6), observations=6)
    # 14 days make half an observation of one; what is not known is the third part.
    assert prior("APPLY_PATCH", FRESH, old) == Prior(rate=round(0.75 / 2.0, 6), observations=2)


@pytest.mark.parametrize(
    ("worths", "age_days", "is_bad"),
    [
        ((0, 0, 0), 0, True),
        ((0, 0), 0, False),
        ((0, 0, 0.5), 0, False),
        ((0, 0, 0, 1), 0, False),
        ((0, 0, 0), 27, True),
        ((0, 0, 0), 29, False),
    ],
    ids=["three-in-vain", "two", "one-was-undone", "one-of-four", "not-forgotten", "forgotten"],
)
def test_what_is_bad(worths: tuple[float, ...], age_days: int, is_bad: bool) -> None:
    known = [
        remembered("APPLY_PATCH", worth, age_days=age_days, cycle=n) for n, worth in enumerate(worths, 1)
    ]
    found = prior("APPLY_PATCH", FRESH, known)

    assert found is not None
    assert found.is_bad is is_bad


@pytest.mark.parametrize(
    ("rate", "saliency", "after"),
    [(0.5, 0.8, 0.8), (1.0, 0.8, 1.0), (0.9, 0.5, 0.6), (0.0, 0.8, 0.64), (0.1, 0.8, 0.64), (1.0, 0.9, 1.0)],
)
def test_a_saliency_changes_by_a_fifth_down_and_a_quarter_up_at_most(
    rate: float, saliency: float, after: float
) -> None:
    assert Prior(rate=rate, observations=1).boosted(saliency) == after


situations = st.builds(
    Situation,
    environment=st.sampled_from([FRESH.environment, "another"]),
    attempts=st.sampled_from([0, 1, 2, 4]),
    test_file=st.just(""),
    signature=st.sampled_from(["", "00000000"]),
    is_stalled=st.booleans(),
)
observed = st.builds(
    Observation,
    pattern=st.just("APPLY_PATCH"),
    situation=situations,
    worth=st.sampled_from([0.0, 0.5, 1.0]),
    age_days=st.integers(0, 400),
    source=st.sampled_from(["41/visits/0007-code@1", "42/visits/0007-code@2"]),
    cycle=st.integers(1, 9),
)


@given(known=st.lists(observed, max_size=20), at=situations, saliency=st.floats(0, 1), seed=st.integers())
def test_whatever_is_known_a_prior_stays_in_its_bounds_and_knows_no_order(
    known: list[Observation], at: Any, saliency: float, seed: int
) -> None:
    shuffled = random.Random(seed).sample(known, len(known))
    found = prior("APPLY_PATCH", at, known)

    assert prior("APPLY_PATCH", at, shuffled) == found
    if found is not None:
        after = found.boosted(saliency)
        assert 0 <= found.rate <= 1
        assert min(0.8 * saliency, 1) - 1e-5 <= after <= min(1.25 * saliency, 1) + 1e-5

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.exploring import TestCoverage
from cogworks.repair.localise.suspects import ochiai, spectrum_of


@pytest.mark.parametrize(
    ("failing_on", "failing_off", "passing_on", "expected"),
    [
        (1, 0, 0, 1.0),
        (0, 1, 3, 0.0),
        (0, 0, 0, 0.0),
        (0, 0, 5, 0.0),
        (1, 0, 1, 1 / math.sqrt(2)),
        (1, 1, 0, 1 / math.sqrt(2)),
        (2, 0, 2, 2 / math.sqrt(8)),
        (3, 1, 12, 3 / math.sqrt(60)),
    ],
    ids=["only-failing", "only-passing", "nothing", "no-failures", "both", "half", "two-two", "many"],
)
def test_ochiais_coefficient(failing_on: int, failing_off: int, passing_on: int, expected: float) -> None:
    found = ochiai(failing_on=failing_on, failing_off=failing_off, passing_on=passing_on)

    assert found == pytest.approx(expected)


counts = st.integers(0, 50)


@given(counts, counts, counts)
def test_the_coefficient_is_between_nothing_and_one(on: int, off: int, passing: int) -> None:
    assert 0 <= ochiai(failing_on=on, failing_off=off, passing_on=passing) <= 1 + 1e-12


def test_lines_that_only_the_failing_test_runs_stand_out() -> None:
    tests = [
        TestCoverage(test="t::bad", lines={"shop.py": ((1, 3), (8, 8))}),
        TestCoverage(test="t::good", lines={"shop.py": ((1, 2), (5, 6))}),
    ]

    found = spectrum_of(tests, {"t::bad"})

    half = pytest.approx(1 / math.sqrt(2))
    assert found == {"shop.py": {1: half, 2: half, 3: 1.0, 8: 1.0}}


def test_files_that_cannot_hold_the_fault_are_left_out() -> None:
    tests = [TestCoverage(test="t::bad", lines={"tests/test_shop.py": ((1, 9),), "shop.py": ((4, 4),)})]

    found = spectrum_of(tests, {"t::bad"}, is_suspect=lambda artifact: not artifact.startswith("tests/"))

    assert found == {"shop.py": {4: 1.0}}


def test_a_line_counts_once_for_a_test_however_its_stretches_overlap() -> None:
    tests = [
        TestCoverage(test="t::bad", lines={"shop.py": ((1, 2), (2, 3))}),
        TestCoverage(test="t::worse", lines={"shop.py": ((3, 3),)}),
    ]

    found = spectrum_of(tests, {"t::bad", "t::worse"})

    assert found["shop.py"][2] == pytest.approx(1 / math.sqrt(2))
    assert found["shop.py"][3] == 1.0

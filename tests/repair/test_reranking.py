import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.reranking import Traits, in_order, score, similarity

BEST = Traits(id="best", distance_lines=0, changed_lines=0, files=0, is_lint_clean=True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 1.0),
        ({"distance_lines": 50}, 0.825),
        ({"distance_lines": 500}, 0.65),
        ({"distance_lines": None}, 0.65),
        ({"changed_lines": 6}, 0.875),
        ({"changed_lines": 40}, 0.75),
        ({"files": 1}, 0.925),
        ({"files": 2}, 0.85),
        ({"is_lint_clean": False}, 0.85),
        ({"similarity": 1.0}, 0.9),
    ],
    ids=str,
)
def test_what_a_diff_is_worth(changes: dict[str, object], expected: float) -> None:
    traits = BEST.model_copy(update=changes)

    assert score(traits, most_lines=12, most_files=2) == pytest.approx(expected)


def test_the_near_and_small_diff_goes_first_and_equal_ones_as_they_were_proposed() -> None:
    near = BEST.model_copy(update={"id": "z", "place": 2, "changed_lines": 2})
    twin = near.model_copy(update={"id": "a", "place": 3})
    far = BEST.model_copy(update={"id": "b", "distance_lines": 90})

    assert [each.id for each in in_order([far, near, twin], most_lines=12, most_files=2)] == ["z", "a", "b"]


traits = st.builds(
    Traits,
    id=st.text(max_size=3),
    distance_lines=st.none() | st.integers(0, 10_000),
    changed_lines=st.integers(0, 1_000),
    files=st.integers(0, 50),
    is_lint_clean=st.booleans(),
    similarity=st.floats(0, 1),
)


@given(traits)
def test_a_score_is_between_nothing_and_one(candidate: Traits) -> None:
    assert 0 <= score(candidate, most_lines=12, most_files=2) <= 1 + 1e-9


DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (DIFF, 1.0),
        (DIFF.replace("@@ -1,2 +1,2 @@", "@@ -9,2 +9,2 @@").replace("+new", "+  new"), 1.0),
        (DIFF.replace("+new", "+newer"), 1 / 3),
        (DIFF.replace("-old", "-older").replace("+new", "+newer"), 0.0),
        ("", 0.0),
    ],
    ids=["the same", "elsewhere and indented", "half", "nothing", "empty"],
)
def test_how_much_two_diffs_have_in_common(other: str, expected: float) -> None:
    assert similarity(DIFF, other) == pytest.approx(expected)
    assert similarity(other, DIFF) == pytest.approx(expected)


def test_two_diffs_without_a_change_are_not_alike() -> None:
    assert similarity("", "") == 0

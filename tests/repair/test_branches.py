import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.branches import Branch, after, in_order


def test_the_most_useful_branch_goes_first() -> None:
    likely_but_dear = Branch(id="dear", probability=0.6, tokens=50_000)
    cheap = Branch(id="cheap", probability=0.4, tokens=10_000)
    slow = Branch(id="slow", probability=0.5, minutes=4)

    assert [each.id for each in in_order([likely_but_dear, slow, cheap])] == ["cheap", "dear", "slow"]
    assert likely_but_dear.expected_utility == pytest.approx(0.1)


def test_equally_useful_branches_go_by_name() -> None:
    branches = [Branch(id=name, probability=0.5) for name in "cab"]

    assert [each.id for each in in_order(branches)] == ["a", "b", "c"]


def test_a_change_that_stood_settles_it() -> None:
    branches = [Branch(id="a", probability=0.7), Branch(id="b", probability=0.3)]

    assert [each.probability for each in after(branches, "b", committed=True)] == [0.0, 1.0]


def test_a_change_that_was_rolled_back_makes_the_others_likelier() -> None:
    branches = [Branch(id="a", probability=0.7), Branch(id="b", probability=0.3)]

    found = after(branches, "a", committed=False)

    assert found[0].probability == pytest.approx(0.14 / 0.44)
    assert found[1].probability == pytest.approx(0.3 / 0.44)


def test_a_branch_that_nobody_believed_in_changes_nothing() -> None:
    branches = (Branch(id="a", probability=1.0), Branch(id="b", probability=0.0))

    assert after(branches, "b", committed=True) == branches


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=5), st.lists(st.integers(0, 4), max_size=10))
def test_beliefs_still_sum_to_one_after_every_failure(weights: list[float], tries: list[int]) -> None:
    branches = tuple(
        Branch(id=str(place), probability=weight / sum(weights)) for place, weight in enumerate(weights)
    )

    for tried in tries:
        branches = after(branches, str(tried % len(weights)), committed=False)

    assert sum(each.probability for each in branches) == pytest.approx(1)

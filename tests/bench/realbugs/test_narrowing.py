"""The smallest sets of hunks that turn tests green are found by trying, and become bugs without common lines."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from scripts.benchmarks.realbugs.narrowing import Hunks, joined, smallest_sets

EVERY = frozenset(range(12))


class World:
    """Each test passes when all hunks of one of its sets are applied."""

    def __init__(self, wanted: Mapping[str, Sequence[set[int]]]) -> None:
        self._wanted = wanted
        self.runs = 0

    def passing(self, hunks: Hunks, tests: Sequence[str]) -> frozenset[str]:
        self.runs += 1
        return frozenset(test for test in tests if any(each <= hunks for each in self._wanted[test]))


def test_every_test_gets_the_hunks_it_needs() -> None:
    world = World({"one": [{3}], "same": [{3}], "two": [{1, 7}]})

    found = smallest_sets(EVERY, ["one", "same", "two"], world.passing)

    assert found == {"one": {3}, "same": {3}, "two": {1, 7}}
    assert world.runs < 25


def test_of_two_sets_that_would_do_one_is_found() -> None:
    world = World({"either": [{2, 5}, {9, 10}]})

    found = smallest_sets(EVERY, ["either"], world.passing)

    assert found["either"] in ({2, 5}, {9, 10})


@given(
    st.dictionaries(st.sampled_from("abc"), st.sets(st.integers(0, 11), min_size=1, max_size=4), min_size=1)
)
def test_whatever_is_needed_is_found_and_nothing_else(wanted: Mapping[str, set[int]]) -> None:
    world = World({test: [hunks] for test, hunks in wanted.items()})

    assert smallest_sets(EVERY, [*wanted], world.passing) == wanted


def test_sets_that_share_a_hunk_are_pieces_of_one_bug() -> None:
    sets = {"b": frozenset({1, 2}), "a": frozenset({1}), "c": frozenset({5})}

    found = joined(sets, lambda hunks: len(hunks) <= 3)

    assert found.bugs == (((frozenset({5}), ("c",)),), ((frozenset({1}), ("a",)), (frozenset({2}), ("b",))))
    assert found.left_out == ()


def test_a_set_that_two_bugs_hold_together_makes_them_one() -> None:
    sets = {"a": frozenset({1}), "b": frozenset({2}), "c": frozenset({1, 2})}

    found = joined(sets, lambda hunks: True)

    assert found.bugs == (((frozenset({1}), ("a",)), (frozenset({2}), ("b", "c"))),)


def test_what_would_make_a_bug_too_large_is_left_out() -> None:
    sets = {"a": frozenset({1}), "b": frozenset({1, 2, 3, 4})}

    found = joined(sets, lambda hunks: len(hunks) <= 3)

    assert found.bugs == (((frozenset({1}), ("a",)),),)
    assert found.left_out == ((frozenset({1, 2, 3, 4}), ("b",)),)

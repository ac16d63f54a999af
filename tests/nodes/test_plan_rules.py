"""When is a plan sound, and in which order is it done?"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.nodes.planning import find_cycle, in_dependency_order, plan_problems
from cogworks.nodes.replies import Plan, PlannedItem
from tests.nodes.examples import INTERFACES, planned


def problems(*items: PlannedItem) -> list[str]:
    return plan_problems(Plan(sub_work_items=items), INTERFACES.interfaces)


def test_a_sound_plan_has_no_problems() -> None:
    assert problems(planned("A"), planned("B", depends_on=("A",))) == []


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ((), "the plan is empty; describe at least one sub-work-item"),
        ((planned("A"), planned("A")), "key 'A' is used 2 times; give every sub-work-item its own"),
        ((planned("A", depends_on=("Z",)),), "A depends on 'Z', which is no key of this plan (A)"),
        ((planned("A", depends_on=("A",)),), "the dependencies run in a circle: A -> A; remove one of them"),
        (
            (
                planned("A", depends_on=("B",)),
                planned("B", depends_on=("C",)),
                planned("C", depends_on=("A",)),
            ),
            "the dependencies run in a circle: A -> B -> C -> A; remove one of them",
        ),
        (
            (planned("A", interfaces=("Adds", "Subtracts")),),
            "A names the interface 'Subtracts', which was not designed; known are Adds",
        ),
        (
            (planned("A", files=("../x.py",)),),
            "A lists the file '../x.py'; paths are relative to the repository, name a file and have no `..`",
        ),
        (
            (planned("A", files=("src/adder/",)),),
            "A lists the file 'src/adder/'; paths are relative to the repository, name a file and have no `..`",
        ),
    ],
    ids=["empty", "same-key", "unknown", "self-loop", "cycle", "invented-interface", "path", "folder"],
)
def test_what_is_wrong_with_a_plan_is_named(items: tuple[PlannedItem, ...], problem: str) -> None:
    assert problems(*items) == [problem]


def test_all_problems_are_reported_at_once() -> None:
    found = problems(planned("A", depends_on=("Z",), interfaces=()), planned("A", interfaces=()))

    assert len(found) == 3


def test_a_diamond_is_done_from_its_root_and_by_key_among_equals() -> None:
    items = (
        planned("D", depends_on=("C", "B")),
        planned("C", depends_on=("A",)),
        planned("B", depends_on=("A",)),
        planned("A"),
    )

    assert [item.key for item in in_dependency_order(items)] == ["A", "B", "C", "D"]


def test_independent_items_are_done_by_key() -> None:
    assert [item.key for item in in_dependency_order((planned("B"), planned("A")))] == ["A", "B"]


@st.composite
def acyclic_plans(draw: st.DrawFn) -> tuple[PlannedItem, ...]:
    keys = [f"K{number}" for number in draw(st.permutations(range(draw(st.integers(1, 8)))))]
    items = [
        planned(key, depends_on=tuple(draw(st.sets(st.sampled_from(keys[:index] or [key]))) - {key}))
        for index, key in enumerate(keys)
    ]
    return tuple(draw(st.permutations(items)))


@given(acyclic_plans())
def test_every_item_comes_after_its_dependencies_however_it_was_listed(
    items: tuple[PlannedItem, ...],
) -> None:
    ordered = in_dependency_order(items)

    assert sorted(item.key for item in ordered) == sorted(item.key for item in items)
    for position, item in enumerate(ordered):
        assert set(item.depends_on) <= {earlier.key for earlier in ordered[:position]}
    assert ordered == in_dependency_order(tuple(reversed(items)))


@given(acyclic_plans())
def test_an_acyclic_plan_has_no_cycle(items: tuple[PlannedItem, ...]) -> None:
    assert find_cycle({item.key: item.depends_on for item in items}) == []


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True), st.permutations(range(20)))
def test_a_cycle_is_found_whole_and_from_its_smallest_key(ring: list[int], names: list[int]) -> None:
    keys = [f"K{number:02}" for number in ring]
    depends_on = {key: [keys[(index + 1) % len(keys)]] for index, key in enumerate(keys)}
    depends_on |= {f"X{name}": [keys[0]] for name in names[:3]}

    cycle = find_cycle(depends_on)

    assert cycle[0] == cycle[-1] == min(keys)
    assert sorted(cycle[:-1]) == sorted(keys)
    assert all(after in depends_on[before] for before, after in pairwise(cycle))

"""Whatever succeeds and fails in whatever order: one branch at a time, and every way on is used once."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.branches import (
    MOST_BRANCHES,
    Branch,
    Course,
    course_of,
    followed,
    planned_branches,
    suspected_branches,
)
from cogworks.repair.landmarks import Alternative, FailurePattern, RepairTarget, Span
from cogworks.repair.localise.slices import Slice
from tests.repair.examples import suspect

HERE = Span(artifact="shop.py", lines=(1, 5))
WINDOW = Slice(artifact="shop.py", lines=(1, 40), text="x" * 400)


def landmark(name: str, *after: str, is_joined: bool = False) -> RepairTarget:
    join: Literal["each", "all"] = "all" if is_joined else "each"
    return RepairTarget(id=name, intent="mend it", target_spans=(HERE,), try_after=after, join=join)


def course(*branches: Branch) -> Course:
    found = course_of(branches)
    assert found is not None
    return found


def branch(name: str, probability: float, *landmarks: RepairTarget, is_whole: bool = False) -> Branch:
    return Branch(id=name, probability=probability, landmarks=landmarks, is_whole=is_whole)


def ids(found: Course | None) -> list[str]:
    return [each.id for each in found.landmarks] if found else []


def test_a_chain_lands_as_one() -> None:
    plan = branch("plan", 1.0, landmark("a", is_joined=True), landmark("b", is_joined=True), is_whole=True)

    first = course(plan)
    half = first.after_kept()
    whole = half.after_kept()

    assert [each.landed for each in (first, half, whole)] == [(), ("a",), ()]
    assert [each.is_settled for each in (first, half, whole)] == [False, False, True]
    assert [each.ends_here for each in (first, half)] == [False, True]
    assert [ids(each) for each in (first, half, whole)] == [["a", "b"], ["b"], []]


def test_a_chain_that_fails_half_way_is_lost_with_what_waits_for_it() -> None:
    chain = (landmark("a", is_joined=True), landmark("b", is_joined=True))
    half = course(branch("plan", 1.0, *chain, landmark("c", "b"), landmark("d"), is_whole=True)).after_kept()

    rest = half.after_failure()

    assert half.ways_left == 1
    assert ids(rest) == ["d"]
    assert rest is not None
    assert rest.lost == ("a", "b", "c")
    # It is the last landmark that is left, and not the end of the whole plan.
    assert not rest.ends_here
    assert rest.after_failure() is None


def test_what_fails_after_a_commit_opens_no_other_explanation() -> None:
    kept = course(
        branch("plan", 0.6, landmark("a"), landmark("b", "a")), branch("other", 0.4, landmark("x"))
    ).after_kept()

    assert kept.ways_left == 0
    assert kept.after_failure() is None
    assert {each.id: each.probability for each in kept.branches} == {"plan": 1.0, "other": 0.0}


def test_without_a_branch_that_does_anything_there_is_no_course() -> None:
    assert course_of([]) is None
    assert course_of([branch("empty", 1.0)]) is None


@given(data=st.data())
def test_every_branch_is_followed_at_most_once_and_beliefs_sum_to_one(data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.05, 1), min_size=1, max_size=4))
    branches = [
        branch(
            f"b{place}",
            weight / sum(weights),
            *(landmark(f"{place}-{number}") for number in range(data.draw(st.integers(1, 3)))),
        )
        for place, weight in enumerate(weights)
    ]
    now: Course | None = course(*branches)
    tried: list[str] = []
    followed_ones: list[str] = []

    while now is not None and now.landmarks:
        assert sum(each.probability for each in now.branches) == pytest.approx(1)
        tried.append(now.landmarks[0].id)
        if now.current not in followed_ones:
            followed_ones.append(now.current)
        assert (now.after_failure() is None) is (now.ways_left == 0)
        now = now.after_kept() if data.draw(st.booleans()) else now.after_failure()

    assert len(tried) == len(set(tried))
    assert len(followed_ones) <= len(branches)


def test_the_plan_and_other_places_share_what_is_believed() -> None:
    elsewhere = [Span(artifact="shop.py", lines=(line, line), symbol=f"s{line}") for line in (20, 30, 40)]
    pattern = FailurePattern(
        summary="?",
        primary_location=HERE,
        alternatives=tuple(Alternative(span=span, why="maybe") for span in (HERE, *elsewhere)),
        confidence=0.6,
    )

    found = planned_branches([landmark("a")], pattern, [WINDOW])

    assert [each.id for each in found] == ["plan", "elsewhere-1", "elsewhere-2"]
    assert [each.probability for each in found] == pytest.approx([0.6, 0.2, 0.2])
    assert [each.is_whole for each in found] == [True, False, False]
    assert all(each.tokens > 0 for each in found)


def test_a_plan_without_another_place_is_all_there_is() -> None:
    pattern = FailurePattern(summary="?", primary_location=HERE, confidence=0.1)

    (only,) = planned_branches([landmark("a")], pattern, [WINDOW])

    assert only.probability == 1


def test_suspects_that_were_not_given_up_share_what_is_believed() -> None:
    suspects = [suspect(f"shop.f{number}", (number, number), 0.4) for number in range(1, 7)]

    found = suspected_branches(suspects, [WINDOW], given_up={"shop.f1"})

    assert [each.id for each in found] == ["suspect-2", "suspect-3", "suspect-4"]
    assert len(found) == MOST_BRANCHES
    assert sum(each.probability for each in found) == pytest.approx(1)
    assert suspected_branches(suspects[:1], [WINDOW], given_up={"shop.f1"}) == ()


@pytest.mark.parametrize(("most", "expected"), [(1, []), (2, ["a", "b"]), (3, ["a", "b", "c"])])
def test_a_chain_that_is_too_long_is_not_begun(most: int, expected: list[str]) -> None:
    chain = [landmark("a", is_joined=True), landmark("b", is_joined=True), landmark("c")]

    assert [each.id for each in followed(chain, most=most)] == expected

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.probe.schedule import Schedule, Waiting

EPSILON = 0.05


def waiting(name: str, **changes: object) -> Waiting:
    return Waiting.model_validate({"id": name, "suspect": f"shop.{name}", "suspicion": 0.5, **changes})


def names(schedule: Schedule, size: int = 9) -> list[str]:
    return [each.id for each in schedule.next_round(size)]


def test_what_never_ran_goes_first_and_the_more_suspicious_before() -> None:
    schedule = Schedule(
        waiting=(
            waiting("ran", runs=1, total_gain=1.0, suspicion=1.0),
            waiting("b", suspicion=0.3),
            waiting("a", suspicion=0.3),
            waiting("c", suspicion=0.8),
        ),
        probes=1,
    )

    assert names(schedule) == ["c", "a", "b", "ran"]
    assert names(schedule, 2) == ["c", "a"]


@pytest.mark.parametrize(
    ("level", "gained", "after"),
    [(0, 0.5, 0), (1, 0.5, 0), (2, 0.5, 1), (0, 0.05, 1), (1, 0.0, 2), (2, 0.0, 2)],
    ids=["stays-first", "up", "up-from-last", "down-at-the-threshold", "down", "stays-last"],
)
def test_how_a_probe_moves_between_the_levels(level: int, gained: float, after: int) -> None:
    schedule = Schedule(waiting=(waiting("a", level=level),))

    moved = schedule.with_gains({"a": gained}, threshold=EPSILON).waiting[0]

    assert (moved.level, moved.runs, moved.total_gain) == (after, 1, gained)


def test_a_lower_level_waits_and_then_may_do_more() -> None:
    schedule = Schedule(waiting=(waiting("deep", level=2, suspicion=1.0), waiting("first", suspicion=0.1)))

    assert names(schedule) == ["first", "deep"]
    assert [each.quantum for each in schedule.next_round(2)] == [10, 40]


def test_after_ten_probes_everything_is_on_the_first_level_again() -> None:
    schedule = Schedule(waiting=(waiting("a", level=2), waiting("b", level=1)), probes=9)

    after = schedule.with_gains({"a": 0.0}, threshold=EPSILON)

    assert {each.level for each in after.waiting} == {0}
    assert after.probes == 10


@pytest.mark.parametrize(
    ("boost", "first"),
    [({"is_on_stack": True}, "boosted"), ({"violates_invariant": True}, "boosted"), ({}, "alike")],
    ids=["stack", "invariant", "none"],
)
def test_a_suspect_on_the_stack_or_against_an_invariant_is_probed_earlier(
    boost: dict[str, bool], first: str
) -> None:
    both = {"runs": 2, "total_gain": 0.4}
    schedule = Schedule(waiting=(waiting("alike", **both), waiting("boosted", **both, **boost)), probes=4)

    assert names(schedule)[0] == first


def test_what_was_asked_less_often_gets_its_turn() -> None:
    schedule = Schedule(
        waiting=(waiting("often", runs=50, total_gain=15.0), waiting("once", runs=1, total_gain=0.2)),
        probes=51,
    )

    assert names(schedule)[0] == "once"


@given(st.lists(st.floats(0, 1), min_size=60, max_size=60), st.integers(1, 3))
def test_no_probe_waits_for_ever(gains: list[float], size: int) -> None:
    schedule = Schedule(waiting=tuple(waiting(name) for name in "abcdef"))
    ran: set[str] = set()

    for place in range(0, 60, size):
        chosen = schedule.next_round(size)
        ran.update(each.id for each in chosen)
        told = {each.id: gains[(place + offset) % 60] for offset, each in enumerate(chosen)}
        schedule = schedule.with_gains(told, threshold=EPSILON)

    assert ran == set("abcdef")


@given(st.permutations([waiting("a"), waiting("b", level=1), waiting("c", runs=3, total_gain=0.1)]))
def test_the_order_of_entry_does_not_matter(entries: list[Waiting]) -> None:
    assert names(Schedule(waiting=tuple(entries), probes=3)) == ["a", "c", "b"]

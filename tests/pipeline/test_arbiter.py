"""One winner: signals first and in their order, then the best score, whatever the order of submission."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.pipeline.arbiter import MAX_PROPOSALS, Choice, Proposal, SelectionReason, Signal, choose
from tests.exhaustive import MANY, examples

GOLDEN = [
    ("safety ABORT", 1.0, 1.0, 0.0, 800_000),
    ("planner FINALIZE", 1.0, 0.8, 0.0, 740_000),
    ("analysis of a syntax error", 0.9, 0.9, 0.0, 720_000),
    ("analysis of an import error", 0.75, 0.6, 0.7, 695_000),
    ("analyzer, syntax error", 0.8, 0.9, 0.0, 670_000),
    ("verify a patch", 0.9, 0.7, 0.0, 660_000),
    ("analyzer, import error", 0.7, 0.4, 0.8, 630_000),
    ("analyse failing tests", 0.85, 0.6, 0.0, 605_000),
    ("apply a patch", 0.85, 0.6, 0.0, 605_000),
    ("first run of the tests", 0.9, 0.5, 0.0, 600_000),
    ("generate a patch", 0.8, 0.5, 0.0, 550_000),
    ("analysis, always", 0.8, 0.5, 0.0, 550_000),
    ("advisor", 0.7, 0.4, 0.0, 470_000),
    ("idle", 0.01, 0.0, 0.0, 5_000),
]


SCORED = ("saliency", "urgency", "surprise")


def proposal(
    slot_id: str,
    saliency: float = 0.5,
    urgency: float = 0.0,
    surprise: float = 0.0,
    *,
    source: str = "planner",
    action: str = "",
    payload_hash: str = "",
    priority: int = 0,
) -> Proposal:
    return Proposal(slot_id, source, action or slot_id, saliency, urgency, surprise, payload_hash, priority)


def signal(number: int) -> Signal:
    return Signal(slot_id=f"0001/forced/{number}", source="operator", action="ABORT", reason="enough")


@pytest.mark.parametrize(
    ("saliency", "urgency", "surprise", "score"),
    [row[1:] for row in GOLDEN],
    ids=[row[0] for row in GOLDEN],
)
def test_the_golden_scores(saliency: float, urgency: float, surprise: float, score: int) -> None:
    assert proposal("a", saliency, urgency=urgency, surprise=surprise).score == score


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.1, 1.1])
@pytest.mark.parametrize("name", SCORED)
def test_what_is_not_a_number_from_0_to_1_is_refused(name: str, bad: float) -> None:
    with pytest.raises(ValueError, match=f"proposal 'a' has {name} {bad!r}; wanted is a number from 0 to 1"):
        proposal("a", *(bad if each == name else 0.5 for each in SCORED))


def test_signals_come_first_and_in_their_order() -> None:
    best = proposal("best", 1.0, urgency=1.0, surprise=1.0)

    first = choose([signal(1), signal(2)], [best])
    second = choose([signal(2)], [])

    assert first == Choice(
        winner=signal(1),
        reason=SelectionReason.FORCED_OVERRIDE,
        losers=("best",),
        dropped=(),
        forced_queue_size=1,
    )
    assert second is not None
    assert (second.winner, second.score, second.is_forced) == (signal(2), None, True)


def test_nothing_to_choose_from_is_no_choice() -> None:
    assert choose([], []) is None


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (proposal("b", 0.51), proposal("a", 0.5)),
        (proposal("b", 0.47, urgency=0.05), proposal("a", 0.5)),
        (proposal("b", priority=0), proposal("a", priority=1)),
        (proposal("b", source="analyst"), proposal("a", source="planner")),
        (proposal("a"), proposal("b")),
    ],
    ids=["score", "urgency", "priority", "source", "slot-id"],
)
def test_ties_are_broken_in_a_fixed_order(better: Proposal, worse: Proposal) -> None:
    for handed_over in ([better, worse], [worse, better]):
        chosen = choose([], handed_over)
        assert chosen is not None
        assert chosen.winner is better


def test_three_tenths_are_three_tenths_however_they_were_computed() -> None:
    # 0.1 + 0.2 is a little more than 0.3: as floats these two would not be equal, and the name would not decide.
    chosen = choose([], [proposal("b", 0.1 + 0.2), proposal("a", 0.3)])

    assert chosen is not None
    assert chosen.winner.slot_id == "a"


@pytest.mark.parametrize(
    ("urgency", "surprise", "reason"),
    [
        (0.81, 0.9, SelectionReason.URGENCY),
        (0.8, 0.81, SelectionReason.SURPRISE),
        (0.8, 0.8, SelectionReason.COMPETITION),
    ],
)
def test_the_reason_names_what_is_high(urgency: float, surprise: float, reason: SelectionReason) -> None:
    chosen = choose([], [proposal("a", urgency=urgency, surprise=surprise)])

    assert chosen is not None
    assert chosen.reason is reason


def test_the_best_twenty_take_part_and_the_rest_is_named() -> None:
    many = [proposal(f"{number:02}", number / 100) for number in range(MAX_PROPOSALS + 3)]

    chosen = choose([], many)

    assert chosen is not None
    assert chosen.winner.slot_id == "22"
    assert len(chosen.losers) == MAX_PROPOSALS - 1
    assert chosen.dropped == ("02", "01", "00")


def test_the_newest_is_dropped_like_any_other_when_it_is_the_worst() -> None:
    many = [proposal(f"{number:02}", 0.9) for number in range(MAX_PROPOSALS)]

    chosen = choose([], [*many, proposal("99", 0.1)])

    assert chosen is not None
    assert chosen.dropped == ("99",)


def test_the_same_thing_proposed_twice_by_one_source_is_one() -> None:
    twice = [
        proposal("1", action="RUN_TESTS", payload_hash="x"),
        proposal("2", 0.6, action="RUN_TESTS", payload_hash="x"),
    ]

    chosen = choose([], twice)

    assert chosen is not None
    assert (chosen.winner, chosen.losers, chosen.dropped) == (twice[1], (), ("1",))


PROPOSALS = st.lists(
    st.builds(
        Proposal,
        slot_id=st.text("abc", min_size=1, max_size=2),
        source=st.sampled_from(["safety", "planner"]),
        action=st.sampled_from(["RUN_TESTS", "ABORT"]),
        saliency=st.sampled_from([0.0, 0.3, 0.1 + 0.2, 0.5, 1.0]) | st.floats(0, 1),
        urgency=st.sampled_from([0.0, 0.5]) | st.floats(0, 1),
        surprise=st.just(0.0) | st.floats(0, 1),
        payload_hash=st.sampled_from(["x", "y"]),
        priority=st.integers(0, 2),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    "cases", [200, pytest.param(MANY, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_the_order_of_submission_never_changes_the_choice(cases: int) -> None:
    @settings(max_examples=examples(cases))
    @given(st.data(), PROPOSALS, st.integers(0, 2))
    def holds(data: st.DataObject, proposals: list[Proposal], signals: int) -> None:
        shuffled = data.draw(st.permutations(proposals))
        forced = [signal(number) for number in range(signals)]

        chosen = choose(forced, proposals)

        assert choose(forced, shuffled) == chosen
        if chosen is not None:
            # Everything that was handed over is accounted for exactly once.
            told = [*chosen.losers, *chosen.dropped, *([] if chosen.is_forced else [chosen.winner.slot_id])]
            assert sorted(told) == sorted(each.slot_id for each in proposals)

    holds()

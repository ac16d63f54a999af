"""Outcome memory in a run: it changes saliencies, leaves bad repetitions out, and a replay needs nothing but the log."""

from collections.abc import Sequence

import pytest

from cogworks.cycle.eventlog import segments
from cogworks.cycle.events import Committed, Event, Observation, Selected, Weighed
from cogworks.cycle.flow import Draft
from cogworks.cycle.monitor import verify_seriality
from cogworks.cycle.proposing import Generator
from cogworks.cycle.replay import decide_only, verify
from cogworks.cycle.results import Action
from tests.cycle.remembered import remembered
from tests.cycle.scripted import DONE, FOUND, LONG_REPAIR, proposed, ran, rechained, recorded, rolled_back

IN_VAIN = [remembered("GENERATE_PATCH:rolled_back", 0, cycle=n, attempts=1) for n in range(1, 5)]
STUCK = {
    Action.RUN_TESTS: (ran("t.py::a", tree="t0"),),
    Action.ANALYZE_FAILURE: (FOUND,),
    Action.GENERATE_PATCH: tuple(proposed(str(n)) for n in range(9)),
    Action.APPLY_PATCH: tuple(rolled_back(str(n), f"kind {n}") for n in range(9)),
}
"""No change is ever kept."""


def actions(events: Sequence[Event]) -> list[str]:
    return [event.body.action.value for event in events if isinstance(event.body, Committed)]


def run(script: object, experience: Sequence[Observation] | None, **changes: object) -> tuple[Event, ...]:
    return recorded(script, experience=experience, task={}, **changes)  # type: ignore[arg-type]  # passed on as it is


def test_without_memory_a_log_is_what_it_was_before_there_was_any() -> None:
    header = segments(run(LONG_REPAIR, None))[0].split("\n", 1)[0]

    assert "experience" not in header
    assert not any(isinstance(event.body, Weighed) for event in run(LONG_REPAIR, None))


def test_what_is_remembered_stands_in_the_header_and_what_it_changes_in_an_event() -> None:
    known = remembered("APPLY_PATCH", 1)
    log = run(LONG_REPAIR, [known])
    [first, *_] = [event for event in log if isinstance(event.body, Weighed)]

    assert '"experience":[{' in segments(log)[0].split("\n", 1)[0]
    assert isinstance(first.body, Weighed)
    [told] = first.body.decisions
    assert (first.cycle, first.body.layer, told.slot_id) == (4, "memory", "0004/planner/APPLY_PATCH/1")
    # One that helped, alike in environment, attempts and calm: (0.25 + 0.75) / (0.5 + 0.75) = 0.8.
    assert (told.before, told.after, told.rate, told.is_blocked) == (0.85, 0.9775, 0.8, False)


def test_a_weight_decides_between_two_proposals() -> None:
    rival = Generator("rival", lambda c: [Draft(Action.LINT, 0.84, 0.6)] if c.candidates else [])
    script = {**LONG_REPAIR, Action.LINT: (DONE,)}

    def third_choice(experience: Sequence[Observation] | None) -> str:
        log = run(script, experience, generators=(rival,))
        return next(
            event.body.slot_id for event in log if event.cycle == 4 and isinstance(event.body, Selected)
        )

    assert third_choice(None) == "0004/planner/APPLY_PATCH/1"
    assert third_choice([remembered("APPLY_PATCH", 0)]) == "0004/rival/LINT/1"


def test_a_repetition_that_never_helped_is_not_proposed_and_the_plan_goes_on_another_way() -> None:
    usual, knowing = actions(run(STUCK, None)), actions(run(STUCK, IN_VAIN))

    assert usual[3:6] == ["APPLY_PATCH", "GENERATE_PATCH", "APPLY_PATCH"]
    assert knowing[3:7] == ["APPLY_PATCH", "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH"]


def test_where_there_is_no_other_way_the_run_ends() -> None:
    hopeless = [
        remembered(pattern, 0, cycle=n, attempts=1)
        for pattern in ("GENERATE_PATCH:rolled_back", "ANALYZE_FAILURE:replan")
        for n in range(1, 5)
    ]
    log = run(STUCK, hopeless)

    assert actions(log) == [
        "RUN_TESTS", "ANALYZE_FAILURE", "GENERATE_PATCH", "APPLY_PATCH", "IDLE", "IDLE", "IDLE", "ABORT",
    ]  # fmt: skip
    blocked = [event.body for event in log if event.cycle == 5 and isinstance(event.body, Weighed)]
    assert [[each.is_blocked for each in body.decisions] for body in blocked] == [[True, True]]


def test_a_first_try_is_never_blocked() -> None:
    bad = [
        remembered(pattern, 0, cycle=n)
        for pattern in ("ANALYZE_FAILURE:tests_fail", "GENERATE_PATCH:landmark", "APPLY_PATCH")
        for n in range(1, 7)
    ]
    events = run(LONG_REPAIR, bad)

    assert actions(events) == actions(run(LONG_REPAIR, None))


@pytest.mark.parametrize(
    "experience", [[], IN_VAIN, [remembered("APPLY_PATCH", 1)]], ids=["nothing", "bad", "good"]
)
@pytest.mark.parametrize("script", [LONG_REPAIR, STUCK], ids=["repair", "stuck"])
def test_a_run_with_memory_is_decided_again_from_its_log_alone(
    script: object, experience: Sequence[Observation]
) -> None:
    log = run(script, experience)

    replayed, chosen = verify(log), decide_only(log)

    assert (replayed.divergence, replayed.is_complete, replayed.events) == (None, True, len(log))
    assert (chosen.divergence, chosen.events) == (None, len(log))
    assert verify_seriality(log) == ()


def test_a_changed_memory_is_found_out_by_the_replay() -> None:
    log = list(run(STUCK, IN_VAIN))
    header = log[0].body.model_copy(update={"experience": ()})
    log[0] = log[0].model_copy(update={"body": header})

    found = verify(rechained(log)).divergence

    assert found is not None
    assert (found.cycle, found.event) == (5, "PROPOSAL")


def test_proposals_are_weighed_once_a_cycle_and_before_the_choice() -> None:
    log = run(STUCK, IN_VAIN)
    at = next(n for n, event in enumerate(log) if isinstance(event.body, Weighed))

    twice = verify_seriality(rechained([*log[: at + 1], *log[at:]]))
    late = verify_seriality(rechained([*log[:at], log[at + 1], log[at], *log[at + 2 :]]))

    assert [each.problem for each in twice] == ["the proposals are weighed twice"]
    assert [each.problem for each in late] == ["SIM_GATE after the selection"]


def test_signals_and_ends_are_not_weighed() -> None:
    everything = [remembered(f"{action.value}:tests_pass", 0, cycle=n) for action in Action for n in range(9)]

    assert not any(
        decision.slot_id.split("/")[2] in ("FINALIZE", "ABORT", "RUN_TESTS", "VALIDATE")
        for event in run(LONG_REPAIR, everything)
        if isinstance(event.body, Weighed)
        for decision in event.body.decisions
    )

"""The monitor finds what must not happen, in a log of a run just as while it happens."""

import random
from collections.abc import Callable, Sequence

import pytest

from cogworks.cycle.events import Committed, CycleEnd, CycleStart, Event, ExecutionStart, Selected
from cogworks.cycle.loop import CodingCycle
from cogworks.cycle.monitor import SerialityMonitor, verify_seriality
from cogworks.cycle.results import Action
from tests.cycle.scripted import LONG_REPAIR, cycle, rechained, recorded

Log = list[Event]


def place(log: Sequence[Event], kind: type[object], *, cycle: int = 3) -> int:
    return next(i for i, event in enumerate(log) if isinstance(event.body, kind) and event.cycle == cycle)


def doubled_commit(log: Log) -> None:
    at = place(log, Committed)
    log.insert(at + 1, log[at])


def missing_selection(log: Log) -> None:
    del log[place(log, Selected)]


def slot_mismatch(log: Log) -> None:
    at = place(log, Selected)
    body = log[at].body.model_copy(update={"slot_id": "0003/planner/ABORT/1"})
    log[at] = log[at].model_copy(update={"body": body})


def nested_execution(log: Log) -> None:
    at = place(log, ExecutionStart)
    log.insert(at + 1, log[at])


def outside_a_cycle(log: Log) -> None:
    at = place(log, CycleStart)
    log[at], log[at + 1] = log[at + 1], log[at]


def skipped_cycle(log: Log) -> None:
    begin, end = place(log, CycleStart), place(log, CycleEnd)
    del log[begin : end + 1]


MUTATIONS: list[tuple[Callable[[Log], None], int, str]] = [
    (doubled_commit, 3, "commit 2 in one cycle"),
    (missing_selection, 3, "a commit without a selection"),
    (slot_mismatch, 3, "is committed, and '0003/planner/ABORT/1' was selected"),
    (nested_execution, 3, "an action begins while another runs"),
    (outside_a_cycle, 3, "PROPOSAL outside a cycle"),
    (skipped_cycle, 4, "cycle 4 follows cycle 2"),
]


def test_a_clean_log_has_no_violation() -> None:
    assert verify_seriality(recorded()) == ()


@pytest.mark.parametrize(
    ("mutate", "number", "problem"), MUTATIONS, ids=[each[0].__name__ for each in MUTATIONS]
)
def test_each_of_six_mutated_logs_is_found_out(
    mutate: Callable[[Log], None], number: int, problem: str
) -> None:
    log = list(recorded())
    mutate(log)

    found = verify_seriality(rechained(log))

    assert found
    assert found[0].cycle == number
    assert problem in found[0].problem


def test_every_single_event_taken_away_or_doubled_is_found_out_at_its_cycle() -> None:
    """But for what generators say: how much of that there is is not the monitor's to know."""
    log = recorded()
    free = {"PROPOSAL", "PROPOSAL_ERROR", "FORCED_INJECTION", "FORCED_DROPPED", "LOG_HEADER"}
    for at, event in enumerate(log):
        if event.kind in free or event is log[-1]:
            continue
        without = verify_seriality([*log[:at], *log[at + 1 :]])
        doubled = verify_seriality([*log[: at + 1], event, *log[at + 1 :]])
        assert without, f"without {event.seq} {event.kind}"
        assert doubled, f"twice {event.seq} {event.kind}"
        assert without[0].cycle in (event.cycle, event.cycle + 1)
        assert doubled[0].cycle == event.cycle


def test_counts_are_its_own_and_do_not_come_from_the_numbers_in_the_events() -> None:
    """Two decisions in one bracket that call themselves cycles 3 and 4 are two decisions in one cycle."""
    log = list(recorded())
    at = place(log, Committed)
    log.insert(at + 1, log[at].model_copy(update={"cycle": 4}))

    problems = [violation.problem for violation in verify_seriality(log)]

    assert problems[:2] == ["CGW_COMMIT of cycle 4 inside cycle 3", "commit 2 in one cycle"]


def test_a_log_that_breaks_off_is_no_violation_wherever_it_does() -> None:
    log = recorded()

    assert all(verify_seriality(log[:length]) == () for length in range(len(log)))


def test_nothing_may_follow_the_end() -> None:
    log = recorded()

    (found,) = verify_seriality([*log, log[-2]])

    assert found.problem == "EXECUTION_COMPLETE after the end of the run"


def test_it_sees_a_violation_while_it_happens() -> None:
    live = SerialityMonitor()
    log = list(recorded())
    doubled_commit(log)
    at = place(log, Committed)
    for event in log[: at + 1]:
        live.observe(event)
    before = live.violations
    live.observe(log[at + 1])

    assert (before, [found.problem for found in live.violations]) == ((), ["commit 2 in one cycle"])


def test_executions_never_nest_in_shuffled_runs() -> None:
    random_ = random.Random(7)
    for _ in range(60):
        run: CodingCycle = cycle(
            {action: random_.sample(list(results), len(results)) for action, results in LONG_REPAIR.items()}
        )
        if random_.random() < 0.3:
            run.force(Action.ABORT, "now")
        run.run_until_done()
        assert run.verify_seriality() == ()

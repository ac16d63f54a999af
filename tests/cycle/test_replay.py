"""A recorded run is decided in the same way again, from its log alone; where it is not, the place is named."""

import ast
import random
from pathlib import Path
from typing import Any

import pytest

from cogworks.cycle.context import CycleContext
from cogworks.cycle.eventlog import comparable
from cogworks.cycle.events import Event, ExecutionComplete, Limits, Proposed, Selected
from cogworks.cycle.flow import Draft
from cogworks.cycle.proposing import Generator
from cogworks.cycle.replay import Divergence, Step, decide_only, verify, what_if
from cogworks.cycle.results import Action, ActionResult, Outcome, Payload, outcomes
from cogworks.cycle.signals import Forced
from cogworks.errors import LostRace, UsageError
from tests.cycle.scripted import LONG_REPAIR, REPAIR, Script, any_result, cycle, rechained, recorded


def random_run(seed: int) -> tuple[Event, ...]:
    """A run of everything there is: asides, signals, defects, limits."""
    chance = random.Random(seed)

    def perform(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        if chance.random() < 0.05:
            run.force(chance.choice([Action.ABORT, Action.LINT]), "seen in between")
        return any_result(payload.action, chance.choice(outcomes(payload.action)), chance.randrange(5))

    def advise(context: CycleContext) -> list[Draft]:
        if chance.random() < 0.1:
            raise KeyError("x")
        actions = [Action.INSPECT_FILES, Action.BUILD, Action.ABORT, Action.RUN_TESTS]
        return [Draft(chance.choice(actions), round(chance.random(), 3)) for _ in range(chance.randrange(3))]

    def wishes(number: int) -> list[Forced]:
        return [Forced("github", Action.LINT, "a wish")] if chance.random() < 0.05 else []

    seconds = [0.0]

    def now() -> float:
        seconds[0] += chance.random()
        return seconds[0]

    run = cycle(
        handlers=dict.fromkeys(Action, perform),
        generators=(Generator("advisor", advise), Generator("silent", lambda _: [])),
        signals=wishes,
        now=now,
        limits=Limits(max_cycles=chance.randint(2, 30), total_timeout_s=chance.choice([60.0, 3600.0])),
        task={"has_validators": chance.random() < 0.5, "writes_tests": chance.random() < 0.5},
    )
    run.run_until_done()
    return run.events


@pytest.mark.parametrize("seed", range(20))
def test_twenty_recorded_runs_come_out_the_same(seed: int) -> None:
    log = random_run(seed)

    replayed, chosen = verify(log), decide_only(log)

    assert (replayed.divergence, replayed.is_complete, replayed.events) == (None, True, len(log))
    assert (chosen.divergence, chosen.events) == (None, len(log))
    assert [step.slot_id for step in replayed.steps] == [step.slot_id for step in chosen.steps]


def test_two_runs_with_the_same_recordings_have_the_same_log_but_for_the_clock() -> None:
    first, second = recorded(now=iter_clock(3)), recorded(now=iter_clock(5))

    assert [comparable(event) for event in first] == [comparable(event) for event in second]
    assert [event.wall for event in first] != [event.wall for event in second]


def iter_clock(step: int) -> Any:
    ticks = iter(range(0, 100_000, step))
    return lambda: next(ticks) / 1000


def at(log: tuple[Event, ...], kind: type[Any], cycle: int) -> int:
    return next(i for i, event in enumerate(log) if isinstance(event.body, kind) and event.cycle == cycle)


def test_an_edited_score_is_named_with_both_sides() -> None:
    log = list(recorded())
    place = at(tuple(log), Proposed, 2)
    log[place] = log[place].model_copy(update={"body": log[place].body.model_copy(update={"score": 700_000})})
    wanted = Divergence(
        seq=place,
        cycle=2,
        event="PROPOSAL",
        field="payload.score",
        recorded=700_000,
        recomputed=605_000,
    )

    assert verify(rechained(log)).divergence == wanted
    assert decide_only(rechained(log)).divergence == wanted
    assert str(wanted) == (
        f"event {place} (cycle 2, PROPOSAL): payload.score is 700000 in the log, 605000 when recomputed"
    )


def test_another_winner_is_named_with_both_sides() -> None:
    log = list(recorded())
    place = at(tuple(log), Selected, 2)
    body = log[place].body.model_copy(update={"slot_id": "0002/idle/IDLE/1"})
    log[place] = log[place].model_copy(update={"body": body})

    for replayed in (verify(rechained(log)), decide_only(rechained(log))):
        found = replayed.divergence
        assert found is not None
        assert (found.seq, found.field, found.recorded, found.recomputed) == (
            place,
            "payload.slot_id",
            "0002/idle/IDLE/1",
            "0002/planner/ANALYZE_FAILURE/1",
        )


def test_a_longer_log_than_the_run_is_a_divergence() -> None:
    log = recorded()

    found = verify(rechained([*log, log[-1]])).divergence

    assert found is not None
    assert (found.seq, found.field, found.recorded, found.recomputed) == (
        len(log),
        "event",
        "CYCLE_END",
        None,
    )


def test_a_log_that_breaks_off_is_verified_as_far_as_it_goes() -> None:
    log = recorded()
    for length in range(1, len(log)):
        replayed = verify(log[:length])
        assert (replayed.divergence, replayed.events, replayed.is_complete) == (None, length, False)


def test_a_run_that_was_broken_off_is_verified_as_far_as_it_came() -> None:
    script = Script()

    def lost(payload: Payload) -> None:
        if payload.action is Action.APPLY_PATCH:
            raise LostRace("gone")

    script.during = lost
    run = cycle(script)
    with pytest.raises(LostRace):
        run.run_until_done()

    replayed = verify(run.events)

    assert (replayed.divergence, replayed.is_complete) == (None, False)


def test_a_replay_may_stop_after_a_cycle_and_shows_what_was_known() -> None:
    log = recorded()

    for replayed in (verify(log, until=4), decide_only(log, until=4)):
        assert (replayed.divergence, replayed.is_complete) == (None, False)
        assert [step.cycle for step in replayed.steps] == [1, 2, 3, 4]
    context = verify(log, until=4).context
    assert context is not None
    assert (context.cycle, context.action, context.outcome) == (4, Action.APPLY_PATCH, Outcome.ROLLED_BACK)


def test_what_if_shows_the_decision_that_would_have_followed() -> None:
    replayed = what_if(
        recorded(REPAIR, task={}), cycle=4, replace={"outcome": "rolled_back", "reasons": ["no"]}
    )

    assert replayed.steps[-1] == Step(
        cycle=5,
        action=Action.GENERATE_PATCH,
        slot_id="0005/planner/GENERATE_PATCH/1",
        recorded_action=Action.RUN_TESTS,
    )
    assert not replayed.is_complete


def test_what_if_goes_on_as_long_as_the_log_has_results_for_what_is_decided() -> None:
    replayed = what_if(recorded(LONG_REPAIR), cycle=1, replace={"summary": "in other words"})

    assert replayed.is_complete
    assert replayed.steps[-1].action is Action.FINALIZE


@pytest.mark.parametrize(
    ("cycle_number", "replace", "problem"),
    [
        (99, {}, "cycle 99 has no result in this log; those with one: 1 to 6"),
        (1, {"outcome": "great"}, "the result of cycle 1 cannot be changed like that: outcome"),
        (1, {"colour": "red"}, "colour"),
    ],
)
def test_what_if_needs_a_result_that_makes_sense(
    cycle_number: int, replace: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        what_if(recorded(REPAIR, task={}), cycle=cycle_number, replace=replace)


def test_a_log_without_a_header_cannot_be_replayed() -> None:
    with pytest.raises(UsageError, match=r"the log is empty or has no header"):
        verify(recorded()[1:])


def test_the_replay_knows_neither_network_nor_processes_nor_models() -> None:
    """Everything it imports, and what that imports, inside cogworks and outside."""
    outside: set[str] = set()
    seen: set[str] = set()
    waiting = ["cogworks.cycle.replay"]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        for name in imported(Path(*module.split(".")).with_suffix(".py")):
            if name.startswith("cogworks."):
                waiting.append(name)
            else:
                outside.add(name.partition(".")[0])

    assert outside == {
        "collections", "dataclasses", "enum", "hashlib", "itertools", "json", "pydantic", "re", "threading", "typing",
    }  # fmt: skip
    assert not {
        name for name in seen if name.startswith(("cogworks.llm", "cogworks.github", "cogworks.codebase"))
    }


def imported(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def test_results_are_told_with_their_digest() -> None:
    for event in recorded():
        if isinstance(event.body, ExecutionComplete):
            assert len(event.body.result_digest) == 64

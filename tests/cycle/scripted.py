"""A run of the coding cycle whose actions end as they are told; a clock that only moves when it is asked."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogworks.cycle.context import CycleContext, Task
from cogworks.cycle.eventlog import GENESIS, chained
from cogworks.cycle.events import Event, Header, Limits, Observation
from cogworks.cycle.feedback import Attempt, Trial
from cogworks.cycle.loop import CodingCycle, CyclePorts
from cogworks.cycle.results import Action, ActionResult, Candidate, Outcome, Payload, TestFacts, outcomes

TASK = Task(goal="Fix failing tests")


def facts(*failing: str, newly: Sequence[str] = (), **changes: Any) -> TestFacts:
    """A run of three tests of which these failed."""
    return TestFacts(
        **{
            "exit_status": 1 if failing else 0,
            "collected": 3,
            "passed": 3 - len(failing),
            "failed": len(failing),
            "failing": failing,
            "newly_failing": tuple(newly),
            **changes,
        }
    )


def ran(*failing: str, newly: Sequence[str] = (), tree: str | None = None, **changes: Any) -> ActionResult:
    """What RUN_TESTS gives back."""
    found = facts(*failing, newly=newly, **changes)
    return ActionResult(outcome=found.outcome, tests=found, tree=tree)


FOUND = ActionResult(outcome=Outcome.FOUND, landmarks=("x.py:3",))
NOTHING_FOUND = ActionResult(outcome=Outcome.NOTHING_FOUND)
NONE_VALID = ActionResult(outcome=Outcome.NONE_VALID, reasons=("not a diff",))
GREEN = ActionResult(outcome=Outcome.GREEN)
DIAGNOSTICS = ActionResult(outcome=Outcome.DIAGNOSTICS, reasons=("x.py:1: bad",))
DONE = ActionResult(outcome=Outcome.DONE)
BROKEN = ActionResult(outcome=Outcome.ERROR, error_code="timeout", summary="too slow")


def proposed(*marks: str) -> ActionResult:
    """What GENERATE_PATCH gives back."""
    return ActionResult(
        outcome=Outcome.PROPOSED,
        candidates=tuple(Candidate(id=mark, change={"diff": mark}) for mark in marks),
    )


def committed(tree: str) -> ActionResult:
    """An APPLY_PATCH that was kept."""
    return ActionResult(outcome=Outcome.COMMITTED, tree=tree)


def rolled_back(mark: str, category: str = "failing_tests") -> ActionResult:
    """An APPLY_PATCH that was not kept."""
    trial = Trial(category=category, problems=(f"{mark} is no good",))
    return ActionResult(
        outcome=Outcome.ROLLED_BACK, attempt=Attempt(fingerprint=mark, trial=trial), reasons=trial.problems
    )


REPAIR: Mapping[Action, Sequence[ActionResult]] = {
    Action.RUN_TESTS: (ran("t.py::a", tree="t0"), ran(tree="t1")),
    Action.ANALYZE_FAILURE: (FOUND,),
    Action.GENERATE_PATCH: (proposed("1"),),
    Action.APPLY_PATCH: (committed("t1"),),
}
"""One failing test, one patch that mends it."""

LONG_REPAIR: Mapping[Action, Sequence[ActionResult]] = {
    Action.RUN_TESTS: (ran("t.py::a", tree="t0"), ran("t.py::b"), ran(tree="t2")),
    Action.ANALYZE_FAILURE: (FOUND,),
    Action.GENERATE_PATCH: (proposed("1", "2"), NONE_VALID, proposed("3")),
    Action.APPLY_PATCH: (rolled_back("1"), committed("t1"), committed("t2")),
    Action.VALIDATE: (GREEN,),
}
"""Twelve cycles and more: a patch rolled back, its rival kept, another failure behind it, validators."""


class Script:
    """Handlers that give the results of a script in their order, the last one for ever; remembers what it was asked."""

    def __init__(self, script: Mapping[Action, Sequence[ActionResult]] = REPAIR) -> None:
        self._script = {action: list(results) for action, results in script.items()}
        self.payloads: list[Payload] = []
        self.during: Callable[[Payload], None] = lambda _: None

    @property
    def actions(self) -> list[Action]:
        """What was carried out."""
        return [payload.action for payload in self.payloads]

    def handlers(self) -> dict[Action, Callable[[Payload, CycleContext, int], ActionResult]]:
        return dict.fromkeys(self._script, self._perform)

    def _perform(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        self.payloads.append(payload)
        self.during(payload)
        results = self._script[payload.action]
        return results.pop(0) if len(results) > 1 else results[0]


def header(
    *, limits: Limits | None = None, experience: Sequence[Observation] | None = None, **task: Any
) -> Header:
    """The header of an example."""
    return Header(
        experience=None if experience is None else tuple(experience),
        item="octo-org/adder#7",
        sub_item="A",
        task=TASK.model_copy(update=task),
        limits=limits or Limits(),
        config_digest="0" * 64,
    )


def cycle(
    script: Script | Mapping[Action, Sequence[ActionResult]] = REPAIR,
    *,
    limits: Limits | None = None,
    task: Mapping[str, Any] | None = None,
    experience: Sequence[Observation] | None = None,
    **surroundings: Any,
) -> CodingCycle:
    """A run that has not begun."""
    acting = script if isinstance(script, Script) else Script(script)
    around = CyclePorts(**{"handlers": acting.handlers(), **surroundings})
    return CodingCycle(header(limits=limits, experience=experience, **(task or {})), around)


def recorded(
    script: Mapping[Action, Sequence[ActionResult]] = LONG_REPAIR, **changes: Any
) -> tuple[Event, ...]:
    """The log of a whole run."""
    changes.setdefault("task", {"has_validators": True})
    run = cycle(script, **changes)
    run.run_until_done()
    return run.events


def rechained(events: Sequence[Event]) -> tuple[Event, ...]:
    """A log that somebody changed and chained anew, so that only its meaning is wrong."""
    made: list[Event] = []
    for event in events:
        prev_hash = made[-1].hash if made else GENESIS
        made.append(chained(event.body, seq=len(made), cycle=event.cycle, prev_hash=prev_hash, wall={}))
    return tuple(made)


def any_result(action: Action, outcome: Outcome, number: int) -> ActionResult:
    """A result of an action that makes sense; equal for equal numbers."""
    assert outcome in outcomes(action)
    tree = f"tree {number}"
    match outcome:
        case Outcome.PASSED:
            return ran(tree=tree)
        case Outcome.FAILED:
            return ran(f"t.py::{number}", tree=tree)
        case Outcome.REGRESSED:
            return ran("t.py::a", newly=("t.py::a",), tree=tree)
        case Outcome.UNCOLLECTED:
            return ran(collection_errors=("boom",), exit_status=2)
        case Outcome.FOUND:
            return FOUND.model_copy(update={"landmarks": tuple(f"x.py:{n}" for n in range(1 + number % 3))})
        case Outcome.PROPOSED:
            return proposed(*(f"{number}-{n}" for n in range(1 + number % 3)))
        case Outcome.COMMITTED:
            return committed(tree)
        case Outcome.ROLLED_BACK:
            return rolled_back(f"patch {number}", f"kind {number % 4}")
        case Outcome.ERROR:
            return BROKEN
        case _:
            return ActionResult(outcome=outcome)

"""The coding cycle: propose, choose one, commit it, carry it out, learn from it; until the end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cogworks.canonical import digest
from cogworks.cycle.context import CycleContext, fold
from cogworks.cycle.eventlog import GENESIS, chained
from cogworks.cycle.events import (
    Body,
    Committed,
    ContextUpdate,
    CycleEnd,
    CycleStart,
    Event,
    ExecutionComplete,
    ExecutionStart,
    Header,
    ProposalError,
    Selected,
)
from cogworks.cycle.executor import Executor, Handler
from cogworks.cycle.experience import environment_of
from cogworks.cycle.flow import next_step
from cogworks.cycle.monitor import SerialityMonitor, Violation
from cogworks.cycle.proposing import BUILT_IN, Generator, Memory, built_in, event_of, slotted, weighed
from cogworks.cycle.results import TERMINAL, Action, ActionResult, Payload, TraceEntry, failed
from cogworks.cycle.signals import Forced, SignalQueue
from cogworks.cycle.slot import Decision, Slot
from cogworks.cycle.watchdogs import CycleSummary, RunResult, alarms, is_last_cycle
from cogworks.errors import CogworksError, UsageError
from cogworks.pipeline.arbiter import Choice, Proposal, Signal, choose

TERMINAL_REFUSED = "TerminalRefused"
"""What the log says of a source that proposed an end and may not."""
WATCHDOG = "watchdog"
"""The source of signals that follow from the context alone; a replay computes these anew and takes all others from the log."""


def no_signals(cycle: int) -> Sequence[Forced]:
    """Nobody from outside wants anything."""
    del cycle
    return ()


@dataclass(frozen=True)
class CyclePorts:
    """The world as a cycle uses it."""

    handlers: Mapping[Action, Handler]
    """Who carries out which action; FINALIZE and ABORT may be left out."""
    generators: tuple[Generator, ...] = ()
    """Asked beside the built-in ones, in this order."""
    signals: Callable[[int], Sequence[Forced]] = no_signals
    """New wishes of people and policies, asked for at the beginning of each cycle."""
    now: Callable[[], float] = lambda: 0.0
    """Seconds of a clock that only runs forward; no proposal and no score depends on it."""
    listeners: tuple[Callable[[Event], None], ...] = ()
    """Called with every event when it is in the log; one that raises ends the run."""
    identity: Mapping[str, Any] | None = None
    """Names of this very run, for `wall` of the header: run id, visit key, base commit."""


class CodingCycle:
    """One run. Everything but `force` is called from one thread."""

    def __init__(self, header: Header, ports: CyclePorts) -> None:
        self._limits = header.limits
        self._around = ports
        self._built_in = built_in(header.limits)
        self._context = CycleContext(task=header.task)
        self._memory = Memory(header.experience or (), environment_of(header))
        self._slot = Slot()
        self._executor = Executor(ports.handlers)
        self._monitor = SerialityMonitor()
        self._events: list[Event] = []
        self._history: list[CycleSummary] = []
        self._signals = SignalQueue()
        self._ended = False
        self._final: Action | None = None
        self._success = False
        self._error = ""
        self._began_s = ports.now()
        names = tuple(generator.name for generator in ports.generators)
        _require_unique(names)
        begun = header.model_copy(update={"generators": names})
        self._emit(0, begun, **(ports.identity or {}))

    @property
    def context(self) -> CycleContext:
        """What is known after the last finished cycle."""
        return self._context

    @property
    def slot(self) -> Slot:
        return self._slot

    @property
    def events(self) -> tuple[Event, ...]:
        """The log so far."""
        return tuple(self._events)

    @property
    def has_ended(self) -> bool:
        return self._ended

    def verify_seriality(self) -> tuple[Violation, ...]:
        """What the monitor has found; nothing when every cycle had one decision."""
        return self._monitor.violations

    def force(self, action: Action, reason: str, *, source: str = "operator") -> bool:
        """Have an action carried out in the next cycle, before any proposal; signals go first in, first out.

        May be called from any thread and before the run. Returns False when the run has ended.

        Raises:
            UsageError: FINALIZE follows from passing tests and from nothing else.
        """
        if action is Action.FINALIZE:
            raise UsageError(
                "FINALIZE cannot be forced: a run ends well when its tests pass. Force ABORT to end it."
            )
        return self._signals.force(Forced(source, action, reason))

    def run_until_done(self) -> RunResult:
        """Run cycle after cycle until FINALIZE or ABORT; the limits see to it that one of them comes.

        Raises:
            CogworksError: what ended the visit as a whole; the run is broken off then.
        """
        while not self._ended:
            self.run_cycle()
        return self.result()

    def run_cycle(self) -> None:
        """One decision and its action. Raises as `run_until_done`."""
        if self._ended:
            raise UsageError("the run has ended; begin another one.")
        finished = False
        try:
            self._cycle(self._context.cycle + 1)
            finished = True
        finally:
            if not finished:
                self._close(None, success=False, error=self._error or "the run was broken off")

    def result(self) -> RunResult:
        """The result of the run so far."""
        return RunResult(
            success=self._success,
            final_action=self._final,
            cycles_executed=len(self._history),
            total_ms=self._ms_since(self._began_s),
            tests_passing=self._context.tests_passing,
            patches_applied=self._context.commits,
            seriality_maintained=not self._monitor.violations,
            error=self._error,
            history=tuple(self._history),
        )

    def _cycle(self, cycle: int) -> None:
        began_s = self._around.now()
        self._emit(cycle, CycleStart(context_digest=digest(self._context)))
        self._watch(cycle)
        choice, payload = self._choose(cycle)
        action = payload.action
        self._commit(cycle, choice, payload)
        if action in TERMINAL:
            for dropped in self._signals.drop(cycle):
                self._emit(cycle, dropped)
        started_s = self._around.now()
        result = self._execute(cycle, payload, began_s)
        ended_s = self._around.now()
        if action not in TERMINAL:
            self._context = fold(self._context, payload, result, finalists=self._limits.finalists)
            self._emit(cycle, ContextUpdate(context_digest=digest(self._context)))
        self._emit(cycle, CycleEnd(action=action, terminal=action in TERMINAL))
        self._history.append(
            CycleSummary(
                cycle=cycle,
                action=action,
                outcome=result.outcome,
                was_forced=choice.is_forced,
                slot_id=choice.winner.slot_id,
                losers=choice.losers,
                decision_ms=_ms(started_s - began_s),
                execution_ms=_ms(ended_s - started_s),
            )
        )
        if action in TERMINAL:
            success = action is Action.FINALIZE and result.is_success
            self._close(action, success=success, error="" if success else result.summary or payload.reason)

    def _watch(self, cycle: int) -> None:
        arrived = [*self._signals.arrived(), *self._around.signals(cycle)]
        if self._is_late():
            seconds = f"{self._limits.total_timeout_s:g}"
            reason = f"timeout: the run took more than {seconds} s"
            arrived.append(Forced("clock", Action.ABORT, reason))
        self._admit(cycle, arrived)
        raised = alarms(self._context, self._limits)
        if raised and not self._signals.is_waiting(Action.ABORT):
            abort = Forced(WATCHDOG, Action.ABORT, str(raised[0]))
            self._admit(cycle, [abort], first=len(arrived) + 1)

    def _admit(self, cycle: int, arrived: Sequence[Forced], *, first: int = 1) -> None:
        for injected in self._signals.admit(cycle, arrived, first=first):
            self._emit(cycle, injected)

    def _is_late(self) -> bool:
        if self._around.now() - self._began_s <= self._limits.total_timeout_s:
            return False
        step = next_step(self._context, generation_retries=self._limits.generation_retries)
        return step is None or step.action is not Action.FINALIZE

    def _choose(self, cycle: int) -> tuple[Choice, Payload]:
        proposals: list[Proposal] = []
        payloads: dict[str, Payload] = {}
        for generator in self._asked():
            for proposal, payload in self._proposed(cycle, generator):
                proposals.append(proposal)
                payloads[proposal.slot_id] = payload
        if self._memory.observations:
            proposals = self._weighed(cycle, proposals, payloads)
        is_last = is_last_cycle(self._context, self._limits)
        choice = choose(self._signals.waiting(only_an_end=is_last), proposals)
        if choice is None:
            raise CogworksError(f"cycle {cycle}: nothing was proposed, not even to do nothing.")
        if isinstance(choice.winner, Signal):
            self._signals.remove(choice.winner)
            reason = choice.winner.reason
            payload = Payload(
                action=Action(choice.winner.action), goal=self._context.task.goal, reason=reason
            )
        else:
            payload = payloads[choice.winner.slot_id]
        self._emit(cycle, Selected.of(choice))
        return choice, payload

    def _asked(self) -> tuple[Generator, ...]:
        safety, planner, idle = self._built_in
        if is_last_cycle(self._context, self._limits):
            # Nothing may outbid the end when there is no cycle left to end in.
            return (safety, planner, idle)
        return (safety, planner, *self._around.generators, idle)

    def _proposed(self, cycle: int, generator: Generator) -> list[tuple[Proposal, Payload]]:
        try:
            drafts = tuple(generator.propose(self._context))
            admitted = [draft for draft in drafts if generator.admitted(draft)]
            goal = self._context.task.goal
            proposed = slotted(admitted, cycle=cycle, source=generator.name, goal=goal)
            events = [event_of(proposal, payload) for proposal, payload in proposed]
        except Exception as error:
            # A source of ideas may have any defect; the cycle goes on without it and says so.
            self._emit(cycle, ProposalError(source=generator.name, error_type=type(error).__name__))
            return []
        for _ in range(len(drafts) - len(admitted)):
            self._emit(cycle, ProposalError(source=generator.name, error_type=TERMINAL_REFUSED))
        for event in events:
            self._emit(cycle, event)
        return proposed

    def _weighed(
        self, cycle: int, proposals: Sequence[Proposal], payloads: dict[str, Payload]
    ) -> list[Proposal]:
        """The proposals as outcome memory leaves them; what it proposes instead of one gets its payload here."""
        offered = [(proposal, payloads[proposal.slot_id]) for proposal in proposals]
        balance = weighed(self._memory, self._context, offered)
        for proposal, payload in balance.added:
            payloads[proposal.slot_id] = payload
            self._emit(cycle, event_of(proposal, payload))
        if balance.event is not None:
            self._emit(cycle, balance.event)
        return list(balance.proposals)

    def _commit(self, cycle: int, choice: Choice, payload: Payload) -> None:
        before, named = self._slot.payload_hash, digest(payload)
        slot_id = choice.winner.slot_id
        self._slot.commit(Decision(cycle=cycle, slot_id=slot_id, payload=payload, payload_hash=named))
        self._emit(
            cycle,
            Committed(
                slot_id=slot_id,
                action=payload.action,
                reason=choice.reason,
                forced=choice.is_forced,
                payload_hash=named,
                prev_payload_hash=before,
            ),
        )

    def _execute(self, cycle: int, payload: Payload, began_s: float) -> ActionResult:
        now_s = self._around.now()
        limits = self._limits
        allowed_ms = limits.action_ms(payload.action)
        left_s = min(
            limits.cycle_timeout_s - (now_s - began_s), limits.total_timeout_s - (now_s - self._began_s)
        )
        deadline_ms = max(1, min(allowed_ms, round(left_s * 1000)))
        self._emit(
            cycle, ExecutionStart(action=payload.action, deadline_ms=allowed_ms), deadline_ms=deadline_ms
        )
        if payload.action is Action.FINALIZE and not self._context.tests_passing:
            result = failed("not_passing", "FINALIZE: the tests have not passed on the tree as it is now")
        else:
            result = self._executor.execute(payload, self._context, deadline_ms=deadline_ms)
        times = {"trace_ms": self._trace_ms(result)} if result.trace else {}
        result = result.model_copy(update={"trace": tuple(_timeless(entry) for entry in result.trace)})
        complete = ExecutionComplete(
            success=result.is_success,
            result=result,
            result_digest=digest(result),
            error_code=result.error_code,
        )
        self._emit(cycle, complete, duration_ms=self._ms_since(now_s), **times)
        return result

    def _trace_ms(self, result: ActionResult) -> list[float]:
        """When each of these things happened; what does not say happened at the end of its action."""
        now_s = self._around.now()
        return [_ms((now_s if entry.at_s is None else entry.at_s) - self._began_s) for entry in result.trace]

    def _close(self, final: Action | None, *, success: bool, error: str) -> None:
        self._signals.close()
        self._ended = True
        self._final, self._success, self._error = final, success, error

    def _emit(self, cycle: int, body: Body, **wall: Any) -> None:
        event = chained(
            body,
            seq=len(self._events),
            cycle=cycle,
            prev_hash=self._events[-1].hash if self._events else GENESIS,
            wall={"at_ms": self._ms_since(self._began_s), **wall},
        )
        self._events.append(event)
        self._monitor.observe(event)
        for listener in self._around.listeners:
            listener(event)

    def _ms_since(self, began_s: float) -> float:
        return _ms(self._around.now() - began_s)


def _require_unique(names: Sequence[str]) -> None:
    taken = [*BUILT_IN, *names]
    if twice := sorted({name for name in taken if taken.count(name) > 1}):
        raise UsageError(f"generator(s) {', '.join(twice)}: the name is taken; give each a name of its own.")


def _timeless(entry: TraceEntry) -> TraceEntry:
    return entry.model_copy(update={"at_s": None})


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)

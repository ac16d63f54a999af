"""Carries out one action at a time, and turns whatever goes wrong in it into a result."""

from collections.abc import Callable, Mapping
from threading import Lock

from cogworks.cycle.context import CycleContext
from cogworks.cycle.results import TERMINAL, Action, ActionResult, Outcome, Payload, checked, failed
from cogworks.errors import CogworksError

Handler = Callable[[Payload, CycleContext, int], ActionResult]
"""Carries out an action within so many milliseconds, or raises `DeadlinePassed` after it has ended all that it started."""


class DeadlinePassed(Exception):
    """A handler ran out of time; every process it started is gone."""


class ExecutorBusy(CogworksError):
    """An action was to begin while another was running."""


class Executor:
    """Runs handlers, never two at once."""

    def __init__(self, handlers: Mapping[Action, Handler]) -> None:
        self._handlers = handlers
        self._lock = Lock()

    @property
    def is_busy(self) -> bool:
        return self._lock.locked()

    def execute(self, payload: Payload, context: CycleContext, *, deadline_ms: int) -> ActionResult:
        """Carry out an action and wait for it.

        Raises:
            ExecutorBusy: another action is running.
            CogworksError: as the handler; it ends the visit, not only the action.
        """
        if not self._lock.acquire(blocking=False):
            raise ExecutorBusy(f"Cannot execute {payload.action} while another action is running.")
        try:
            return checked(payload.action, self._result(payload, context, deadline_ms))
        finally:
            self._lock.release()

    def _result(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        handler = self._handlers.get(payload.action)
        if handler is None:
            if payload.action in TERMINAL or payload.action is Action.IDLE:
                return ActionResult(outcome=Outcome.DONE)
            return failed("unknown_action", f"{payload.action}: nobody carries it out")
        try:
            return handler(payload, context, deadline_ms)
        except DeadlinePassed as error:
            return failed("timeout", str(error) or f"{payload.action} took more than {deadline_ms} ms")
        except CogworksError:
            # A lost lease, a person's stop, a used-up budget: decided above the cycle and passed on.
            raise
        except Exception as error:
            # Whatever breaks in a tool is a fact for the next decision; its text may hold what no log should.
            return failed("handler_error", f"{payload.action} raised {type(error).__name__}")

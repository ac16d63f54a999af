"""The actions of a coding visit, each kept within its time, and ended when people want it."""

from collections.abc import Mapping, Sequence

from cogworks.coding.actions import Action
from cogworks.coding.context import CycleContext
from cogworks.coding.executor import DeadlinePassed, Handler
from cogworks.coding.results import ActionResult, Payload, failed
from cogworks.coding.signals import Forced
from cogworks.errors import BudgetReached, CogworksError, Interrupted, LostRace, VisitStopped
from cogworks.nodes.contract import NodeShell

PEOPLE = "people"
"""The source of signals that stand for what people want."""


def wishes(shell: NodeShell) -> Sequence[Forced]:
    """What people want of the run now.

    Raises:
        CogworksError: the visit is no longer ours, or its time is over.
    """
    try:
        shell.check()
    except VisitStopped as stop:
        return [Forced(PEOPLE, Action.ABORT, str(stop))]
    return []


def guarded(handlers: Mapping[Action, Handler], shell: NodeShell) -> dict[Action, Handler]:
    """The same handlers for a cycle to use."""
    return {action: _guarded(handler, shell) for action, handler in handlers.items()}


def _guarded(handler: Handler, shell: NodeShell) -> Handler:
    def carry_out(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        try:
            return _in_time(handler, shell, payload, context, deadline_ms)
        except VisitStopped as stop:
            # The next cycle meets the same wish as a signal, so that the log ends with a decision and its reason.
            return failed("stopped", str(stop))

    return carry_out


def _in_time(
    handler: Handler, shell: NodeShell, payload: Payload, context: CycleContext, deadline_ms: int
) -> ActionResult:
    limit_s = deadline_ms / 1000
    began_s = shell.now()
    try:
        with shell.within(limit_s):
            return handler(payload, context, deadline_ms)
    except (BudgetReached, LostRace, Interrupted):
        raise
    except CogworksError as error:
        if shell.now() - began_s < limit_s:
            raise
        # Whatever broke, broke because it was ended with the action's time.
        raise DeadlinePassed(
            f"{payload.action} took more than {limit_s:g} s, and what it had started was ended"
        ) from error

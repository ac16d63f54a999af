"""One attempt at one call: paid for, on record before and after, and whatever a handler raises made a failure."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from cogworks.errors import CogworksError
from cogworks.tools.budget import Budget
from cogworks.tools.records import Trail
from cogworks.tools.registry import Call, Tool, ToolFailed, copied
from cogworks.tools.results import StepError
from cogworks.tools.schemas import misfits

UNPAID = "budget_exceeded"
"""The code of a call that was not made because it costs more than what is left."""


@dataclass(frozen=True)
class Attempt:
    """What is to be tried."""

    tool: Tool
    given: Mapping[str, Any]
    call: Call
    approval: str = ""
    """The hash under which a person approved it."""
    number: int = 1
    delay_s: float = 0.0


class _Caught(AbstractContextManager["_Caught"]):
    """Keeps a handler's own failure; a stop of the visit or of the program is not the handler's and goes on."""

    error: BaseException | None = None
    is_kept = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self.error = error
        self.is_kept = isinstance(error, Exception) and not isinstance(error, CogworksError)
        return self.is_kept


def attempt(each: Attempt, *, trail: Trail, budget: Budget) -> dict[str, Any] | StepError:
    """Make one call; its output, or why there is none.

    Raises:
        CogworksError: the handler was stopped with the whole visit; interrupts pass too. Both are on record first.
    """
    tool = each.tool
    about = {"profile": tool.profile, "step": each.call.step, "tool": tool.name, "attempt": each.number}
    if reason := budget.reserve(tool.cost):
        trail.add("step_denied", **about, policy_decision="denied", code=UNPAID, message=reason)
        return StepError(code=UNPAID, message_redacted=f"tool {tool.name!r}: {reason}.")
    trail.add(
        "step_started",
        **about,
        input=dict(each.given),
        policy_decision="approved" if each.approval else "allowed",
        approval=each.approval,
        delay_s=each.delay_s,
    )
    began_s = trail.now()
    caught, output = _Caught(), None
    try:
        with caught:
            # A copy: what a handler does to its input changes neither the record nor the next step.
            output = _checked(tool, tool.handler(copied(each.given), each.call))
    finally:
        budget.settle(tool.cost, spent=tool.cost)
        came = _failure(caught, trail) if output is None else output
        duration_ms = round((trail.now() - began_s) * 1000, 3)
        trail.add("step_ended", **about, **_said(came), duration_ms=duration_ms, cost=tool.cost)
    return came


def _checked(tool: Tool, raw: Any) -> dict[str, Any]:
    """The output as its schema wants it, sharing nothing with the handler's own."""
    if not isinstance(raw, Mapping):
        raise _no_output(tool, f"wanted an object, got {type(raw).__name__}")
    try:
        output = copied(raw)
    except ValueError as error:
        raise _no_output(tool, str(error)) from None
    if problems := misfits(output, tool.output_schema):
        raise _no_output(tool, "; ".join(problems))
    return output


def _no_output(tool: Tool, problem: str) -> ToolFailed:
    return ToolFailed("output_validation_failed", f"tool {tool.name!r}: its output does not fit: {problem}.")


def _failure(caught: _Caught, trail: Trail) -> StepError:
    error = caught.error
    code = error.code if isinstance(error, ToolFailed) else "handler_error"
    return StepError(
        code=code if caught.is_kept else "interrupted",
        type=type(error).__name__ if error else "",
        message_redacted=trail.redactor.text(str(error or "")),
    )


def _said(came: dict[str, Any] | StepError) -> dict[str, Any]:
    if not isinstance(came, StepError):
        return {"status": "success", "output": came}
    return {"status": "error", "code": came.code, "error": came.type, "message": came.message_redacted}

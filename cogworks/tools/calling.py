"""One attempt at one call: paid for, on record before and after, and whatever a handler raises made a failure.

What calls may cost together: reserved before each of them, settled after it.

When a failed call is made again, and how long to wait before it.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from cogworks.canonical import sha256
from cogworks.errors import CogworksError
from cogworks.tools.plans import StepError
from cogworks.tools.records import Trail
from cogworks.tools.registry import Call, Tool, ToolFailed, copied
from cogworks.tools.schemas import misfits
from cogworks.vocabulary import Value


class Budget:
    """A sum that cannot be overdrawn; in the unit in which tools declare their cost."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0
        self._reserved = 0.0

    @property
    def left(self) -> float:
        """What nobody has spent or reserved."""
        return max(0.0, self.limit - self.spent - self._reserved)

    def reserve(self, cost: float) -> str | None:
        """Set the cost of a call aside; the reason when there is not enough left, and then nothing is set aside."""
        # Sums of decimal fractions miss their mark by less than this.
        if cost > self.left + 1e-9:
            return f"the call costs {cost:g} and {self.left:g} of {self.limit:g} is left"
        self._reserved += cost
        return None

    def settle(self, reserved: float, *, spent: float) -> None:
        """Book what a call really cost and release the rest of its reservation."""
        self._reserved = max(0.0, self._reserved - reserved)
        self.spent += spent


UNPAID = "budget_exceeded"
"""The code of a call that was not made because it costs more than what is left."""


@dataclass(frozen=True)
class Attempt:
    """What is to be tried."""

    tool: Tool
    parameters: Mapping[str, Any]
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
        input=dict(each.parameters),
        policy_decision="approved" if each.approval else "allowed",
        approval=each.approval,
        delay_s=each.delay_s,
    )
    began_s = trail.now()
    caught, output = _Caught(), None
    try:
        with caught:
            # A copy: what a handler does to its input changes neither the record nor the next step.
            output = _checked(tool, tool.handler(copied(each.parameters), each.call))
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


RETRYABLE = frozenset({"timeout", "unavailable", "rate_limited"})
"""Codes of failures that may go away."""


class Retries(Value):
    """How often and how fast."""

    max_attempts: int = 3
    base_s: float = 0.5
    cap_s: float = 8.0
    seed: str = ""
    """Of the run; equal seeds wait equally long."""

    def may_follow(self, attempt: int, tool: Tool, code: str) -> bool:
        """Whether another attempt may follow this one: only of what does no harm twice, only where it may help."""
        return tool.may_repeat and code in RETRYABLE and attempt < self.max_attempts

    def delay_s(self, step: str, attempt: int) -> float:
        """How long to wait before an attempt; the first waits for nothing."""
        if attempt <= 1:
            return 0.0
        fraction = int(sha256(f"{self.seed}/{step}/{attempt}")[:8], 16) / 0xFFFFFFFF
        # Between half and the whole: many runs that failed together do not come back together.
        whole_s = min(self.cap_s, self.base_s * 2.0 ** (attempt - 2))
        return round(whole_s * (0.5 + fraction / 2), 3)

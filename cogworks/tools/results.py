"""What comes of a plan: every step with its output or its error, and the trace that led there."""

from typing import Any, Literal

from pydantic import Field

from cogworks.tools.approvals import Approval
from cogworks.tools.policy import Denial
from cogworks.tools.records import Record
from cogworks.vocabulary import Value


class StepError(Value):
    """Why a step failed."""

    code: str
    type: str = ""
    """The kind of exception, where there was one."""
    message_redacted: str = ""


class StepResult(Value):
    """What came of one step."""

    step: str
    tool: str
    """The one that was called last; another than planned when a substitute stood in."""
    profile: str
    status: Literal["success", "error", "denied", "waiting"]
    attempts: int = 0
    delays_s: tuple[float, ...] = ()
    """Waited before the second attempt, the third, …"""
    substitute_for: str = ""
    output: dict[str, Any] | None = None
    error: StepError | None = None


class ExecutionResult(Value):
    """What comes of a run of the controller."""

    success: bool
    code: str = ""
    """In a word why there is no success: `waiting`, `policy_not_found`, `tool_not_allowed`, `handler_error`, …"""
    message: str = ""
    steps: tuple[StepResult, ...] = ()
    outputs: dict[str, Any] = Field(default_factory=dict)
    """Step -> its output, of the steps that succeeded."""
    waiting_for: Approval | None = None
    cost: float = 0.0
    logs: tuple[str, ...] = ()
    """The trace in words, one line each."""
    trace: tuple[Record, ...] = ()

    @property
    def output(self) -> dict[str, Any] | None:
        """Of the last step, when all went well."""
        return self.steps[-1].output if self.success and self.steps else None


def denied(denial: Denial) -> StepError:
    """A refusal as the error of a step."""
    return StepError(code=denial.code, message_redacted=denial.message)


def line(record: Record) -> str:
    """A record in words."""
    what = " ".join(each for each in (record.step or record.tool, record.message) if each)
    end = record.status or record.policy_decision or ""
    note = f" ({record.code})" if record.code else ""
    return f"{record.event} {what}: {end}{note}" if end or note else f"{record.event} {what}".rstrip()

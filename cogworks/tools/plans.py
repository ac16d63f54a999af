"""What is wanted of tools, the plan that serves it, and what comes of it, as values."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from cogworks.tools.approvals import Approval
from cogworks.tools.policy import MAX_STEPS, Denial
from cogworks.tools.records import Record
from cogworks.tools.registry import Tool, copied
from cogworks.tools.schemas import fields
from cogworks.vocabulary import Value


class Goal(Value):
    """What is wanted."""

    text: str
    needs: tuple[str, ...] = ()
    """Capabilities; without any, those that the text names."""
    inputs: dict[str, Any] = Field(default_factory=dict)
    """What is known: key of some tool's input -> value."""
    profiles: tuple[str, ...] = ()
    """Whose tools may be used besides those of the profile that is asked for."""

    @field_validator("inputs")
    @classmethod
    def _own_copy(cls, inputs: dict[str, Any]) -> dict[str, Any]:
        return copied(inputs)


class Preferences(Value):
    """What a good plan is."""

    optimise: Literal["balanced", "cost", "latency"] = "balanced"
    max_steps: int = Field(default=MAX_STEPS, ge=1, le=MAX_STEPS)
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Less than the policy allows; None: as the policy."""


class Binding(Value):
    """A key of a step's input that comes from the output of an earlier step."""

    key: str
    step: str


class PlanStep(Value):
    """One call of one tool."""

    name: str
    tool: str
    profile: str
    input: dict[str, Any]
    bindings: tuple[Binding, ...] = ()
    serves: tuple[str, ...] = ()
    """The needs it was chosen for; none: a later step wants its output."""

    @property
    def pending(self) -> frozenset[str]:
        """Keys of the input that are known only when earlier steps have ended."""
        return frozenset(binding.key for binding in self.bindings)


class Considered(Value):
    """A tool that was looked at."""

    tool: str
    profile: str
    score: float
    excluded: str = ""
    """Why it cannot be used; empty: it can."""


class Plan(Value):
    """Steps in their order, and how they were found; or why there are none."""

    needs: tuple[str, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    considered: tuple[Considered, ...] = ()
    denial: Denial | None = None


def input_for(tool: Tool, known: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the known values that a tool's input has a key for."""
    return {key: known[key] for key in sorted(fields(tool.input_schema) & known.keys())}


class StepError(Value):
    """Why a step failed."""

    code: str
    type: str = ""
    """The kind of exception, where there was one."""
    message_redacted: str = ""


class StepResult(Value):
    """The result of one step."""

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
    """The result of a run of the controller."""

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

"""What is wanted of tools, and the plan that serves it, as values."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from cogworks.tools.policy import MAX_STEPS, Denial
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

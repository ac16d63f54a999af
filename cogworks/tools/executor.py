"""Carries out a plan step by step: checked as a whole before anything runs, and again before each call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cogworks.tools.approvals import Answer, Approval
from cogworks.tools.calling import UNPAID, Attempt, Budget, Retries, attempt
from cogworks.tools.plans import PlanStep, StepError, StepResult, denied, input_for
from cogworks.tools.policy import Denial, Enforcer
from cogworks.tools.records import Trail
from cogworks.tools.registry import Call, Tool, View, copied


class AsksPeople(Protocol):
    """Knows what people said about calls."""

    def hash_of(self, tool: str, profile: str, parameters: Mapping[str, Any]) -> str: ...
    def answer(self, name: str) -> Answer: ...


@dataclass(frozen=True)
class Means:
    """What an executor works with; the same rules as its controller's."""

    view: View
    enforcer: Enforcer
    trail: Trail
    budget: Budget
    approvals: AsksPeople
    retries: Retries
    sleep: Callable[[float], None]
    preferred: Sequence[str] = ()
    """Names of tools from the best on; a substitute is the first that can stand in."""


@dataclass(frozen=True)
class Executed:
    """The steps that were reached, and what the last of them waits for."""

    steps: tuple[StepResult, ...]
    waiting_for: Approval | None = None

    @property
    def outputs(self) -> dict[str, dict[str, Any]]:
        """Step -> its output, of those that succeeded."""
        return {step.step: step.output for step in self.steps if step.output is not None}


NOTHING = Executed(())


@dataclass
class _Run:
    metadata: Mapping[str, Any]
    known: Mapping[str, Any]
    results: list[StepResult] = field(default_factory=list)
    waiting_for: Approval | None = None

    @property
    def executed(self) -> Executed:
        return Executed(tuple(self.results), self.waiting_for)


class Executor:
    """Makes one call at a time; a failed, denied or waiting step ends the plan, and what came before it is kept."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def execute(
        self, steps: Sequence[PlanStep], *, metadata: Mapping[str, Any], known: Mapping[str, Any]
    ) -> Executed:
        """Carry out the steps in their order; none of them when one of them may not.

        Args:
            known: values for the inputs of substitutes.

        Raises:
            CogworksError: a handler was stopped with the whole visit; interrupts pass too. Both are on record first.
        """
        run = _Run(copied(metadata), known)
        if stopped := self._stopped_before(steps, run):
            run.results.append(stopped)
            return run.executed
        for step in steps:
            result = self._step(step, run)
            run.results.append(result)
            if result.status != "success":
                break
        return run.executed

    def _stopped_before(self, steps: Sequence[PlanStep], run: _Run) -> StepResult | None:
        """The first step that may not run or has to wait, as far as that can be known now."""
        has_acted = False
        for step in steps:
            tool = self._allowed(step, step.input, run, pending=step.pending)
            if isinstance(tool, Denial):
                return self._denied(step, tool)
            if self._means.enforcer.needs_approval(tool):
                if step.pending and has_acted:
                    return self._denied(step, _asked_too_late(step))
                approval = "" if step.pending else self._approval(step, tool, step.input, run)
                if isinstance(approval, StepResult):
                    return approval
            has_acted = has_acted or not tool.may_repeat
        return None

    def _step(self, step: PlanStep, run: _Run) -> StepResult:
        outputs = run.executed.outputs
        parameters = dict(step.input)
        for binding in step.bindings:
            if binding.key in outputs.get(binding.step, {}):
                parameters[binding.key] = outputs[binding.step][binding.key]
        tool = self._allowed(step, parameters, run)
        if isinstance(tool, Denial):
            return self._denied(step, tool)
        approval = self._approval(step, tool, parameters, run)
        if isinstance(approval, StepResult):
            return approval
        result = self._called(step, tool, parameters, run, approval=approval)
        if result.status == "error" and tool.may_repeat:
            return self._substituted(step, parameters, run, failed=result)
        return result

    def _allowed(
        self,
        step: PlanStep,
        parameters: Mapping[str, Any],
        run: _Run,
        *,
        pending: frozenset[str] = frozenset(),
    ) -> Tool | Denial:
        tool = self._means.view.find(step.tool)
        if tool is None or tool.profile != step.profile:
            message = f"profile {step.profile!r} has no tool {step.tool!r}; `cogworks tools list` shows what there is."
            return Denial(code="unknown_tool", message=message, profile=step.profile, tool=step.tool)
        denial = self._means.enforcer.call_denial(tool, parameters, metadata=run.metadata, pending=pending)
        return denial or tool

    def _approval(
        self, step: PlanStep, tool: Tool, parameters: Mapping[str, Any], run: _Run
    ) -> str | StepResult:
        """The hash under which a call is approved, empty when nobody has to; or why it is not made now."""
        if not self._means.enforcer.needs_approval(tool):
            return ""
        named = self._means.approvals.hash_of(tool.name, tool.profile, parameters)
        answer = self._means.approvals.answer(named)
        if answer == "approved":
            return named
        about: dict[str, Any] = {"step": step.name, "tool": tool.name, "profile": tool.profile}
        is_open = answer == "approval_required"
        self._means.trail.add(
            "step_waiting" if is_open else "step_denied",
            **about,
            input=dict(parameters),
            policy_decision=answer,
            approval=named,
            code=answer,
            status="waiting" if is_open else "denied",
        )
        if not is_open:
            error = StepError(code="rejected", message_redacted=f"a person rejected call {named}.")
            return StepResult(**about, status="denied", error=error)
        shown = self._means.trail.redactor.data(dict(parameters))
        run.waiting_for = Approval(**about, hash=named, input_redacted=shown)
        return StepResult(**about, status="waiting")

    def _called(
        self, step: PlanStep, tool: Tool, parameters: Mapping[str, Any], run: _Run, *, approval: str = ""
    ) -> StepResult:
        means, delays = self._means, list[float]()
        call = Call(
            profile=tool.profile,
            step=step.name,
            config=copied(tool.config),
            scope=copied(means.enforcer.scope(tool)),
            metadata=copied(run.metadata),
            timeout_s=means.enforcer.timeout_s(tool),
        )
        number = 1
        came = attempt(Attempt(tool, parameters, call, approval), trail=means.trail, budget=means.budget)
        while isinstance(came, StepError) and means.retries.may_follow(number, tool, came.code):
            number += 1
            delays.append(means.retries.delay_s(step.name, number))
            means.sleep(delays[-1])
            each = Attempt(tool, parameters, call, approval, number, delays[-1])
            came = attempt(each, trail=means.trail, budget=means.budget)
        is_unpaid = isinstance(came, StepError) and came.code == UNPAID
        return StepResult(
            step=step.name,
            tool=tool.name,
            profile=tool.profile,
            status="denied" if is_unpaid else "error" if isinstance(came, StepError) else "success",
            attempts=number - is_unpaid,
            delays_s=tuple(delays),
            output=came if isinstance(came, dict) else None,
            error=came if isinstance(came, StepError) else None,
        )

    def _substituted(
        self, step: PlanStep, parameters: Mapping[str, Any], run: _Run, *, failed: StepResult
    ) -> StepResult:
        """The result of the first tool that can stand in for a failed reading one; only one of them is tried."""
        for name in self._means.preferred:
            tool = self._means.view.find(name)
            if tool is None or not _stands_in(tool, step):
                continue
            fitting = input_for(tool, {**run.known, **parameters})
            denial = self._means.enforcer.call_denial(tool, fitting, metadata=run.metadata)
            if denial is not None or self._means.enforcer.needs_approval(tool):
                continue
            result = self._called(step, tool, fitting, run)
            together = {
                "substitute_for": failed.tool,
                "attempts": failed.attempts + result.attempts,
                "delays_s": (*failed.delays_s, *result.delays_s),
            }
            return result.model_copy(update=together)
        return failed

    def _denied(self, step: PlanStep, denial: Denial) -> StepResult:
        self._means.trail.add(
            "step_denied",
            profile=denial.profile,
            step=step.name,
            tool=step.tool,
            input=dict(step.input),
            policy_decision="denied",
            code=denial.code,
            status="denied",
            message=denial.message,
        )
        return StepResult(
            step=step.name, tool=step.tool, profile=step.profile, status="denied", error=denied(denial)
        )


def _stands_in(tool: Tool, step: PlanStep) -> bool:
    is_other = tool.name != step.tool and tool.may_repeat
    return is_other and bool(step.serves) and set(step.serves) <= set(tool.capabilities)


def _asked_too_late(step: PlanStep) -> Denial:
    return Denial(
        code="approval_after_effects",
        message=f"step {step.name!r} needs approval of an input that only earlier steps give, and one of these may not be "
        "repeated: after the approval it would run twice. Make two plans of it.",
        profile=step.profile,
        tool=step.tool,
    )

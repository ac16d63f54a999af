"""From a goal to its result: metadata, plan, steps; everything on record, and nothing raised for a refusal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cogworks.tools.calling import Budget, Retries
from cogworks.tools.executor import NOTHING, AsksPeople, Executed, Executor, Means
from cogworks.tools.handoff import Handoff, received
from cogworks.tools.planner import plan, score
from cogworks.tools.plans import ExecutionResult, Goal, Plan, Preferences, StepResult, line
from cogworks.tools.policy import Denial, Enforcer, Policy
from cogworks.tools.records import Trail
from cogworks.tools.registry import ToolConflict, ToolRegistry, View, copied


@dataclass(frozen=True)
class ControllerPorts:
    """What a controller is given once, for all of its runs."""

    registry: ToolRegistry
    enforcer: Enforcer
    approvals: AsksPeople
    retries: Retries
    sleep: Callable[[float], None]


@dataclass(frozen=True)
class Planned:
    """A plan and what it was made from."""

    plan: Plan
    view: View
    preferences: Preferences
    max_cost: float


class Controller:
    """Plans over registered tools and has the plan carried out; it reads no file and loads nothing."""

    def __init__(self, ports: ControllerPorts, trail: Trail) -> None:
        self._desk = ports
        self._trail = trail

    def run(
        self,
        goal: Goal | str,
        profile: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        preferences: Preferences | None = None,
    ) -> ExecutionResult:
        """Plan and execute. The result and its code say what is refused, fails or waits.

        Raises:
            CogworksError: a handler was stopped with the whole visit; interrupts pass too. Both are on record first.
        """
        wanted = goal if isinstance(goal, Goal) else Goal(text=goal)
        copied_metadata = copied(metadata or {})
        planned = self.plan(wanted, profile, metadata=copied_metadata, preferences=preferences)
        if isinstance(planned, Denial):
            return self._ended(profile, refused=planned)
        if planned.plan.denial is not None:
            return self._ended(profile, refused=planned.plan.denial)
        budget = Budget(planned.max_cost)
        executor = Executor(
            Means(
                view=planned.view,
                enforcer=self._desk.enforcer,
                trail=self._trail,
                budget=budget,
                approvals=self._desk.approvals,
                retries=self._desk.retries,
                sleep=self._desk.sleep,
                preferred=_from_the_best(planned),
            )
        )
        executed = executor.execute(planned.plan.steps, metadata=copied_metadata, known=wanted.inputs)
        return self._ended(profile, executed=executed, cost=budget.spent)

    def accept(
        self,
        work: Handoff,
        *,
        read: Callable[[str], bytes | None],
        goal: Goal,
        metadata: Mapping[str, Any] | None = None,
        preferences: Preferences | None = None,
    ) -> ExecutionResult:
        """Take up what another role handed over, under the receiver's own profile and within what is left for it; its
        files are looked at again first. Raises as `run`.

        Args:
            goal: what the receiver makes of the work's goal.
        """
        if denial := received(work, read):
            self._trail.add(
                "controller_run", profile=work.to_role, policy_decision="denied", code=denial.code,
                message=denial.message, input=work.model_dump(mode="json"),
            )  # fmt: skip
            return self._ended(work.to_role, refused=denial)
        chosen = preferences or Preferences()
        least = _least(chosen.max_cost, work.budget_left)
        chosen = chosen.model_copy(update={"max_cost": least})
        return self.run(goal, work.to_role, metadata=metadata, preferences=chosen)

    def plan(
        self,
        goal: Goal,
        profile: str,
        *,
        metadata: Mapping[str, Any],
        preferences: Preferences | None = None,
    ) -> Planned | Denial:
        """The plan for a goal, with a record of every tool that was considered; no plan where a policy says no."""
        chosen = preferences or Preferences()
        policies = self._policies(goal, profile, metadata)
        denial = policies if isinstance(policies, Denial) else None
        self._trail.add(
            "controller_run",
            profile=profile[:64],
            input={
                "goal": goal.model_dump(mode="json"),
                "metadata": dict(metadata),
                "preferences": chosen.model_dump(mode="json"),
                "retries": self._desk.retries.model_dump(mode="json"),
            },
            policy_decision="denied" if denial else "metadata_validated",
            code=denial.code if denial else "",
            message=denial.message if denial else "",
        )
        if isinstance(policies, Denial):
            return policies
        most = min(policy.max_steps for policy in policies)
        chosen = chosen.model_copy(update={"max_steps": min(chosen.max_steps, most)})
        try:
            view = self._desk.registry.sandbox(profile, *goal.profiles)
        except ToolConflict as conflict:
            return self._refused(Denial(code="tool_conflict", message=str(conflict), profile=profile))
        new_plan = plan(goal, view, self._desk.enforcer, profile=profile, preferences=chosen)
        self._tell(new_plan)
        max_cost = min(policy.max_cost for policy in policies)
        return Planned(new_plan, view, chosen, _least(chosen.max_cost, max_cost) or 0.0)

    def _policies(self, goal: Goal, profile: str, metadata: Mapping[str, Any]) -> tuple[Policy, ...] | Denial:
        """The policies of all profiles that take part, or why one of them may not."""
        policies = []
        for name in (profile, *goal.profiles):
            policy = self._desk.enforcer.policy(name)
            if isinstance(policy, Denial):
                return policy
            if denial := self._desk.enforcer.metadata_denial(name, metadata):
                return denial
            if name not in self._desk.registry.profiles:
                known = ", ".join(self._desk.registry.profiles) or "none"
                message = f"there is no tool for profile {name!r}; there are tools for {known}."
                return Denial(code="unknown_profile", message=message, profile=name)
            policies.append(policy)
        return tuple(policies)

    def _tell(self, plan: Plan) -> None:
        for each in plan.considered:
            message = f"score {each.score:.2f}" + (f"; left out: {each.excluded}" if each.excluded else "")
            self._trail.add("plan_considered", profile=each.profile, tool=each.tool, message=message)
        for step in plan.steps:
            self._trail.add(
                "plan_step",
                profile=step.profile,
                step=step.name,
                tool=step.tool,
                input=step.input,
                message="serves " + (", ".join(step.serves) or "a later step"),
            )
        if plan.denial is not None:
            self._refused(plan.denial)

    def _refused(self, denial: Denial) -> Denial:
        self._trail.add(
            "plan_refused",
            profile=denial.profile,
            policy_decision="denied",
            code=denial.code,
            message=denial.message,
        )
        return denial

    def _ended(
        self,
        profile: str,
        *,
        refused: Denial | None = None,
        executed: Executed = NOTHING,
        cost: float = 0.0,
    ) -> ExecutionResult:
        last = executed.steps[-1] if executed.steps else None
        code, message = _end_of(refused, last)
        success = not code and last is not None
        status = "success" if success else "waiting" if code == "waiting" else "error"
        self._trail.add(
            "controller_end", profile=profile[:64], status=status, code=code, message=message, cost=cost
        )
        records = self._trail.records
        return ExecutionResult(
            success=success,
            code=code,
            message=self._trail.redactor.text(message),
            steps=executed.steps,
            outputs=executed.outputs,
            waiting_for=executed.waiting_for,
            cost=cost,
            logs=tuple(line(record) for record in records),
            trace=records,
        )


def _end_of(refused: Denial | None, last: StepResult | None) -> tuple[str, str]:
    if refused is not None:
        return refused.code, refused.message
    if last is None or last.status == "success":
        return "", ""
    if last.error is None:
        return "waiting", f"step {last.step!r} waits for a person."
    return last.error.code, last.error.message_redacted


def _from_the_best(planned: Planned) -> tuple[str, ...]:
    optimise = planned.preferences.optimise
    return tuple(
        tool.name for tool in sorted(planned.view, key=lambda tool: (score(tool, optimise), tool.name))
    )


def _least(*limits: float | None) -> float | None:
    """The lowest limit that is set."""
    return min((limit for limit in limits if limit is not None), default=None)

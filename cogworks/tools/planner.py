"""Which tools serve a goal, and in which order: the cheapest cover of what it needs, by rules alone."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cogworks.tools.plans import Binding, Considered, Goal, Plan, PlanStep, Preferences, input_for
from cogworks.tools.policy import Denial, Enforcer
from cogworks.tools.registry import Tool, View
from cogworks.tools.schemas import misfits, required, without

_WORD = re.compile(r"[a-z0-9]+")


def score(tool: Tool, optimise: str) -> float:
    """How dear a tool is; lower is better."""
    match optimise:
        case "cost":
            return tool.cost + 0.1 * tool.latency
        case "latency":
            return tool.latency + 0.1 * tool.cost
        case _:
            return (tool.cost + tool.latency) / 2


def plan(goal: Goal, view: View, enforcer: Enforcer, *, profile: str, preferences: Preferences) -> Plan:
    """The cheapest steps that cover the goal's needs; equal arguments give equal plans.

    A greedy cover: again and again the tool with the lowest score for each need that it adds, ties by name. What a
    chosen tool wants and nobody gave comes from another tool's output. Steps follow their data, then score, then name.
    """
    tools = sorted(view, key=lambda tool: (score(tool, preferences.optimise), tool.name))
    needs = tuple(sorted(set(goal.needs or _named(goal.text, tools))))
    usable, considered = _usable(tools, goal, enforcer, preferences)
    if not needs:
        return Plan(considered=considered, denial=_uncovered(goal.text, tools, profile))
    chosen: dict[str, tuple[str, ...]] = {}
    open_needs = set(needs)
    while open_needs:
        best = _best(usable, open_needs, preferences)
        if best is None:
            denial = _uncovered(min(open_needs), tools, profile)
            return Plan(needs=needs, considered=considered, denial=denial)
        chosen[best.name] = tuple(sorted(open_needs & set(best.capabilities)))
        open_needs -= set(best.capabilities)
    steps = _steps(_with_producers(chosen, usable, goal), goal, usable)
    if len(steps) > preferences.max_steps:
        denial = Denial(
            code="too_many_steps",
            message=f"the plan has {len(steps)} steps, and at most {preferences.max_steps} are wanted; ask for less at once.",
            profile=profile,
        )
        return Plan(needs=needs, considered=considered, denial=denial)
    return Plan(needs=needs, steps=steps, considered=considered)


def _named(text: str, tools: Iterable[Tool]) -> set[str]:
    words = set(_WORD.findall(text.lower()))
    capabilities = {capability for tool in tools for capability in tool.capabilities}
    return {each for each in capabilities if words.issuperset(_WORD.findall(each.lower()))}


def _usable(
    tools: Sequence[Tool], goal: Goal, enforcer: Enforcer, preferences: Preferences
) -> tuple[tuple[Tool, ...], tuple[Considered, ...]]:
    """The tools that can be called, each behind those whose output it may want; and a word on every one."""
    reasons = {tool.name: _unfit(tool, goal, enforcer) for tool in tools}
    waiting = [tool for tool in tools if not reasons[tool.name]]
    known = set(goal.inputs)
    usable: list[Tool] = []
    while ready := [tool for tool in waiting if required(tool.input_schema) <= known]:
        usable += ready
        waiting = [tool for tool in waiting if not required(tool.input_schema) <= known]
        known.update(*(required(tool.output_schema) for tool in ready))
    for tool in waiting:
        missing = ", ".join(sorted(required(tool.input_schema) - known))
        reasons[tool.name] = f"nobody gives its input {missing}"
    considered = tuple(
        Considered(
            tool=tool.name,
            profile=tool.profile,
            score=round(score(tool, preferences.optimise), 6),
            excluded=reasons[tool.name],
        )
        for tool in sorted(tools, key=lambda tool: tool.name)
    )
    return tuple(usable), considered


def _unfit(tool: Tool, goal: Goal, enforcer: Enforcer) -> str:
    if denial := enforcer.tool_denial(tool):
        return f"{denial.code}: {denial.message}"
    parameters = input_for(tool, goal.inputs)
    pending = required(tool.input_schema) - parameters.keys()
    problems = misfits(parameters, without(tool.input_schema, pending))
    return f"its input would not fit: {'; '.join(problems)}" if problems else ""


def _best(usable: Sequence[Tool], needs: set[str], preferences: Preferences) -> Tool | None:
    serving = [tool for tool in usable if needs & set(tool.capabilities)]
    return min(
        serving,
        key=lambda tool: (
            score(tool, preferences.optimise) / len(needs & set(tool.capabilities)),
            tool.name,
        ),
        default=None,
    )


def _with_producers(
    chosen: Mapping[str, tuple[str, ...]], usable: Sequence[Tool], goal: Goal
) -> dict[str, tuple[str, ...]]:
    """The chosen tools with those that give what the others want."""
    wanted = dict(chosen)
    # From the last to the first: a tool that can give something to another stands before it.
    for tool in reversed(usable):
        if tool.name in wanted:
            for key in sorted(required(tool.input_schema) - goal.inputs.keys()):
                wanted.setdefault(_producer(key, tool, usable, wanted).name, ())
    return wanted


def _producer(key: str, of: Tool, usable: Sequence[Tool], wanted: Mapping[str, Any]) -> Tool:
    """Who gives a key: one that runs anyway before the cheapest other."""
    before = usable[: usable.index(of)]
    giving = [tool for tool in before if key in required(tool.output_schema)]
    return next((tool for tool in giving if tool.name in wanted), giving[0])


def _steps(wanted: Mapping[str, tuple[str, ...]], goal: Goal, usable: Sequence[Tool]) -> tuple[PlanStep, ...]:
    ordered = [tool for tool in usable if tool.name in wanted]
    names = {tool.name: f"{number}:{tool.name}" for number, tool in enumerate(ordered, 1)}
    return tuple(
        PlanStep(
            name=names[tool.name],
            tool=tool.name,
            profile=tool.profile,
            input=input_for(tool, goal.inputs),
            bindings=tuple(
                Binding(key=key, step=names[_producer(key, tool, usable, wanted).name])
                for key in sorted(required(tool.input_schema) - goal.inputs.keys())
            ),
            serves=wanted[tool.name],
        )
        for tool in ordered
    )


def _uncovered(need: str, tools: Iterable[Tool], profile: str) -> Denial:
    known = sorted({capability for tool in tools for capability in tool.capabilities})
    near = difflib.get_close_matches(need, known, n=3) or known[:10]
    hint = f"near it are {', '.join(near)}" if near else "the profile's tools have none"
    return Denial(
        code="no_tool_for_capability",
        message=f"no usable tool of profile {profile!r} serves {need[:200]!r}; {hint}.",
        profile=profile,
        details=tuple(near),
    )

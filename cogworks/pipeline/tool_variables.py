"""Are the `{{variables}}` of a node's tool scopes known when it starts, and what do they stand for?"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cogworks.pipeline.elements import ScopeValue
from cogworks.pipeline.graph import Node, Pipeline
from cogworks.pipeline.profiles import allows
from cogworks.pipeline.tables import meant

_VARIABLE = re.compile(r"\{\{\s*([a-z_][a-z0-9_.]*)\s*\}\}")


def tool_problems(pipeline: Pipeline, node: Node, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Why a model node may not start with its tools: an undefined profile, a variable without a value.

    Args:
        inputs: slot -> output JSON. `{{slot.field}}` is a field of one; `{{field}}` of whichever has it.
    """
    if node.type != "llm":
        return ()
    name = node.tool_profile or pipeline.default_tool_profile
    profile = pipeline.tool_profiles.get(name or "")
    if profile is None:
        return (f"tool profile {name!r} is not defined{meant(name, pipeline.tool_profiles)}",)
    scopes = {
        tool: {**profile.scope.get(tool, {}), **node.tool_overrides.get(tool, {})}
        for tool in {**profile.scope, **node.tool_overrides}
        if allows(profile.tools, tool)
    }
    return tuple(
        f"tool profile {name!r}: `{tool}.{parameter}` needs {{{{{variable}}}}}, which is "
        f"{'empty' if _found(variable, inputs) is not None else 'in none of its inputs'}; let an earlier node put it "
        "out, and declare that slot among the node's `inputs`"
        for tool, parameters in scopes.items()
        for parameter, value in parameters.items()
        for variable in _variables(value)
        if not _is_filled(_found(variable, inputs))
    )


def _variables(value: ScopeValue) -> Iterable[str]:
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str):
            yield from _VARIABLE.findall(text)


def _found(variable: str, inputs: Mapping[str, Any]) -> Any:
    path = variable.split(".")
    for root in (inputs, *(value for value in inputs.values() if isinstance(value, Mapping))):
        value: Any = root
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def _is_filled(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_filled(each) for each in value)
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())

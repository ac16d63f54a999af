"""Keys of a pipeline file that are known by name and refused: a setting that is accepted is obeyed.

Each reason completes the sentence "`<key>` …" and ends with what to do instead.
"""

from collections.abc import Mapping

_PROFILES = (
    "is not obeyed: cogworks 0.2 is to bring tool profiles for nodes; remove it. "
    "What Code Generation may do is limited by `.cogworks/policies/coding.toml`"
)

NOT_OBEYED_BY_FILES: Mapping[str, str] = {"tool_profiles": _PROFILES}
NOT_OBEYED_BY_PIPELINES: Mapping[str, str] = {
    "tool_profiles": _PROFILES,
    "default_tool_profile": _PROFILES,
}
NOT_OBEYED_BY_NODES: Mapping[str, str] = {
    "tool_profile": _PROFILES,
    "tool_overrides": _PROFILES,
    "alignment": (
        "is not obeyed: cogworks 0.2 is to compare a node's output with what was asked; remove it. "
        "Until then a human gate or Review does"
    ),
}
NOT_OBEYED_BY_REWORK: Mapping[str, str] = {
    "semantics": "says nothing that `preserve` does not say: a retry preserves nothing; remove it",
    "counter": "says nothing: every loop counts its own traversals up to `max_traversals`; remove it",
}

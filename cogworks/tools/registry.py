"""Which tools there are, for which profile, and what is known of each before it is called."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from cogworks.canonical import canonical
from cogworks.errors import CogworksError
from cogworks.tools.schemas import schema_problem
from cogworks.vocabulary import Value

PROFILE_NAME = r"^[a-z0-9][a-z0-9_.-]{0,63}$"
"""A profile's policy is a file of that name: no separators, no upper case."""
TOOL_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
MAX_TIMEOUT_S = 14_400.0
Effects = Literal["read", "write", "external"]


class ToolConflict(CogworksError, ValueError):
    """Two tools want the same name in the same place."""


class ToolNotFound(CogworksError, LookupError):
    """There is no such tool in this view."""


class ToolFailed(Exception):
    """What a handler raises to say what went wrong, in a word for programs and a text for people."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        """`timeout`, `unavailable` and `rate_limited` may succeed when tried again."""
        super().__init__(message)


@dataclass(frozen=True)
class Call:
    """What a handler gets besides its input; everything in it is the handler's own copy."""

    profile: str
    step: str
    config: Mapping[str, Any]
    scope: Mapping[str, Any]
    """What the policy says about the tool's reach; no plan and no model can set it."""
    metadata: Mapping[str, Any]
    timeout_s: float
    """When it is over, the handler ends what it started and raises `ToolFailed("timeout", …)`."""


Handler = Callable[[dict[str, Any], Call], Mapping[str, Any]]
"""Carries out one call: input -> output, both as JSON has them."""


class Tool(Value):
    """One entry; what it does not declare is taken as the more dangerous."""

    profile: str = Field(pattern=PROFILE_NAME)
    name: str = Field(pattern=TOOL_NAME)
    handler: Handler = Field(exclude=True, repr=False)
    """A function without a memory, or an object that is shared by all views on purpose."""
    description: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    output_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    scope_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    cost: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    latency: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    capabilities: tuple[str, ...] = ()
    effects: Effects = "write"
    idempotent: bool = False
    timeout_s: float = Field(default=60.0, gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False)
    requires_approval: bool = False

    @field_validator("input_schema", "output_schema", "scope_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        return usable_schema(schema)

    @field_validator("config", "input_schema", "output_schema", "scope_schema")
    @classmethod
    def _own_copy(cls, data: dict[str, Any]) -> dict[str, Any]:
        return copied(data)

    @property
    def may_repeat(self) -> bool:
        """A second call does no harm: it only reads, and says so itself."""
        return self.effects == "read" and self.idempotent

    def snapshot(self) -> "Tool":
        """The same tool with the same handler; changing its documents changes nobody else's."""
        names = ("config", "input_schema", "output_schema", "scope_schema")
        return self.model_copy(update={name: copied(getattr(self, name)) for name in names})


def usable_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself.

    Raises:
        ValueError: it is none.
    """
    if problem := schema_problem(schema):
        raise ValueError(f"not a schema: {problem}")
    return schema


def copied(data: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON document that shares nothing with the first one.

    Raises:
        ValueError: it holds what JSON cannot say.
    """
    try:
        return json.loads(canonical(dict(data)))  # type: ignore[no-any-return]  # an object stays one
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None


class View:
    """The tools of some profiles as they were when it was made; it cannot be changed."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Raises:
        ToolConflict: two profiles have a tool of the same name.
        """
        by_name: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in by_name:
                one, other = sorted((by_name[tool.name].profile, tool.profile))
                raise ToolConflict(
                    f"tool {tool.name!r} is in profile {one!r} and in profile {other!r}; give one of them another name, "
                    "or ask for one profile."
                )
            by_name[tool.name] = tool
        self._tools = tuple(by_name[name] for name in sorted(by_name))

    def __iter__(self) -> Iterator[Tool]:
        return (tool.snapshot() for tool in self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def find(self, name: str) -> Tool | None:
        """The tool of that name, whichever of the profiles has it."""
        return next((tool.snapshot() for tool in self._tools if tool.name == name), None)

    def resolve(self, profile: str, name: str) -> Tool:
        """The tool of that name in that profile.

        Raises:
            ToolNotFound: this view has none.
        """
        tool = self.find(name)
        if tool is None or tool.profile != profile:
            known = ", ".join(each.name for each in self._tools if each.profile == profile) or "none"
            raise ToolNotFound(f"profile {profile!r} has no tool {name!r} here; it has {known}.")
        return tool


class ToolRegistry:
    """Tools by profile and name. Filled in code before anything runs; nothing in it comes from a disk or is global."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        """Raises:
        ToolConflict: a profile has two tools of one name.
        """
        self._tools: dict[tuple[str, str], Tool] = {}
        for tool in tools:
            self._add(tool)

    @property
    def profiles(self) -> tuple[str, ...]:
        return tuple(sorted({profile for profile, _ in self._tools}))

    def register(self, profile: str, name: str, *, handler: Handler, **declared: Any) -> Tool:
        """Add a tool; `declared` are the fields of `Tool`.

        Raises:
            ToolConflict: the profile has a tool of that name.
            ValueError: a field is not what it has to be; costs and latencies are finite and not negative.
        """
        return self._add(Tool(profile=profile, name=name, handler=handler, **declared))

    def merge(self, other: "ToolRegistry") -> "ToolRegistry":
        """The tools of both; neither of them changes.

        Raises:
            ToolConflict: both have a tool of the same name in the same profile.
        """
        return ToolRegistry((*self._tools.values(), *other._tools.values()))  # noqa: SLF001 - of its own kind

    def sandbox(self, *profiles: str) -> View:
        """A view that knows the tools of these profiles and no others.

        Raises:
            ToolNotFound: one of the profiles has no tool.
            ToolConflict: two of them have a tool of the same name.
        """
        for profile in profiles:
            if profile not in self.profiles:
                known = ", ".join(self.profiles) or "none"
                raise ToolNotFound(f"there is no tool for profile {profile!r}; there are tools for {known}.")
        return View(tool for tool in self._tools.values() if tool.profile in profiles)

    def _add(self, tool: Tool) -> Tool:
        key = (tool.profile, tool.name)
        if key in self._tools:
            raise ToolConflict(
                f"tool {tool.name!r} is already registered for profile {tool.profile!r}; give one of them another name."
            )
        self._tools[key] = tool
        return tool

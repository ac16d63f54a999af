"""A registry, a policy and a controller of examples; handlers that remember how they were called."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cogworks.tools.approvals import Approvals
from cogworks.tools.calling import Retries
from cogworks.tools.controller import Controller, ControllerPorts
from cogworks.tools.handoff import Artifact
from cogworks.tools.policy import Enforcer, Policy, Rule
from cogworks.tools.records import Identity, Record, Redactor, Trail
from cogworks.tools.registry import Call, Tool, ToolFailed, ToolRegistry

PROFILE = "local"
TREE = "t" * 40


def strings(*required: str, **more: Any) -> dict[str, Any]:
    """The schema of an object whose keys are texts."""
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in required},
        "required": list(required),
        **more,
    }


class Handler:
    """Ends as it is told, call by call; the last end counts for ever."""

    def __init__(self, *ends: Mapping[str, Any] | BaseException) -> None:
        self._ends = list(ends) or [{}]
        self.inputs: list[dict[str, Any]] = []
        self.calls: list[Call] = []

    def __call__(self, given: dict[str, Any], call: Call) -> Mapping[str, Any]:
        self.inputs.append(given)
        self.calls.append(call)
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        if isinstance(end, BaseException):
            raise end
        return end


def reading(registry: ToolRegistry, name: str, handler: Any = None, **declared: Any) -> Tool:
    """Register a tool that only reads and may be repeated; it serves a capability of its own name."""
    fields = {"effects": "read", "idempotent": True, "capabilities": (name,), **declared}
    profile = fields.pop("profile", PROFILE)
    return registry.register(profile, name, handler=handler or Handler(), **fields)


def allowing(*tools: str, profile: str = PROFILE, **fields: Any) -> Policy:
    """A policy that allows these tools, whatever their effects."""
    wide = {"effects": ("read", "write", "external"), "approval_for": ()}
    return Policy(profile=profile, tools={tool: Rule() for tool in tools}, **{**wide, **fields})


class World:
    """Everything a controller needs; what it waited, wrote and spent can be looked at."""

    def __init__(
        self,
        registry: ToolRegistry,
        policies: Iterable[Policy],
        *,
        approved: Iterable[str] = (),
        rejected: Iterable[str] = (),
        secrets: Iterable[str] = (),
        tree: str = TREE,
        seed: str = "seed",
        keep: Callable[[Record], None] = lambda record: None,
    ) -> None:
        self.pauses: list[float] = []
        self.enforcer = Enforcer(policies)
        self.approvals = Approvals(
            tree=lambda: tree, approved=frozenset(approved), rejected=frozenset(rejected)
        )
        self.ports = ControllerPorts(
            registry=registry,
            enforcer=self.enforcer,
            approvals=self.approvals,
            retries=Retries(seed=seed),
            sleep=self.pauses.append,
        )
        self._ticks = iter(range(1_000_000))
        self.trail = Trail(
            Identity(run_id="r1", trace_id="r1"),
            now=lambda: float(next(self._ticks)),
            redactor=Redactor(secrets),
            keep=keep,
        )
        self.controller = Controller(self.ports, self.trail)

    def events(self, *kinds: str) -> list[Record]:
        """The records of these kinds."""
        return [record for record in self.trail.records if record.event in kinds]


def failing(code: str = "unavailable", message: str = "not now") -> ToolFailed:
    """What a handler raises."""
    return ToolFailed(code, message)


def artifact(name: str, path: str, content: bytes) -> Artifact:
    """The artifact that a file is now."""
    return Artifact(name=name, path=path, sha256=hashlib.sha256(content).hexdigest())

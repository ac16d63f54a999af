"""The actions of the cycle as registered tools: what each takes, does and says, carried out under a policy.

The audit of one run's calls: a record is kept before the call that it is about.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import DeadlinePassed, Handler
from cogworks.cycle.results import Action, ActionResult, Outcome, Payload, failed
from cogworks.tools.approvals import Approval, Approvals
from cogworks.tools.calling import Budget, Retries
from cogworks.tools.executor import Executor, Means
from cogworks.tools.plans import PlanStep, StepResult
from cogworks.tools.policy import POLICY_FOLDER, Enforcer, Policy, Rule, parse_policy
from cogworks.tools.records import Identity, Record, Redactor, Trail, line_of
from cogworks.tools.registry import Call, Effects, ToolFailed, ToolRegistry
from cogworks.tools.registry import Handler as ToolHandler
from cogworks.unfit import is_full, unfit

PROFILE = "coding"
POLICY_FILE = f"policies/{PROFILE}.toml"
"""Below `.cogworks`."""
_TEXTS = {"type": "array", "items": {"type": "string"}}
_ANALYSIS = {
    "type": "object",
    "properties": {
        "widen": {"type": "boolean"},
        "mode": {"type": "string"},
        "evidence": {"type": "string"},
        "reasons": _TEXTS,
        "failing": _TEXTS,
    },
}
_PATCH = {
    "type": "object",
    "properties": {"candidate": {"type": "string"}, "change": {"type": "object"}},
    "required": ["candidate", "change"],
}
_REQUEST = {
    "type": "object",
    "properties": {"landmark": {"type": "string"}, "rung": {"type": "string"}, "reasons": _TEXTS},
}
_ANY = {"type": "object"}
_OUTPUT = {
    "type": "object",
    "properties": {"outcome": {"enum": list(Outcome)}, "summary": {"type": "string"}},
    "required": ["outcome"],
}
"""Whether an outcome fits its action the cycle judges, with the rest of the result."""


@dataclass(frozen=True)
class _Declared:
    description: str
    effects: Effects
    input_schema: Mapping[str, Any]
    timeout_s: float


_TOOLS: Mapping[Action, _Declared] = {
    Action.WRITE_TESTS: _Declared("Has tests written that fail without the change.", "external", _ANY, 3_600),
    Action.RUN_TESTS: _Declared("Runs the whole suite in isolation.", "read", _ANY, 3_600),
    Action.RUN_FOCUSED_TESTS: _Declared("Runs some of the tests in isolation.", "read", _ANY, 3_600),
    Action.ANALYZE_FAILURE: _Declared("Names the places to work on.", "read", _ANALYSIS, 3_600),
    Action.ANALYZE_TRACEBACK: _Declared("Reads a traceback.", "read", _ANALYSIS, 3_600),
    Action.INSPECT_FILES: _Declared("Looks at files of the working copy.", "read", _ANY, 600),
    Action.GENERATE_PATCH: _Declared("Asks the model for a change.", "external", _REQUEST, 3_600),
    Action.APPLY_PATCH: _Declared("Tries a change in one transaction.", "write", _PATCH, 3_600),
    Action.REVERT_PATCH: _Declared("Takes the last kept change back.", "write", _ANY, 3_600),
    Action.VALIDATE: _Declared("Has the domain service check the kept change.", "read", _ANY, 3_600),
    Action.FINALIZE: _Declared("Ends the run when its proof holds.", "read", _ANY, 600),
    Action.LINT: _Declared("Runs the linter.", "read", _ANY, 3_600),
    Action.BUILD: _Declared("Builds the working copy.", "write", _ANY, 3_600),
}
REPAIR_EFFECTS: Mapping[Action, Effects] = {Action.ANALYZE_FAILURE: "external"}
"""What actions of `cogworks fix` do beyond those of the node: there the model is asked what is wrong, and what landed of
changes that only together are a repair is taken back."""
POLICY = Policy(
    profile=PROFILE,
    summary="What Code Generation does in its own working copy.",
    effects=("read", "write", "external"),
    # The model is asked within the item's budget; a repository that wants a person before it adds `external`.
    approval_for=(),
    tools={action.value: Rule() for action in _TOOLS},
)


def coding_policy(files: Mapping[str, str]) -> Policy:
    """The policy of the profile `coding` in a repository.

    Args:
        files: those below `.cogworks`, of the default branch.

    Raises:
        ConfigurationError: the repository's file is malformed, or would loosen the built-in policy.
    """
    text = files.get(POLICY_FILE)
    if text is None:
        return POLICY
    return parse_policy(text, source=f"{POLICY_FOLDER}/{PROFILE}.toml", built_in=POLICY)


def register_actions(
    registry: ToolRegistry,
    handlers: Mapping[Action, ToolHandler],
    *,
    effects: Mapping[Action, Effects] = MappingProxyType({}),
) -> None:
    """Register the actions that somebody carries out, each under its own name.

    Args:
        effects: of actions that do something else here than in the node.
    """
    for action, handler in handlers.items():
        declared = _TOOLS[action]
        registry.register(
            PROFILE,
            action.value,
            handler=handler,
            description=declared.description,
            effects=effects.get(action, declared.effects),
            input_schema=dict(declared.input_schema),
            output_schema=_OUTPUT,
            timeout_s=declared.timeout_s,
            capabilities=(action.value.lower(),),
            # One each: `max_cost` of the policy is the number of actions. Tokens and dollars are the item's budget.
            cost=1.0,
        )


@dataclass
class _Doing:
    """The one action that is being carried out."""

    payload: Payload
    context: CycleContext
    deadline_ms: int
    result: ActionResult | None = None


class GovernedActions:
    """Carries out actions of a cycle as calls of tools; the cycle sees to it that there is one at a time."""

    def __init__(
        self,
        handlers: Mapping[Action, Handler],
        *,
        policy: Policy,
        trail: Trail,
        tree: Callable[[], str],
        approved: frozenset[str] = frozenset(),
        effects: Mapping[Action, Effects] = MappingProxyType({}),
    ) -> None:
        """Args:
        tree: names the files of the working copy as they are now.
        approved: hashes of calls that people agreed to.
        effects: as in `register_actions`.
        """
        self._actions = handlers
        self._tree = tree
        self._approved = approved
        self._doing: _Doing | None = None
        self.waiting_for: Approval | None = None
        """The call that ended the run because a person has to approve it."""
        registry = ToolRegistry()
        tools = {action: self._as_tool(handler) for action, handler in handlers.items()}
        register_actions(registry, tools, effects=effects)
        self._means = Means(
            view=registry.sandbox(PROFILE),
            enforcer=Enforcer([policy]),
            trail=trail,
            budget=Budget(policy.max_cost),
            approvals=self._approvals(),
            # The flow of the cycle decides whether an action is worth a second try.
            retries=Retries(max_attempts=1),
            sleep=_no_pause,
        )

    def handlers(self) -> dict[Action, Handler]:
        """Who carries out which action, for the cycle."""
        return dict.fromkeys(self._actions, self._carry_out)

    def _carry_out(self, payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
        self._doing = doing = _Doing(payload, context, deadline_ms)
        step = PlanStep(
            name=f"{context.cycle + 1}:{payload.action}",
            tool=payload.action.value,
            profile=PROFILE,
            input=payload.parameters,
        )
        # Each action finds another tree; what was approved is approved for that one.
        executor = Executor(replace(self._means, approvals=self._approvals()))
        executed = executor.execute([step], metadata={}, known={})
        (done,) = executed.steps
        self.waiting_for = executed.waiting_for
        return _not_done(done) if doing.result is None or done.status != "success" else doing.result

    def _approvals(self) -> Approvals:
        return Approvals(tree=self._tree, approved=self._approved)

    def _as_tool(self, handler: Handler) -> ToolHandler:
        def call_action(parameters: dict[str, Any], call: Call) -> dict[str, Any]:
            doing = self._doing
            if doing is None:
                raise ToolFailed("not_asked", "no cycle asked for this action")
            payload = doing.payload.model_copy(update={"parameters": parameters})
            limit_ms = min(doing.deadline_ms, round(call.timeout_s * 1000))
            try:
                doing.result = handler(payload, doing.context, limit_ms)
            except DeadlinePassed as error:
                message = str(error) or f"{payload.action} took more than {limit_ms} ms"
                raise ToolFailed("timeout", message) from error
            except OSError as error:
                if is_full(error) and (failure := unfit(error)) is not None:
                    # No other choice of the cycle would find room.
                    raise failure from error
                raise
            return {"outcome": doing.result.outcome.value, "summary": doing.result.summary}

        return call_action


def _not_done(done: StepResult) -> ActionResult:
    """A refusal, a wait or a failure as a result that the cycle understands."""
    if done.status == "waiting":
        text = f"{done.tool}: the policy `{PROFILE}` wants a person to approve it"
        return failed("approval_required", text).model_copy(update={"halt": text})
    error = done.error
    if error is None or error.code == "handler_error":
        # The text of a failure may hold what no log should.
        return failed("handler_error", f"{done.tool} raised {error.type if error else 'nothing'}")
    result = failed(error.code, error.message_redacted)
    return result.model_copy(update={"halt": error.message_redacted}) if done.status == "denied" else result


def _no_pause(seconds: float) -> None:
    del seconds


AUDIT_FILE = "tools-1.ndjson"
MAX_KEPT_CHARS = 500
"""Of an input or output; the event log and the replies hold the rest. So the file stays small enough for GitHub."""


class ActionAudit:
    """What was called in one run."""

    def __init__(
        self,
        identity: Identity,
        *,
        now: Callable[[], float],
        keep: Callable[[str, str], None] = lambda *_: None,
        file: str = AUDIT_FILE,
    ) -> None:
        """Args:
        file: its name.
        keep: is handed the file's name and its whole text with every record.
        """
        self._lines: list[str] = []
        self._keep = keep
        self._file = file
        self.trail = Trail(
            identity, now=now, redactor=Redactor(), keep=self._record, max_kept_chars=MAX_KEPT_CHARS
        )

    @property
    def text(self) -> str:
        """The file as it is now."""
        return "".join(self._lines)

    def close(self, *, success: bool) -> None:
        """Write the end: an audit without one is of a run that was broken off."""
        self.trail.add("controller_end", profile=PROFILE, status="success" if success else "error")

    def _record(self, record: Record) -> None:
        self._lines.append(f"{line_of(record)}\n")
        self._keep(self._file, self.text)

"""Everything a coding cycle says of itself: one type for each kind of event, and the limits and memories that they name."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from cogworks.cycle.context import Task
from cogworks.cycle.results import Action, ActionResult, Payload
from cogworks.pipeline.arbiter import Choice
from cogworks.vocabulary import Value


class Limits(Value):
    """The limits of one run; zero and negative ones are refused."""

    max_cycles: int = Field(default=100, gt=0)
    max_patches: int = Field(default=10, gt=0)
    """Transactions that may be started."""
    max_test_runs: int = Field(default=20, gt=0)
    generation_retries: int = Field(default=1, ge=0)
    """Further requests for a change after one that gave nothing valid, before the failure is analysed anew."""
    finalists: int = Field(default=2, gt=0)
    """Changes of one request that are tried."""
    cycle_timeout_s: float = Field(default=600.0, gt=0)
    total_timeout_s: float = Field(default=3600.0, gt=0)
    test_timeout_s: float = Field(default=300.0, gt=0)
    build_timeout_s: float = Field(default=600.0, gt=0)
    lint_timeout_s: float = Field(default=120.0, gt=0)
    patch_timeout_s: float = Field(default=30.0, gt=0)
    """Of undoing a patch. Applying one runs the tests inside its transaction and has their limit."""
    other_timeout_s: float = Field(default=180.0, gt=0)

    def action_ms(self, action: Action) -> int:
        """How long one action may take, in milliseconds."""
        match action:
            case Action.RUN_TESTS | Action.RUN_FOCUSED_TESTS | Action.APPLY_PATCH:
                seconds = self.test_timeout_s
            case Action.BUILD:
                seconds = self.build_timeout_s
            case Action.LINT | Action.VALIDATE:
                seconds = self.lint_timeout_s
            case Action.REVERT_PATCH:
                seconds = self.patch_timeout_s
            case _:
                seconds = self.other_timeout_s
        return round(seconds * 1000)


class Situation(Value):
    """Where a run stood when it decided."""

    environment: str
    """Names conventions and words of the questions."""
    attempts: int
    """Changes that were rolled back since the last one that was kept: 0, 1, 2 (or 3), 4 (or more)."""
    test_file: str
    """Of the first failing test; empty where none fails."""
    signature: str
    """8 hex digits of what failed last; empty where nothing does."""
    is_stalled: bool
    """The last two runs of the tests failed alike."""


class Observation(Value):
    """A decision, where it was made, and its outcome."""

    pattern: str
    """The action, and for what reason, e.g. `GENERATE_PATCH:rolled_back`."""
    situation: Situation
    worth: float = Field(ge=0, le=1)
    """1: a change was kept after it; 0.5: it was taken back; 0: none was kept."""
    age_days: int = Field(ge=0)
    source: str
    """Which log, e.g. `41/visits/0007-code_generation@57`."""
    cycle: int
    """Of that log."""


LOG_SCHEMA = 1
MAX_PAYLOAD_CHARS = 4_096
"""A longer payload of the plan is recorded by its hash alone: it follows from earlier results. No other may be longer."""


class Body(Value):
    """What an event says, apart from its place in the log."""

    kind: ClassVar[str]


class Header(Body):
    """The first line of a log: what was asked for and under which limits. Equal for two runs of the same task."""

    kind = "LOG_HEADER"
    log_schema: int = LOG_SCHEMA
    item: str
    sub_item: str = ""
    task: Task
    limits: Limits
    config_digest: str
    generators: tuple[str, ...] = ()
    """Those that are asked beside the built-in ones, in their order."""
    prompt_digests: dict[str, str] = Field(default_factory=dict)
    """Question -> what names the words it is asked in."""
    experience: tuple[Observation, ...] | None = None
    """What earlier visits came to, as far as this one makes use of it; None where memory is off."""

    @model_serializer(mode="wrap")
    def _without_memory(self, as_usual: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Where memory is off, the line and so its hash are what they were before there was any."""
        data: dict[str, Any] = as_usual(self)
        if self.experience is None:
            del data["experience"]
        return data


class CycleStart(Body):
    """A cycle begins."""

    kind = "CYCLE_START"
    context_digest: str


class ForcedInjection(Body):
    """A signal is queued."""

    kind = "FORCED_INJECTION"
    slot_id: str
    source: str
    action: Action
    reason: str
    queue_depth: int
    """With this one."""


class ForcedDropped(Body):
    """A signal will not be obeyed any more, because the run ends."""

    kind = "FORCED_DROPPED"
    slot_id: str
    source: str
    action: Action
    reason: str


class Proposed(Body):
    """A generator proposes something."""

    kind = "PROPOSAL"
    slot_id: str
    source: str
    action: Action
    payload_hash: str
    payload: Payload | None
    saliency: float
    urgency: float
    surprise: float
    score: int
    """In millionths."""


class ProposalError(Body):
    """A generator failed, or proposed what it may not."""

    kind = "PROPOSAL_ERROR"
    source: str
    error_type: str


class Weighing(Value):
    """What a layer made of one proposal."""

    slot_id: str
    before: float
    """Its saliency as it was proposed."""
    after: float = Field(ge=0, le=1)
    is_blocked: bool = False
    """It takes no part."""
    rate: float
    """How often such decisions helped, from 0 to 1."""
    observations: int


class Weighed(Body):
    """Proposals were given another weight before the choice; those it does not name keep theirs."""

    kind = "SIM_GATE"
    layer: str
    decisions: tuple[Weighing, ...]


class Selected(Body):
    """The one winner of the cycle."""

    kind = "GATE_SELECTION"
    slot_id: str
    reason: str
    winner_is_forced: bool
    score: int | None
    losers: tuple[str, ...]
    dropped: tuple[str, ...]
    forced_queue_size: int

    @classmethod
    def of(cls, choice: Choice) -> "Selected":
        """The event of a choice."""
        return cls(
            slot_id=choice.winner.slot_id,
            reason=choice.reason,
            winner_is_forced=choice.is_forced,
            score=choice.score,
            losers=choice.losers,
            dropped=choice.dropped,
            forced_queue_size=choice.forced_queue_size,
        )


class Committed(Body):
    """The slot holds the decision."""

    kind = "CGW_COMMIT"
    slot_id: str
    action: Action
    reason: str
    forced: bool
    payload_hash: str
    prev_payload_hash: str


class ExecutionStart(Body):
    """The action begins; nothing else runs until it is complete."""

    kind = "EXECUTION_START"
    action: Action
    deadline_ms: int
    """What the action is allowed; `wall` has what was left of it, where that was less."""


class ExecutionComplete(Body):
    """The result of the action."""

    kind = "EXECUTION_COMPLETE"
    success: bool
    result: ActionResult
    result_digest: str
    error_code: str


class ContextUpdate(Body):
    """The result is part of what the cycle knows; missing after an end."""

    kind = "CONTEXT_UPDATE"
    context_digest: str


class CycleEnd(Body):
    """A cycle is over."""

    kind = "CYCLE_END"
    action: Action
    terminal: bool


KINDS: Mapping[str, type[Body]] = {
    body.kind: body
    for body in (
        Header,
        CycleStart,
        ForcedInjection,
        ForcedDropped,
        Proposed,
        ProposalError,
        Weighed,
        Selected,
        Committed,
        ExecutionStart,
        ExecutionComplete,
        ContextUpdate,
        CycleEnd,
    )
}


class Event(Value):
    """One line of a log."""

    seq: int
    """From 0, the header's."""
    cycle: int
    body: Body
    prev_hash: str
    hash: str
    """Over everything but itself and `wall`."""
    wall: Mapping[str, Any] = Field(default_factory=dict)
    """What differs from run to run: times and ids. No decision depends on it."""

    @property
    def kind(self) -> str:
        return self.body.kind

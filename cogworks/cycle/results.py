"""What the coding cycle can do, what an action is given, and how it can end; nothing here depends on the clock or on this machine."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field

from cogworks.canonical import canonical
from cogworks.cycle.feedback import Attempt
from cogworks.vocabulary import Value


class Action(StrEnum):
    """One kind of step of the coding cycle."""

    RUN_TESTS = "RUN_TESTS"
    RUN_FOCUSED_TESTS = "RUN_FOCUSED_TESTS"
    WRITE_TESTS = "WRITE_TESTS"
    ANALYZE_FAILURE = "ANALYZE_FAILURE"
    ANALYZE_TRACEBACK = "ANALYZE_TRACEBACK"
    INSPECT_FILES = "INSPECT_FILES"
    GENERATE_PATCH = "GENERATE_PATCH"
    APPLY_PATCH = "APPLY_PATCH"
    REVERT_PATCH = "REVERT_PATCH"
    VALIDATE = "VALIDATE"
    LINT = "LINT"
    BUILD = "BUILD"
    FINALIZE = "FINALIZE"
    ABORT = "ABORT"
    IDLE = "IDLE"


TERMINAL = frozenset({Action.FINALIZE, Action.ABORT})
SIDE = frozenset(
    {
        Action.INSPECT_FILES,
        Action.LINT,
        Action.BUILD,
        Action.RUN_FOCUSED_TESTS,
        Action.ANALYZE_TRACEBACK,
        Action.IDLE,
    }
)
"""Whatever their outcome, the flow goes on from where it was before."""

_PRIORITIES = (
    Action.ABORT,
    Action.FINALIZE,
    Action.VALIDATE,
    Action.RUN_TESTS,
    Action.APPLY_PATCH,
    Action.GENERATE_PATCH,
    Action.ANALYZE_FAILURE,
)


def priority(action: Action) -> int:
    """Which of two equally good proposals goes first; the smaller does, and doing nothing goes last."""
    if action is Action.IDLE:
        return len(_PRIORITIES) + 1
    return _PRIORITIES.index(action) if action in _PRIORITIES else len(_PRIORITIES)


class Outcome(StrEnum):
    """How an action ended."""

    PASSED = "passed"
    FAILED = "failed"
    REGRESSED = "regressed"
    """Tests fail that passed at the last committed state."""
    UNCOLLECTED = "uncollected"
    """Tests could not even be loaded."""
    FOUND = "found"
    """At least one landmark to work on."""
    NOTHING_FOUND = "nothing_found"
    PROPOSED = "proposed"
    """At least one valid change to try."""
    NONE_VALID = "none_valid"
    """No change to try, or no tests that could be handed over."""
    DISPUTED = "disputed"
    """A handed-over test is held to be wrong by the writer of the code."""
    COMMITTED = "committed"
    ROLLED_BACK = "rolled_back"
    GREEN = "green"
    DIAGNOSTICS = "diagnostics"
    DONE = "done"
    ERROR = "error"
    """The action itself broke: a tool, a time limit, a result that makes no sense."""


_OWN: Mapping[Action, tuple[Outcome, ...]] = {
    Action.RUN_TESTS: (Outcome.PASSED, Outcome.FAILED, Outcome.REGRESSED, Outcome.UNCOLLECTED),
    Action.WRITE_TESTS: (Outcome.DONE, Outcome.NONE_VALID),
    Action.ANALYZE_FAILURE: (Outcome.FOUND, Outcome.NOTHING_FOUND),
    Action.GENERATE_PATCH: (Outcome.PROPOSED, Outcome.NONE_VALID, Outcome.DISPUTED),
    Action.APPLY_PATCH: (Outcome.COMMITTED, Outcome.ROLLED_BACK),
    Action.VALIDATE: (Outcome.GREEN, Outcome.DIAGNOSTICS),
}


def outcomes(action: Action) -> tuple[Outcome, ...]:
    """Every way in which an action can end."""
    return (*_OWN.get(action, (Outcome.DONE,)), Outcome.ERROR)


MAX_OUTPUT_CHARS = 20_000
MAX_LISTED = 200
"""Test ids and files that are listed; the counts tell the rest."""
MAX_RESULT_CHARS = 250_000
"""GitHub's GraphQL cuts off files of more than half a million bytes; the event of a result fits with room to spare."""
_CUT = "[…]"


class Payload(Value):
    """What one decision is about: the action and everything it needs to be carried out."""

    action: Action
    goal: str
    reason: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Candidate(Value):
    """A change that could be tried."""

    id: str
    """Equal for equal changes."""
    change: dict[str, Any]
    """The change itself, as the transaction takes it."""


class TestFacts(Value):
    """One run of the tests, judged against what was known to fail before."""

    __test__ = False
    exit_status: int
    collected: int
    passed: int
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    known_failures: int = 0
    """Tests that failed before anything was changed, and still do; they count nowhere else."""
    failing: tuple[str, ...] = ()
    """Ids of the tests that failed or ended with an error."""
    newly_failing: tuple[str, ...] = ()
    """Those of them that passed at the last committed state."""
    collection_errors: tuple[str, ...] = ()

    @property
    def is_passing(self) -> bool:
        """The runner was content, at least one test ran, and nothing failed or could not be loaded."""
        bad = self.failed or self.errors or self.failing or self.newly_failing or self.collection_errors
        return self.exit_status == 0 and self.collected > 0 and not bad

    @property
    def outcome(self) -> Outcome:
        """How a run with these facts ended."""
        if self.collection_errors:
            return Outcome.UNCOLLECTED
        if self.newly_failing:
            return Outcome.REGRESSED
        return Outcome.PASSED if self.is_passing else Outcome.FAILED


class TraceEntry(Value):
    """One thing that happened inside an action, e.g. `txn.rollback`."""

    kind: str
    data: dict[str, Any] = Field(default_factory=dict)
    at_s: float | None = Field(default=None, exclude=True)
    """When, by the clock of the run; written in `wall` and nowhere else, for equal runs have equal results."""


class ActionResult(Value):
    """The result of an action."""

    outcome: Outcome
    summary: str = ""
    output: str = ""
    """What a person wants to see of it; its end where it is long."""
    error_code: str = ""
    """With the outcome `error`: `timeout`, `handler_error`, `unknown_action`, `bad_result`, …"""
    tree: str | None = None
    """A digest of the files after the action; None = as before."""
    tests: TestFacts | None = None
    landmarks: tuple[str, ...] = ()
    """Places to work on, in their order."""
    alternatives: int = 0
    """Other ways that are open when the first of them fails."""
    taken_back: int = 0
    """Commits that were undone."""
    candidates: tuple[Candidate, ...] = ()
    """Changes to try, best first."""
    attempt: Attempt | None = None
    """The change that was tried and how it fared."""
    reasons: tuple[str, ...] = ()
    """What the next request for a change has to say."""
    files: tuple[str, ...] = ()
    halt: str = ""
    """Why a person has to decide; ends the run."""
    trace: tuple[TraceEntry, ...] = ()

    @property
    def is_success(self) -> bool:
        """The action did what it is for, whatever it found out."""
        return self.outcome is not Outcome.ERROR


def failed(error_code: str, summary: str) -> ActionResult:
    """The result of an action that broke."""
    return ActionResult(outcome=Outcome.ERROR, error_code=error_code, summary=summary)


def checked(action: Action, result: ActionResult) -> ActionResult:
    """The result within its limits of size, or a failure that says why it makes no sense."""
    if problem := _problem(action, result):
        return failed("bad_result", f"{action}: {problem}")
    update: dict[str, Any] = {}
    if len(result.output) > MAX_OUTPUT_CHARS:
        # The end of a tool's output says what went wrong.
        update["output"] = f"{_CUT}{result.output[len(_CUT) - MAX_OUTPUT_CHARS :]}"
    if len(result.files) > MAX_LISTED:
        update["files"] = result.files[:MAX_LISTED]
    if (
        result.tests is not None
        and max(len(result.tests.failing), len(result.tests.newly_failing)) > MAX_LISTED
    ):
        listed = {name: getattr(result.tests, name)[:MAX_LISTED] for name in ("failing", "newly_failing")}
        update["tests"] = result.tests.model_copy(update=listed)
    short = result.model_copy(update=update) if update else result
    size = len(canonical(short.model_dump(mode="json")))
    if size > MAX_RESULT_CHARS:
        return failed("result_too_large", f"{action}: {size} characters, and the limit is {MAX_RESULT_CHARS}")
    return short


def _problem(action: Action, result: ActionResult) -> str:
    if result.outcome not in outcomes(action):
        return f"cannot end as {result.outcome.value!r}"
    match result.outcome:
        case Outcome.PASSED if result.tests is None or not result.tests.is_passing:
            return "says it passed, and its facts do not"
        case Outcome.FOUND if not result.landmarks:
            return "found landmarks, and names none"
        case Outcome.PROPOSED if not result.candidates:
            return "proposed changes, and holds none"
        case Outcome.COMMITTED if not result.tree:
            return "committed, and does not say what the tree is now"
        case _:
            return ""

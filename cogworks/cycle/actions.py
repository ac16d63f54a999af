"""What the coding cycle can do, and how each of it can end."""

from collections.abc import Mapping
from enum import StrEnum


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
"""Whatever comes of these, the flow goes on from where it was before."""

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
    """A handed-over test is held to be wrong by whoever has to make it pass."""
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

"""How a node is kept within its time: asked between its moves, and what it waits for ends when its time does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cogworks.errors import (
    ApprovalNeeded,
    BudgetReached,
    CogworksError,
    Interrupted,
    InvalidReply,
    LostRace,
    NodeFailed,
)
from cogworks.nodes.contract import Failed, Outcome
from cogworks.pipeline.graph import Node, Pipeline

MAX_LAST_WORDS = 500


class Patience:
    """How long what a node waits for may take at this moment: what its visit has left, and less inside `within`."""

    def __init__(self, left_s: Callable[[], float | None], *, monotonic: Callable[[], float]) -> None:
        self._visit_left_s = left_s
        self._monotonic = monotonic
        self._ends_s: float | None = None

    @contextmanager
    def within(self, limit_s: float) -> Iterator[None]:
        """Inside the block nothing is waited for longer than until so many seconds from now; not to be nested."""
        self._ends_s = self._monotonic() + limit_s
        try:
            yield
        finally:
            self._ends_s = None

    def left_s(self) -> float | None:
        """Seconds left, never below zero; None: as long as it takes."""
        left_s = self._visit_left_s()
        if self._ends_s is None:
            return left_s
        inner_s = max(0.0, self._ends_s - self._monotonic())
        return inner_s if left_s is None else min(left_s, inner_s)


class Deadline:
    """The time one visit of a node has, counted from here until `lift`."""

    def __init__(self, pipeline: Pipeline, node: Node, *, monotonic: Callable[[], float]) -> None:
        self._limit_s = pipeline.timeout_seconds(node.id)
        self._setting = "timeout_seconds" if node.timeout_seconds is not None else "default_timeout_seconds"
        self._node = node
        self._monotonic = monotonic
        self._started_s = monotonic()
        self._is_lifted = False

    def left_s(self) -> float | None:
        """Seconds left, never below zero; None: as long as it takes."""
        if self._limit_s is None or self._is_lifted:
            return None
        return max(0.0, self._limit_s - (self._monotonic() - self._started_s))

    @property
    def is_over(self) -> bool:
        """Whether the time is used up."""
        return self.left_s() == 0.0

    def check(self) -> None:
        """Raise NodeFailed when the time is used up."""
        if self.is_over:
            raise NodeFailed(self.reason())

    def lift(self) -> None:
        """Stop counting: the node is done, and what follows has limits of its own."""
        self._is_lifted = True

    @contextmanager
    def not_yet(self) -> Iterator[None]:
        """The time begins behind the block: what is done inside has limits of its own."""
        self._is_lifted = True
        yield
        self._is_lifted, self._started_s = False, self._monotonic()

    def reason(self, last_words: str = "") -> str:
        """Why the visit failed, for people."""
        heard = f" It was waiting for this: {last_words[:MAX_LAST_WORDS]}" if last_words else ""
        return (
            f"{self._node.id}: stopped at its time limit of {self._limit_s} s. Everything it had started was "
            f"ended, and nothing was published.{heard}\nRaise `{self._setting}` in the pipeline, or give the "
            "node less to do. Then comment `/cogworks retry`."
        )


def outcome_within(deadline: Deadline, run: Callable[[], Outcome]) -> Outcome:
    """What a node came to; a failure that names the limit when its time ran out before it was done.

    Raises:
        CogworksError: what the node raised while it had time left.
    """
    try:
        outcome = run()
    except (ApprovalNeeded, BudgetReached, LostRace, Interrupted):
        raise
    except CogworksError as error:
        if deadline.is_over:
            # Whatever broke, broke because it was ended with the node.
            said = "" if str(error) == deadline.reason() else str(error)
            outcome = Failed(reason=deadline.reason(said), category="timed_out")
        elif isinstance(error, NodeFailed | InvalidReply):
            outcome = Failed(reason=str(error), category="invalid_reply")
        else:
            raise
    else:
        if deadline.is_over:
            said = outcome.reason if isinstance(outcome, Failed) else ""
            outcome = Failed(reason=deadline.reason(said), category="timed_out")
    deadline.lift()
    return outcome

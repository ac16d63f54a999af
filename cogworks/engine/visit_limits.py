"""What a visit may use: what it sets aside in the ledger before it asks a model, and the time it is kept within."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial

from cogworks.engine.record import Claimed
from cogworks.errors import (
    ApprovalNeeded,
    BudgetReached,
    CogworksError,
    Interrupted,
    InvalidReply,
    LostRace,
    NodeFailed,
)
from cogworks.ledger.lease import VisitLease
from cogworks.nodes.contract import Failed, Outcome
from cogworks.pipeline.facts import Facts
from cogworks.pipeline.graph import Node, Pipeline
from cogworks.pipeline.limits import Held, budget_key, held, max_cost_usd, tokens_of
from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease


class Purse:
    """The reservation of one visit: made by one thread at a time, renewed by any.

    The ledger holds what each runner may still spend before it says so. A call that may cost more than is left of that is not
    made before the ledger holds more: of two runners that want the same dollar, the commit of one is refused.
    """

    def __init__(
        self,
        visit_lease: VisitLease,
        facts: Facts,
        pipeline: Pipeline,
        *,
        window_usd: float,
        stop_labels: frozenset[str],
    ) -> None:
        """Args:
        window_usd: what is set aside beyond what calls under way need, for a node without a budget of its own.
        stop_labels: as for `VisitLease.checkpoint`.
        """
        self._visit_lease = visit_lease
        self._facts = facts
        self._pipeline = pipeline
        self._window_usd = window_usd
        self._stop_labels = stop_labels
        self._total = Spend()
        """Spent by this visit and reserved by its calls under way."""

    def renew(self) -> None:
        """Renew the lease with what was spent, and set aside from now on what is needed; raises as `VisitLease.checkpoint`."""
        self._checkpoint(must=False)

    def secure(self, usd: Decimal, tokens: int) -> None:
        """Have so much set aside, of which a part may be spent and in the ledger already.

        Args:
            usd, tokens: of the whole visit: what is spent and what calls under way may cost. A smaller sum than before
                needs no commit; from the next renewal on, others may have what it leaves.

        Raises:
            BudgetReached: so much is not left beside what others spent and set aside; all is as before.
            LostRace: the lease is somebody else's, or a person stopped the visit.
        """
        before, self._total = self._total, Spend(cost_usd=float(usd), input_tokens=tokens)
        is_less = self._total.cost_usd <= before.cost_usd and tokens <= before.input_tokens
        if is_less or self._is_covered():
            return
        try:
            try:
                self._checkpoint(must=True)
            except BudgetReached:
                # What others hold may be an old story.
                self._visit_lease.reread()
                self._checkpoint(must=True)
        except BaseException:
            self._total = before
            raise

    def _checkpoint(self, *, must: bool) -> None:
        self._visit_lease.checkpoint(
            stop_labels=self._stop_labels, reserving=partial(self._reserving, must=must)
        )

    def _reserving(self, state: RunState, *, must: bool) -> RunState:
        """The state in which the visit sets aside what its calls under way may cost, as far as that is left."""
        key = self._visit_lease.lease.visit_key
        lease = next(each for each in state.leases if each.visit_key == key)
        needs = self._needs(lease)
        share = held(state, self._facts, self._pipeline, lease, needs=needs, window_usd=self._window_usd)
        if must and not share.is_enough:
            raise BudgetReached(
                self._refusal(state, needs, share), needs_usd=needs.cost_usd, needs_tokens=tokens_of(needs)
            )
        now = lease.model_copy(update={"reserved_usd": share.usd, "reserved_tokens": share.tokens})
        return state.model_copy(
            update={"leases": tuple(now if each is lease else each for each in state.leases)}
        )

    def _is_covered(self) -> bool:
        lease = self._visit_lease.held
        needs = self._needs(lease)
        return needs.cost_usd <= lease.reserved_usd and tokens_of(needs) <= lease.reserved_tokens

    def _needs(self, lease: Lease) -> Spend:
        """What of the session is not in the ledger yet, paid for or under way."""
        recorded = lease.spent - self._visit_lease.lease.spent
        return Spend(
            cost_usd=max(0.0, round(self._total.cost_usd - recorded.cost_usd, 9)),
            input_tokens=max(0, tokens_of(self._total) - tokens_of(recorded)),
        )

    def _refusal(self, state: RunState, needs: Spend, share: Held) -> str:
        spent = state.spent
        return (
            f"budget: {spent.cost_usd:.2f} of {max_cost_usd(self._facts, self._pipeline):.2f} USD and "
            f"{tokens_of(spent)} of {self._facts.max_tokens} tokens are spent. Other runners of this item hold "
            f"{share.others_usd:.2f} USD and {share.others_tokens} tokens. This call needs up to "
            f"{needs.cost_usd:.4f} USD and {tokens_of(needs)} tokens. It goes on when they report what they "
            f"spent. Or raise {budget_key(self._facts, self._pipeline)} or `budgets.pipeline_max_tokens`."
        )


def purse_of(claimed: Claimed) -> Purse:
    """The reservation of a visit that was claimed."""
    labels = claimed.config.labels
    return Purse(
        claimed.visit_lease,
        claimed.facts,
        claimed.pipeline,
        window_usd=claimed.config.ledger.checkpoint_usd,
        # One that was there before the claim was obeyed or did not count.
        stop_labels=frozenset({labels.hold, labels.cancel}) - set(claimed.snapshot.issue.labels),
    )


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
            reason = "" if str(error) == deadline.reason() else str(error)
            outcome = Failed(reason=deadline.reason(reason), category="timed_out")
        elif isinstance(error, NodeFailed | InvalidReply):
            outcome = Failed(reason=str(error), category="invalid_reply")
        else:
            raise
    else:
        if deadline.is_over:
            reason = outcome.reason if isinstance(outcome, Failed) else ""
            outcome = Failed(reason=deadline.reason(reason), category="timed_out")
    deadline.lift()
    return outcome

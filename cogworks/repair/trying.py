"""Tries the diffs of one step one after the other until one is kept, within its budgets."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from cogworks.repair.outcomes import Result, Terms
from cogworks.repair.transaction import Bench, transact
from cogworks.vocabulary import Value

Budget = Literal["finalists", "actions_per_txn"]
_FATAL = ("locked", "dirty_tree", "checkpoint_failed", "no_tests", "baseline_timeout", "rollback_failed")
"""Ends that no other diff would change."""


class Budgets(Value):
    """How many diffs of one step may reach the tree; the smaller number counts."""

    finalists: int = Field(default=2, ge=1)
    actions_per_txn: int = Field(default=3, ge=1)

    @property
    def most(self) -> int:
        return min(self.finalists, self.actions_per_txn)

    def reached(self, applied: int) -> tuple[Budget, ...]:
        """The names of the budgets that this many diffs use up."""
        limits: tuple[tuple[Budget, int], ...] = (
            ("finalists", self.finalists),
            ("actions_per_txn", self.actions_per_txn),
        )
        return tuple(name for name, limit in limits if applied >= limit)


class Tried(Value):
    """What became of the diffs of one step."""

    results: tuple[Result, ...]
    """In the order they were tried; only the last of them may be kept."""
    budgets_reached: tuple[Budget, ...] = ()
    """What kept further diffs from being tried; empty when nothing did."""

    @property
    def is_kept(self) -> bool:
        return bool(self.results) and self.results[-1].is_kept

    @property
    def feedback(self) -> tuple[str, ...]:
        """Why each diff was not kept, for the next proposal."""
        return tuple(reason for result in self.results for reason in result.reasons)


def first_kept(
    diffs: Sequence[str],
    terms: Terms,
    bench: Bench,
    *,
    budgets: Budgets | None = None,
    tried: frozenset[str] = frozenset(),
) -> Tried:
    """Try the diffs in their order, each from the same tree, until one is kept or a budget is used up.

    A diff that breaks a rule never reaches the tree and uses up nothing.

    Args:
        tried: fingerprints of diffs that failed on this tree before.
    """
    allowed, results = budgets or Budgets(), list[Result]()
    for result in _results(diffs, terms, bench, tried):
        results.append(result)
        applied = sum(each.was_applied for each in results)
        if result.is_kept or result.code in _FATAL:
            break
        if applied >= allowed.most and len(results) < len(diffs):
            return Tried(results=tuple(results), budgets_reached=allowed.reached(applied))
    return Tried(results=tuple(results))


def _results(diffs: Sequence[str], terms: Terms, bench: Bench, tried: frozenset[str]) -> Iterator[Result]:
    known = tried
    for text in diffs:
        result = transact(text, terms, bench, tried=known)
        known |= {result.proposal} - {""}
        yield result

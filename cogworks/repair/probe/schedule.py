"""Which probes go next, several at a time: three levels of a feedback queue, and an upper confidence bound inside a level."""

import math
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import Field

from cogworks.repair.probe.probes import Recommendation
from cogworks.vocabulary import Value

QUANTA = (10, 20, 40)
"""Operations a probe of each level may use; those that tell little wait longer and then may do more."""
EXPLORATION = 0.5
RETURN_EVERY = 10
"""After so many probes everything is back on the first level, so that none waits for ever."""
STACK_BOOST = 0.2
INVARIANT_BOOST = 0.1


class Waiting(Value):
    """A probe that may be run, and what its runs were worth."""

    id: str
    suspect: str
    suspicion: float = Field(ge=0, le=1)
    is_on_stack: bool = False
    violates_invariant: bool = False
    level: int = Field(default=0, ge=0, lt=len(QUANTA))
    runs: int = Field(default=0, ge=0)
    total_gain: float = 0.0

    @property
    def quantum(self) -> int:
        """Operations its next run may use."""
        return QUANTA[self.level]


class Schedule(Value):
    """All probes that may be run."""

    waiting: tuple[Waiting, ...]
    probes: int = 0
    """Runs so far, of all of them."""

    def next_round(self, size: int) -> tuple[Waiting, ...]:
        """The probes to run together, best first: of the first level that is not empty, then of the next.

        How many of them run at the same time does not matter to the choice: the results of a round are folded
        in its order.
        """
        ordered = sorted(
            self.waiting, key=lambda each: (each.level, -self._index(each), -each.suspicion, each.id)
        )
        return tuple(ordered[:size])

    def with_gains(self, gains: Mapping[str, float], *, threshold: float) -> "Schedule":
        """After a round: a probe that gained more than the threshold goes up a level, the others of the round go down.

        Args:
            gains: probe -> information gain.
        """
        probes = self.probes + len(gains)
        moved = tuple(
            _moved(each, gains[each.id], threshold) if each.id in gains else each for each in self.waiting
        )
        if probes // RETURN_EVERY > self.probes // RETURN_EVERY:
            moved = tuple(each.model_copy(update={"level": 0}) for each in moved)
        return Schedule(waiting=moved, probes=probes)

    def _index(self, each: Waiting) -> float:
        if each.runs == 0:
            return math.inf
        bonus = EXPLORATION * math.sqrt(math.log(1 + self.probes) / each.runs)
        return each.total_gain / each.runs + bonus + _boost(each)


def _boost(each: Waiting) -> float:
    return STACK_BOOST * each.is_on_stack + INVARIANT_BOOST * each.violates_invariant


def _moved(each: Waiting, gained: float, threshold: float) -> Waiting:
    level = max(0, each.level - 1) if gained > threshold else min(len(QUANTA) - 1, each.level + 1)
    return each.model_copy(
        update={"level": level, "runs": each.runs + 1, "total_gain": each.total_gain + gained}
    )


INFORMATIVE_FROM = 0.05
LIKELIHOODS: Mapping[Recommendation, tuple[float, float]] = MappingProxyType(
    {
        "likely_cause": (0.9, 0.1),
        "possible": (0.6, 0.4),
        "unlikely": (0.1, 0.9),
        "unknown": (0.5, 0.5),
    }
)
"""Recommendation -> how likely a probe gives it when its suspect is the cause, and when it is not."""

Beliefs = Mapping[str, float]
"""Suspect -> probability that it is the cause; they sum to 1."""


def beliefs_from(suspicions: Sequence[tuple[str, float]]) -> Beliefs:
    """Probabilities in proportion to suspicion; equal ones where nothing is suspicious."""
    total = sum(suspicion for _, suspicion in suspicions)
    if total <= 0:
        return {suspect: 1 / len(suspicions) for suspect, _ in suspicions}
    return {suspect: suspicion / total for suspect, suspicion in suspicions}


def updated(beliefs: Beliefs, suspect: str, recommendation: Recommendation) -> Beliefs:
    """The beliefs after a probe of one suspect, by Bayes' rule; a suspect nobody heard of changes nothing."""
    if suspect not in beliefs:
        return dict(beliefs)
    is_cause, is_not = LIKELIHOODS[recommendation]
    weighed = {
        each: probability * (is_cause if each == suspect else is_not) for each, probability in beliefs.items()
    }
    total = sum(weighed.values())
    return {each: weight / total for each, weight in weighed.items()}


def variance(beliefs: Beliefs) -> float:
    """How undecided the beliefs are: the sum of p(1 - p)."""
    return sum(probability * (1 - probability) for probability in beliefs.values())


def gain(before: Beliefs, after: Beliefs) -> float:
    """The share of the variance that is gone, 0 to 1; 0 where the beliefs became less decided."""
    undecided = variance(before)
    if undecided <= 0:
        return 0.0
    return min(1.0, max(0.0, (undecided - variance(after)) / undecided))


T = TypeVar("T")


def all_of(tasks: Sequence[Callable[[], T]], *, most: int, cancel: Callable[[], None]) -> list[T]:
    """What each task gave, in their order, whichever ended first; never more than `most` of them run.

    When one raises, or this thread is interrupted, those that have not begun do not begin, and `cancel` makes those that run
    come to an end. None of them is left when this returns or raises.
    """
    errors: list[BaseException] = []
    with ThreadPoolExecutor(max_workers=most, thread_name_prefix="probe") as executor:
        futures = [executor.submit(partial(_begun, task, errors)) for task in tasks]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            if errors:
                raise errors[0]
            return [future.result() for future in futures]
        except BaseException as error:
            errors.append(error)
            cancel()
            raise


def _begun(task: Callable[[], T], errors: list[BaseException]) -> T:
    """In a thread of the pool; a failure, there or where the results are awaited, keeps others from beginning."""
    if errors:
        raise CancelledError
    try:
        return task()
    except BaseException as error:
        errors.append(error)
        raise


class AskedOnce:
    """Answers by question; a thread that asks while another waits for the answer gets the same one."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Future[Any]] = {}
        self._mutex = threading.Lock()

    def answer(self, question: Hashable, ask: Callable[[], Any]) -> Any:
        """The answer, or what asking raised; a failure is not remembered."""
        with self._mutex:
            known = self._answers.get(question)
            mine = known is None
            if known is None:
                known = self._answers[question] = Future()
        if not mine:
            return known.result()
        try:
            known.set_result(ask())
        except BaseException as error:
            with self._mutex:
                del self._answers[question]
            known.set_exception(error)
            raise
        return known.result()

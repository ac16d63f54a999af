import threading
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.repair.probe.schedule import all_of
from tests.limits import ENDS_WITHIN_S


class Alive:
    """Counts how many tasks run at the same time."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self.now = self.most = 0

    def __enter__(self) -> None:
        with self._mutex:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._mutex:
            self.now -= 1


def test_three_work_at_the_same_time_and_never_a_fourth() -> None:
    alive, together = Alive(), threading.Barrier(3, timeout=60)

    def task(number: int) -> int:
        with alive:
            # Nobody comes past here until three are here.
            together.wait(timeout=ENDS_WITHIN_S)
            return number

    found = all_of([partial(task, number) for number in range(6)], most=3, cancel=lambda: None)

    assert found == [0, 1, 2, 3, 4, 5]
    assert alive.most == 3


@given(st.permutations(range(5)))
@settings(deadline=None)
def test_results_come_in_the_order_of_the_tasks_whichever_ends_first(order: list[int]) -> None:
    ended = [threading.Event() for _ in order]

    def task(number: int) -> int:
        place = order.index(number)
        if place:
            assert ended[order[place - 1]].wait(60)
        ended[number].set()
        return number

    assert all_of([partial(task, number) for number in range(5)], most=5, cancel=lambda: None) == [*range(5)]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_task_that_breaks_cancels_those_that_run_and_those_that_wait(error: type[BaseException]) -> None:
    cancelled, begun = threading.Event(), list[str]()
    others_run = threading.Barrier(3, timeout=60)

    def breaks() -> None:
        others_run.wait(timeout=ENDS_WITHIN_S)
        raise error

    def runs() -> None:
        begun.append("runs")
        others_run.wait(timeout=ENDS_WITHIN_S)
        assert cancelled.wait(60)

    def waits() -> None:
        begun.append("waits")

    tasks: list[Callable[[], None]] = [breaks, runs, runs, *[waits] * 20]
    with pytest.raises(error):
        all_of(tasks, most=3, cancel=cancelled.set)

    assert begun.count("runs") == 2
    assert begun.count("waits") == 0
    assert not any(thread.name.startswith("probe") for thread in threading.enumerate())

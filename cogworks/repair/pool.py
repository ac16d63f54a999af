"""Does several things at the same time, a bounded number of them, and hands the results back in the order of the tasks."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def all_of(tasks: Sequence[Callable[[], T]], *, most: int, cancel: Callable[[], None]) -> list[T]:
    """What each task gave, in their order, whichever ended first; never more than `most` of them run.

    When one raises, or this thread is interrupted, the others are cancelled: those that have not begun do not begin, and
    `cancel` makes those that run come to an end. None of them is left when this returns.
    """
    with ThreadPoolExecutor(max_workers=most, thread_name_prefix="probe") as executor:
        futures = [executor.submit(task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            cancel()
            raise

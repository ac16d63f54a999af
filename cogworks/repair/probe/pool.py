"""Does several things at the same time, a bounded number of them, and hands the results back in the order of the tasks.

What several probes want to know of the same files is asked once, whoever asks first.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

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
    """In a thread of the pool; whoever breaks, there or where the results are awaited, keeps others from beginning."""
    if errors:
        raise CancelledError
    try:
        return task()
    except BaseException as error:
        errors.append(error)
        raise


class AskedOnce:
    """Answers by question; whoever asks while another waits for the answer gets the same one."""

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

"""What several probes want to know of the same files is asked once, whoever asks first."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any


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

"""Renews a lease from a thread of its own while the node blocks."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

from cogworks.errors import CogworksError


class Heartbeat:
    """Calls `renew` every `interval_s` seconds until it is left; a renewal that fails is left to the next one.

    The failure that matters, a lease that is gone, is remembered by the keeper and raised in the node's own thread.
    """

    def __init__(self, renew: Callable[[], None], *, interval_s: float, warn: Callable[[str], None]) -> None:
        self._renew = renew
        self._interval_s = interval_s
        self._warn = warn
        self._over = Event()
        self._thread = Thread(target=self._beat, name="lease-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._interval_s):
            try:
                self._renew()
            except CogworksError as error:
                self._warn(f"the lease could not be renewed: {error}")

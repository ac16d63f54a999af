"""What happens inside the actions of a repair, written down with its time until the action tells it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from cogworks.coding.context import CycleContext
from cogworks.coding.executor import Handler
from cogworks.coding.results import ActionResult, Payload, TraceEntry

BROKEN = "action.broken"
"""What was told before it belongs to an action that raised; nothing of that is under way any more."""


class Chronicle:
    """Entries of the action at hand, in their order."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: list[TraceEntry] = []

    def tell(self, kind: str, **data: Any) -> None:
        """Something happens now."""
        self._entries.append(TraceEntry(kind=kind, data=data, at_s=self._now()))

    @property
    def untold(self) -> tuple[TraceEntry, ...]:
        """What no result has told of yet; after a run that was broken off, the beginning of its last action."""
        return tuple(self._entries)

    def taken(self) -> tuple[TraceEntry, ...]:
        """All that was told since this was asked last."""
        entries, self._entries = tuple(self._entries), []
        return entries

    def guarded(self, handler: Handler) -> Handler:
        """The handler; when it raises, whoever tells the next result also tells that this one broke."""

        @wraps(handler)
        def carry_out(payload: Payload, context: CycleContext, deadline_ms: int) -> ActionResult:
            is_done = False
            try:
                result = handler(payload, context, deadline_ms)
                is_done = True
            finally:
                if not is_done and self._entries:
                    self.tell(BROKEN, action=payload.action.value)
            return result

        return carry_out

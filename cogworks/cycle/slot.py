"""The one place that holds the decision of a cycle: replaced whole, and once a cycle."""

from threading import Lock

from cogworks.cycle.results import Payload
from cogworks.errors import CogworksError
from cogworks.vocabulary import Value

NOTHING = "0" * 64


class SerialityViolation(CogworksError):
    """Two decisions for one cycle, or a cycle out of its turn; nothing was changed."""


class Decision(Value):
    """What the slot holds."""

    cycle: int
    slot_id: str
    payload: Payload
    payload_hash: str


class Slot:
    """Holds the latest decision; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: Decision | None = None

    @property
    def held(self) -> Decision | None:
        """The latest decision; always a whole one."""
        return self._held

    @property
    def payload_hash(self) -> str:
        """Of the latest decision; zeros before the first."""
        return NOTHING if self._held is None else self._held.payload_hash

    def commit(self, decision: Decision) -> None:
        """Replace the decision of the cycle before with this one.

        Raises:
            SerialityViolation: its cycle has one already, or is not the next.
        """
        with self._lock:
            wanted = 1 if self._held is None else self._held.cycle + 1
            if decision.cycle != wanted:
                problem = "has a decision already" if decision.cycle < wanted else "is not the next"
                raise SerialityViolation(
                    f"cycle {decision.cycle} {problem} (next is {wanted}); {decision.slot_id!r} was not committed."
                )
            self._held = decision

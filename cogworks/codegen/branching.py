"""Follows one branch at a time and keeps what has to land together whole: all of it, or nothing.

What happens inside the actions of a repair, written down with its time until the action tells it.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from cogworks.codegen.repair_job import History, Notes
from cogworks.cycle.context import CycleContext
from cogworks.cycle.executor import Handler
from cogworks.cycle.results import ActionResult, Payload, TraceEntry
from cogworks.domain_services.failing import listed
from cogworks.repair.branches import Branch, Course, course_of
from cogworks.repair.landmarks import RepairTarget
from cogworks.repair.transact.measure import improved
from cogworks.repair.transact.outcomes import Result, TransactionEvent


class Branching:
    """Where a repair stands among its branches, and the way back to the last state that is whole."""

    def __init__(self, tree: History, notes: Notes, tell: Callable[..., None]) -> None:
        """Args:
        tell: called for every turn with its kind, and data by name.
        """
        self._tree = tree
        self._notes = notes
        self._tell = tell
        self._course: Course | None = None
        self._commits: list[int] = []
        """How many commits each unit that was kept consists of."""
        self._has_improved = False
        self._kept: list[int] = []
        """Numbers of the changes that are in the tree, each a commit."""
        self._count = 0

    @property
    def landmarks(self) -> tuple[RepairTarget, ...]:
        """What is left to do on the branch that is followed."""
        return self._course.landmarks if self._course else ()

    @property
    def ways_left(self) -> int:
        return self._course.ways_left if self._course else 0

    @property
    def is_last(self) -> bool:
        """Whether the landmark at hand is the end of the repair."""
        return self._course is not None and self._course.ends_here

    @property
    def is_part(self) -> bool:
        """Whether the change at hand need not improve anything, since what lands with it does."""
        course = self._course
        if course is None or len(course.unit) < 2:
            return False
        return self._has_improved or len(course.landed) + 1 < len(course.unit)

    def begin(self, branches: Sequence[Branch]) -> None:
        """Follow the most useful of these branches instead of what was followed before."""
        self._course = course_of(branches)
        self._note_course("branch.chosen")

    def turn(self) -> None:
        """Follow what is left when the landmark at hand failed. What landed of its unit has to be undone before."""
        self._course = self._course.after_failure() if self._course else None
        self._note_course("branch.chosen")

    def before_change(self) -> tuple[str, ...]:
        """A change is about to be tried: what lands together begins with a savepoint; the landmarks it is for."""
        course = self._course
        if course is None or len(course.unit) < 2 or course.landed:
            return ()
        self._tree.save()
        self._has_improved = False
        return tuple(each.id for each in course.unit)

    def after_change(self, result: Result) -> None:
        """A change for the landmark at hand was kept."""
        if self._course is None:
            return
        unit, before = len(self._course.unit), self._course
        self._count += 1
        self._kept.append(self._count)
        self._notes.kept.append(_kept_in_words(self._count, before.landmarks[0], result))
        if result.before is not None and result.after is not None:
            self._has_improved |= improved(result.before, result.after)
        self._course = before.after_kept()
        if self._course.landed:
            return
        self._tree.release()
        self._commits.append(unit)
        if not before.is_settled:
            self._note_course("branch.settled")

    def undo_part(self) -> int:
        """Undo what landed of a unit that is not whole; how many commits that were.

        Raises: as `History.go_back`.
        """
        course = self._course
        count = self._tree.go_back()
        if count:
            self._tell("savepoint.restored", commits=count)
            self._tell_of_loss(count)
        if course is not None:
            self._course = course.model_copy(update={"landed": ()})
        return count

    def take_back(self) -> int:
        """Undo the unit that was kept last; how many commits that were.

        Raises: as `History.take_back`.
        """
        count = self._commits.pop() if self._commits else 1
        for _ in range(count):
            self._tree.take_back()
        self._tell_of_loss(count)
        return count

    def _tell_of_loss(self, commits: int) -> None:
        """The last of the changes that were kept are not in the tree any more."""
        lost = [f"change {number}" for number in self._kept[-commits:]]
        del self._kept[-commits:]
        if lost:
            self._notes.kept.append(f"taken back, and not in the repository any more: {', '.join(lost)}")

    def _note_course(self, kind: str) -> None:
        course = self._course
        if course is None:
            return
        self._notes.courses = [*self._notes.courses, course]
        believed = {each.id: round(each.probability, 6) for each in course.branches}
        useful = {each.id: round(each.expected_utility, 6) for each in course.branches}
        self._tell(kind, branch=course.current, probabilities=believed, expected_utilities=useful)


def _kept_in_words(number: int, landmark: RepairTarget, result: Result) -> str:
    """What a change was for, and which of the failing tests pass with it."""
    text = f"change {number} was kept and is in the repository now: {' '.join(landmark.intent.split())}"
    if result.before is None or result.after is None:
        return text
    passing = sorted(result.before.failing & result.after.passing)
    failing = sorted(result.before.failing - result.after.passing)
    repaired = (
        f"failing before and passing now: {listed(passing)}"
        if passing
        else "no failing test passes by it alone"
    )
    left = f"; still failing: {listed(failing)}" if failing else ""
    return f"{text}; {repaired}{left}"


BROKEN = "action.broken"
"""The entries before it belong to an action that raised; nothing of that is under way any more."""


class Chronicle:
    """Entries of the action at hand, in their order."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: list[TraceEntry] = []

    def tell(self, kind: str, **data: Any) -> None:
        """Something happens now."""
        self._entries.append(TraceEntry(kind=kind, data=data, at_s=self._now()))

    def tell_moment(self, moment: TransactionEvent) -> None:
        """Something happens in a transaction."""
        self.tell(moment.kind, step=moment.step, **moment.data)

    @property
    def unreported(self) -> tuple[TraceEntry, ...]:
        """What no result has reported yet; after a run that was broken off, the beginning of its last action."""
        return tuple(self._entries)

    def take_entries(self) -> tuple[TraceEntry, ...]:
        """All entries since the last call."""
        entries, self._entries = tuple(self._entries), []
        return entries

    def guarded(self, handler: Handler) -> Handler:
        """The handler; when it raises, the next result also says that this one broke."""

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

"""How a run of the coding cycle ended, for people and for the node's output."""

from cogworks.cycle.actions import Action, Outcome
from cogworks.vocabulary import Value


class CycleSummary(Value):
    """One finished cycle."""

    cycle: int
    action: Action
    outcome: Outcome
    was_forced: bool
    slot_id: str
    losers: tuple[str, ...]
    decision_ms: float
    execution_ms: float


class RunResult(Value):
    """What came of a run."""

    success: bool
    """FINALIZE was carried out; nothing else is a success."""
    final_action: Action | None
    """None when the run was broken off."""
    cycles_executed: int
    total_ms: float
    tests_passing: bool
    patches_applied: int
    """Transactions kept and not reverted."""
    seriality_maintained: bool
    error: str = ""
    """Why it was aborted."""
    history: tuple[CycleSummary, ...] = ()

    def summary(self) -> str:
        """One line."""
        status = "SUCCESS" if self.success else "FAILURE"
        cycles = f"{self.cycles_executed} cycle{'' if self.cycles_executed == 1 else 's'}"
        return (
            f"[{status}] {self.final_action or 'broken off'} after {cycles} ({self.total_ms:.1f}ms). "
            f"Tests passing: {self.tests_passing}. Patches applied: {self.patches_applied}."
        )

"""What a process that sweeps again and again may skip, because nothing changed since it last looked."""

from cogworks.forge.sweep import Listed, Resting, Seen, Verdict, awaited_issues, waited_for
from cogworks.vocabulary import Value


class Look(Value):
    """What an earlier sweep of this process came to for one item."""

    fingerprint: str
    outcome: str
    failures: int = 0
    """Steps in a row that ended with an error."""
    sweep: int = 0
    """When that was, counted in sweeps."""


MAX_SKIPPED_SWEEPS = 64
_RAN_ITS_COURSE = frozenset(
    {
        "waiting",
        "done",
        "failed",
        "rejected",
        "halted",
        "usage_error",
        "configuration_error",
        "ledger_unreadable",
        "budget_reached",
    }
)


def fingerprint(item: Listed, seen: Seen) -> str:
    """Everything visible that a decision about the item could hang on: equal while nobody did anything."""
    tip = seen.tips.get(item.number)
    pulls = [
        f"{p.number}:{p.state}:{p.head_oid}:{p.is_approved}:{p.change_requests}:{p.has_failed_checks}:{p.is_conflicting}"
        for p in seen.own_pulls(item)
    ]
    awaited = [f"#{number}" for number in awaited_issues(waited_for(tip), seen)] if tip else []
    parts = [item.updated_at.isoformat(), tip.oid if tip else "", seen.config_oid, *pulls, *awaited]
    return "|".join(parts)


def remembered(verdict: Verdict, look: Look | None, current: str, *, sweep: int) -> Verdict:
    """The verdict in the light of this process's earlier look at the item.

    An item that did not move and has not changed since is left alone; one whose steps keep failing is tried after 1,
    2, 4, … sweeps.
    """
    if look is None or isinstance(verdict, Resting):
        return verdict
    if look.outcome in _RAN_ITS_COURSE and look.fingerprint == current:
        return Resting(why="unchanged", reason=f"{look.outcome}; nothing changed since")
    pause = min(2**look.failures, MAX_SKIPPED_SWEEPS) if look.failures else 0
    if sweep < look.sweep + pause:
        left = look.sweep + pause - sweep
        return Resting(
            why="unchanged", reason=f"{look.outcome} {look.failures} times; tried again in {left} sweep(s)"
        )
    return verdict

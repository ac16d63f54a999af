"""Deliberate failures, their exit codes and whether the same step may succeed later.

CogworksError                 1   a failure whose text goes to the operator unchanged
├── UsageError                2   the command line, the URL or the state of the item does not fit
├── ConfigurationError        2   a file under `.cogworks/` is missing or malformed
├── MachineUnfit              2   git is missing, a directory cannot be written, a disk is full
├── SafetyHalt                3   the item's ledger is gone, was set back, or names what is not the item's
├── PermissionRefused         4   GitHub or the model provider refused who we are
├── BudgetReached             5   the next call would cost more than what is left
├── ApprovalNeeded            0   a person has to approve a call before the visit goes on
├── ToBeContinued             0   the visit's next step goes on with what this one kept
├── NodeFailed                1   a node gave up for good
├── InvalidReply              1   the model's reply never fitted its schema
├── TryAgainLater            75   rate limit, outage: the same step may succeed unchanged
├── LostRace                  0   another runner moved the ledger first
│   └── VisitStopped          0   a person stopped the visit, or what others recorded did
└── Interrupted             130   Ctrl-C
"""

from collections.abc import Sequence
from typing import ClassVar


class CogworksError(Exception):
    """A deliberate failure; its `str` goes to the operator unchanged."""

    exit_code: ClassVar[int] = 1
    outcome: ClassVar[str] = "failed"
    """The word `--json` uses for this end of a step."""


class UsageError(CogworksError):
    """What was asked for does not fit: a bad URL, an item that is not ready, an unknown option value."""

    exit_code = 2
    outcome = "usage_error"


class ConfigurationError(CogworksError):
    """One or more problems in one configuration file, all reported at once."""

    exit_code = 2
    outcome = "configuration_error"

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.source = source
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{source} has {len(self.problems)} problem(s):\n{listed}")


class MachineUnfit(CogworksError):
    """This machine lacks what the command needs: a program, a directory it may write, room on the disk."""

    exit_code = 2
    outcome = "configuration_error"


class SafetyHalt(CogworksError):
    """Going on would be unsafe; a person has to look."""

    exit_code = 3
    outcome = "halted"


class PermissionRefused(CogworksError):
    """GitHub or the model provider does not accept the credential for this."""

    exit_code = 4
    outcome = "permission_refused"


class BudgetReached(CogworksError):
    """The next call could cost more than what is left of the budget.

    Args:
        needs_usd: the most that the call can cost, with `needs_tokens`; None: the limit is not ours.
    """

    exit_code = 5
    outcome = "budget_reached"

    def __init__(
        self, message: str, *, needs_usd: float | None = None, needs_tokens: int | None = None
    ) -> None:
        self.needs_usd = needs_usd
        self.needs_tokens = needs_tokens
        super().__init__(message)


class ApprovalNeeded(CogworksError):
    """The visit goes on when a person has approved one call of a tool.

    Args:
        call_hash: what an approval has to name.
        shown: the call's input without secrets, as JSON.
        lapsed: who approved it earlier, and why that does not count.
        code: in which way the work left its bounds, where that is why; one of `vocabulary.ScopeCode`.
    """

    exit_code = 0
    outcome = "waiting"

    def __init__(
        self, message: str, *, tool: str, call_hash: str, shown: str, lapsed: str = "", code: str = ""
    ) -> None:
        self.lapsed = lapsed
        self.code = code
        self.tool = tool
        self.call_hash = call_hash
        self.shown = shown
        super().__init__(message)


class ToBeContinued(CogworksError):
    """The visit takes longer than one step shall: the next one goes on with what this one has kept in the ledger."""

    exit_code = 0
    outcome = "succeeded"


class NodeFailed(CogworksError):
    """A node gave up for good; the text says what it tried."""


class InvalidReply(CogworksError):
    """The model's reply never fitted its schema, not even after the repair round."""


class TryAgainLater(CogworksError):
    """The same step may succeed unchanged after `retry_after_s` seconds (None: unknown)."""

    exit_code = 75
    outcome = "try_again_later"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        is_timeout: bool = False,
        is_overload: bool = False,
    ) -> None:
        self.retry_after_s = retry_after_s
        self.is_timeout = is_timeout
        """No answer came in time; whether it was asked for with effect is not known."""
        self.is_overload = is_overload
        """The other side has too much to do; another that does the same may be free."""
        super().__init__(message)


class LostRace(CogworksError):
    """Another runner moved the ledger first; this one effected nothing."""

    exit_code = 0
    outcome = "backed_off"


class VisitStopped(LostRace):
    """The visit is still this runner's, and has to end: a person wants it, or what others recorded meanwhile."""


class Interrupted(CogworksError):
    """The operator pressed Ctrl-C; the item stays resumable."""

    exit_code = 130
    outcome = "interrupted"

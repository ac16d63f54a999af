"""Puts the ledgers of items that are long closed away, and removes what their runs left on this machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from cogworks.errors import TryAgainLater
from cogworks.github.ledgers import IssueEnd, LedgerTip, Listed, Moved
from cogworks.ledger.history import ENDINGS, parse_message
from cogworks.pipeline.visits import LEASE_MARGIN_S, LEASE_TTL_S
from cogworks.settings.config import Config, parse_config
from cogworks.vocabulary import IssueNumber, RunId, Value

AT_REST = ENDINGS | {"done", "repaired"}
"""What the newest commit of a ledger says while nobody works on the item."""
LEASE_LIFE = timedelta(seconds=LEASE_TTL_S + LEASE_MARGIN_S)


class Repository(Protocol):
    """A repository's ledgers on GitHub."""

    def ledgers(self) -> Listed: ...
    def ends(self, numbers: Sequence[IssueNumber]) -> Mapping[IssueNumber, IssueEnd]: ...
    def archive(self, repository_id: str, tips: Sequence[LedgerTip]) -> Sequence[Moved]: ...


@dataclass(frozen=True)
class ArchivePorts:
    """The world as archiving uses it."""

    repository: Repository
    has_work_directory: Callable[[RunId], bool]
    remove_work_directory: Callable[[RunId], None]


class Kept(Value):
    """A ledger that stays a branch, and why."""

    issue: IssueNumber
    reason: str


class Archived(Value):
    """A ledger that was put away, or would be."""

    issue: IssueNumber
    oid: str
    closed_at: datetime
    ref: str
    """Empty in a dry run."""


class Collected(Value):
    """What one collection did."""

    repository: str
    keep_days: int
    archived: tuple[Archived, ...]
    kept: tuple[Kept, ...]
    removed_runs: tuple[RunId, ...]
    """Runs whose work directories were removed from this machine, or would be."""
    warnings: tuple[str, ...] = ()


def why_kept(tip: LedgerTip, end: IssueEnd, *, now: datetime, keep_days: int) -> str:
    """Why a ledger stays a branch; empty when it may be put away.

    Args:
        now: GitHub's clock.
    """
    if not end.is_there:
        return "its issue is not there (deleted or moved); look at it yourself"
    if end.closed_at is None:
        return "its issue is open"
    if (closed_for := now - end.closed_at) < timedelta(days=keep_days):
        return f"its issue was closed {closed_for.days} days ago; it stays for {keep_days}"
    message = parse_message(tip.message)
    is_at_rest = message is None or message.verb in AT_REST
    if not is_at_rest and now - tip.committed_date < LEASE_LIFE:
        return "somebody works on it in spite of its closed issue"
    return ""


def collect(
    ports: ArchivePorts, *, only: IssueNumber | None, keep_days: int | None, dry_run: bool
) -> Collected:
    """Put away every ledger that may be, and remove the work directories of closed items.

    Args:
        only: this issue's ledger alone.
        keep_days: instead of `[ledger] keep_days` of the repository.

    Raises:
        ConfigurationError: the repository's `config.toml` is malformed and `keep_days` is not given.
        CogworksError: GitHub cannot be read, or refuses.
    """
    listed = ports.repository.ledgers()
    days = _keep_days(listed.config_text) if keep_days is None else keep_days
    tips = [tip for tip in listed.tips if only in (None, tip.issue)]
    ends = ports.repository.ends([tip.issue for tip in tips])
    reasons = {
        tip.issue: why_kept(tip, ends[tip.issue], now=listed.server_date, keep_days=days) for tip in tips
    }
    due = [tip for tip in tips if not reasons[tip.issue]]
    moved = {} if dry_run else {m.issue: m for m in ports.repository.archive(listed.repository_id, due)}
    for issue, move in moved.items():
        if move.problem:
            reasons[issue] = f"GitHub left it where it is: {move.problem}"
    closed = [tip for tip in tips if ends[tip.issue].closed_at is not None]
    removed, warnings = _remove(ports, closed, dry_run=dry_run)
    return Collected(
        repository=listed.name_with_owner,
        keep_days=days,
        archived=tuple(
            Archived(
                issue=tip.issue,
                oid=tip.oid,
                closed_at=closed_at,
                ref=moved[tip.issue].ref if tip.issue in moved else "",
            )
            for tip in due
            if not reasons[tip.issue] and (closed_at := ends[tip.issue].closed_at) is not None
        ),
        kept=tuple(Kept(issue=issue, reason=reason) for issue, reason in reasons.items() if reason),
        removed_runs=removed,
        warnings=warnings,
    )


def _keep_days(config_text: str | None) -> int:
    if config_text is None:
        return int(Config.model_fields["ledger"].default.keep_days)
    return parse_config(config_text).ledger.keep_days


def _remove(
    ports: ArchivePorts, closed: Sequence[LedgerTip], *, dry_run: bool
) -> tuple[tuple[RunId, ...], tuple[str, ...]]:
    removed: list[RunId] = []
    warnings: list[str] = []
    for tip in closed:
        message = parse_message(tip.message)
        if message is None or not ports.has_work_directory(message.run_id):
            continue
        try:
            if not dry_run:
                ports.remove_work_directory(message.run_id)
        except TryAgainLater as error:
            warnings.append(str(error))
        else:
            removed.append(message.run_id)
    return tuple(removed), tuple(warnings)

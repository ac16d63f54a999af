"""Sweeps over a repository: look through its open items, take a step for each that can move, rest, and again.

What did not change since this process last looked is passed over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from cogworks.engine.consider import Considered
from cogworks.errors import CogworksError, ConfigurationError, TryAgainLater, UsageError
from cogworks.forge.addresses import IssueAddress, RepositoryAddress
from cogworks.forge.sweep import (
    Listed,
    Movable,
    Resting,
    Seen,
    Verdict,
    awaited_issues,
    has_begun,
    judge,
    waited_for,
)
from cogworks.pipeline.decision import Finish, GiveUpOn, Run
from cogworks.pipeline.limits import shortage
from cogworks.pipeline.position import instance_name
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

    An item that did not move and has not changed since is left alone; one whose steps keep failing is tried after 2,
    4, 8, … sweeps.
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


JITTER = 0.2
"""A pause between sweeps is up to this share longer than asked, so that runners do not march in step."""
MOVED = frozenset({"succeeded"})
QUIET = frozenset({"succeeded", "done", "waiting", "backed_off"})
SEVEREST = (3, 4, 1, 2, 5, 130, 75)
"""Exit codes, the one that matters most first."""


class StepDone(Value):
    """What one step said at its end, from `process --json`."""

    exit_code: int
    outcome: str
    node: str = ""
    message: str = ""
    requests: Mapping[str, int] = {}
    cost_usd: float = 0.0
    duration_s: float = 0.0


class Row(Value):
    """What a sweep did about one item."""

    number: int
    url: str
    title: str
    action: Literal["stepped", "skipped"]
    reason: str
    """Why it could move, or why it was passed over."""
    step: StepDone | None = None


class SweepReport(Value):
    """One sweep."""

    rows: tuple[Row, ...]
    problem: str = ""
    """What is wrong with the repository's configuration; each item's step reports it to those who asked for it."""
    is_cut_short: bool = False
    """The operator asked to stop before everything that could move had its step."""

    @property
    def exit_code(self) -> int:
        """0 where every step went well or had nothing to do, else the code that matters most."""
        codes = {row.step.exit_code for row in self.rows if row.step}
        codes |= {ConfigurationError.exit_code} if self.problem else set()
        worst = next((code for code in SEVEREST if code in codes), max(codes, default=0))
        return worst or (130 if self.is_cut_short else 0)


class PollPorts(Protocol):
    """The world as the sweeps use it."""

    def look(self, since: datetime | None) -> Seen:
        """Every open item; raises CogworksError."""

    def step(self, item: Listed) -> StepDone:
        """One step of one item; never raises for what goes wrong inside the step."""

    def is_stopping(self) -> bool:
        """Whether the operator asked to end after the running step."""

    def rest(self, pause_s: float) -> None:
        """Sleep, or less where the operator asks to stop."""

    def say(self, line: str) -> None:
        """One line of progress."""


@dataclass
class Poller:
    """Sweeps of one process over one repository; what it remembers only saves requests."""

    world: PollPorts
    max_steps: int | None = None
    _looks: dict[int, Look] = field(default_factory=dict)
    _since: datetime | None = None
    _count: int = 0

    def sweep(self) -> SweepReport:
        """Look once and take a step for every item that can move, the longest untouched first.

        Raises:
            CogworksError: the repository could not be looked through; no step was taken.
        """
        seen = self.world.look(self._since)
        self._since = seen.server_date
        self._count += 1
        rows: dict[int, Row] = {}
        movable: list[tuple[Listed, str]] = []
        for item in seen.items:
            verdict = judge(item, seen)
            verdict = remembered(
                verdict, self._looks.get(item.number), fingerprint(item, seen), sweep=self._count
            )
            if isinstance(verdict, Movable):
                movable.append((item, verdict.reason))
            else:
                rows[item.number] = _skipped(item, verdict.reason)
        is_cut_short = self._step_through(seen, self._in_turn(movable, seen), rows)
        sorted_rows = tuple(rows[item.number] for item in seen.items)
        return SweepReport(rows=sorted_rows, problem=seen.problem, is_cut_short=is_cut_short)

    def _in_turn(self, movable: Sequence[tuple[Listed, str]], seen: Seen) -> list[tuple[Listed, str]]:
        """Those whose last step failed come last, so that they do not use up `--max` for the others."""

        def turn(entry: tuple[Listed, str]) -> tuple[int, datetime, int]:
            item, _ = entry
            look, tip = self._looks.get(item.number), seen.tips.get(item.number)
            touched = tip.committed_date if tip else item.updated_at
            return (look.failures if look else 0, touched, item.number)

        return sorted(movable, key=turn)

    def _step_through(self, seen: Seen, due: Sequence[tuple[Listed, str]], rows: dict[int, Row]) -> bool:
        steps = 0
        is_cut_short = False
        for item, reason in due:
            if self.world.is_stopping():
                is_cut_short = True
                rows[item.number] = _skipped(item, f"{reason}; stopped before its turn")
            elif self.max_steps is not None and steps >= self.max_steps:
                rows[item.number] = _skipped(
                    item, f"{reason}; --max {self.max_steps} steps were taken already"
                )
            else:
                steps += 1
                self.world.say(f"#{item.number}: {reason}")
                done = self.world.step(item)
                self._remember(item, seen, done)
                rows[item.number] = Row(
                    number=item.number,
                    url=item.url,
                    title=item.title,
                    action="stepped",
                    reason=reason,
                    step=done,
                )
        return is_cut_short

    def _remember(self, item: Listed, seen: Seen, done: StepDone) -> None:
        before = self._looks.get(item.number)
        failures = 0 if done.outcome in QUIET else (before.failures if before else 0) + 1
        self._looks[item.number] = Look(
            fingerprint="" if done.outcome in MOVED else fingerprint(item, seen),
            outcome=done.outcome,
            failures=failures,
            sweep=self._count,
        )


def keep_sweeping(
    poller: Poller,
    *,
    interval_s: float,
    jitter: Callable[[], float],
    report: Callable[[SweepReport], None],
) -> SweepReport | None:
    """Sweep after sweep until the operator asks to stop; the last report, None where none was finished.

    An outage and a broken configuration are waited out. Each pause is `interval_s` and up to a fifth more.

    Args:
        jitter: 0.0 to 1.0.

    Raises:
        CogworksError: the token is not accepted, or the repository is not there.
    """
    world = poller.world
    last: SweepReport | None = None
    while not world.is_stopping():
        pause_s = interval_s * (1 + JITTER * jitter())
        try:
            last = poller.sweep()
            report(last)
        except TryAgainLater as error:
            world.say(str(error))
            pause_s = max(pause_s, error.retry_after_s or 0.0)
        except (ConfigurationError, UsageError) as error:
            if last is None:
                raise
            world.say(str(error))
        if not world.is_stopping():
            world.rest(pause_s)
    return last


class Pair(Value):
    """One job of a matrix: a node of an item that may start now."""

    issue: int
    url: str
    node: str
    """What `process --node` takes; empty where the step only has something to record."""


def pairs(
    seen: Seen,
    read: Callable[[IssueAddress], Considered | CogworksError],
    address: RepositoryAddress,
    *,
    limit: int,
) -> tuple[Pair, ...]:
    """Every ready node of every item that can move, at most `limit`; reads each such item once and writes nothing.

    Items that somebody works on are read as well: another of their nodes may be ready.

    Args:
        read: one item as `process` would see it, or why it cannot be read.
    """
    listed: list[Pair] = []
    for item in seen.items:
        verdict = judge(item, seen)
        if isinstance(verdict, Resting) and verdict.why != "leased":
            continue
        if len(listed) >= limit:
            break
        issue = IssueAddress(address.server_url, address.owner, address.name, item.number)
        considered = read(issue)
        if isinstance(considered, Considered):
            nodes = ready_nodes(considered)
        else:
            # The step of an item that never began reports to who asked for it what has to be mended.
            is_reported = isinstance(considered, ConfigurationError | UsageError) and not has_begun(
                item, seen
            )
            nodes = ("",) if is_reported else ()
        listed += [Pair(issue=item.number, url=issue.url, node=node) for node in nodes]
    return tuple(listed[:limit])


def ready_nodes(seen: Considered) -> tuple[str, ...]:
    """The nodes that runners could start now, as `process --node` takes them; `""` where a step has only to record."""
    match seen.decision:
        case Run(instance=instance):
            ready = seen.standing.position.ready
            startable = [each for each in ready if not shortage(seen.state, seen.facts, seen.pipeline, each)]
            return tuple(dict.fromkeys(instance_name(each) for each in (instance, *startable)))
        case GiveUpOn() | Finish():
            return ("",)
        case _:
            return ()


def as_object(report: SweepReport) -> dict[str, Any]:
    """The JSON form of a sweep."""
    steps = [row.step for row in report.rows if row.step]
    return {
        "outcome": _outcome(report),
        "exit_code": report.exit_code,
        "problem": report.problem,
        "items": [row.model_dump(mode="json") for row in report.rows],
        "stepped": len(steps),
        "skipped": len(report.rows) - len(steps),
        "cost_usd": round(sum(step.cost_usd for step in steps), 9),
    }


def _outcome(report: SweepReport) -> str:
    if report.problem or any(row.step and row.step.exit_code for row in report.rows):
        return "failed"
    return "interrupted" if report.is_cut_short else "done"


def _skipped(item: Listed, reason: str) -> Row:
    return Row(number=item.number, url=item.url, title=item.title, action="skipped", reason=reason)

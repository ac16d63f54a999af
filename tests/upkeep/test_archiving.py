"""Which ledgers are put away: closed for long by GitHub's clock, and nobody at work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.errors import ConfigurationError, TryAgainLater
from cogworks.github.ledgers import IssueEnd, LedgerTip, Listed, Moved
from cogworks.upkeep.archiving import ArchivePorts, collect, why_kept
from cogworks.vocabulary import CommitOid, IssueNumber, RunId

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CLOSED = IssueEnd(is_there=True, closed_at=NOW - timedelta(days=40))


def tip(number: int = 1, *, verb: str = "succeeded", age: timedelta = timedelta(days=50)) -> LedgerTip:
    message = f"cogworks: plan {verb} [skip ci]\n\nVisit: {'a' * 64}\nRun: run-{number}\nHolder: h\nAttempt: 1\nSequence: 1\n"
    return LedgerTip(
        issue=IssueNumber(number),
        oid=CommitOid(f"{number:040x}"),
        message=message,
        committed_date=NOW - age,
    )


@dataclass
class Repository:
    """A repository's ledgers in memory."""

    tips: Sequence[LedgerTip]
    closed: Mapping[int, IssueEnd]
    config: str | None = None
    archived: list[int] = field(default_factory=list)
    stuck: frozenset[int] = frozenset()

    def ledgers(self) -> Listed:
        return Listed(
            repository_id="R_1",
            name_with_owner="octo-org/adder",
            config_text=self.config,
            tips=tuple(self.tips),
            server_date=NOW,
        )

    def ends(self, numbers: Sequence[IssueNumber]) -> Mapping[IssueNumber, IssueEnd]:
        return {
            number: self.closed.get(number, IssueEnd(is_there=True, closed_at=None)) for number in numbers
        }

    def archive(self, repository_id: str, tips: Sequence[LedgerTip]) -> Sequence[Moved]:
        self.archived += [one.issue for one in tips if one.issue not in self.stuck]
        return [
            Moved(issue=one.issue, ref="", problem="it moved")
            if one.issue in self.stuck
            else Moved(issue=one.issue, ref=f"refs/cogworks/archive/{one.issue}")
            for one in tips
        ]


def ports(repository: Repository, *, busy: frozenset[str] = frozenset()) -> tuple[ArchivePorts, list[RunId]]:
    removed: list[RunId] = []

    def remove(run: RunId) -> None:
        if run in busy:
            raise TryAgainLater(f"{run} is in use")
        removed.append(run)

    return ArchivePorts(
        repository=repository, has_work_directory=lambda run: run != "run-9", remove_work_directory=remove
    ), removed


@pytest.mark.parametrize(
    ("one", "end", "words"),
    [
        (tip(), CLOSED, ""),
        (tip(), IssueEnd(is_there=True, closed_at=None), "is open"),
        (tip(), IssueEnd(is_there=False, closed_at=None), "not there"),
        (tip(), IssueEnd(is_there=True, closed_at=NOW - timedelta(days=29, hours=23)), "closed 29 days ago"),
        (tip(), IssueEnd(is_there=True, closed_at=NOW - timedelta(days=30)), ""),
        (tip(verb="claim", age=timedelta(seconds=200)), CLOSED, "somebody works on it"),
        (tip(verb="claim", age=timedelta(seconds=300)), CLOSED, ""),
        (tip(verb="released", age=timedelta(seconds=1)), CLOSED, ""),
    ],
)
def test_why_a_ledger_stays(one: LedgerTip, end: IssueEnd, words: str) -> None:
    reason = why_kept(one, end, now=NOW, keep_days=30)

    assert words in reason
    assert bool(words) == bool(reason)


@given(days=st.integers(0, 100), keep_days=st.integers(0, 100))
def test_the_limit_is_exact(days: int, keep_days: int) -> None:
    end = IssueEnd(is_there=True, closed_at=NOW - timedelta(days=days))

    assert (why_kept(tip(), end, now=NOW, keep_days=keep_days) == "") == (days >= keep_days)


def test_every_ledger_is_either_put_away_or_told_why_not() -> None:
    repository = Repository([tip(1), tip(2), tip(3)], {1: CLOSED, 3: CLOSED}, stuck=frozenset({3}))
    world, removed = ports(repository)

    found = collect(world, only=None, keep_days=None, dry_run=False)

    assert [one.issue for one in found.archived] == [1]
    assert {one.issue: one.reason for one in found.kept} == {
        2: "its issue is open",
        3: "GitHub left it where it is: it moved",
    }
    assert (found.keep_days, removed, found.removed_runs) == (30, ["run-1", "run-3"], ("run-1", "run-3"))


def test_a_dry_run_does_nothing_and_says_the_same() -> None:
    repository = Repository([tip(1), tip(9)], {1: CLOSED, 9: CLOSED})
    world, removed = ports(repository)

    found = collect(world, only=None, keep_days=None, dry_run=True)

    assert ([one.issue for one in found.archived], found.removed_runs) == ([1, 9], ("run-1",))
    assert (repository.archived, removed) == ([], [])


def test_one_issue_alone_can_be_named() -> None:
    repository = Repository([tip(1), tip(2)], {1: CLOSED, 2: CLOSED})

    found = collect(ports(repository)[0], only=IssueNumber(2), keep_days=None, dry_run=False)

    assert (repository.archived, [one.issue for one in found.archived]) == ([2], [2])


def test_the_repository_says_how_long_a_ledger_stays_unless_the_operator_does() -> None:
    text = '[llm]\nmodel = "m"\n\n[ledger]\nkeep_days = 60\n'
    repository = Repository([tip(1)], {1: CLOSED}, config=text)
    world, _ = ports(repository)

    assert collect(world, only=None, keep_days=None, dry_run=True).archived == ()
    assert len(collect(world, only=None, keep_days=0, dry_run=True).archived) == 1
    repository.config = "[nonsense]\n"
    with pytest.raises(ConfigurationError):
        collect(world, only=None, keep_days=None, dry_run=True)
    assert len(collect(world, only=None, keep_days=0, dry_run=True).archived) == 1


def test_a_work_directory_in_use_is_left_and_told() -> None:
    world, removed = ports(Repository([tip(1)], {1: CLOSED}), busy=frozenset({"run-1"}))

    found = collect(world, only=None, keep_days=None, dry_run=False)

    assert (removed, found.removed_runs, found.warnings) == ([], (), ("run-1 is in use",))

"""What a sweep does with the items that can move, in a world that is only told."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from cogworks.engine.poll import Poller, StepDone, SweepReport, as_object, keep_sweeping, pairs
from cogworks.errors import CogworksError, ConfigurationError, PermissionRefused, TryAgainLater
from cogworks.forge.addresses import IssueAddress, RepositoryAddress
from cogworks.forge.sweep import Listed, Seen
from cogworks.settings.sections import LabelConfig
from cogworks.vocabulary import IssueNumber

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CODES = {"succeeded": 0, "waiting": 0, "failed": 1, "usage_error": 2, "halted": 3, "budget_reached": 5}


def new_item(number: int, *, held: bool = False) -> Listed:
    labels = frozenset({"cogworks:run", *(["cogworks:hold"] if held else [])})
    return Listed(
        number=IssueNumber(number),
        title=f"Item {number}",
        url=f"https://github.com/o/r/issues/{number}",
        updated_at=NOW,
        labels=labels,
    )


@dataclass
class ToldWorld:
    """Says what it is told; every look shows the same items."""

    items: list[Listed]
    outcome: Callable[[int], str] = lambda _: "succeeded"
    looks: list[datetime | None] = field(default_factory=list)
    failures: list[CogworksError] = field(default_factory=list)
    """What the next looks raise, one after another."""
    stepped: list[int] = field(default_factory=list)
    stop_after: int = 10**6
    """Steps after which the operator asks to stop."""
    rests: list[float] = field(default_factory=list)
    max_rests: int = 0
    said: list[str] = field(default_factory=list)
    problem: str = ""

    def look(self, since: datetime | None) -> Seen:
        self.looks.append(since)
        if self.failures:
            raise self.failures.pop(0)
        return Seen(
            server_date=NOW,
            config_oid="c",
            labels=LabelConfig(),
            items=tuple(self.items),
            tips={},
            pulls={},
            problem=self.problem,
        )

    def step(self, item: Listed) -> StepDone:
        self.stepped.append(item.number)
        outcome = self.outcome(item.number)
        return StepDone(exit_code=CODES[outcome], outcome=outcome, cost_usd=0.25)

    def is_stopping(self) -> bool:
        return len(self.stepped) >= self.stop_after or len(self.rests) > self.max_rests

    def rest(self, pause_s: float) -> None:
        self.rests.append(pause_s)

    def say(self, line: str) -> None:
        self.said.append(line)


def done(report: SweepReport) -> dict[int, str]:
    return {row.number: row.step.outcome if row.step else row.reason for row in report.rows}


def test_only_items_that_can_move_get_a_step() -> None:
    world = ToldWorld([new_item(1), new_item(2, held=True), new_item(3)])

    report = Poller(world).sweep()

    assert done(report) == {1: "succeeded", 2: "label 'cogworks:hold' is set", 3: "succeeded"}
    assert report.exit_code == 0


def test_a_step_that_fails_does_not_stop_the_others() -> None:
    world = ToldWorld([new_item(1), new_item(2)], outcome=lambda n: "failed" if n == 1 else "succeeded")

    report = Poller(world).sweep()

    assert (done(report), report.exit_code) == ({1: "failed", 2: "succeeded"}, 1)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (["waiting", "succeeded"], 0),
        (["failed", "usage_error"], 1),
        (["usage_error", "budget_reached"], 2),
        (["failed", "halted"], 3),
        (["budget_reached", "waiting"], 5),
    ],
)
def test_the_exit_code_is_that_of_the_step_that_matters_most(outcomes: list[str], code: int) -> None:
    world = ToldWorld([new_item(n) for n in range(len(outcomes))], outcome=lambda n: outcomes[n])

    assert Poller(world).sweep().exit_code == code


def test_no_more_steps_are_taken_than_allowed_and_failing_items_go_last() -> None:
    world = ToldWorld([new_item(n) for n in (1, 2, 3)], outcome=lambda n: "halted" if n == 1 else "succeeded")
    poller = Poller(world, max_steps=2)

    first = poller.sweep()
    for _ in range(2):
        poller.sweep()

    assert done(first)[3] == "new; --max 2 steps were taken already"
    assert world.stepped == [1, 2, 2, 3, 2, 3]


def test_a_sweep_that_is_stopped_finishes_its_step_and_says_what_is_left() -> None:
    world = ToldWorld([new_item(1), new_item(2)], stop_after=1)

    report = Poller(world).sweep()

    assert done(report) == {1: "succeeded", 2: "new; stopped before its turn"}
    assert (report.is_cut_short, report.exit_code) == (True, 130)
    assert as_object(report)["outcome"] == "interrupted"


def test_an_item_that_waits_gets_no_second_step_while_nothing_changes() -> None:
    world = ToldWorld([new_item(1)], outcome=lambda _: "waiting")
    poller = Poller(world)

    poller.sweep()
    again = poller.sweep()

    assert done(again) == {1: "waiting; nothing changed since"}
    assert world.looks == [None, NOW]


def swept(world: ToldWorld, jitter: float = 0.5) -> tuple[SweepReport | None, int]:
    reports: list[SweepReport] = []
    last = keep_sweeping(Poller(world), interval_s=60, jitter=lambda: jitter, report=reports.append)
    return last, len(reports)


def test_sweeps_go_on_until_the_operator_stops_them_with_a_jittered_pause() -> None:
    world = ToldWorld([], max_rests=2)

    last, count = swept(world)

    assert (last, count, world.rests) == (SweepReport(rows=()), 3, [66.0] * 3)


def test_an_outage_is_waited_out_as_long_as_github_asks() -> None:
    world = ToldWorld([], failures=[TryAgainLater("down", retry_after_s=600)], max_rests=1)

    _, count = swept(world, jitter=0.0)

    assert (count, world.rests, world.said) == (1, [600.0, 60.0], ["down"])


def test_a_configuration_that_breaks_later_is_waited_out_but_not_at_the_first_sweep() -> None:
    broken = ConfigurationError(".cogworks/config.toml", ["not TOML"])
    world = ToldWorld([], max_rests=2)
    poller = Poller(world)
    poller.sweep()

    world.failures = [broken]
    with pytest.raises(ConfigurationError):
        keep_sweeping(poller, interval_s=1, jitter=lambda: 0.0, report=lambda _: None)


def test_a_sweep_through_a_broken_configuration_steps_and_ends_with_2() -> None:
    world = ToldWorld([new_item(1)], outcome=lambda _: "waiting", problem="config.toml has 1 problem(s)")

    report = Poller(world).sweep()

    assert (world.stepped, report.exit_code, report.problem) == ([1], 2, "config.toml has 1 problem(s)")
    assert as_object(report)["outcome"] == "failed"


def test_a_matrix_has_a_job_for_a_new_item_whose_configuration_is_broken_and_none_for_one_nobody_can_read() -> (
    None
):
    address = RepositoryAddress("https://github.com", "o", "r")
    seen = ToldWorld([new_item(1), new_item(2)]).look(None)

    def read(issue: IssueAddress) -> CogworksError:
        broken = ConfigurationError(".cogworks/pipeline.toml", ["not TOML"])
        return broken if issue.number == 1 else TryAgainLater("down")

    assert [(pair.issue, pair.node) for pair in pairs(seen, read, address, limit=9)] == [(1, "")]


def test_a_token_that_is_refused_ends_the_sweeps() -> None:
    with pytest.raises(PermissionRefused):
        swept(ToldWorld([], failures=[PermissionRefused("401")]))


def test_the_report_adds_up() -> None:
    world = ToldWorld([new_item(1), new_item(2), new_item(3, held=True)])

    told = as_object(Poller(world).sweep())

    assert {key: told[key] for key in ("outcome", "exit_code", "stepped", "skipped", "cost_usd")} == {
        "outcome": "done", "exit_code": 0, "stepped": 2, "skipped": 1, "cost_usd": 0.5,
    }  # fmt: skip

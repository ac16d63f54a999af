"""An item whose repository has to be mended first: who asked for it is told in one comment, whatever happens meanwhile."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

import pytest

from cogworks.engine.consider import Wanted
from cogworks.engine.ports import Push, StepPorts
from cogworks.errors import CogworksError, ConfigurationError, PermissionRefused
from cogworks.forge.effects import Effect
from cogworks.forge.facts import Account
from cogworks.forge.publication import PublicationContext, Published
from cogworks.forge.snapshot import Snapshot
from cogworks.vocabulary import Login
from tests.engine.test_step_races import Memory, Race, SeenBefore, schedules
from tests.exhaustive import tasted
from tests.step_fakes import Died, Fault, Runner, until_done
from tests.world import CONFIG, ONE_NODE, World

MALFORMED = '[llm]\nmodle = "m"\n'
ALSO_MALFORMED = "[[["
STRANGER = Account(login=Login("eve"), id=66)
TELLING = ["read", "permissions", "create_root", "create", "publish post_comment", "refused"]
"""The calls of a step that tells, in their order."""


def malformed(config: str = MALFORMED) -> World:
    return World(pipeline=ONE_NODE, config=config)


def refused(world: World, *, name: str = "runner", fault: Fault | None = None) -> Runner:
    """A runner whose step ended with what is wrong."""
    runner = Runner(world, name=name, fault=fault)
    with pytest.raises(ConfigurationError):
        runner.step()
    return runner


def mend(world: World) -> None:
    world.config = CONFIG
    world.more_files = {}


def heal(world: World) -> None:
    """Others go on: the problem is told once, then mended, then the item is done; nothing is there twice."""
    world.now += timedelta(seconds=300)
    for number in range(2):
        with contextlib.suppress(ConfigurationError):
            Runner(world, name=f"healer-{number}").step()
        world.now += timedelta(seconds=300)
    assert len(world.own_comments()) == 1
    assert "did you mean `model`?" in world.own_comments()[0]
    assert refused(world).calls == ["read"]
    mend(world)
    done(world)


def done(world: World) -> None:
    until_done(world)
    [comment] = world.own_comments()
    assert "### cogworks · done" in comment
    assert world.twice() == []
    assert (world.state.leases, world.state.given_back, world.state.refusal) == ((), (), None)
    assert [visit.index for visit in world.state.visits] == [1]


def test_who_asked_is_told_in_one_comment_and_a_further_step_only_reads() -> None:
    world = malformed()

    first = refused(world)
    [comment] = world.own_comments()
    commits = len(world.commits)
    again = refused(world)

    assert first.calls == TELLING
    assert "### cogworks · stopped before it could decide" in comment
    assert "`llm.modle` is not a key cogworks knows; did you mean `model`?" in comment
    assert (again.calls, len(world.commits), world.writes) == (["read"], commits, ["post_comment"])
    assert "Cogworks-Waits-For: configuration @" in world.commits[-1].message


@pytest.mark.parametrize(
    "spoil",
    [
        lambda world: world.more_files.update({"pipeline.toml": "[[["}),
        lambda world: world.more_files.update({"pipeline.toml": '[pipelines.x]\nstart = "a"\n'}),
        lambda world: setattr(world, "config", f"{CONFIG}[[["),
    ],
    ids=["pipeline-is-not-toml", "pipeline-is-malformed", "config-is-not-toml"],
)
def test_every_file_that_keeps_it_from_deciding_is_told_and_the_item_goes_on_when_it_is_mended(
    spoil: Callable[[World], None],
) -> None:
    world = World(pipeline=ONE_NODE)
    spoil(world)

    refused(world)
    told = world.own_comments()
    again = refused(world)
    mend(world)

    assert len(told) == 1
    assert again.calls == ["read"]
    done(world)


def test_what_the_check_before_a_claim_finds_in_the_repository_is_told_as_well() -> None:
    class Unpriced(Runner):
        def ports(self) -> StepPorts:
            return replace(super().ports(), check=check)

    def check(_config: object, _files: object) -> None:
        raise ConfigurationError(".cogworks/config.toml", ["model 'm' has no price"])

    world = World(pipeline=ONE_NODE)
    for calls in ([*TELLING], ["read"]):
        runner = Unpriced(world)
        with pytest.raises(ConfigurationError):
            runner.step()
        assert runner.calls == calls

    assert "model 'm' has no price" in world.own_comments()[0]
    done(world)


def test_the_comment_follows_the_problem_and_the_mended_repository() -> None:
    world = malformed()
    refused(world)
    world.config = ALSO_MALFORMED

    changed = refused(world)
    [comment] = world.own_comments()
    again = refused(world)
    mend(world)
    Runner(world).step()

    assert changed.calls == ["read", "refused", "show"]
    assert "not TOML" in comment
    assert "modle" not in comment
    assert again.calls == ["read"]
    assert "### cogworks · done" in world.own_comments()[0]


def test_strangers_closed_held_and_unlabelled_items_cause_no_comment() -> None:
    by_stranger = malformed()
    by_stranger.label_events.clear()
    by_stranger.set_label("cogworks:run", "e2", by=STRANGER)
    closed = malformed()
    closed.is_open = False
    held = malformed()
    held.set_label("cogworks:hold", "e2")
    unlabelled = malformed()
    unlabelled.labels.remove("cogworks:run")

    for world in (by_stranger, closed, held, unlabelled):
        refused(world)
        assert (world.own_comments(), world.commits) == ([], [])


def test_a_label_of_another_name_counts_where_the_broken_file_still_says_it() -> None:
    world = World(pipeline=ONE_NODE, config=f'{MALFORMED}[labels]\ntrigger = "go"\n')
    refused(world)
    silent = world.own_comments()
    world.set_label("go", "e2")

    refused(world)

    assert (silent, len(world.own_comments())) == ([], 1)


def test_a_comment_that_somebody_deletes_is_not_posted_again_until_it_is_mended() -> None:
    world = malformed()
    refused(world)
    world.comments.clear()

    again = refused(world)
    mend(world)

    assert again.calls == ["read"]
    done(world)


def test_a_comment_that_github_refuses_is_given_up_and_the_item_begins_all_the_same() -> None:
    class Locked(Runner):
        def publish(
            self, effects: Sequence[Effect], snapshot: Snapshot, context: PublicationContext, push: Push
        ) -> Published:
            raise PermissionRefused("the issue is locked")

    world = malformed()
    runner = Locked(world)
    with pytest.raises(ConfigurationError):
        runner.step()
    again = refused(world)
    mend(world)

    assert (world.own_comments(), again.calls) == ([], ["read"])
    done(world)


def test_the_label_set_again_is_one_more_look() -> None:
    world = malformed()
    refused(world)
    world.set_label("cogworks:run", "e2")

    looked = refused(world)
    again = refused(world)

    assert looked.calls == ["read", "permissions", "refused"]
    assert again.calls == ["read"]
    assert "event=e2" in world.commits[-1].message


def test_a_cancel_while_it_was_refused_is_obeyed_when_it_is_mended() -> None:
    world = malformed()
    refused(world)
    world.say("/cogworks cancel")
    mend(world)

    assert Runner(world).step().outcome == "done"
    assert world.state.status == "cancelled"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["death", "lost", "interrupt"])
@pytest.mark.parametrize("is_mended", [False, True])
def test_whatever_call_fails_while_it_is_told_there_is_one_comment(
    kind: Literal["death", "lost", "interrupt"], when: Literal["before", "after"], is_mended: bool
) -> None:
    for place, what in tasted(enumerate(TELLING, start=1), days=2):
        world = malformed()
        with contextlib.suppress(Died, CogworksError, KeyboardInterrupt):
            Runner(world, name="unlucky", fault=Fault(place, when, kind)).step()
        if is_mended:
            mend(world)
            done(world)
        else:
            heal(world)
        assert len(world.own_comments()) == 1, (place, what)


def test_a_second_failure_while_the_first_is_repaired_tells_nothing_twice_either() -> None:
    for first in tasted(range(4, len(TELLING) + 1), days=2):
        for second in range(1, len(TELLING) + 1):
            world = malformed()
            for number, at in enumerate((first, second)):
                with contextlib.suppress(Died, ConfigurationError):
                    Runner(world, name=f"r{number}", fault=Fault(at, "after", "death")).step(
                        Wanted(take_over=True)
                    )
            heal(world)


def test_a_runner_that_wakes_up_after_a_takeover_posts_nothing() -> None:
    world = malformed()
    sleeper = Runner(world, name="sleeper")

    def sleep(call: str) -> None:
        if call == "create":
            sleeper.clock_s += 300
            world.now += timedelta(seconds=300)
            refused(world, name="heir")

    sleeper.pause = sleep
    with pytest.raises(ConfigurationError):
        sleeper.step()

    assert sleeper.calls == [*TELLING[:4], "checkpoint", "tip"]
    assert len(world.own_comments()) == 1


def test_while_somebody_tells_it_nobody_begins_although_it_was_mended() -> None:
    world = malformed()
    with pytest.raises(Died):
        Runner(world, name="telling", fault=Fault(5, "before", "death")).step()
    mend(world)

    report = Runner(world).step()

    assert report.outcome == "backed_off"
    done(world)


@pytest.mark.parametrize(
    ("names", "crashes", "at_least"),
    [("ab", 0, 30), ("ab", 1, 100), pytest.param("abc", 1, 500, marks=pytest.mark.slow)],
)
def test_every_order_of_calls_and_crashes_tells_it_once(names: str, crashes: int, at_least: int) -> None:
    memory = Memory()
    for schedule in schedules():
        memory.begin(schedule)
        world = malformed()
        world.create_root()
        race = Race(world, names, schedule.choose, crashes=crashes, memory=memory)
        try:
            race.run()
        except SeenBefore:
            continue
        assert len(world.own_comments()) <= 1, schedule
        heal(world)
    assert len(memory.points) > at_least


@dataclass
class MendedMeanwhile(World):
    """Somebody merges the correction between two reads."""

    reads: int = 0

    def snapshot(self) -> Snapshot:
        self.reads += 1
        if self.reads == 2:
            mend(self)
        return super().snapshot()


@pytest.mark.slow
def test_of_two_runners_one_of_which_sees_it_mended_only_one_posts() -> None:
    memory = Memory()
    for schedule in schedules():
        memory.begin(schedule)
        world = MendedMeanwhile(pipeline=ONE_NODE, config=MALFORMED)
        world.create_root()
        race = Race(world, "ab", schedule.choose, memory=memory)
        try:
            race.run()
        except SeenBefore:
            continue
        assert len(world.own_comments()) <= 1, schedule
        world.now += timedelta(seconds=300)
        done(world)

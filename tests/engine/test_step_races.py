"""Runners that step on one item at the same time, in every order of their calls, with crashes in between."""

import hashlib
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Semaphore, Thread

import pytest

from cogworks.errors import CogworksError
from cogworks.nodes.contract import NodeProcedure
from cogworks.vocabulary import NodeId
from tests.exhaustive import IS_QUICK, of_today
from tests.limits import ENDS_WITHIN_S
from tests.step_fakes import NODES, Died, Runner, until_done
from tests.world import ONE_NODE, World

MAX_TURNS = 200
"""More than any race here takes."""
Choose = Callable[[int], int]
"""How many ways there are -> which one is gone."""


@dataclass
class Schedule:
    """One way through all choices; the next way is found from it, so that all of them are walked."""

    taken: list[int] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    given: int = field(init=False)
    """How many choices are those of an earlier schedule."""

    def __post_init__(self) -> None:
        self.given = len(self.taken)

    @property
    def is_on_new_ground(self) -> bool:
        return len(self.ways) >= self.given

    def choose(self, ways: int) -> int:
        if len(self.ways) == len(self.taken):
            self.taken.append(0)
        self.ways.append(ways)
        return self.taken[len(self.ways) - 1]

    def following(self) -> "Schedule | None":
        """The next schedule in depth-first order."""
        for place in reversed(range(len(self.ways))):
            if self.taken[place] + 1 < self.ways[place]:
                return Schedule([*self.taken[:place], self.taken[place] + 1])
        return None


def schedules() -> Iterator[Schedule]:
    """Every schedule; each must be used before the next is asked for."""
    schedule: Schedule | None = Schedule()
    while schedule is not None:
        yield schedule
        schedule = schedule.following()


class SeenBefore(Exception):
    """The race came to a point from which everything was tried already."""


READS = frozenset({"read", "complete", "permissions", "tip", "files"})
_MOMENT = re.compile(r"datetime\.datetime\([^)]*\)+")


@dataclass
class Memory:
    """The points that races came to: what the world holds, and what every runner has done in which world."""

    points: set[tuple[object, ...]] = field(default_factory=set)
    schedule: Schedule = field(default_factory=Schedule)
    """The one that is under way."""
    pictures: list[str] = field(default_factory=list)
    """Of the world before each of its turns, and after the last one."""

    def begin(self, schedule: Schedule) -> None:
        """Another schedule; until its last given choice it is the one before."""
        self.schedule = schedule
        del self.pictures[schedule.given :]

    def seen(self, turn: int, world: World) -> str:
        """The picture before that turn. Nobody acts between two turns, and what is known need not be drawn again."""
        if turn == len(self.pictures):
            self.pictures.append(self.picture(world))
        return self.pictures[turn]

    def enter(self, *point: object) -> None:
        """Raises SeenBefore the second time."""
        if not self.schedule.is_on_new_ground:
            return
        if point in self.points:
            raise SeenBefore
        self.points.add(point)

    @staticmethod
    def picture(world: World) -> str:
        """What anybody could read; moments left out, for a race is over long before a lease is old."""
        return hashlib.sha256(_MOMENT.sub("", repr(world)).encode()).hexdigest()


class Race:
    """Lets one runner at a time make one call; a chooser says whose turn it is and who dies first."""

    def __init__(
        self,
        world: World,
        names: Iterable[str],
        choose: Choose,
        *,
        crashes: int = 0,
        crash_turns: Container[int] | None = None,
        memory: Memory | None = None,
        nodes: Mapping[NodeId, NodeProcedure] = NODES,
    ) -> None:
        """Args:
        names: of the runners; read several times.
        crash_turns: numbers of the turns, from 0, at which a runner may die; without them any may.
        """
        self._world = world
        self._memory = memory
        self._past = dict.fromkeys(names, "")
        self._next = dict.fromkeys(names, "")
        self._choose = choose
        self._crashes = crashes
        self._crash_turns = crash_turns
        self._turns = 0
        self._arrived = Semaphore(0)
        self._go = {name: Semaphore(0) for name in names}
        self._running = dict.fromkeys(names, True)
        self.runners = {
            name: Runner(world, name=name, turn=self._waiter(name), nodes=nodes) for name in names
        }

    def run(self) -> None:
        """Let all of them step to their end.

        Raises:
            SeenBefore: the rest was tried already; the runners were ended.
        """
        threads = [Thread(target=self._step, args=(name,)) for name in self.runners]
        for thread in threads:
            thread.start()
        for _ in threads:
            self._arrived.acquire(timeout=ENDS_WITHIN_S)
        try:
            while alive := self._alive():
                self._turn(alive)
            if self._memory:
                done = ((name, runner.is_dead, *runner.calls) for name, runner in self.runners.items())
                self._memory.enter(self._memory.seen(self._turns, self._world), *done)
        finally:
            for name in self._alive():
                self.runners[name].is_dead = True
                self._let(name)
            for thread in threads:
                thread.join(timeout=ENDS_WITHIN_S)

    def _alive(self) -> list[str]:
        return [name for name, running in self._running.items() if running]

    def _turn(self, alive: list[str]) -> None:
        picture = self._memory.seen(self._turns, self._world) if self._memory else ""
        if self._memory:
            self._memory.enter(picture, self._crashes, *self._past.values(), *alive)
        # Runners with the same past are the same but for their names, so that one of them stands for all. Only a memory
        # knows their pasts.
        unlike = (
            list({self._past[name]: name for name in reversed(alive)}.values()) if self._memory else alive
        )
        # Equal pasts have equally many turns behind them, so that a memory need not know their number.
        may_crash = self._crashes and (self._crash_turns is None or self._turns in self._crash_turns)
        self._turns += 1
        turn = self._choose(len(unlike) * (2 if may_crash else 1))
        name = unlike[turn % len(unlike)]
        if turn >= len(unlike):
            self._crashes -= 1
            self.runners[name].is_dead = True
        asked, was_dead = self._next[name], self.runners[name].is_dead
        self._let(name)
        if self._memory:
            # What it does from now on follows from what it has seen; of a write it sees whether it passed.
            seen = picture if asked in READS else self._memory.seen(self._turns, self._world) != picture
            past = f"{self._past[name]} {asked} {seen} {was_dead}"
            self._past[name] = hashlib.sha256(past.encode()).hexdigest()

    def _let(self, name: str) -> None:
        self._go[name].release()
        self._arrived.acquire(timeout=ENDS_WITHIN_S)

    def _step(self, name: str) -> None:
        try:
            self.runners[name].step()
        except (Died, CogworksError):
            pass
        finally:
            self._running[name] = False
            self._arrived.release()

    def _waiter(self, name: str) -> Callable[[str], None]:
        def wait_for_turn(what: str) -> None:
            self._next[name] = what
            self._arrived.release()
            self._go[name].acquire(timeout=ENDS_WITHIN_S)

        return wait_for_turn


def check_and_heal(world: World, race: Race, schedule: object) -> None:
    """Nothing is there twice, then or after the item was finished by others; who lost effected nothing."""
    assert world.twice() == [], schedule
    winners = [
        name
        for name, runner in race.runners.items()
        if any(call.startswith(("publish", "succeeded")) for call in runner.calls)
    ]
    assert len(winners) <= 1, schedule
    for name, runner in race.runners.items():
        if name not in winners and not runner.is_dead:
            assert not {"checkpoint", "released"} & set(runner.calls), schedule
    world.now += timedelta(seconds=300)
    until_done(world)
    assert world.twice() == [], schedule
    assert (world.state.leases, world.state.given_back) == ((), ()), schedule
    assert [visit.index for visit in world.state.visits] == [1], schedule


def new_item() -> World:
    return World(pipeline=ONE_NODE)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("by_every_way", "at_least"),
    [
        pytest.param(False, 200, id="to-every-point"),
        pytest.param(True, 1000, id="by-every-way", marks=pytest.mark.slow),
    ],
)
def test_of_two_first_claims_exactly_one_passes_in_every_order_of_their_calls(
    by_every_way: bool, at_least: int
) -> None:
    memory = None if by_every_way else Memory()
    count = 0
    for schedule in schedules():
        if memory:
            memory.begin(schedule)
        world = new_item()
        world.create_root()
        race = Race(world, "ab", schedule.choose, memory=memory)
        try:
            race.run()
        except SeenBefore:
            continue
        assert len(world.state.visits) == 1, schedule
        assert world.paid.total() == 1, schedule
        loser = min(race.runners.values(), key=lambda runner: len(runner.calls))
        # Who reads between the winner's record and its views may show them for it.
        asked = [call for call in loser.calls if call != "show"]
        assert asked in (["read"], ["read", "permissions", "item_costs", "create", "read"]), schedule
        check_and_heal(world, race, schedule)
        count += 1
    assert (count if memory is None else len(memory.points)) > at_least


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("names", "crashes", "days", "at_least"),
    [
        ("ab", 1, 4, 100) if IS_QUICK else ("ab", 1, 1, 300),
        pytest.param("ab", 2, 1, 500, marks=pytest.mark.slow),
        # Every order of three runners of whom none dies is among these.
        pytest.param("abc", 1, 8, 3000, marks=pytest.mark.slow),
    ],
)
def test_every_order_of_calls_and_crashes_makes_nothing_twice_and_leaves_nothing_stuck(
    names: str, crashes: int, days: int, at_least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    crash_turns = of_today(range(MAX_TURNS), days=days)
    memory = Memory()
    count = 0
    for schedule in schedules():
        memory.begin(schedule)
        world = new_item()
        world.create_root()
        race = Race(world, names, schedule.choose, crashes=crashes, crash_turns=crash_turns, memory=memory)
        try:
            race.run()
        except SeenBefore:
            continue
        check_and_heal(world, race, schedule)
        count += 1
    with capsys.disabled():
        sys.stderr.write(
            f"\n{len(names)} runners, {crashes} crashes: {count} schedules to different ends, {len(memory.points)} "
            "points in all, 0 duplicates\n"
        )
    assert len(memory.points) > at_least

"""Runners that step on one item at the same time, in every order of their calls, with crashes in between."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Semaphore, Thread

from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.errors import CogworksError
from cogworks.nodes.contract import NodeProcedure as Procedure
from cogworks.vocabulary import NodeId
from tests.step_fakes import NODES, Died, Runner, until_done
from tests.world import ONE_NODE, World

Choose = Callable[[int], int]
"""How many ways there are -> which one is gone."""


@dataclass
class Schedule:
    """One way through all choices; the next way is found from it, so that all of them are walked."""

    taken: list[int] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)

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


class Race:
    """Lets one runner at a time make one call; a chooser says whose turn it is and who dies first."""

    def __init__(
        self,
        world: World,
        names: Iterable[str],
        choose: Choose,
        *,
        crashes: int = 0,
        nodes: Mapping[NodeId, Procedure] = NODES,
    ) -> None:
        self._choose = choose
        self._crashes = crashes
        self._arrived = Semaphore(0)
        self._go = {name: Semaphore(0) for name in names}
        self._running = dict.fromkeys(names, True)
        self.runners = {
            name: Runner(world, name=name, turn=self._waiter(name), nodes=nodes) for name in names
        }

    def run(self) -> None:
        threads = [Thread(target=self._step, args=(name,)) for name in self.runners]
        for thread in threads:
            thread.start()
        for _ in threads:
            self._arrived.acquire()
        while alive := [name for name, running in self._running.items() if running]:
            ways = len(alive) * (2 if self._crashes else 1)
            turn = self._choose(ways)
            name = alive[turn % len(alive)]
            if turn >= len(alive):
                self._crashes -= 1
                self.runners[name].is_dead = True
            self._go[name].release()
            self._arrived.acquire()
        for thread in threads:
            thread.join()

    def _step(self, name: str) -> None:
        try:
            self.runners[name].step()
        except (Died, CogworksError):
            pass
        finally:
            self._running[name] = False
            self._arrived.release()

    def _waiter(self, name: str) -> Callable[[str], None]:
        def wait_for_turn(_: str) -> None:
            self._arrived.release()
            self._go[name].acquire()

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


def test_of_two_first_claims_exactly_one_passes_in_every_order_of_their_calls() -> None:
    count = 0
    for schedule in schedules():
        world = new_item()
        world.create_root()
        race = Race(world, "ab", schedule.choose)
        race.run()
        assert len(world.state.visits) == 1, schedule
        assert world.paid.total() == 1, schedule
        loser = min(race.runners.values(), key=lambda runner: len(runner.calls))
        # Who reads between the winner's record and its views may show them for it.
        asked = [call for call in loser.calls if call != "show"]
        assert asked in (["read"], ["read", "permissions", "create", "read"]), schedule
        check_and_heal(world, race, schedule)
        count += 1
    assert count > 20


def test_two_runners_and_a_crash_at_any_moment_make_nothing_twice_and_leave_nothing_stuck() -> None:
    count = 0
    for schedule in schedules():
        world = new_item()
        world.create_root()
        race = Race(world, "ab", schedule.choose, crashes=1)
        race.run()
        check_and_heal(world, race, schedule)
        count += 1
    assert count > 500


@given(st.lists(st.integers(0, 5), max_size=60))
@settings(max_examples=150, deadline=None)
def test_three_runners_and_two_crashes_make_nothing_twice_and_leave_nothing_stuck(turns: list[int]) -> None:
    world = new_item()
    left = list(turns)
    race = Race(world, "abc", lambda ways: left.pop(0) % ways if left else 0, crashes=2)
    race.run()
    check_and_heal(world, race, turns)

"""Whatever call of a step fails, and however: the item is finished by others as if nothing had happened."""

import contextlib
from collections.abc import Iterator
from typing import Literal

import pytest

from cogworks.engine.consider import Wanted
from cogworks.errors import TryAgainLater
from cogworks.nodes import code_generation
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.visits import LEASE_MARGIN_S, LEASE_TTL_S
from cogworks.vocabulary import NodeId, SubItemKey
from tests.codegen.test_test_writing import CUSTOM, written
from tests.codegen.test_test_writing import world as adder
from tests.exhaustive import tasted
from tests.nodes import examples
from tests.step_fakes import NODES, Died, Fault, Runner, after, undisturbed, until_done
from tests.world import World

CALLS_OF_A_FIRST_STEP = 9


def made(world: World) -> dict[str, object]:
    """What people see of a finished item, without the numbers that differ from run to run."""
    return {
        "twice": world.twice(),
        "comments": len(world.comments),
        "sub_issues": [issue.title.split(" of ")[0] for issue in world.sub_issues],
        "pulls": [(pull.head, pull.base, pull.state) for pull in world.pulls],
        "links": world.links,
        "labels": sorted(world.labels),
        "status": world.state.status,
        "visits": [(v.index, v.instance, v.status) for v in world.state.visits],
        "leases": world.state.leases,
        "given_back": world.state.given_back,
    }


def calls_of_a_whole_item() -> Iterator[tuple[int, int, str]]:
    """Every call of an undisturbed item: how many steps went before, which call of its step it is, its name."""
    world = World()
    for step in range(6):
        runner = Runner(world)
        for wait in runner.step().waiting_for:
            assert wait.number is not None
            world.merge(wait.number)
        yield from ((step, place, what) for place, what in enumerate(runner.calls, start=1))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["death", "lost", pytest.param("interrupt", marks=pytest.mark.slow)])
def test_whatever_call_fails_the_item_is_finished_with_nothing_made_or_paid_twice(
    kind: Literal["death", "lost", "interrupt"], when: Literal["before", "after"]
) -> None:
    wanted = made(undisturbed())

    for step, place, what in tasted(calls_of_a_whole_item(), days=4):
        world = after(step)
        with contextlib.suppress(Died, TryAgainLater, KeyboardInterrupt):
            Runner(world, name="unlucky", fault=Fault(place, when, kind)).step()
        until_done(world)

        where = f"step {step}, {kind} {when} call {place}, {what}"
        assert made(world) == wanted, where
        # Only a reply that a dead runner had not told the ledger yet has to be paid again.
        again = 1 if (kind, when, what) == ("death", "before", "checkpoint") else 0
        assert world.paid.total() == 4 + again, where


@pytest.mark.slow
def test_a_second_failure_while_the_first_is_repaired_makes_nothing_twice_either() -> None:
    wanted = made(undisturbed())

    for place in range(2, CALLS_OF_A_FIRST_STEP + 1):
        for second in range(1, CALLS_OF_A_FIRST_STEP + 1):
            world = World()
            for number, at in enumerate((place, second)):
                with contextlib.suppress(Died):
                    Runner(world, name=f"r{number}", fault=Fault(at, "after", "death")).step(
                        Wanted(take_over=True)
                    )
            until_done(world)
            assert made(world) == wanted, (place, second)


def test_a_live_lease_makes_another_runner_back_off_after_one_read() -> None:
    world = after(1)
    hanging = Runner(world, name="hanging", fault=Fault(3, "before", "death"))
    with pytest.raises(Died):
        hanging.step()
    other = Runner(world, name="other")

    report = other.step()

    assert (report.outcome, other.calls) == ("backed_off", ["read"])
    assert report.message == ("plan is being worked on by hanging; its lease can be taken over in 239 s")
    assert report.retry_in_s == LEASE_TTL_S + LEASE_MARGIN_S - 1


def test_an_operator_may_take_a_live_lease_over_and_what_the_dead_runner_reserved_counts_as_spent() -> None:
    world = after(1)
    with pytest.raises(Died):
        Runner(world, name="hanging", fault=Fault(3, "before", "death")).step()

    report = Runner(world, name="other").step(Wanted(take_over=True))

    assert report.outcome == "succeeded"
    visit = world.state.visits[-1]
    assert (visit.attempt, visit.spend.cost_usd, visit.spend.unconfirmed_usd) == (2, 0.6, 0.5)
    assert report.spend.cost_usd == 0.1


def test_three_dead_runners_fail_the_node_and_their_reservations_are_spent() -> None:
    world = after(1)
    for number in range(3):
        with pytest.raises(Died):
            Runner(world, name=f"r{number}", fault=Fault(3, "before", "death")).step(Wanted(take_over=True))

    report = Runner(world).step(Wanted(take_over=True))

    assert (report.outcome, report.message) == ("failed", "plan: its runner died 3 times")
    visit = world.state.visits[-1]
    assert (visit.status, visit.attempt, visit.spend.cost_usd) == ("failed", 3, 1.5)
    assert visit.spend.unconfirmed_usd == 1.5
    assert world.state.leases == ()
    world.set_label("cogworks:run", "e2")
    until_done(world)
    assert world.twice() == []


def test_a_test_file_that_is_not_where_its_writer_said_is_named_in_the_status_comment() -> None:
    world = after(2)
    lost = written(test_path="tests/lost.py", extra_paths=(CUSTOM,))

    def code(task: NodeTask, ports: NodePorts) -> Outcome:
        visit = task.visit.model_copy(update={"sub_item": SubItemKey("A")})
        return code_generation.run(
            examples.task("code_generation", sub_item="A", visit=visit), adder(lost, lost)
        )

    report = Runner(world, nodes={**NODES, NodeId("code"): code}).step()

    assert report.outcome == "failed"
    [comment] = world.own_comments()
    assert "Test file not found: tests/lost.py (source: reported, from test-writer)" in comment
    assert "By convention it would be tests/generated/wi-7/test_issue_21.py." in comment
    assert "so no code was written" in comment

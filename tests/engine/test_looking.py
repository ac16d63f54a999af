"""What one visit looked at, the next is shown: it is recorded in the state, by the version of each file."""

from collections.abc import Mapping, Sequence

from cogworks.engine.tasks import looked_before
from cogworks.engine.visit import LEAST_LINES, MOST_STRETCHES, looked_in
from cogworks.nodes.contract import NodePorts, Outcome
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import MOST_LOOKED, LookedAt
from cogworks.sight.seen import Stretch, version_of
from cogworks.vocabulary import NodeId
from tests.fakes import FakePorts
from tests.nodes.examples import ports
from tests.pipeline.runs import at, finished, new_run
from tests.step_fakes import NODES, Runner, spec
from tests.world import World

TEXT = "".join(f"line {number}\n" for number in range(1, 400))


def looking(looked: Mapping[str, Sequence[Stretch]]) -> FakePorts:
    world = ports(files=dict.fromkeys(looked, TEXT))
    world.looked_at = dict(looked)
    return world


def at_lines(path: str, *lines: Stretch, version: str = "a" * 12) -> LookedAt:
    return LookedAt(path=path, version=version, lines=lines)


def with_looks(state: RunState, *looked: tuple[LookedAt, ...]) -> RunState:
    """The state whose visits, one after the other, looked at this."""
    visits = [
        visit.model_copy(update={"looked": each}) for visit, each in zip(state.visits, looked, strict=True)
    ]
    return state.model_copy(update={"visits": tuple(visits)})


def test_what_was_looked_at_is_recorded_by_the_version_of_its_file() -> None:
    [each] = looked_in(looking({"a.py": [(3, 9), (20, 40)]}))

    assert (each.path, each.lines) == ("a.py", ((3, 9), (20, 40)))
    assert version_of(TEXT).startswith(each.version)
    assert len(each.version) == 12


def test_a_record_of_looks_stays_short() -> None:
    stretches = [(20 * number, 20 * number + LEAST_LINES + number) for number in range(1, 11)]
    paths = [f"{number}.py" for number in range(MOST_LOOKED + 3)]

    looked = looked_in(looking({path: [*stretches, (300, 300 + LEAST_LINES - 2)] for path in paths}))

    assert [each.path for each in looked] == paths[-MOST_LOOKED:]
    assert {each.lines for each in looked} == {tuple(stretches[-MOST_STRETCHES:])}


def test_single_lines_and_files_that_are_gone_are_not_recorded() -> None:
    world = looking({"a.py": [(3, 4)], "gone.py": [(1, 50)]})
    del world.copy.tree["gone.py"]

    assert looked_in(world) == ()


def test_a_visit_is_handed_what_the_visits_before_it_looked_at_the_latest_look_last() -> None:
    state = finished(new_run(), "spec", "plan", "code@A")
    old, new = at_lines("a.py", (1, 5)), at_lines("a.py", (7, 9), version="b" * 12)
    other, third = at_lines("b.py", (1, 5)), at_lines("c.py", (1, 5))

    state = with_looks(state, (old, other), (new,), (third,))

    assert looked_before(state, at("plan")) == (other, new)
    assert looked_before(state, at("review@A")) == (other, new, third)
    # What was looked at for another sub-work-item is not about this one.
    assert looked_before(state, at("code@B")) == (other, new)


def test_a_visit_is_handed_no_more_than_its_view_can_use() -> None:
    state = finished(new_run(), "spec", "plan")
    first = tuple(at_lines(f"{number}.py", (1, 5)) for number in range(MOST_LOOKED))

    handed = looked_before(with_looks(state, first, (at_lines("new.py", (1, 5)),)), at("code@A"))

    assert [each.path for each in handed] == [*(f"{number}.py" for number in range(1, MOST_LOOKED)), "new.py"]


def test_what_a_visit_looks_at_is_in_the_state_and_reaches_the_next_one() -> None:
    world = World()
    handed: dict[str, tuple[LookedAt, ...]] = {}

    def noting(task: NodeTask, ports: NodePorts) -> Outcome:
        handed[task.visit.node] = task.looked
        return NODES[task.visit.node](task, ports)

    nodes = {**NODES, NodeId("spec"): spec, NodeId("plan"): noting}
    tree = {"src/adder/adding.py": TEXT}
    runner = Runner(
        world, nodes=nodes, trees={world.head: tree}, looked_at={"src/adder/adding.py": [(10, 30)]}
    )

    runner.step()
    [visit] = world.state.visits
    world.merge(world.pulls[0].number)
    runner.step()

    assert [(each.path, each.lines) for each in visit.looked] == [("src/adder/adding.py", ((10, 30),))]
    assert handed == {"plan": visit.looked}

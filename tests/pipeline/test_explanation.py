"""A decision is explained with the reasons of every place of the graph, and with what a person can do."""

import pytest

from cogworks.engine.consider import Considered, Wanted, consider, read_item
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.explanation import Explanation, explain
from cogworks.vocabulary import IssueNumber, NodeId, RunId
from tests.approving import POLICY, POLICY_FILE, RIGHT, WRONG, Coder
from tests.pipeline.graphs import document, edge, loop
from tests.step_fakes import NODES, Died, Fault, Runner, after, until_done
from tests.world import World


def considered(world: World) -> Considered:
    return consider(read_item(Runner(world)), Wanted(), new_run_id=lambda: RunId("run-1"))


def explained(world: World) -> Explanation:
    seen = considered(world)
    return explain(seen.standing, seen.decision)


def reasons(found: Explanation) -> dict[str, tuple[str, str]]:
    return {other.node: (other.status, other.reason) for other in found.not_now}


def acts(found: Explanation) -> list[str]:
    return [act.act for act in found.unblocked_by]


def merged(world: World) -> World:
    """The item with its first gate passed."""
    report = Runner(world).step()
    for wait in report.waiting_for:
        world.merge(wait.number or IssueNumber(0))
    return world


def test_the_first_step_starts_where_the_pipeline_starts() -> None:
    found = explained(World())

    assert found.because == "it is where the pipeline starts"
    assert reasons(found) == {"plan": ("pending", "waits for spec")}
    assert acts(found) == []


def test_what_took_part_in_the_choice_is_told_with_its_score() -> None:
    def competition(world: World) -> str:
        return {fact.name: fact.value for fact in explained(world).facts}["arbiter"]

    world = World()
    begun = competition(world)
    Runner(world).step()
    gated = competition(world)
    world.is_open = False

    assert (begun, gated) == ("ready/spec 0.400", "nothing is proposed")
    assert competition(world) == "forced: the item may not go on"


def test_a_gate_says_who_has_to_do_what() -> None:
    world = World()
    Runner(world).step()
    found = explained(world)
    number = world.pulls[0].number

    assert found.because == "nothing can move before a person acts"
    assert reasons(found)["spec"] == ("waiting_gate", "finished; a person has yet to look at the result")
    assert acts(found) == [f"merge or approve pull request #{number}, or close it to reject it"]
    assert {fact.name: fact.value for fact in found.facts}[f"pull request #{number} (spec)"] == "open"


def test_the_second_sub_item_waits_for_the_first() -> None:
    world = merged(World())
    Runner(world).step()
    found = explained(world)

    assert reasons(found) == {
        "spec": ("succeeded", "done in visit 1, merged by ann"),
        "plan": ("succeeded", "done in visit 2"),
        "ship@A": ("pending", "waits for code@A"),
        "code@B": ("pending", "waits for ship@A"),
        "ship@B": ("pending", "waits for code@B, ship@A"),
    }


def test_another_runner_is_named_with_the_way_around_it() -> None:
    world = World()
    seen: list[Explanation] = []

    def turn(what: str) -> None:
        if what.startswith("publish"):
            seen.append(explained(world))

    Runner(world, name="other", turn=turn).step()
    found = seen[0]

    assert found.because == "other renewed its lease less than 240 s ago, and no other node is ready"
    assert reasons(found)["spec"] == ("running", "other works on it")
    assert "cogworks run --take-over" in acts(found)[0]


def test_a_rejected_result_blocks_what_builds_on_it() -> None:
    world = World()
    Runner(world).step()
    world.pulls = [pull.model_copy(update={"state": "closed"}) for pull in world.pulls]
    found = explained(world)

    assert reasons(found) == {
        "spec": ("failed", f"pull request #{world.pulls[0].number} was closed unmerged"),
        "plan": ("blocked", "spec failed, and it waits for that"),
    }
    assert found.because == "the item cannot go on by itself (failed)"


def test_a_hold_label_is_what_a_person_has_to_remove() -> None:
    world = merged(World())
    world.set_label("cogworks:hold", "e2")
    found = explained(world)

    assert reasons(found)["plan"] == ("ready", "could start, but something else blocks the item")
    assert acts(found) == ["remove the hold label when the item may go on"]


def test_an_issue_that_nobody_asked_for_says_how_to_ask() -> None:
    world = World()
    world.labels.clear()
    found = explained(world)

    assert "Set the label 'cogworks:run'" in acts(found)[0]


def test_a_dead_runner_is_taken_over_under_the_same_key() -> None:
    world = World()
    dead = Runner(world, name="dead", fault=Fault(at=6, when="before", kind="death"))
    with pytest.raises(Died):
        dead.step()
    assert world.state.leases
    world.now = world.now.replace(hour=world.now.hour + 1)
    found = explained(world)

    assert found.because.startswith("the lease of dead is too old")


def test_a_finished_item_has_nothing_to_unblock() -> None:
    world = World()
    until_done(world)
    found = explained(world)

    assert (found.because, acts(found)) == ("the run is done", [])
    assert {status for status, _ in reasons(found).values()} == {"succeeded"}


def test_a_visit_that_asks_about_a_call_says_so() -> None:
    world = after(2)
    world.more_files[POLICY_FILE] = POLICY
    Runner(world, nodes={**NODES, NodeId("code"): Coder((WRONG, RIGHT))}).step()
    [left] = world.state.given_back
    assert left.asks is not None

    found = explained(world)

    assert reasons(found)["code@A"] == (
        "waiting_gate",
        f"a person has yet to approve its call {left.asks.hash} of APPLY_PATCH",
    )
    assert [act.paste for act in found.unblocked_by] == [f"/cogworks approve code@A {left.asks.hash}"]


def test_a_node_that_another_may_lead_back_over_says_which_one_it_waits_for() -> None:
    nodes = [
        {"id": node, "type": "llm", "evaluation": "all-matching", "outputs": [f"of_{node}"]}
        for node in "acdbe"
    ]
    nodes[2]["gate"] = "human-gated"
    edges = [
        *map(edge, ["a>b", "a>d", "c>d", "d>e", "b>e"]),
        edge("a>c", condition={"expr": "of_a.holds == true"}),
        loop("b>a", when="of_b.holds == true"),
        loop("d>c"),
    ]
    world = World(pipeline=document(nodes, edges))
    holds = {"a": iter([False, True]), "b": iter([True, False])}

    def answer(task: NodeTask, _: NodePorts) -> Outcome:
        node = task.visit.node
        output = {"holds": next(holds[node])} if node in holds else {}
        return Succeeded(output=output, summary="done")

    runner = Runner(world, nodes={NodeId(node): answer for node in "acdbe"})
    for _ in "adbab":
        runner.step()

    assert reasons(explained(world)) == {
        "a": ("succeeded", "done in visit 4"),
        "c": ("pending", "waits for d, which may lead back over it"),
        "d": ("waiting_gate", "finished; a person has yet to look at the result"),
        "b": ("succeeded", "done in visit 5"),
        "e": ("pending", "waits for d"),
    }

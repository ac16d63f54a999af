import pytest
import tomli_w

from cogworks.engine.consider import Considered, NoSuchNode, ReadItem, Wanted, consider, read_item, state_of
from cogworks.errors import ConfigurationError, UsageError
from cogworks.forge.snapshot import Snapshot
from cogworks.ledger.record import LedgerUnreadable
from cogworks.pipeline.decision import BackOff, Run
from cogworks.pipeline.state import issue_digest
from cogworks.vocabulary import RunId
from tests.pipeline.graphs import document
from tests.pipeline.runs import at
from tests.step_fakes import Died, Fault, Runner
from tests.world import ROOT, World


def look(world: World, wanted: str = "", *, take_over: bool = False) -> Considered:
    return consider(
        read_item(Runner(world)), Wanted(node=wanted, take_over=take_over), new_run_id=lambda: RunId("run-9")
    )


def planned() -> World:
    """An item whose plan is made."""
    world = World()
    for _ in range(2):
        for wait in Runner(world).step().waiting_for:
            assert wait.number is not None
            world.merge(wait.number)
    return world


def test_an_item_nobody_worked_on_is_a_new_run_with_what_was_asked_for() -> None:
    seen = look(World())

    assert seen.state.run_id == "run-9"
    assert seen.state.issue_digest == issue_digest("add() subtracts", "It should add.")
    assert seen.state.graph_hash == seen.pipeline.graph_hash
    assert seen.state.inputs.last_label_event_id == "e1"
    assert isinstance(seen.decision, Run)


def test_an_item_with_a_ledger_goes_on_from_it() -> None:
    world = planned()

    seen = look(world)

    assert seen.state == world.state
    assert isinstance(seen.decision, Run)
    assert seen.decision.instance == at("code@A")


def test_a_snapshot_that_is_looked_at_twice_says_the_same() -> None:
    item = read_item(Runner(planned()))

    first, second = (consider(item, Wanted(), new_run_id=lambda: RunId("run-9")) for _ in range(2))

    assert first == second


def test_a_lease_is_judged_by_githubs_clocks() -> None:
    world = planned()
    with pytest.raises(Died):
        Runner(world, name="dead", fault=Fault(3, "before", "death")).step()

    seen = look(world)

    assert isinstance(seen.decision, BackOff)
    assert seen.decision.stealable_in_s == 239.0
    assert isinstance(look(world, take_over=True).decision, Run)


@pytest.mark.parametrize("name", ["code@A", "code@103"])
def test_the_operator_names_a_sub_item_by_its_key_or_by_its_issue(name: str) -> None:
    world = planned()
    name = name.replace("103", str(world.sub_issues[0].number))

    assert look(world, name).facts.wanted == at("code@A")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cod", "pipeline 'default' has no node 'cod'; it has spec, plan, code, ship."),
        ("code@9", "'code@9' names sub-work-item '9', which is not in the plan."),
    ],
)
def test_a_node_that_does_not_exist_is_refused_with_those_that_do(name: str, message: str) -> None:
    with pytest.raises(NoSuchNode) as caught:
        look(planned(), name)
    assert str(caught.value) == message


def test_a_repository_without_configuration_is_told_what_to_commit() -> None:
    snapshot = World().snapshot()
    bare = snapshot.model_copy(
        update={"repository": snapshot.repository.model_copy(update={"config_files": {}})}
    )

    with pytest.raises(UsageError, match=r"octo-org/adder has no `.cogworks/config.toml`"):
        consider(ReadItem(bare), Wanted(), new_run_id=lambda: RunId("run-9"))


def test_a_repository_without_a_pipeline_has_the_built_in_one() -> None:
    snapshot = read_item(Runner(World())).snapshot
    files = {"config.toml": snapshot.repository.config_files["config.toml"]}
    plain = snapshot.model_copy(
        update={"repository": snapshot.repository.model_copy(update={"config_files": files})}
    )

    seen = consider(ReadItem(plain), Wanted(), new_run_id=lambda: RunId("run-9"))

    assert isinstance(seen.decision, Run)
    assert seen.decision.instance == at("intake")


def test_a_pipeline_that_a_run_follows_and_the_file_no_longer_has_is_named() -> None:
    world = planned()
    assert world.pipeline is not None
    renamed = tomli_w.dumps({"pipelines": {"other": world.pipeline["pipelines"]["default"]}})
    snapshot = world.snapshot()
    files = {**snapshot.repository.config_files, "pipeline.toml": renamed}
    changed = snapshot.model_copy(
        update={"repository": snapshot.repository.model_copy(update={"config_files": files})}
    )

    with pytest.raises(UsageError, match="has no pipeline 'default'; it has 'other'"):
        consider(ReadItem(changed), Wanted(), new_run_id=lambda: RunId("run-9"))


def test_a_malformed_pipeline_is_refused_with_every_problem() -> None:
    world = World(pipeline=document([{"id": "a", "type": "llm"}, {"id": "a", "type": "x"}]))

    with pytest.raises(ConfigurationError) as caught:
        look(world)
    assert len(caught.value.problems) > 1


def test_a_ledger_without_a_state_is_unreadable_unless_it_is_as_young_as_its_root() -> None:
    world = World(root=ROOT)
    world.empty_ledger()

    assert state_of(world.snapshot()) is None
    world.commits.append(world.commits[0].model_copy(update={"oid": world.oid()}))
    with pytest.raises(LedgerUnreadable, match=r"`state.json` on branch `cogworks/ledger/7` is not JSON"):
        state_of(world.snapshot())


def test_a_recorded_pull_request_that_a_read_lacks_is_asked_for_once() -> None:
    world = planned()
    world.hidden_pulls = {world.pulls[0].number}
    runner = Runner(world)

    snapshot: Snapshot = read_item(runner).snapshot

    assert runner.calls == ["read", "complete"]
    assert snapshot.pulls == tuple(world.pulls)


def test_an_item_whose_pull_requests_are_all_there_is_read_once() -> None:
    runner = Runner(planned())

    read_item(runner)

    assert runner.calls == ["read"]


def test_who_set_the_trigger_is_asked_about_before_the_first_claim_and_never_again() -> None:
    first, later = Runner(World()), Runner(planned())

    snapshot = read_item(first).snapshot
    read_item(later)

    assert first.calls == ["read", "permissions"]
    assert snapshot.permissions == {"ann": "write"}
    assert later.calls == ["read"]

"""Context packs over the steps of a run: chosen by what Intake found, kept in the ledger, the same until the run ends."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from cogworks.errors import ConfigurationError
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import FrozenPacks
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import Runner
from tests.world import World

NODES = [{"id": "intake", "type": "llm", "outputs": ["classification"]}, {"id": "work", "type": "llm"}]
PACK = ".cogworks/context-packs/careful"
FILES = {
    f"{PACK}/trigger.toml": '[trigger]\nlanguages = ["python"]\n',
    f"{PACK}/anti-patterns.md": "Never guess.\n",
    ".cogworks/context-packs/other/trigger.toml": "[trigger]\nsafety_affecting = true\n",
}
PYTHON = {"type": "bug_fix", "language": "python", "component_tags": ["cli"], "safety_affecting": False}


def world(**changes: Any) -> World:
    return World(pipeline=document(NODES, "intake>work"), **changes)


def stepped(
    on: World, files: Mapping[str, str], seen: list[FrozenPacks | None], found: Mapping[str, Any] = PYTHON
) -> Runner:
    """A runner that has taken one step on a base with these files."""

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        seen.append(task.packs)
        return Succeeded(output=dict(found), summary="classified")

    def work(task: NodeTask, ports: NodePorts) -> Outcome:
        seen.append(task.packs)
        return Succeeded(output={}, summary="worked")

    runner = Runner(on, nodes={NodeId("intake"): intake, NodeId("work"): work}, trees={on.head: files})
    runner.step()
    return runner


def test_what_intake_found_chooses_the_packs_and_later_visits_are_handed_them() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    first = stepped(item, FILES, seen)
    stepped(item, FILES, seen)

    before, packs = seen
    assert before is None
    assert packs is not None
    assert [each.name for each in packs.packs] == ["careful"]
    assert [(each.name, each.applies, each.why) for each in packs.considered] == [
        ("careful", True, "language python"),
        ("other", False, "does not affect safety"),
    ]
    assert packs.commit == item.head
    assert item.state.packs_at == "visits/0001-intake/packs.json"
    assert json.loads(item.files[item.state.packs_at])["considered"][0]["name"] == "careful"
    assert "context packs: `careful` (of this repository): applies, language python" in first.said


def test_packs_that_are_edited_during_a_run_act_on_later_runs() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    stepped(item, FILES, seen)
    stepped(item, {**FILES, f"{PACK}/anti-patterns.md": "Always guess.\n"}, seen)

    packs = seen[-1]
    assert packs is not None
    assert packs.packs[0].documents == {"anti-patterns.md": "Never guess.\n"}


def test_packs_cost_no_request() -> None:
    with_packs, without = world(), world()

    calls = [
        [stepped(item, files, []).calls for _ in range(2)]
        for item, files in ((with_packs, FILES), (without, {}))
    ]

    assert calls[0] == calls[1]


def test_without_a_pack_the_ledger_is_as_it_was() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    stepped(item, {"README.md": "x"}, seen)
    stepped(item, {"README.md": "x"}, seen)

    assert seen == [None, None]
    assert item.state.packs_at == ""
    assert not any(path.endswith("packs.json") for path in item.files)


def test_a_pack_that_cannot_be_read_stops_before_anything_is_paid_for() -> None:
    item, seen = world(), list[FrozenPacks | None]()
    broken = {**FILES, f"{PACK}/required-artefacts.toml": '[[artefact]]\nname = "A"\ntype = "file"\n'}

    with pytest.raises(ConfigurationError, match="path_pattern` is missing"):
        stepped(item, broken, seen)

    assert seen == []
    assert item.state.leases == ()


@pytest.mark.parametrize(
    ("labels", "said"),
    [(("cogworks:safety-critical",), False), ((), True)],
    ids=["label", "classification"],
)
def test_safety_comes_of_the_label_or_of_what_intake_found(labels: tuple[str, ...], said: bool) -> None:
    item, seen = world(), list[FrozenPacks | None]()
    item.labels = [*item.labels, *labels]

    stepped(item, FILES, seen, {**PYTHON, "safety_affecting": said})

    considered = json.loads(item.files[item.state.packs_at])["considered"]
    assert [each["applies"] for each in considered] == [True, True]


def test_packs_that_ship_are_considered_where_the_repository_asks_for_them_and_have_the_room_it_gives() -> (
    None
):
    for more, names, room in (
        ("", [], 0),
        ('[context_packs]\nshipped = ["python-library"]\n', ["python-library"], 6_000),
        ('[context_packs]\nshipped = ["python-library"]\nmax_tokens = 700\n', ["python-library"], 700),
    ):
        item, seen = world(), list[FrozenPacks | None]()
        item.config += more

        stepped(item, {}, seen)
        stepped(item, {}, seen)

        assert [each.name for each in (seen[-1].packs if seen[-1] else ())] == names
        assert (seen[-1].max_tokens if seen[-1] else 0) == room

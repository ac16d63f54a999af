"""Context packs over the steps of a run: chosen by what Intake found, kept in the ledger, the same until the run ends."""

import contextlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from cogworks.errors import ConfigurationError
from cogworks.nodes.contract import NodePorts, Outcome, Succeeded
from cogworks.nodes.task import NodeTask
from cogworks.packs.choosing import FrozenPacks, ReadElsewhere
from cogworks.vocabulary import NodeId
from tests.pipeline.graphs import document
from tests.step_fakes import Died, Fault, Runner
from tests.world import World

NODES: list[dict[str, object]] = [
    {"id": "intake", "type": "llm", "outputs": ["classification"]},
    {"id": "work", "type": "llm"},
]
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
    runner = packed(on, files, seen, found)
    runner.step()
    return runner


def packed(
    on: World,
    files: Mapping[str, str],
    seen: list[FrozenPacks | None] | None = None,
    found: Mapping[str, Any] = PYTHON,
    fault: Fault | None = None,
) -> Runner:
    """A runner on a base with these files."""
    seen = [] if seen is None else seen

    def intake(task: NodeTask, ports: NodePorts) -> Outcome:
        seen.append(task.packs)
        return Succeeded(output=dict(found), summary="classified")

    def work(task: NodeTask, ports: NodePorts) -> Outcome:
        seen.append(task.packs)
        return Succeeded(output={}, summary="worked")

    nodes = {NodeId("intake"): intake, NodeId("work"): work}
    return Runner(on, nodes=nodes, trees={on.head: files}, fault=fault)


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


BROKEN = {**FILES, f"{PACK}/required-artefacts.toml": "[[artefact]]\n"}
ALSO_BROKEN = {**FILES, f"{PACK}/antipatterns.md": "No."}


def refused(on: World, files: Mapping[str, str], fault: Fault | None = None) -> Runner:
    """A runner that stopped at packs that nobody can read."""
    runner = packed(on, files, fault=fault)
    with pytest.raises(ConfigurationError):
        runner.step()
    return runner


def test_who_asked_is_told_of_packs_that_cannot_be_read_and_the_item_rests_until_they_are_mended() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    first = refused(item, BROKEN)
    [told] = item.own_comments()
    waits = item.commits[-1].message
    changed = refused(item, ALSO_BROKEN)
    [now] = item.own_comments()
    stepped(item, FILES, seen)
    stepped(item, FILES, seen)

    assert "### cogworks · stopped before it could decide" in told
    assert "required-artefacts.toml" in told
    assert first.calls[-2:] == ["publish post_comment", "refused"]
    assert f"Cogworks-Waits-For: configuration @{item.snapshot().repository.config_oid}" in waits
    assert changed.calls[-2:] == ["refused", "show"]
    assert "did you mean `anti-patterns.md`?" in now
    assert [each is None for each in seen] == [True, False]
    [last] = item.own_comments()
    assert "### cogworks · done" in last
    assert (item.state.refusal, item.state.given_back, item.twice()) == (None, (), [])


def test_an_item_that_somebody_asked_for_in_words_is_told_as_well() -> None:
    item = world()
    item.labels.remove("cogworks:run")
    item.say("/cogworks run")

    refused(item, BROKEN)

    assert "required-artefacts.toml" in item.own_comments()[0]
    assert "Cogworks-Waits-For: configuration @" in item.commits[-1].message


def test_whatever_call_fails_while_it_is_told_there_is_one_comment() -> None:
    calls = len(refused(world(), BROKEN).calls)
    for at in range(1, calls + 1):
        item, seen = world(), list[FrozenPacks | None]()
        with contextlib.suppress(Died, ConfigurationError):
            packed(item, BROKEN, fault=Fault(at, "after", "death")).step()
        if at < calls:
            last = item.commits[-1].message if item.commits else ""
            assert "Waits-For: configuration" not in last, at
        # What a dead runner owes is posted first, by whoever comes next.
        item.now += timedelta(seconds=300)
        with contextlib.suppress(ConfigurationError):
            packed(item, BROKEN).step()
        refused(item, BROKEN)
        [told] = item.own_comments()
        assert "### cogworks · stopped before it could decide" in told, at
        assert "Waits-For: configuration" in item.commits[-1].message, at
        for _ in range(2):
            item.now += timedelta(seconds=300)
            stepped(item, FILES, seen)
        assert "### cogworks · done" in item.own_comments()[0], at
        assert item.twice() == []


def test_a_run_that_had_begun_stays_on_its_pipeline_where_its_packs_cannot_be_read() -> None:
    item, seen = World(pipeline=document([*reversed(NODES)], "work>intake")), list[FrozenPacks | None]()
    stepped(item, BROKEN, seen)
    before = item.state

    refused(item, BROKEN)
    told = item.own_comments()
    stepped(item, FILES, seen)

    assert len(told) == 1
    assert "### cogworks · stopped before it could decide" in told[0]
    assert (item.state.pipeline, item.state.graph_hash) == (before.pipeline, before.graph_hash)
    assert [visit.node for visit in item.state.visits] == ["work", "intake"]
    assert "### cogworks · done" in item.own_comments()[0]


def large(count: int, chars: int, letter: str = "x") -> dict[str, str]:
    """So many packs with so much text each."""
    root = ".cogworks/context-packs"
    files = {
        f"{root}/p{number}/trigger.toml": '[trigger]\nlanguages = ["python"]\n' for number in range(count)
    }
    return files | {f"{root}/p{number}/anti-patterns.md": letter * chars for number in range(count)}


def test_packs_for_which_the_ledger_has_no_room_are_refused_before_anything_is_paid_for() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    with pytest.raises(ConfigurationError) as caught:
        stepped(item, large(3, 90_000, "ß"), seen)

    said = str(caught.value)
    assert caught.value.source == ".cogworks/context-packs"
    assert "`p0` (180," in said
    assert "room for 400,000" in said
    assert seen == []


def test_packs_that_fit_are_kept_in_less_than_github_shows_of_a_file() -> None:
    item, seen = world(), list[FrozenPacks | None]()

    stepped(item, large(4, 98_000), seen)
    stepped(item, large(4, 98_000), seen)

    assert seen[-1] is not None
    assert len(seen[-1].packs) == 4
    assert 390_000 < len(item.files[item.state.packs_at].encode()) < 512_000


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


SHOWS = {
    **FILES,
    f"{PACK}/sources.toml": '[[exemplar]]\nrepository = "octo-org/hal"\npath = "a.rs"\n'
    '[[exemplar]]\nrepository = "octo-org/hal"\npath = "gone.rs"\n',
}


def test_files_of_other_repositories_are_read_once_kept_and_told() -> None:
    item, seen = world(), list[FrozenPacks | None]()
    item.examples["octo-org/hal:a.rs"] = ReadElsewhere(blob="b" * 40, text="fn a() {}\n")

    first = stepped(item, SHOWS, seen)
    item.examples["octo-org/hal:a.rs"] = ReadElsewhere(blob="c" * 40, text="changed")
    second = stepped(item, SHOWS, seen)

    packs = seen[-1]
    assert packs is not None
    assert [(each.exemplar.place, each.text) for each in packs.exemplars] == [
        ("octo-org/hal:a.rs", "fn a() {}\n")
    ]
    assert [each.count("read_elsewhere") for each in (first.calls, second.calls)] == [1, 0]
    assert (
        "context packs: `careful` shows `octo-org/hal:a.rs` (blob bbbbbbbbbbbb) as an example" in first.said
    )
    assert (
        "context packs: context pack 'careful': its exemplar `octo-org/hal:gone.rs` is left out: it is not there"
        in first.said
    )

"""An item whose result people rejected again and again: its state stops growing, and its ledger stays sound and checked."""

import copy
import json
from functools import cache
from typing import Any

import pytest

from cogworks.pipeline.visits import KEPT_DISCARDED
from cogworks.upkeep.checking import Checked, check
from tests.step_fakes import Runner, after, until_done
from tests.upkeep.item_in_memory import check_shell
from tests.world import World

ROUNDS = 2 * KEPT_DISCARDED


def rejected(world: World, times: int) -> None:
    for _ in range(times):
        world.say("/cogworks reject code@A it does not even add")
        Runner(world).step()
        world.say("/cogworks retry")
        Runner(world).step()


@cache
def _often_rejected() -> tuple[World, int, int]:
    world = after(3)
    rejected(world, ROUNDS)
    half = len(world.files["state.json"])
    rejected(world, ROUNDS)
    return world, half, len(world.files["state.json"])


def checked(world: World) -> Checked:
    return check(check_shell(world), repair=False)


def findings(world: World) -> list[tuple[str, str]]:
    return [(found.rule, found.object) for found in checked(world).findings]


def test_the_state_grows_by_no_visit_record_and_the_item_is_finished_from_it() -> None:
    world, half, whole = copy.deepcopy(_often_rejected())

    assert world.state.folded
    assert (whole - half) / ROUNDS < 20
    assert checked(world).visits == world.state.ended
    assert findings(world) == []
    until_done(world)
    assert world.state.status == "done"
    assert findings(world) == []


def folded(world: World) -> dict[str, Any]:
    first: dict[str, Any] = json.loads(world.files["state.json"])["folded"][0]
    return first


def test_a_folded_cost_that_its_folders_do_not_bear_out_is_found() -> None:
    world = copy.deepcopy(_often_rejected()[0])
    state = json.loads(world.files["state.json"])
    state["folded"][0]["spend"]["cost_usd"] += 1
    world.files["state.json"] = json.dumps(state)

    assert ("spend", f"state.json: folded visits of {folded(world)['node']}") in findings(world)


@pytest.mark.parametrize("damage", ["gone", "another"])
def test_a_folded_visit_without_its_record_is_found(damage: str) -> None:
    world = copy.deepcopy(_often_rejected()[0])
    oldest, other = folded(world)["indices"][:2]
    paths = {
        index: next(
            p for p in world.files if p.startswith(f"visits/{index:04d}-") and p.endswith("/visit.json")
        )
        for index in (oldest, other)
    }
    if damage == "gone":
        del world.files[paths[oldest]]
    else:
        world.files[paths[oldest]] = world.files[paths[other]]

    assert ("visit_file", paths[oldest]) in findings(world)


def test_a_folded_visit_that_no_commit_ended_is_found() -> None:
    world = copy.deepcopy(_often_rejected()[0])
    first = folded(world)["indices"][0]
    world.commits = [commit for commit in world.commits if "code@A succeeded" not in commit.message]

    assert ("history", f"folded visit {first} (code@A)") in findings(world)


def test_an_index_that_is_folded_and_kept_is_found() -> None:
    world = copy.deepcopy(_often_rejected()[0])
    state = json.loads(world.files["state.json"])
    state["folded"][0]["indices"].append(state["visits"][-1]["index"])
    world.files["state.json"] = json.dumps(state)

    assert ("index", f"visit {state['visits'][-1]['index']}") in findings(world)

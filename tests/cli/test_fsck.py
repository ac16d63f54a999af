"""`fsck` on a real hub: a healthy item is clean, views and links are repaired, damage of the ledger is only reported."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.cli.fsck import fsck
from cogworks.cli.log import log
from cogworks.cli.status import status
from tests.cli.planned_item import as_person, call, push_to_ledger
from tests.end_to_end.scene import Scene

pytestmark = pytest.mark.slow

LEDGER = "refs/heads/cogworks/ledger/1"


@pytest.fixture
def damaged(own_scene: Scene) -> Iterator[Scene]:
    """The item; its ledger is put back behind the test."""
    tip = own_scene.git("rev-parse", LEDGER).strip()
    yield own_scene
    own_scene.git("update-ref", LEDGER, tip)


def rules(told: dict[str, list[dict[str, str]]], key: str = "findings") -> list[str]:
    return sorted(found["rule"] for found in told[key])


def test_a_healthy_item_is_clean_and_nothing_is_written(looked_at: Scene) -> None:
    before = looked_at.everything()

    ended = call(looked_at, fsck, "--json")
    repaired = call(looked_at, fsck, "--repair")

    assert ended.code == 0
    assert ended.told["outcome"] == "clean"
    assert (ended.told["visits"], ended.told["findings"], ended.told["notes"]) == (4, [], [])
    # One read of the item, one of the history, one of the four visits' files.
    assert ended.told["requests"] == {"graphql": 3, "rest": 0, "git": 0}
    assert (repaired.code, repaired.out.split(": ", 1)[1]) == (0, "clean (13 commits, 4 visits)\n")
    assert looked_at.everything() == before


def test_views_and_links_are_repaired_and_stay_so(own_scene: Scene) -> None:
    scene = own_scene
    comment = as_person(scene, "GET", "/issues/1/comments")[0]["id"]
    (first, _), (second, _) = scene.person.sub_issues()
    as_person(scene, "DELETE", "/issues/1/labels/cogworks:node:code_generation")
    as_person(scene, "POST", "/issues/1/labels", {"labels": ["cogworks:node:failed"]})
    as_person(scene, "PATCH", f"/issues/comments/{comment}", {"body": "Nothing to see here."})
    blocker = as_person(scene, "GET", f"/issues/{first}")["id"]
    as_person(scene, "DELETE", f"/issues/{second}/dependencies/blocked_by/{blocker}")
    as_person(scene, "DELETE", "/issues/1/sub_issue", {"sub_issue_id": blocker})

    found = call(scene, fsck, "--json")
    told = call(scene, fsck, "--repair", "--json")
    after = call(scene, fsck, "--json")
    decided = call(scene, status, "--json").told["next"]

    assert found.code == 1
    assert rules(found.told) == ["dependency", "labels", "status_comment", "sub_issue"]
    assert all(finding["can_be_repaired"] for finding in found.told["findings"])
    assert (told.code, rules(told.told, "repaired")) == (0, rules(found.told))
    assert (after.code, after.told["findings"]) == (0, [])
    assert decided == "run code_generation@A (visit 5)"


def test_a_deleted_status_comment_is_posted_again_once_and_recorded(own_scene: Scene) -> None:
    scene = own_scene
    comment = as_person(scene, "GET", "/issues/1/comments")[0]["id"]
    as_person(scene, "DELETE", f"/issues/comments/{comment}")

    told = call(scene, fsck, "--repair", "--json")
    again = call(scene, fsck, "--repair", "--json")
    comments = as_person(scene, "GET", "/issues/1/comments")
    newest = call(scene, log, "--json").told["commits"][0]

    assert (told.code, rules(told.told, "repaired")) == (0, ["status_comment"])
    assert (again.code, again.told["repaired"]) == (0, [])
    assert [c["id"] > comment for c in comments] == [True]
    assert newest["verb"] == "repaired"


def test_a_hand_made_change_of_the_ledger_is_reported_and_left_alone(damaged: Scene, tmp_path: Path) -> None:
    scene = damaged
    state = json.loads(scene.git("show", "cogworks/ledger/1:state.json"))
    state["visits"][1]["visit_key"] = "0" * 64
    state["marks"]["nowhere_to_nothing"] = "taken"
    oid = push_to_ledger(
        scene,
        tmp_path / "clone",
        {"state.json": json.dumps(state), "visits/0001-intake/visit.json": None},
        "Tidy up",
    )

    told = call(scene, fsck, "--repair", "--json")
    people = call(scene, fsck)
    tip = scene.git("rev-parse", "cogworks/ledger/1").strip()

    assert told.code == 1
    assert rules(told.told) == ["foreign", "history", "marks", "visit_file", "visit_file", "visit_key"]
    assert told.told["repaired"] == []
    assert tip == oid
    assert "visit 2 (architecture) has a visit key that does not match the visit" in people.out
    assert "6 finding(s)" in people.out


def test_an_unreadable_state_is_a_finding_and_not_a_crash(damaged: Scene, tmp_path: Path) -> None:
    scene = damaged
    push_to_ledger(scene, tmp_path / "clone", {"state.json": "{"}, "Break it")

    told = call(scene, fsck, "--repair", "--json")

    assert told.code == 1
    assert rules(told.told) == ["foreign", "state"]


def test_an_item_without_a_ledger_has_nothing_to_check(looked_at: Scene) -> None:
    number = looked_at.person.sub_issues()[0][0]
    other = Scene(looked_at.stage, looked_at.person, f"{looked_at.issue_url.rpartition('/')[0]}/{number}")

    told = call(other, fsck, "--json").told

    assert (told["outcome"], told["notes"]) == (
        "clean",
        ["the item has no ledger yet; there is nothing to check"],
    )

"""What lands together lands whole or not at all, and of several explanations one is followed at a time."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.errors import BudgetReached, InvalidReply
from cogworks.repair.options import Gates, Options, Search
from tests.codebase.repositories import git
from tests.cycle.repair_scene import RepairScene
from tests.fixing import diffs, landmark, place, plan
from tests.fixing import pattern as shop_pattern
from tests.repair.benches import make_worktree, on_disk

GOOD_A = {"a.txt": ("a = bad", "a = good")}
GOOD_D = {"a.txt": ("d = bad", "d = good")}
NEUTRAL = {"a.txt": ("a = bad", "a = worse")}
BREAKS = {"a.txt": ("c = good\nd = bad", "c = bad\nd = good")}
NOTHING = InvalidReply("nothing comes to mind")


def pattern(first: int, *others: int, confidence: float = 0.9) -> str:
    """The fault is believed in one line of `a.txt`, or else in others."""
    alternatives = [{"place": place("a.txt", line, line), "why": "it may be"} for line in others]
    told = {"primary": place("a.txt", first, first), "alternatives": alternatives, "confidence": confidence}
    return json.dumps({**json.loads(shop_pattern()), **told})


def mark(name: str, line: int, **more: Any) -> dict[str, Any]:
    return landmark(name, place("a.txt", line, line), **more)


JOINED = plan(mark("first", 1, join="all"), mark("second", 4, join="all", after=["first"]))


def broken_by_its_last_commit(tree: Path) -> RepairScene:
    """A chain whose second commit breaks a test that only the suite after it runs."""
    breaks_b = {"a.txt": ("b = good\nc = good\nd = bad", "b = bad\nc = good\nd = good")}
    return RepairScene(
        tree, pattern(1), JOINED, diffs(GOOD_A), diffs(breaks_b), BudgetReached("enough"),
        options=Options(gates=Gates(regression=False)),
    )  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def test_joined_landmarks_land_as_two_commits_though_the_first_alone_improves_nothing(tree: Path) -> None:
    twice = {"a.txt": ("a = worse\nb = good\nc = good\nd = bad", "a = good\nb = good\nc = good\nd = good")}
    scene = RepairScene(tree, pattern(1), JOINED, diffs(NEUTRAL), diffs(twice))

    result = scene.run()

    assert result.success, result.error
    assert git(tree, "log", "--format=%s").splitlines() == ["txn:second", "txn:first", "before"]
    checkpoints = [entry.data for entry in scene.entries if entry.kind == "vcs.checkpoint"]
    assert [each["why"] for each in checkpoints] == ["base", "savepoint", "kept", "kept"]
    assert checkpoints[1]["landmarks"] == ["first", "second"]
    assert "savepoint.restored" not in scene.moments


def test_a_landmark_that_is_not_joined_has_to_improve_something_by_itself(tree: Path) -> None:
    alone = plan(mark("first", 1), mark("second", 4, after=["first"]))
    scene = RepairScene(tree, pattern(1), alone, diffs(NEUTRAL), BudgetReached("enough"))

    with pytest.raises(BudgetReached):
        scene.run()

    assert scene.codes == ["mu_regressed"]


def test_when_the_second_of_two_joined_landmarks_fails_the_first_is_undone_first(tree: Path) -> None:
    before = on_disk(tree)
    scene = RepairScene(
        tree, pattern(1), JOINED, diffs(GOOD_A), diffs(BREAKS), NOTHING, NOTHING, BudgetReached("enough")
    )

    with pytest.raises(BudgetReached):
        scene.run()

    assert scene.codes == ["kept", "gate_regression"]
    assert git(tree, "log", "--format=%s").splitlines() == ["before"]
    assert on_disk(tree) == before
    # What was kept was undone before anybody was asked for another plan.
    assert scene.patch == ""


def test_commits_that_were_undone_are_told_to_the_cycle(tree: Path) -> None:
    scene = RepairScene(
        tree, pattern(1), JOINED, diffs(GOOD_A), diffs(BREAKS), NOTHING, NOTHING,
        plan(mark("all", 1), mark("d", 4)), diffs(GOOD_A), diffs(GOOD_D),
    )  # fmt: skip

    result = scene.run()

    assert result.success, result.error
    assert result.patches_applied == 2
    restored = next(entry for entry in scene.entries if entry.kind == "savepoint.restored")
    assert restored.data == {"commits": 1}
    assert git(tree, "log", "--format=%s").splitlines() == ["txn:d", "txn:all", "before"]


def test_the_next_question_says_which_changes_were_kept_and_taken_back_and_which_tests_pass_now(
    tree: Path,
) -> None:
    scene = RepairScene(
        tree, pattern(1), JOINED, diffs(GOOD_A), diffs(BREAKS), NOTHING, NOTHING,
        plan(mark("all", 1, intent="Mend a."), mark("d", 4)), diffs(GOOD_A), diffs(GOOD_D),
    )  # fmt: skip

    scene.run()

    kept = (
        "change 1 was kept and is in the repository now: Add the prices up, with their cents.; "
        "failing before and passing now: a.txt::a; still failing: a.txt::d"
    )
    lost = "taken back, and not in the repository any more: change 1"
    asked = [told for template, _, told in scene.model.asked if template == "propose_diffs"]
    assert "What became of the changes so far" not in asked[0]
    assert kept in asked[1]
    assert lost not in asked[1]
    assert f"{kept}\n{lost}\n</data" in next(
        told for name, _, told in scene.model.asked[-4:] if name == "landmarks"
    )
    assert "change 2 was kept and is in the repository now: Mend a.; failing before" in asked[-1]


def test_a_chain_that_is_taken_back_after_the_suite_is_told_as_lost(tree: Path) -> None:
    scene = broken_by_its_last_commit(tree)

    with pytest.raises(BudgetReached):
        scene.run()

    assert scene.work.notes.kept[-1] == "taken back, and not in the repository any more: change 1, change 2"


@pytest.mark.parametrize("ends", ["budget", "ladder"])
def test_whatever_ends_the_run_no_half_of_a_chain_stays(tree: Path, ends: str) -> None:
    before = on_disk(tree)
    answers = [BudgetReached("enough")] if ends == "budget" else [NOTHING] * 20
    scene = RepairScene(tree, pattern(1), JOINED, diffs(GOOD_A), *answers)

    try:
        result = scene.run()
    except BudgetReached:
        scene.work.settle()
    else:
        assert not result.success

    assert git(tree, "log", "--format=%s").splitlines() == ["before"]
    assert on_disk(tree) == before


def test_a_chain_whose_last_commit_breaks_a_test_elsewhere_is_taken_back_as_a_whole(tree: Path) -> None:
    scene = broken_by_its_last_commit(tree)

    with pytest.raises(BudgetReached):
        scene.run()

    assert scene.course[-2:] == ["RUN_TESTS: regressed", "REVERT_PATCH: done"]
    assert git(tree, "log", "--format=%s").splitlines() == ["before"]


def test_a_failed_landmark_stops_those_that_wait_for_it_and_no_others(tree: Path) -> None:
    steps = plan(mark("first", 2), mark("waits", 3, after=["first"]), mark("free", 1))
    scene = RepairScene(
        tree,
        pattern(2),
        steps,
        NOTHING,
        NOTHING,
        diffs(GOOD_A),
        pattern(4),
        plan(mark("d", 4)),
        diffs(GOOD_D),
    )

    result = scene.run()

    assert result.success, result.error
    assert [each.landmark for each in scene.work.notes.tried] == ["free", "d"]
    assert scene.modes == ["next_branch"]


def test_alternatives_are_followed_in_the_order_of_what_they_promise_and_the_first_commit_ends_it(
    tree: Path,
) -> None:
    believed = pattern(2, 3, 1, confidence=0.5)
    scene = RepairScene(
        tree, believed, plan(mark("b", 2)), NOTHING, NOTHING, NOTHING, NOTHING, diffs(GOOD_A),
        pattern(4), plan(mark("d", 4)), diffs(GOOD_D),
    )  # fmt: skip

    result = scene.run()

    assert result.success, result.error
    assert scene.modes == ["next_branch", "next_branch"]
    turns = [entry.data for entry in scene.entries if entry.kind == "branch.chosen"][:3]
    assert [turn["branch"] for turn in turns] == ["plan", "elsewhere-1", "elsewhere-2"]
    assert [turn["probabilities"] for turn in turns] == [
        {"plan": 0.5, "elsewhere-1": 0.25, "elsewhere-2": 0.25},
        pytest.approx({"plan": 1 / 6, "elsewhere-1": 5 / 12, "elsewhere-2": 5 / 12}, abs=1e-5),
        pytest.approx({"plan": 0.25, "elsewhere-1": 0.125, "elsewhere-2": 0.625}, abs=1e-5),
    ]
    settled = next(entry.data for entry in scene.entries if entry.kind == "branch.settled")
    assert settled["probabilities"] == {"plan": 0.0, "elsewhere-1": 0.0, "elsewhere-2": 1.0}


def test_a_place_that_is_believed_in_more_than_the_plan_goes_first(tree: Path) -> None:
    scene = RepairScene(
        tree, pattern(2, 1, confidence=0.2), plan(mark("b", 2)), diffs(GOOD_A), pattern(4),
        plan(mark("d", 4)), diffs(GOOD_D),
    )  # fmt: skip

    result = scene.run()

    assert result.success, result.error
    assert [each.landmark for each in scene.work.notes.tried] == ["elsewhere-1", "d"]


def test_changes_that_are_taken_back_climb_every_rung_once(tree: Path) -> None:
    useless = [{"a.txt": ("a = bad", f"a = bad{number}")} for number in range(5)]
    steps = plan(mark("a", 1))
    scene = RepairScene(
        tree, pattern(1), steps, diffs(useless[0]), diffs(useless[1]), steps, diffs(useless[2]),
        pattern(1), steps, diffs(useless[3]), pattern(1), steps, diffs(useless[4]),
    )  # fmt: skip
    before = on_disk(tree)

    result = scene.run()

    assert result.error.startswith("given_up: ")
    assert scene.modes == ["replan", "recombine", "widen"]
    assert len(scene.codes) == 5
    assert [entry.data["hops"] for entry in scene.entries if entry.kind == "subgraph.built"] == [2, 3]
    assert on_disk(tree) == before


def test_the_next_request_shows_what_the_failing_tests_printed(tree: Path) -> None:
    scene = RepairScene(tree, pattern(1), plan(mark("a", 1)), diffs(NEUTRAL), BudgetReached("enough"))

    with pytest.raises(BudgetReached):
        scene.run()

    shown = scene.model.asked[3][2]
    assert "a.txt::a printed:" in shown
    assert "a.txt:1: in fact" in shown


def test_one_step_at_most_leaves_a_chain_of_two_alone(tree: Path) -> None:
    options = Options(search=Search(max_steps=1))
    scene = RepairScene(tree, pattern(1), JOINED, diffs(GOOD_A), BudgetReached("enough"), options=options)

    with pytest.raises(BudgetReached):
        scene.run()

    first: Mapping[str, Any] = next(each.data for each in scene.entries if each.kind == "branch.chosen")
    assert first["branch"] == "suspect-1"


def test_a_run_that_died_in_the_middle_of_a_chain_is_undone_by_the_next_one(tree: Path) -> None:
    before = on_disk(tree)
    dead = RepairScene(tree, pattern(1), JOINED, diffs(GOOD_A), BudgetReached("enough"))
    with pytest.raises(BudgetReached):
        dead.run()
    assert on_disk(tree) != before

    RepairScene(tree)

    assert on_disk(tree) == before

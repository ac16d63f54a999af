"""Of several diffs the first good one is kept, each starts from the same tree, and budgets end the search by name."""

from pathlib import Path

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.repair.transaction import Bench
from cogworks.repair.trying import Budgets, Tried, first_kept
from tests.codebase.repositories import git
from tests.repair.benches import FILES, FactChecks, make_worktree, patch_tree, terms


def edit(old: str, new: str) -> str:
    return render(Diff(files=(between("a.txt", FILES["a.txt"], FILES["a.txt"].replace(old, new)),)))


GOOD = edit("a = bad", "a = good")
BAD = [edit(f"{name} = good", f"{name} = {word}") for name in "bc" for word in ("bad", "worse")]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def tried(tree: Path, *diffs: str, budgets: Budgets | None = None) -> Tried:
    return first_kept(diffs, terms(tree), Bench(patch_tree(tree), FactChecks(tree)), budgets=budgets)


def codes(found: Tried) -> list[str]:
    return [result.code for result in found.results]


def test_the_first_good_diff_ends_the_search(tree: Path) -> None:
    found = tried(tree, BAD[0], GOOD, BAD[1])

    assert codes(found) == ["gate_targeted", "kept"]
    assert found.is_kept
    assert found.budgets_reached == ()
    assert found.feedback == ("breaks a.txt::b",)
    assert git(tree, "log", "-1", "--format=%s") == "txn:fix-1"


@pytest.mark.parametrize(
    ("budgets", "names", "count"),
    [
        (Budgets(), ("finalists",), 2),
        (Budgets(finalists=3, actions_per_txn=1), ("actions_per_txn",), 1),
        (Budgets(finalists=2, actions_per_txn=2), ("finalists", "actions_per_txn"), 2),
    ],
)
def test_a_used_up_budget_is_named(tree: Path, budgets: Budgets, names: tuple[str, ...], count: int) -> None:
    found = tried(tree, *BAD[:3], GOOD, budgets=budgets)

    assert not found.is_kept
    assert len(found.results) == count
    assert found.budgets_reached == names


def test_a_diff_that_breaks_a_rule_uses_up_nothing(tree: Path) -> None:
    found = tried(tree, "nonsense", "```", BAD[0], GOOD)

    assert codes(found) == ["rejected", "rejected", "gate_targeted", "kept"]


def test_the_same_diff_is_not_tried_twice(tree: Path) -> None:
    found = tried(tree, BAD[0], BAD[0], GOOD)

    assert codes(found) == ["gate_targeted", "rejected", "kept"]
    assert found.results[1].violations[0].code == "repeat"


def test_what_no_other_diff_would_change_ends_the_search(tree: Path) -> None:
    (tree / "mine.txt").write_text("mine")

    assert codes(tried(tree, GOOD, GOOD)) == ["dirty_tree"]


def test_without_diffs_nothing_is_kept(tree: Path) -> None:
    assert not tried(tree).is_kept

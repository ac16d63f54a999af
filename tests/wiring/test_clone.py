"""The clone of a checkout as it lies there: one copy where nothing is uncommitted, and never the checkout itself."""

from pathlib import Path

import pytest

from cogworks.codebase.git import detached_head
from cogworks.repair.instance import Instance
from cogworks.wiring.clone import Copy, clone_as_it_lies, clone_of
from tests.codebase.repositories import git
from tests.fixing import make_shop

TASK = Instance(instance_id="a", failing_tests=())
CART = "shop/cart.py"


def cloned(shop: Path, folder: Path, said: list[str]) -> Copy:
    folder.mkdir()
    return clone_as_it_lies(shop, TASK, folder, said.append)


def test_what_is_committed_is_copied_once_and_is_what_any_clone_of_it_is(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    (tmp_path / "usual").mkdir()
    usual = clone_of(shop, TASK, tmp_path / "usual", print)
    said: list[str] = []

    copy = cloned(shop, tmp_path / "once", said)

    assert said == []
    assert [each.name for each in (tmp_path / "once").iterdir()] == ["tree"]
    assert (copy.start, copy.handed_over, copy.stands_at()) == (usual.start, (), usual.start)
    assert detached_head(copy.path / ".git") == git(shop, "rev-parse", "HEAD").strip()
    assert {each.name for each in copy.path.iterdir()} == {each.name for each in usual.path.iterdir()}
    assert git(copy.path, "status", "--porcelain") == git(copy.path, "remote") == ""


def test_a_commit_in_the_copy_changes_nothing_in_the_checkout(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    before = git(shop, "rev-parse", "HEAD"), sorted(str(each) for each in (shop / ".git").rglob("*"))
    copy = cloned(shop, tmp_path / "once", [])

    (copy.path / CART).write_text("changed = True\n")
    git(copy.path, "commit", "--all", "--message", "changed")

    assert (
        git(shop, "rev-parse", "HEAD"),
        sorted(str(each) for each in (shop / ".git").rglob("*")),
    ) == before
    assert git(shop, "status", "--porcelain") == ""


@pytest.mark.parametrize("is_first", [False, True], ids=["on-top-of-a-commit", "before-any-commit"])
def test_what_is_uncommitted_is_a_commit_of_the_clone(tmp_path: Path, is_first: bool) -> None:
    shop = tmp_path / "new"
    if is_first:
        shop.mkdir()
        git(shop, "init", "--quiet")
        (shop / "shop").mkdir()
    else:
        shop = make_shop(tmp_path)
    (shop / CART).write_text("lies = True\n")
    said: list[str] = []

    copy = cloned(shop, tmp_path / "twice", said)

    assert any("uncommitted path(s) count as they lie there" in line for line in said)
    assert git(copy.path, "show", f"{copy.start}:{CART}") == "lies = True"
    assert git(copy.path, "status", "--porcelain") == ""

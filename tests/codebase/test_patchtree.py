"""What the worktree of transactions promises: held once, put back exactly, and found again after a kill."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cogworks.codebase.diffmodel import Diff, render
from cogworks.codebase.diffplacing import between
from cogworks.codebase.failures import CodebaseError, RollbackFailed
from cogworks.codebase.git import Git, detached_head
from cogworks.codebase.patchtree import PatchTree
from cogworks.vocabulary import CommitOid
from tests.codebase.repositories import git
from tests.repair.benches import FILES, make_worktree, on_disk, patch_tree

FIX = render(Diff(files=(between("a.txt", FILES["a.txt"], FILES["a.txt"].replace("bad", "good")),)))
NEW = (
    "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_worktree(tmp_path)


def test_it_is_held_once_at_a_time(tree: Path) -> None:
    one, two = patch_tree(tree), patch_tree(tree)

    with one.hold() as first, two.hold() as second:
        assert (first, second) == (True, False)
    with two.hold() as again:
        assert again


def test_without_a_died_transaction_there_is_nothing_to_recover(tree: Path) -> None:
    (tree / "mine.txt").write_text("mine")

    assert not patch_tree(tree).recover()
    assert (tree / "mine.txt").read_text() == "mine"


def abandoned(tree: Path) -> dict[str, tuple[int, bytes]]:
    """A transaction that died after it had written; what the worktree was before."""
    before = on_disk(tree)
    died = patch_tree(tree)
    died.checkpoint()
    assert died.apply(FIX) is None
    (tree / "litter").mkdir()
    (tree / "litter" / "x").write_text("x")
    return before


def test_what_died_half_way_is_put_back_by_the_next(tree: Path) -> None:
    before = abandoned(tree)

    assert patch_tree(tree).recover()
    assert on_disk(tree) == before
    assert git(tree, "status", "--porcelain") == ""
    assert not patch_tree(tree).recover()


def test_locks_that_a_dead_git_left_are_broken(tree: Path) -> None:
    before = abandoned(tree)
    folder = Path(git(tree, "rev-parse", "--absolute-git-dir"))
    (folder / "index.lock").write_bytes(b"half an index")
    (folder / "HEAD.lock").touch()

    assert patch_tree(tree).recover()
    assert on_disk(tree) == before


def test_a_commit_that_was_made_before_the_end_stays(tree: Path) -> None:
    died = patch_tree(tree)
    state = died.checkpoint()
    died.apply(FIX)
    oid = died.commit("txn:one\n", state)
    (tree / "litter").write_text("x")

    assert patch_tree(tree).recover()
    assert git(tree, "rev-parse", "HEAD") == oid
    assert git(tree, "status", "--porcelain") == ""
    assert (tree / "a.txt").read_text() == FILES["a.txt"].replace("bad", "good")


def test_a_branch_that_somebody_else_moved_is_left_alone(tree: Path) -> None:
    abandoned(tree)
    for _ in range(2):
        git(tree, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "mine")
    there = on_disk(tree)

    with pytest.raises(CodebaseError, match="neither the commit a transaction started from"):
        patch_tree(tree).recover()
    assert on_disk(tree) == there


def test_what_cannot_be_put_back_is_said(tree: Path) -> None:
    writer = patch_tree(tree)
    state = writer.checkpoint()
    (tree / "cache" / "kept").write_text("lost")

    with pytest.raises(RollbackFailed, match="left other files than before"):
        writer.roll_back(state)


def test_a_changed_file_is_noticed_though_its_time_stamp_and_size_are_the_same(tree: Path) -> None:
    place = tree / "a.txt"
    found = place.stat()
    place.write_text(FILES["a.txt"].replace("bad", "BAD"))
    os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))

    with pytest.raises(CodebaseError, match="are not those of"):
        patch_tree(tree).checkpoint()


@pytest.mark.parametrize(
    ("diff", "reason"),
    [
        (FIX.replace(" b = good", " b = other"), "patch does not apply"),
        (NEW.replace("new.txt", "../new.txt"), "invalid path '../new.txt'"),
        (FIX.replace("a.txt", "gone.txt"), "does not exist"),
    ],
)
def test_what_git_refuses_writes_nothing(tree: Path, diff: str, reason: str) -> None:
    before = on_disk(tree)

    assert reason in (patch_tree(tree).apply(diff) or "")
    assert on_disk(tree) == before


def test_a_file_that_was_written_anew_with_the_same_text_can_be_changed(tree: Path) -> None:
    text = (tree / "a.txt").read_text()
    (tree / "a.txt").unlink()
    (tree / "a.txt").write_text(text)
    os.utime(tree / "a.txt", (1, 1))

    assert patch_tree(tree).apply(FIX) is None
    assert (tree / "a.txt").read_text() == text.replace("bad", "good")


def test_nothing_staged_is_no_commit(tree: Path) -> None:
    writer = patch_tree(tree)

    with pytest.raises(CodebaseError, match="nothing is staged"):
        writer.commit("txn:one\n", writer.checkpoint())


def test_the_surroundings_of_a_diff(tree: Path) -> None:
    (tree / "link").symlink_to("sub")
    git(tree, "add", "link")
    git(tree, "commit", "--quiet", "--message", "link")

    found = patch_tree(tree).view_of(["a.txt", "gone.txt", "../x", "link/c.txt", "sub", "a\nb", "link"])

    assert found.sources == {"a.txt": FILES["a.txt"], "link": "sub"}
    assert found.existing == {*FILES, "link"}
    assert found.links == {"link/c.txt", "link"}


def test_names_that_are_not_ascii_and_bytes_that_are_not_text_survive(tree: Path) -> None:
    (tree / "naïve ü.txt").write_bytes(b"caf\xe9\n")
    (tree / "cache" / "\udcff").write_bytes(b"\xff")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "odd")
    writer: PatchTree = patch_tree(tree)
    state, before = writer.checkpoint(), on_disk(tree)
    (tree / "naïve ü.txt").write_bytes(b"other\n")
    (tree / "cache" / "new").touch()

    assert patch_tree(tree).recover()
    assert on_disk(tree) == before
    assert writer.view_of(["naïve ü.txt"]).sources == {"naïve ü.txt": "caf\udce9\n"}
    assert "cache/\udcff" in state.untracked


def test_a_submodule_stays_what_it_is(tree: Path, tmp_path: Path) -> None:
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{git(tree, 'rev-parse', 'HEAD')},library")
    git(tree, "commit", "--quiet", "--message", "library")
    (tree / "library").mkdir()
    writer = patch_tree(tree)
    state, before = writer.checkpoint(), on_disk(tree)

    assert writer.apply(FIX) is None
    writer.roll_back(state)

    assert on_disk(tree) == before
    assert git(tree, "status", "--porcelain") == ""


def test_the_last_commit_is_taken_back_and_whoever_dies_after_it_comes_back_to_it(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path)
    before = on_disk(tree)
    patches = patch_tree(tree)
    first = git(tree, "rev-parse", "HEAD")
    (tree / "a.txt").write_text("a = good\n")
    git(tree, "commit", "--quiet", "--all", "--message", "a change")

    assert patches.take_back() == first
    assert on_disk(tree) == before
    assert git(tree, "rev-parse", "HEAD") == first
    assert patches.recover() is False


def test_uncommitted_work_keeps_the_last_commit_from_being_taken_back(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path)
    (tree / "a.txt").write_text("mine\n")

    with pytest.raises(CodebaseError, match="the files on the disk are not those of"):
        patch_tree(tree).take_back()

    assert (tree / "a.txt").read_text() == "mine\n"


class Counting(Git):
    """Notes each command of git."""

    def __init__(self, folder: Path) -> None:
        super().__init__(environment=os.environ, home=folder)
        self.ran: list[str] = []

    def run(self, *arguments: str, cwd: Path, **more: Any) -> str:
        self.ran.append(" ".join(arguments[:2]))
        return super().run(*arguments, cwd=cwd, **more)


def test_the_state_of_a_tree_that_stands_at_a_commit_takes_one_command_of_git_where_its_files_are_known(
    tree: Path,
) -> None:
    git(tree, "checkout", "--quiet", "--detach")
    counting = Counting(tree.parent)
    worktree = patch_tree(tree, counting)
    first = worktree.state()
    counting.ran.clear()

    assert worktree.state() == first
    assert counting.ran == ["ls-files --stage"]
    git(tree, "commit", "--quiet", "--allow-empty", "--message", "after")
    assert worktree.state().head == git(tree, "rev-parse", "HEAD")


@pytest.mark.parametrize("change", ["text", "mode", "attributes", "config"])
def test_what_decides_about_a_tree_has_git_make_it_anew(tree: Path, change: str) -> None:
    git(tree, "checkout", "--quiet", "--detach")
    counting = Counting(tree.parent)
    worktree = patch_tree(tree, counting)
    worktree.state()
    counting.ran.clear()
    place = tree / "a.txt"
    found = place.stat()
    if change == "text":
        place.write_text(FILES["a.txt"].replace("bad", "BAD"))
        os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
    elif change == "mode":
        place.chmod(0o755)
    elif change == "attributes":
        (tree / ".gitattributes").write_text("*.txt text eol=crlf\n")
    else:
        git(tree, "config", "core.autocrlf", "input")

    with suppress(CodebaseError):
        worktree.state()
    assert "write-tree" in counting.ran


def test_what_is_staged_is_compared_once(tree: Path) -> None:
    counting = Counting(tree.parent)
    worktree = patch_tree(tree, counting)
    base = CommitOid(git(tree, "rev-parse", "HEAD"))

    nothing = [worktree.diff_from(base), worktree.diff_from(base)]
    assert worktree.apply(FIX) is None
    fixed = [worktree.diff_from(base), worktree.diff_from(base)]

    assert nothing == ["", ""]
    assert fixed[0] == fixed[1] != ""
    assert sum(each.startswith("-c diff") for each in counting.ran) == 2


def test_what_is_staged_is_looked_at_once_for_each_state_of_it(tree: Path) -> None:
    counting = Counting(tree.parent)
    worktree = patch_tree(tree, counting)
    state = worktree.checkpoint()

    nothing = [worktree.staged(), worktree.staged()]
    assert worktree.apply(FIX) is None
    fixed = [worktree.staged(), worktree.staged()]
    # Another commit is another answer, with the same files staged.
    worktree.commit("fix", state)
    kept = worktree.staged()

    assert (nothing, kept) == ([(), ()], ())
    assert fixed[0] == fixed[1] != ()
    assert sum(each.startswith("diff-index") for each in counting.ran) == 3


def test_the_file_of_a_head_says_what_git_says(tree: Path) -> None:
    folder = Path(git(tree, "rev-parse", "--absolute-git-dir"))

    assert detached_head(folder) is None
    git(tree, "checkout", "--quiet", "--detach")
    assert detached_head(folder) == git(tree, "rev-parse", "HEAD")
    assert detached_head(folder / "nowhere") is None

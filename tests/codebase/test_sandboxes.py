import os
import signal
import threading
from pathlib import Path

import pytest

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.sandboxes import Hit, Sandboxes
from cogworks.vocabulary import CommitOid
from tests.codebase.repositories import git
from tests.limits import ENDS_WITHIN_S, reaped

DIFF = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one total\n+two\n"


class Place:
    """A repository with uncommitted work in it, and sandboxes beside it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "repository"
        git(folder, "init", "--quiet", "--initial-branch=main", str(self.path))
        (self.path / "a.txt").write_text("one total\n")
        (self.path / "sub").mkdir()
        (self.path / "sub" / "b c.txt").write_text("x\nsubtotal\ntotal: total\n")
        (self.path / "data.bin").write_bytes(b"\0total\n")
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "--message", "first")
        (self.path / "a.txt").write_text("work of somebody\n")
        self.head = CommitOid(git(self.path, "rev-parse", "HEAD"))
        self.folder = folder / "probes"
        self.git = Git(environment=os.environ, home=folder)
        self.before = self.state()

    def open(self) -> Sandboxes:
        return Sandboxes(self.path, self.git, self.folder)

    def state(self) -> tuple[str, ...]:
        listed = git(self.path, "worktree", "list", "--porcelain")
        entries = self.path / ".git" / "worktrees"
        known = sorted(entry.name for entry in entries.iterdir()) if entries.exists() else []
        return (listed, *known, git(self.path, "status", "--porcelain"), (self.path / "a.txt").read_text())

    def left(self) -> list[str]:
        """What of the sandboxes is on the disk."""
        return sorted(path.name for path in self.folder.rglob("*") if path.name != "locks")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_sandbox_has_the_files_of_the_commit_and_leaves_nothing_behind(place: Place) -> None:
    with place.open().at(place.head, base=place.head) as sandbox:
        assert sandbox.text("a.txt") == "one total\n"
        assert sandbox.base() == place.head
        assert sandbox.apply(DIFF) is None
        assert sandbox.text("a.txt") == "one total\ntwo\n"
        (sandbox.path / "litter").mkdir()

    assert place.state() == place.before
    assert place.left() == []


def test_a_diff_takes_the_place_of_the_one_before_and_one_that_does_not_fit_changes_nothing(
    place: Place,
) -> None:
    with place.open().at(place.head, base=place.head) as sandbox:
        assert sandbox.apply(DIFF) is None
        assert sandbox.apply(DIFF) is None
        assert sandbox.text("a.txt") == "one total\ntwo\n"
        assert "patch does not apply" in (sandbox.apply(DIFF.replace("one total", "one")) or "")
        assert sandbox.text("a.txt") == "one total\n"


def test_whole_words_are_found_by_path_and_line_and_no_more_than_wanted(place: Place) -> None:
    with place.open().at(place.head, base=place.head) as sandbox:
        found = sandbox.grep("total", most=9)
        assert found == [Hit("a.txt", 1, "one total"), Hit("sub/b c.txt", 3, "total: total")]
        assert sandbox.grep("total", most=1) == found[:1]
        assert sandbox.grep("nothing", most=9) == []
        assert sandbox.text("../repository/a.txt") is None


def test_a_failure_inside_leaves_nothing_behind(place: Place) -> None:
    def fail() -> None:
        with place.open().at(place.head, base=place.head) as sandbox:
            sandbox.apply(DIFF)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert (place.state(), place.left()) == (place.before, [])


def test_a_commit_that_is_not_there_leaves_nothing_behind(place: Place) -> None:
    with pytest.raises(GitFailed), place.open().at(CommitOid("0" * 40), base=place.head):
        pass

    assert (place.state(), place.left()) == (place.before, [])


def test_what_a_killed_process_left_goes_when_the_next_begins_and_what_is_in_use_stays(place: Place) -> None:
    child = os.fork()
    if child == 0:
        with place.open().at(place.head, base=place.head) as sandbox:
            sandbox.apply(DIFF)
            os.kill(os.getpid(), signal.SIGKILL)
    reaped(child)
    assert place.state() != place.before

    with Sandboxes(place.path, place.git, place.folder).at(place.head, base=place.head) as sandbox:
        in_use = place.state()
        place.open()
        assert place.state() == in_use
        assert sandbox.text("a.txt") == "one total\n"

    assert (place.state(), place.left()) == (place.before, [])


def test_several_threads_have_their_own(place: Place) -> None:
    sandboxes, together = place.open(), threading.Barrier(4, timeout=60)
    seen: list[Path] = []

    def work() -> None:
        with sandboxes.at(place.head, base=place.head) as sandbox:
            together.wait(timeout=ENDS_WITHIN_S)
            assert sandbox.apply(DIFF) is None
            seen.append(sandbox.path)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=ENDS_WITHIN_S)

    assert len({*seen}) == 4
    assert (place.state(), place.left()) == (place.before, [])

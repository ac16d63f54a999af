"""Two histories in one tree: what git decides, what it leaves in the files, and a commit with two parents."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.merging import Joined, has_marks
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import BranchName, CommitOid, RunId
from tests.codebase.repositories import BOT, BareRepository, git

WORK = BranchName("cogworks/7/change")
BASE = {"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "gone.txt": "g\n"}


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    repository = BareRepository(tmp_path)
    repository.put("main", BASE)
    return repository


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[WorkingCopies]:
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ) as opened:
        yield opened


def diverged(
    remote: BareRepository, copies: WorkingCopies, ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[WorkingCopy, CommitOid]:
    """A copy that stands on our branch, and the commit to which main moved."""
    remote.put(WORK, ours, start="main")
    moved = remote.put("main", theirs, start="main")
    copy = copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="item", branch=WORK, base=BranchName("main")
    )
    return copy, CommitOid(moved)


def test_what_git_can_merge_is_in_the_tree_and_nothing_is_committed(
    remote: BareRepository, copies: WorkingCopies
) -> None:
    copy, theirs = diverged(remote, copies, {"a.txt": "ONE\ntwo\nthree\n"}, {"b.txt": "B\n", "c.txt": "c\n"})
    head = copy.head

    joined = copy.join(theirs)

    assert joined == Joined()
    assert (copy.head, copy.read("a.txt"), copy.read("b.txt"), copy.read("c.txt")) == (
        head,
        "ONE\ntwo\nthree\n",
        "B\n",
        "c\n",
    )
    copy.roll_back()
    assert copy.read("b.txt") == "b\n"


def test_a_merge_has_two_parents_and_is_the_same_commit_twice(
    remote: BareRepository, copies: WorkingCopies
) -> None:
    copy, theirs = diverged(remote, copies, {"a.txt": "ONE\ntwo\nthree\n"}, {"b.txt": "B\n"})
    head = copy.head
    made = []
    for _ in range(2):
        copy.settle(head)
        copy.join(theirs)
        made.append(copy.commit_joined(theirs, "Merge branch 'main'\n"))

    assert made[0] == made[1] == copy.head
    assert git(copy.path, "rev-parse", "HEAD^1", "HEAD^2").split() == [head, theirs]
    assert copy.fork(theirs) == theirs
    assert copy.push(WORK, head).status == "pushed"
    assert remote.head(WORK) == made[0]


def test_both_sides_and_what_they_began_with_stand_in_a_file_that_conflicts(
    remote: BareRepository, copies: WorkingCopies
) -> None:
    copy, theirs = diverged(
        remote, copies, {"a.txt": "one\nours\nthree\n"}, {"a.txt": "one\ntheirs\nthree\n", "b.txt": "B\n"}
    )

    joined = copy.join(theirs)

    assert (joined.conflicts, joined.undecided, len(joined.subjects)) == (("a.txt",), (), 1)
    text = copy.read("a.txt") or ""
    assert has_marks(text)
    order = [
        text.index(word)
        for word in (
            "<<<<<<< HEAD\n",
            "ours",
            "||||||| began with\n",
            "two",
            "=======\n",
            "theirs",
            ">>>>>>> theirs\n",
        )
    ]
    assert order == sorted(order)
    # What git could merge beside it is there, and nothing says that a merge is under way.
    assert copy.read("b.txt") == "B\n"
    assert copy.apply([FileChange(path="a.txt", action="modify", content="one\nboth\nthree\n")]) is None
    copy.commit_joined(theirs, "Merge\n")
    assert (copy.read("a.txt"), copy.fork(theirs)) == ("one\nboth\nthree\n", theirs)


def test_what_holds_no_two_texts_is_left_to_people(remote: BareRepository, copies: WorkingCopies) -> None:
    remote.put(WORK, {"gone.txt": "changed\n", "a.txt": "ours\n"}, start="main")
    theirs = CommitOid(remote.remove("main", "gone.txt", start="main"))
    copy = copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="item", branch=WORK, base=BranchName("main")
    )
    head = copy.head

    joined = copy.join(theirs)

    assert (joined.conflicts, joined.undecided) == ((), ("gone.txt",))
    copy.settle(head)
    assert copy.read("gone.txt") == "changed\n"


def test_what_cannot_be_merged_at_all_is_an_error_and_changes_nothing(
    remote: BareRepository, copies: WorkingCopies
) -> None:
    copy, _ = diverged(remote, copies, {"a.txt": "ours\n"}, {"b.txt": "B\n"})
    before = copy.tree_name()

    with pytest.raises(GitFailed):
        copy.join(CommitOid("9" * 40))

    assert copy.tree_name() == before


def test_a_commit_that_is_not_here_has_no_fork(remote: BareRepository, copies: WorkingCopies) -> None:
    copy, theirs = diverged(remote, copies, {"a.txt": "ours\n"}, {"b.txt": "B\n"})

    assert copy.fork(CommitOid("9" * 40)) is None
    assert copy.fork(theirs) not in (None, theirs, copy.head)

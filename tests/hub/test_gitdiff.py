"""What differs between two trees."""

import pytest

from cogworks.hub.gitdiff import FileChange, hunk_until
from tests.hub.bench import Bench


def change(bench: Bench, path: str) -> FileChange:
    found = {each.path: each for each in bench.git.changes(bench.tip(), bench.tip("topic"))}
    return found[path]


def test_every_kind_of_change_is_named_and_counted(bench: Bench) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    bench.commit("main", {"moved.txt": text, "gone.txt": "1\n2\n", "picture.png": "\0\1\2"})
    bench.commit("topic", {"sub/moved.txt": text + "more\n", "new.txt": "new\n", "picture.png": "\0\3"})
    tree = bench.git.commit(bench.tip("topic"))
    assert tree is not None
    without = bench.git.edited_tree(tree.tree, {"moved.txt": None, "gone.txt": None})
    assert without is not None

    found = {
        each.path: (each.status, each.old_path, each.additions, each.deletions, each.is_binary)
        for each in bench.git.changes(bench.tip(), without)
    }

    assert found == {
        "gone.txt": ("removed", "gone.txt", 0, 2, False),
        "new.txt": ("added", "new.txt", 1, 0, False),
        "picture.png": ("modified", "picture.png", 0, 0, True),
        "sub/moved.txt": ("renamed", "moved.txt", 1, 0, False),
    }


def test_each_file_has_its_own_hunks_whatever_its_lines_look_like(bench: Bench) -> None:
    bench.commit("topic", {"a.txt": "diff --git a/x b/x\n@@ -1 +1 @@\n", "ü b.txt": "no newline"})

    assert change(bench, "a.txt").patch == "@@ -0,0 +1,2 @@\n+diff --git a/x b/x\n+@@ -1 +1 @@"
    assert change(bench, "ü b.txt").patch == "@@ -0,0 +1 @@\n+no newline\n\\ No newline at end of file"


@pytest.mark.parametrize(
    ("line", "side", "last"),
    [
        (1, "RIGHT", " one"),
        (2, "RIGHT", "+TWO"),
        (2, "LEFT", "-two"),
        (3, "RIGHT", " three"),
        (9, "RIGHT", None),
    ],
)
def test_a_hunk_ends_at_the_line_that_is_spoken_of(line: int, side: str, last: str | None) -> None:
    hunk = hunk_until("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three", line, side)

    assert (hunk or "").split("\n")[-1] == (last or "")
    assert (hunk is None) is (last is None)

"""Whole files become the diff that has the same effect, in the form that git itself applies."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.codebase.changes import FileChange
from cogworks.codebase.diffmodel import mismatches, post_image, render
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import diff_of
from tests.repair.benches import make_worktree, on_disk, patch_tree

LINES = st.lists(st.sampled_from(["a", "b", "", "  c", "é", "x\r"]), max_size=8)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_the_text_of_the_diff_says_the_same_change(before: str, after: str) -> None:
    changes = [
        FileChange(path="kept.py", action="modify", content=after),
        FileChange(path="new.py", action="create", content=after),
        FileChange(path="gone.py", action="delete"),
    ]
    sources = {"kept.py": before, "gone.py": before}

    parsed = parse_diff(render(diff_of(changes, sources)))

    assert parsed.problems == ()
    found = {file.path: file for file in parsed.diff.files}
    assert ("kept.py" in found) == (before != after)
    assert [text for file in found.values() for text in mismatches(file, sources.get(file.path))] == []
    images = {path: post_image(file, sources.get(path)) for path, file in found.items()}
    assert images == {"new.py": after, "gone.py": None, **({"kept.py": after} if before != after else {})}


def test_git_applies_it_and_every_file_is_as_written(tmp_path: Path) -> None:
    tree = make_worktree(tmp_path)
    (tree / "b.txt").chmod(0o755)
    patches = patch_tree(tree)
    changes = [
        FileChange(path="./a.txt", action="modify", content="no line feed at the end"),
        FileChange(path="sub/new.txt", action="create", content="new\n"),
        FileChange(path="empty.txt", action="create", content=""),
        FileChange(path="sub/c.txt", action="delete"),
    ]

    sources = patches.view_of(["a.txt", "sub/c.txt"]).sources
    refused = patches.apply(render(diff_of(changes, sources)))

    assert refused is None
    found = {name: text for name, (_, text) in on_disk(tree).items()}
    assert found["a.txt"] == b"no line feed at the end"
    assert (found["sub/new.txt"], found["empty.txt"], "sub/c.txt" in found) == (b"new\n", b"", False)

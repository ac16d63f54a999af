"""What does a diff of git say about files? Asked of real diffs."""

from pathlib import Path

from cogworks.codegen.plan_bounds import added_files, file_actions, without_object_names
from tests.codebase.repositories import git


def real_diff(folder: Path) -> str:
    git(folder, "init", "--quiet")
    (folder / "kept.py").write_text("a = 1\n")
    (folder / "gone.py").write_text("b = 2\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "start")
    (folder / "kept.py").write_text("a = 2\n")
    (folder / "gone.py").unlink()
    (folder / "new file.py").write_text("--- /dev/null\n+++ b/forged.py\n")
    (folder / "größe.py").write_text("c = 3\n")
    git(folder, "add", "--all")
    return git(folder, "diff", "--cached", "--full-index") + "\n"


def test_added_and_touched_files_are_found(tmp_path: Path) -> None:
    diff = real_diff(tmp_path)

    assert added_files(diff) == {"größe.py", "new file.py"}
    assert file_actions(diff) == {
        "gone.py": "delete",
        "größe.py": "create",
        "kept.py": "modify",
        "new file.py": "create",
    }


def test_object_names_are_left_out(tmp_path: Path) -> None:
    diff = real_diff(tmp_path)

    assert "\nindex " in diff
    assert "\nindex " not in without_object_names(diff)
    assert len(without_object_names(diff).splitlines()) == len(diff.splitlines()) - 4

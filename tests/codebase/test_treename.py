"""A tree has one name, and another as soon as anything in it is another."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cogworks.codebase.disktree import tree_name
from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from tests.codebase.repositories import ENVIRONMENT, git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "a")
    return tmp_path


def name(folder: Path) -> str:
    return tree_name(Git(environment=ENVIRONMENT, home=folder), folder)


def test_equal_files_have_equal_names_from_everywhere_in_the_repository(folder: Path) -> None:
    before = name(folder)
    (folder / "ignored").write_text("x")
    (folder / "deep").mkdir()

    assert name(folder) == name(folder / "deep") == before


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.txt").write_text("b"),
        lambda folder: (folder / "a.txt").unlink(),
        lambda folder: (folder / "a.txt").chmod(0o755),
        lambda folder: (folder / "new.txt").write_text(""),
        lambda folder: (folder / "link").symlink_to("a.txt"),
    ],
    ids=["edited", "deleted", "mode", "new", "link"],
)
def test_any_change_changes_the_name(folder: Path, change: Callable[[Path], object]) -> None:
    before = name(folder)

    change(folder)

    assert name(folder) != before


def test_another_edit_of_a_changed_file_changes_the_name_again(folder: Path) -> None:
    names = set()
    for text in ("1", "2", "3"):
        (folder / "a.txt").write_text(text)
        names.add(name(folder))
    for target in ("a.txt", "b.txt"):
        (folder / "link").unlink(missing_ok=True)
        (folder / "link").symlink_to(target)
        names.add(name(folder))

    assert len(names) == 5


def test_a_folder_without_a_commit_has_no_name(tmp_path: Path) -> None:
    with pytest.raises(GitFailed):
        name(tmp_path)

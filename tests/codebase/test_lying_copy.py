"""A checkout as it lies there, with real git."""

from pathlib import Path

import pytest

from cogworks.codebase.git import Git
from cogworks.codebase.making import lying_copy, top_of
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.asking import laid_out


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(environment={"PATH": "/usr/bin:/bin:/usr/local/bin"}, home=tmp_path)


def run(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    with Started(["git", *who, *arguments], cwd=folder) as process:
        assert process.wait(ENDS_WITHIN_S) == 0


def checkout(folder: Path) -> Path:
    laid_out(folder, {"kept.py": "1\n", "changed.py": "1\n", "gone.py": "1\n", ".gitignore": "made.py\n"})
    run(folder, "init", "--quiet")
    run(folder, "add", "--all")
    run(folder, "commit", "--quiet", "--message", "first")
    run(folder, "tag", "v1.2")
    laid_out(folder, {"changed.py": "2\n", "new/file.py": "3\n", "made.py": "4\n", "ä ö.py": "5\n"})
    (folder / "gone.py").unlink()
    (folder / "link").symlink_to("kept.py")
    return folder


def test_the_copy_holds_what_lies_there_but_what_git_ignores(tmp_path: Path, git: Git) -> None:
    copy = lying_copy(checkout(tmp_path / "repo"), tmp_path / "copy", git)

    held = {
        path.relative_to(copy.path).as_posix(): path.read_text()
        for path in copy.path.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(copy.path).parts and path.name != ".gitignore"
    }
    assert held == {
        "kept.py": "1\n",
        "changed.py": "2\n",
        "new/file.py": "3\n",
        "ä ö.py": "5\n",
        "link": "1\n",
    }
    assert (copy.path / "link").is_symlink()
    assert copy.uncommitted == ("changed.py", "gone.py", "link", "new/file.py", "ä ö.py")
    assert git.run("status", "--porcelain", cwd=copy.path) == ""
    assert copy.base() == git.run("rev-parse", "HEAD", cwd=copy.path).strip() != copy.committed


def test_history_and_tags_are_there_for_whoever_computes_a_version(tmp_path: Path, git: Git) -> None:
    copy = lying_copy(checkout(tmp_path / "repo"), tmp_path / "copy", git)

    assert git.run("describe", "--tags", cwd=copy.path).startswith("v1.2-1-g")


def test_without_uncommitted_work_it_is_the_very_commit(tmp_path: Path, git: Git) -> None:
    laid_out(tmp_path / "repo", {"a.py": "1\n"})
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        run(tmp_path / "repo", *arguments)

    copy = lying_copy(tmp_path / "repo", tmp_path / "copy", git)

    assert (copy.commit, copy.uncommitted) == (copy.committed, ())


def test_a_linked_worktree_and_a_shallow_clone_are_checkouts_too(tmp_path: Path, git: Git) -> None:
    origin = checkout(tmp_path / "repo")
    run(origin, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    run(tmp_path, "clone", "--quiet", "--depth=1", origin.as_uri(), str(tmp_path / "shallow"))

    for name in ("linked", "shallow"):
        copy = lying_copy(tmp_path / name, tmp_path / f"copy-of-{name}", git)
        assert (copy.path / "kept.py").read_text() == "1\n"
        assert git.run("log", "--format=%s", cwd=copy.path) == "first\n"


def test_a_folder_of_which_git_knows_nothing_is_no_part_of_the_checkout_around_it(
    tmp_path: Path, git: Git
) -> None:
    folder = checkout(tmp_path / "repo")
    (folder / "empty").mkdir()
    laid_out(folder, {"sub/a.py": "1\n"})
    run(folder, "add", "sub")

    assert top_of(folder / "empty", git) is None
    assert top_of(folder / "sub", git) == folder
    assert top_of(tmp_path, git) is None

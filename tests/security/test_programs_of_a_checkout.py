"""A checkout's own configuration of git names programs: whatever looks at the checkout, none of them is started."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.making import looking_at, lying_copy, top_of
from cogworks.codebase.unwritable import ignoring_rule
from cogworks.errors import UsageError
from cogworks.repair.instance import Instance
from cogworks.settings.config import child_environment
from cogworks.wiring.clone import clone_as_it_lies, clone_of
from cogworks.wiring.tools import tree_of
from tests.codebase.repositories import git as run_git


def started(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*-started"))


def hostile(folder: Path) -> Path:
    """A checkout with a program for everything that git may start; each leaves a file beside the checkout."""
    checkout = folder / "checkout"
    checkout.mkdir()
    run_git(checkout, "init", "--quiet", "--initial-branch=main")
    (checkout / "a.txt").write_text("one\n")
    (checkout / "b.txt").write_text("one\n")
    (checkout / "c.txt").write_text("one\n")
    attributes = "a.txt filter=cleaning\nb.txt filter=processing\nc.txt filter=odd.na\\me\n"
    run_git(checkout, "add", ".")
    run_git(checkout, "commit", "--quiet", "--message", "one")
    (checkout / ".gitattributes").write_text(attributes)
    for key, value in {
        "filter.cleaning.clean": "clean",
        "filter.cleaning.smudge": "smudge",
        "filter.cleaning.required": "",
        "filter.processing.process": "process",
        "filter.odd.na\\me.clean": "odd",
        "core.fsmonitor": "fsmonitor",
        "diff.external": "external",
    }.items():
        line = "true" if key.endswith("required") else f"touch {folder}/{value}-started; cat"
        run_git(checkout, "config", key, line)
    hook = checkout / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {folder}/hook-started\n")
    hook.chmod(0o755)
    for name in ("a.txt", "b.txt", "c.txt"):
        (checkout / name).write_text("two\n")
    return checkout


def own_git(folder: Path) -> Git:
    return Git(environment=child_environment(), home=folder)


def test_git_alone_would_start_them(tmp_path: Path) -> None:
    checkout = hostile(tmp_path)

    subprocess.run(["git", "status"], cwd=checkout, check=False, capture_output=True, timeout=60)

    assert {"clean-started", "odd-started", "process-started"} <= set(started(tmp_path))


def test_a_repair_starts_none_and_sees_the_files_as_they_lie(tmp_path: Path) -> None:
    checkout = hostile(tmp_path)
    said: list[str] = []
    task = Instance(instance_id="a", failing_tests=())
    for name in ("lying", "room"):
        (tmp_path / name).mkdir()

    copy = clone_as_it_lies(checkout, task, tmp_path / "lying", said.append)
    cloned = clone_of(checkout, task, tmp_path / "room", said.append)

    assert started(tmp_path) == []
    assert (copy.path / "a.txt").read_text() == "two\n"
    assert (cloned.path / "a.txt").read_text() == "one\n"
    assert any("uncommitted work" in line for line in said)


def test_doctor_starts_none(tmp_path: Path) -> None:
    checkout = hostile(tmp_path)
    git = own_git(tmp_path)

    top = top_of(checkout, git)
    assert top is not None
    copy = lying_copy(top, tmp_path / "copy", git)

    assert started(tmp_path) == []
    assert copy.uncommitted == (".gitattributes", "a.txt", "b.txt", "c.txt")


def test_the_name_of_a_tree_starts_none(tmp_path: Path) -> None:
    checkout = hostile(tmp_path)

    first = tree_of(checkout)
    (checkout / "a.txt").write_text("three\n")

    assert tree_of(checkout) != first
    assert started(tmp_path) == []


LACKS = pytest.mark.parametrize(
    "lacking", ["HEAD", "HEAD^{tree}", "HEAD:a.txt", "refs/tags/v1", "refs/heads/old"]
)


def promised(folder: Path) -> dict[str, str]:
    """Says that a remote has whatever is not there, and by which program it is asked."""
    return {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"file://{folder}/nowhere",
        "remote.origin.uploadpack": f"touch {folder}/upload-started; false",
    }


def partial_clone(folder: Path, lacking: str) -> Path:
    """A hostile checkout without an object, which its remote is said to have; the program that would ask it leaves a file."""
    checkout = hostile(folder)
    run_git(checkout, "tag", "--annotate", "--message", "one", "v1")
    old = run_git(checkout, "commit-tree", "-m", "old", "HEAD^{tree}")
    run_git(checkout, "update-ref", "refs/heads/old", old)
    oid = run_git(checkout, "rev-parse", lacking)
    (checkout / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    for key, value in promised(folder).items():
        run_git(checkout, "config", key, value)
    return checkout


def test_git_alone_would_ask_a_remote_of_it(tmp_path: Path) -> None:
    checkout = partial_clone(tmp_path, "HEAD")

    subprocess.run(["git", "rev-parse", "--verify", "HEAD^{commit}"], cwd=checkout, check=False, timeout=60)

    assert started(tmp_path) == ["upload-started"]


def test_what_only_its_remote_has_is_not_asked_for(tmp_path: Path) -> None:
    checkout = partial_clone(tmp_path, "HEAD^{tree}")

    with pytest.raises(GitFailed, match=r"not allowed"):
        lying_copy(checkout, tmp_path / "copy", own_git(tmp_path))


def cloned(checkout: Path, folder: Path) -> None:
    clone_of(checkout, Instance(instance_id="a", failing_tests=()), folder, list[str]().append)


def laid_out(checkout: Path, folder: Path) -> None:
    clone_as_it_lies(checkout, Instance(instance_id="a", failing_tests=()), folder, list[str]().append)


def named(checkout: Path, folder: Path) -> None:
    tree_of(checkout)


def looked_up(checkout: Path, folder: Path) -> None:
    """As `doctor PATH` does."""
    below = checkout / "below"
    below.mkdir(exist_ok=True)
    top_of(below, own_git(folder))
    ignoring_rule(looking_at(checkout, own_git(folder)), "a.txt")


@LACKS
@pytest.mark.parametrize("look", [cloned, laid_out, named, looked_up])
def test_no_remote_of_it_is_asked(tmp_path: Path, lacking: str, look: Callable[[Path, Path], None]) -> None:
    checkout = partial_clone(tmp_path, lacking)
    room = tmp_path / "room"
    room.mkdir()

    with suppress(GitFailed, UsageError):
        look(checkout, room)

    assert started(tmp_path) == []


def test_rules_that_lie_in_an_index_alone_are_not_asked_for(tmp_path: Path) -> None:
    """Of a folder that is not checked out git reads `.gitignore` from its objects."""
    checkout = hostile(tmp_path)
    (checkout / "sub").mkdir()
    (checkout / "sub" / ".gitignore").write_text("*.md\n")
    run_git(checkout, "add", "sub/.gitignore")
    run_git(checkout, "update-index", "--skip-worktree", "sub/.gitignore")
    (checkout / "sub" / ".gitignore").unlink()
    oid = run_git(checkout, "rev-parse", ":sub/.gitignore")
    (checkout / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    for key, value in promised(tmp_path).items():
        run_git(checkout, "config", key, value)

    with suppress(GitFailed):
        ignoring_rule(looking_at(checkout, own_git(tmp_path)), "sub/a.md")

    # What made the checkout started the others.
    assert "upload-started" not in started(tmp_path)

"""A checkout's own configuration of git names programs: whatever looks at the checkout, none of them is started."""

import subprocess
from pathlib import Path

import pytest

from cogworks.codebase.failures import GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.making import lying_copy, top_of
from cogworks.repair.instance import Instance
from cogworks.settings.config import child_environment
from cogworks.wiring.clone import as_it_lies, clone_of
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
    (tmp_path / "room").mkdir()

    copy = as_it_lies(checkout, tmp_path / "as-it-lies", said.append)
    cloned = clone_of(checkout, Instance(instance_id="a", failing_tests=()), tmp_path / "room", said.append)

    assert started(tmp_path) == []
    assert (copy / "a.txt").read_text() == "two\n"
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


def test_no_remote_of_it_is_asked(tmp_path: Path) -> None:
    checkout = hostile(tmp_path)
    tree = run_git(checkout, "rev-parse", "HEAD^{tree}")
    (checkout / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"file://{tmp_path}/nowhere",
        "remote.origin.uploadpack": f"touch {tmp_path}/upload-started; false",
    }.items():
        run_git(checkout, "config", key, value)

    with pytest.raises(GitFailed, match=r"not allowed"):
        lying_copy(checkout, tmp_path / "copy", own_git(tmp_path))

    assert started(tmp_path) == []

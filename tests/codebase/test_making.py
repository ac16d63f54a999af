import io
import os
import tarfile
from pathlib import Path

import pytest

from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import Git
from cogworks.codebase.making import first_commit, lay_over, repository_at
from tests.codebase.repositories import git

FILES = {"a.py": "a = 1\n", "sub/.gitignore": "*\n", "sub/b.py": "b = 2\n"}


@pytest.fixture
def maker(tmp_path: Path) -> Git:
    return Git(environment=os.environ, home=tmp_path)


def lay_out(folder: Path) -> Path:
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def archive(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for member in members:
            content = b"x\n" if member.isreg() else b""
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    return path


def link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


def test_a_clone_is_used_where_it_lies(tmp_path: Path, maker: Git) -> None:
    clone = lay_out(tmp_path / "clone")
    git(clone, "init", "--quiet")

    assert repository_at(clone, tmp_path / "work", maker) == clone


def test_plain_files_become_one_commit_that_is_the_same_everywhere(tmp_path: Path, maker: Git) -> None:
    def made(name: str) -> Path:
        (tmp_path / name).mkdir()
        return repository_at(lay_out(tmp_path / f"{name}-files"), tmp_path / name, maker)

    one, two = made("one"), made("two")

    assert git(one, "rev-parse", "HEAD") == git(two, "rev-parse", "HEAD")
    assert git(two, "ls-files").split() == sorted(FILES)
    assert not (tmp_path / "one-files" / ".git").exists()


def test_a_bundle_brings_its_whole_history(tmp_path: Path, maker: Git) -> None:
    source = lay_out(tmp_path / "source")
    base = first_commit(source, maker)
    (source / "a.py").write_text("a = 2\n")
    git(source, "commit", "--quiet", "--all", "--message", "later")
    git(source, "bundle", "create", "--quiet", str(tmp_path / "all.bundle"), "--all", "HEAD")

    found = repository_at(tmp_path / "all.bundle", tmp_path, maker)

    assert git(found, "rev-parse", "HEAD") == git(source, "rev-parse", "HEAD")
    assert git(found, "show", f"{base}:a.py") == "a = 1"


def test_an_archive_of_plain_files_becomes_a_repository(tmp_path: Path, maker: Git) -> None:
    packed = archive(tmp_path / "files.tar.gz", tarfile.TarInfo("a.py"), tarfile.TarInfo("sub/b.py"))

    found = repository_at(packed, tmp_path, maker)

    assert git(found, "ls-files").split() == ["a.py", "sub/b.py"]


@pytest.mark.parametrize(
    ("member", "problem"),
    [
        (tarfile.TarInfo("../out.py"), "cannot be unpacked"),
        (link("out", "/etc"), "cannot be unpacked"),
        (tarfile.TarInfo("sub/.git/config"), "holds a `.git`"),
    ],
    ids=["climbing", "link out", "settings of git"],
)
def test_a_hostile_archive_is_refused(
    tmp_path: Path, maker: Git, member: tarfile.TarInfo, problem: str
) -> None:
    packed = archive(tmp_path / "files.tgz", member)
    (tmp_path / "work").mkdir()

    with pytest.raises(CodebaseError, match=problem):
        repository_at(packed, tmp_path / "work", maker)

    assert not (tmp_path / "out.py").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("notes.txt", "is no repository"),
        ("broken.bundle", "cannot be cloned"),
        ("broken.tar", "cannot be unpacked"),
    ],
)
def test_what_is_none_of_these_is_refused_with_what_is_wanted(
    tmp_path: Path, maker: Git, name: str, problem: str
) -> None:
    (tmp_path / name).write_text("nothing of the kind\n")

    with pytest.raises(CodebaseError, match=problem):
        repository_at(tmp_path / name, tmp_path, maker)


def test_files_laid_over_a_working_copy_change_neither_its_history_nor_its_settings(tmp_path: Path) -> None:
    for path, text in {
        "copy/.git/config": "ours",
        "copy/.cogworks/config.toml": "ours",
        "copy/old/file": "old",
        "made/.git/config": "theirs",
        "made/.cogworks/services.toml": "theirs",
        "made/sub/.git/config": "theirs",
        "made/sub/.cogworks/data": "theirs, and nothing to us",
        "made/new": "new",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    lay_over(tmp_path / "made", tmp_path / "copy")

    left = {
        str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*") if path.is_file()
    }
    assert left == {".git/config", ".cogworks/config.toml", "sub/.cogworks/data", "new"}
    assert (tmp_path / "copy" / ".git" / "config").read_text() == "ours"


def test_what_cannot_be_copied_is_told(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "copy").mkdir()
    os.mkfifo(tmp_path / "made" / "pipe")

    with pytest.raises(CodebaseError, match="what was made cannot be copied"):
        lay_over(tmp_path / "made", tmp_path / "copy")

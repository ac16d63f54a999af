"""Attributes of a repository make git write other bytes than it stores: then the tests see code that nobody commits."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import Git
from cogworks.codebase.remotes import Remote
from cogworks.codebase.sameness import neutralise
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import BranchName, CommitOid, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository, git

STORED = "value = '$Id$'\nplus = '+AGE-'\n"
WORK = BranchName("cogworks/7/swi-1")


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    return BareRepository(tmp_path)


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[WorkingCopies]:
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=ENVIRONMENT) as made:
        yield made


def opened(copies: WorkingCopies, remote: BareRepository) -> WorkingCopy:
    return copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="n", branch=WORK, base=BranchName("main")
    )


def stored_as(remote: BareRepository, branch: str, path: str) -> str:
    return git(remote.path, "rev-parse", f"{branch}:{path}")


def name_of(remote: BareRepository, file: Path) -> str:
    """What git would call these very bytes."""
    return git(remote.path, "hash-object", "--no-filters", str(file))


@pytest.mark.parametrize(
    "rule",
    [
        "*.py ident",
        "*.py text eol=crlf",
        "*.py crlf eol=crlf",
        "*.py text=auto eol=crlf",
        "*.py working-tree-encoding=UTF-16LE",
        "*.py working-tree-encoding=UTF-7",
        "[attr]odd text eol=crlf\n*.py odd",
    ],
)
@pytest.mark.parametrize(
    "place", [".gitattributes", "src/.gitattributes"]
)  # The macro counts at the root alone.
def test_what_is_tested_is_what_is_stored(
    copies: WorkingCopies, remote: BareRepository, rule: str, place: str
) -> None:
    remote.put("main", {"src/code.py": STORED})
    remote.put("main", {place: f"{rule}\n"})

    copy = opened(copies, remote)

    assert stored_as(remote, "main", "src/code.py") == name_of(remote, copy.path / "src/code.py")


@pytest.mark.parametrize("rule", ["*.py ident", "*.py text eol=crlf", "*.py working-tree-encoding=UTF-7"])
def test_what_was_written_is_what_is_pushed(copies: WorkingCopies, remote: BareRepository, rule: str) -> None:
    remote.put("main", {"code.py": STORED, ".gitattributes": f"{rule}\n"})
    copy = opened(copies, remote)
    text = f"{STORED}text = 'a\\r'\r\nmore = '$Id: 1 $ +2AE-'\n"

    assert copy.apply([FileChange(path="new.py", action="create", content=text)]) is None
    copy.commit("Write it\n")
    tested = (copy.path / "new.py").read_bytes()
    copy.push(WORK, None)

    assert tested == text.encode()
    assert stored_as(remote, WORK, "new.py") == name_of(remote, copy.path / "new.py")


@pytest.mark.parametrize(
    "rule", ["*.py ident", "*.py text eol=crlf", "*.py working-tree-encoding=UTF-7", "*.py merge=union ident"]
)
def test_a_merge_is_pushed_as_it_was_tested(copies: WorkingCopies, remote: BareRepository, rule: str) -> None:
    between = "# a\n# b\n# c\n"
    remote.put("main", {"code.py": f"{between}{STORED}{between}"})
    start = remote.put("main", {".gitattributes": f"{rule}\n"})
    remote.put(WORK, {"code.py": f"{between}{STORED}{between}ours = '+AGE-'\n"}, start=start)
    remote.put("main", {"code.py": f"theirs = '+AGE-'\n{between}{STORED}{between}"}, start=start)
    remote.put("main", {"new.py": STORED})
    copy = opened(copies, remote)
    theirs, before = CommitOid(git(remote.path, "rev-parse", "main")), copy.head

    found = copy.join(theirs)
    copy.commit_joined(theirs, "Merge it\n")
    copy.push(WORK, before)

    assert found.conflicts == found.undecided == ()
    for name in ("code.py", "new.py"):
        assert stored_as(remote, WORK, name) == name_of(remote, copy.path / name)
    text = (copy.path / "code.py").read_bytes()
    assert text.startswith(b"theirs = ")
    assert text.splitlines()[-1].startswith(b"ours = ")


def test_a_copy_in_which_bytes_changed_on_the_way_is_not_pushed(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    remote.put("main", {"code.py": STORED, ".gitattributes": "*.py text eol=lf\n"})
    copy = opened(copies, remote)
    # As if git had something else to go by.
    (copy.path / git(copy.path, "rev-parse", "--git-path", "info/attributes")).unlink()
    (copy.path / "code.py").write_bytes(b"value = 1\r\n")
    copy.commit("Write it\n")

    with pytest.raises(CodebaseError, match=r"different bytes of code\.py"):
        copy.push(WORK, None)

    assert git(remote.path, "for-each-ref", "--format=%(refname:short)") == "main"


def test_an_older_cache_is_neutralised_when_it_is_used_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache.git"
    Git(environment=os.environ, home=tmp_path).run("init", "--quiet", "--bare", str(cache), cwd=tmp_path)
    (cache / "info").mkdir(exist_ok=True)
    (cache / "info" / "attributes").write_text("*.py text\n")

    neutralise(cache)

    assert (cache / "info" / "attributes").read_text().startswith("* -text -ident")

"""What a working copy promises: all or nothing, exact undo, the same commit twice, no push over somebody else."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.diffmodel import render
from cogworks.codebase.diffplacing import diff_of
from cogworks.codebase.failures import CodebaseError
from cogworks.codebase.git import Git
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import PushResult, Rules, WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import BranchName, CommitOid, RunId
from tests.codebase.repositories import BOT, BareRepository, git

WORK = BranchName("cogworks/7/spec")


def create(path: str, content: str = "new\n") -> FileChange:
    return FileChange(path=path, action="create", content=content)


def modify(path: str, content: str = "changed\n") -> FileChange:
    return FileChange(path=path, action="modify", content=content)


def delete(path: str) -> FileChange:
    return FileChange(path=path, action="delete")


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    repository = BareRepository(tmp_path)
    repository.put("main", {"a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": "*.log\n"})
    repository.put_executable("main", "run.sh", "#!/bin/sh\n")
    repository.put_link("main", "link.txt", "a.txt")
    repository.put_link("main", "out", "/tmp")
    return repository


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[WorkingCopies]:
    rules = Rules(protected=("prompts/**",))
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ, rules=rules) as opened:
        yield opened


@pytest.fixture
def copy(copies: WorkingCopies, remote: BareRepository) -> WorkingCopy:
    return copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="spec", branch=WORK, base=BranchName("main")
    )


def on_disk(copy: WorkingCopy) -> dict[str, tuple[int, bytes]]:
    """Every file and link of the copy with its mode."""
    found = {}
    for path in sorted(copy.path.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(copy.path))] = (path.lstat().st_mode, bytes(path.readlink()))
        elif path.is_file():
            found[str(path.relative_to(copy.path))] = (path.stat().st_mode, path.read_bytes())
        else:
            found[str(path.relative_to(copy.path))] = (path.stat().st_mode, b"")
    del found[".git"]
    return found


def test_changes_are_written_and_tracked(copy: WorkingCopy) -> None:
    reason = copy.apply([create("deep/er/new.txt"), modify("a.txt"), delete("src/b.txt")])

    assert reason is None
    assert copy.read("deep/er/new.txt") == "new\n"
    assert copy.read("a.txt") == "changed\n"
    assert copy.files() == [".gitignore", "a.txt", "deep/er/new.txt", "link.txt", "out", "run.sh"]
    assert not (copy.path / "src").exists()


def test_a_file_may_become_a_directory(copy: WorkingCopy) -> None:
    assert copy.apply([create("a.txt/inner.txt"), delete("a.txt")]) is None
    assert copy.read("a.txt/inner.txt") == "new\n"
    assert "a.txt/inner.txt" in copy.files()


def test_an_executable_stays_executable(copy: WorkingCopy) -> None:
    copy.apply([modify("run.sh")])
    copy.commit("Change run.sh")

    assert (copy.path / "run.sh").stat().st_mode & 0o111
    assert git(copy.path, "ls-files", "--stage", "run.sh").startswith("100755")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([create("../out.txt")], "'..' is not allowed"),
        ([create("prompts/x.md")], "is protected by 'prompts/**'"),
        ([create(".git/hooks/x")], "git's own directory"),
        ([modify("link.txt")], "'link.txt' is a symbolic link"),
        ([delete("link.txt")], "'link.txt' is a symbolic link"),
        ([create("out/escaped.txt")], "would lie below the file 'out'"),
    ],
)
def test_a_refused_change_writes_nothing_not_even_its_good_parts(
    copy: WorkingCopy, changes: list[FileChange], words: str
) -> None:
    before = on_disk(copy)

    reason = copy.apply([create("good.txt"), *changes])

    assert reason is not None
    assert words in reason
    assert on_disk(copy) == before


def test_a_link_made_on_the_disk_is_not_written_through(copy: WorkingCopy, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (copy.path / "sly").symlink_to(target)

    reason = copy.apply([create("sly/x.txt")])

    assert reason is not None
    assert "'sly' is a symbolic link; nothing is written through it" in reason
    assert list(target.iterdir()) == []


def test_a_disk_that_refuses_half_way_leaves_nothing_behind(copy: WorkingCopy) -> None:
    # Where the second file is prepared there is a directory, so writing it fails after the first is in place.
    (copy.path / "z.txt.cogworks-new").mkdir()
    before = on_disk(copy)

    with pytest.raises(CodebaseError, match=r"could not be written: .* Nothing was changed"):
        copy.apply([modify("a.txt"), delete("src/b.txt"), create("new/c.txt"), create("z.txt")])

    assert on_disk(copy) == before


def test_reading_follows_no_link_and_takes_only_text(copy: WorkingCopy) -> None:
    (copy.path / "blob.bin").write_bytes(b"\xff\xfe")
    (copy.path / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    os.mkfifo(copy.path / "pipe")

    assert copy.read("a.txt") == "one\n"
    assert copy.read("crlf.txt") == "one\r\ntwo\r\n"
    for path in (
        "link.txt",
        "out/anything",
        "blob.bin",
        "pipe",
        "src",
        "none.txt",
        "../remote.git/HEAD",
        ".git",
    ):
        assert copy.read(path) is None


def test_rolling_back_is_exact(copy: WorkingCopy) -> None:
    before = on_disk(copy)
    copy.apply([create("new.txt"), modify("a.txt"), delete("src/b.txt"), create("tracked.log")])
    (copy.path / "ignored.log").write_text("junk")
    (copy.path / "empty" / "folders").mkdir(parents=True)
    (copy.path / "run.sh").chmod(0o644)
    (copy.path / "link.txt").unlink()
    (copy.path / "link.txt").symlink_to("elsewhere")
    git(copy.path, "init", "--quiet", str(copy.path / "nested"))

    copy.roll_back()

    assert on_disk(copy) == before
    assert copy.diff("main") == ""


def test_a_checkpoint_brings_back_uncommitted_work_and_undoes_later_commits(copy: WorkingCopy) -> None:
    copy.apply([create("first.txt"), modify("a.txt", "half done\n")])
    (copy.path / "untracked.log").write_text("kept")
    start, before = copy.checkpoint(), on_disk(copy)
    copy.apply([delete("first.txt"), modify("a.txt", "worse\n")])
    copy.commit("Worse")
    (copy.path / "untracked.log").unlink()

    copy.roll_back(start)

    assert on_disk(copy) == before
    assert copy.head == start.head
    assert "untracked.log" not in copy.files()
    copy.commit("Only what was tracked")
    assert git(copy.path, "show", "--name-only", "--format=").split() == ["a.txt", "first.txt"]


def test_the_diff_holds_new_files_and_starts_where_the_base_was_left(
    copies: WorkingCopies, copy: WorkingCopy, remote: BareRepository
) -> None:
    copy.apply([modify("a.txt"), create("new.txt")])
    copy.commit("Change")
    copy.push(WORK, None)
    remote.put("main", {"later.txt": "on main\n"})
    again = copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="spec", branch=WORK, base=BranchName("main")
    )
    (again.path / "loose.txt").write_text("not yet tracked\n")

    diff = again.diff("main")

    assert [line for line in diff.splitlines() if line.startswith(("+", "-"))] == [
        "--- a/a.txt",
        "+++ b/a.txt",
        "-one",
        "+changed",
        "--- /dev/null",
        "+++ b/loose.txt",
        "+not yet tracked",
        "--- /dev/null",
        "+++ b/new.txt",
        "+new",
    ]
    assert again.diff(again.head).count("diff --git") == 1


def test_the_base_is_where_the_work_left_its_branch_and_none_where_that_is_gone(
    copies: WorkingCopies, copy: WorkingCopy, remote: BareRepository
) -> None:
    left = copy.head
    copy.apply([modify("a.txt")])
    copy.commit("Change")
    copy.push(WORK, None)
    remote.put("main", {"later.txt": "on main\n"})
    again = copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="spec", branch=WORK, base=BranchName("main")
    )
    without = copies.open(
        remote=Remote(remote.url, None), run=RunId("r"), name="spec", branch=WORK, base=BranchName("gone")
    )

    assert copy.base() == left
    assert again.base() == left
    assert without.base() is None


def test_the_files_in_which_a_commit_differs_from_another_are_named_in_either_direction(
    copy: WorkingCopy, remote: BareRepository
) -> None:
    before = copy.head
    assert copy.changed_since(before) == []
    copy.apply([modify("a.txt"), delete("src/b.txt"), create("ä b.txt")])
    after = copy.commit("more")

    assert sorted(copy.changed_since(before) or ()) == ["a.txt", "src/b.txt", "ä b.txt"]
    copy.settle(before)
    # The default branch may have been set back.
    assert sorted(copy.changed_since(after) or ()) == ["a.txt", "src/b.txt", "ä b.txt"]
    assert copy.changed_since(CommitOid("f" * 40)) is None


def test_a_diff_from_nowhere_is_refused(copy: WorkingCopy) -> None:
    with pytest.raises(CodebaseError, match="'nowhere' is neither a fetched branch nor a commit"):
        copy.diff("nowhere")
    with pytest.raises(CodebaseError, match="is neither"):
        copy.diff("--output=/tmp/x")


def test_the_same_change_on_the_same_parent_is_the_same_commit(copy: WorkingCopy) -> None:
    copy.apply([modify("a.txt")])
    first = copy.commit("Change a\n\nWith a body.\n")
    copy.settle(CommitOid(git(copy.path, "rev-parse", "HEAD^")))
    copy.apply([modify("a.txt")])

    assert copy.commit("Change a\n\nWith a body.\n") == first
    assert (
        git(copy.path, "log", "-1", "--format=%an <%ae> %at %ct")
        == "cogworks <cogworks@example.com> 1700000000 1700000000"
    )


def test_nothing_to_commit_is_the_head(copy: WorkingCopy) -> None:
    assert copy.commit("Nothing") == copy.head


def test_a_push_reports_what_became_of_it(copy: WorkingCopy, remote: BareRepository) -> None:
    copy.apply([modify("a.txt")])
    mine = copy.commit("Mine")

    assert copy.push(WORK, None) == PushResult(status="pushed", branch=WORK, oid=mine)
    assert copy.push(WORK, None) == PushResult(status="up_to_date", branch=WORK, oid=mine)

    theirs = remote.put(WORK, {"theirs.txt": "x\n"}, start="main")
    copy.apply([modify("a.txt", "again\n")])
    next_oid = copy.commit("Next")

    refused = copy.push(WORK, mine)
    assert (refused.status, refused.oid) == ("rejected", next_oid)
    assert "stale info" in refused.reason
    assert remote.head(WORK) == theirs


def test_a_push_may_replace_exactly_what_was_read(copy: WorkingCopy, remote: BareRepository) -> None:
    theirs = CommitOid(remote.put(WORK, {"old.txt": "x\n"}, start="main"))
    copy.apply([modify("a.txt")])
    mine = copy.commit("Mine")

    assert copy.push(WORK, theirs).status == "pushed"
    assert remote.head(WORK) == mine


def test_a_server_that_refuses_is_quoted(copy: WorkingCopy, remote: BareRepository) -> None:
    hook = remote.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'branches need a ticket' >&2\nexit 1\n")
    hook.chmod(0o755)
    copy.apply([modify("a.txt")])
    copy.commit("Mine")

    result = copy.push(WORK, None)

    assert result.status == "rejected"
    assert result.reason == "[remote rejected] (pre-receive hook declined); branches need a ticket"


def test_a_repeated_visit_steps_back_from_its_own_commits_only(copy: WorkingCopy) -> None:
    start = copy.head
    copy.apply([modify("a.txt")])
    copy.commit("Change a\n\nvisit-1\n")
    copy.apply([modify("a.txt", "more\n")])
    mine = copy.commit("Change a again\n\nvisit-1\n")

    copy.step_back_from("visit-2")
    assert copy.head == mine

    copy.step_back_from("visit-1")
    assert (copy.head, copy.read("a.txt")) == (start, "one\n")


def test_what_the_remote_has_is_known_until_something_differs(
    copy: WorkingCopy, remote: BareRepository
) -> None:
    seen = [copy.pushed()]
    assert copy.apply([FileChange(path="new.txt", action="create", content="new\n")]) is None
    seen.append(copy.pushed())
    head = copy.commit("Add new")
    seen.append(copy.pushed())
    copy.push(WORK, None)
    seen.append(copy.pushed())
    (copy.path / "left.txt").write_text("over")
    seen.append(copy.pushed())

    assert seen == [remote.head("main"), None, None, head, None]


def test_where_it_comes_from_is_told_without_credentials(tmp_path: Path) -> None:
    remote = Remote("https://ada:secret@example.com:8443/o/r.git", token="ghs_secret")
    git = Git(environment={}, home=tmp_path)

    copy = WorkingCopy(tmp_path, git, remote=remote, identity=BOT, rules=Rules())

    assert copy.remote_url == "https://example.com:8443/o/r.git"


def test_a_copy_in_which_a_transaction_died_serves_the_next_one(
    copies: WorkingCopies, remote: BareRepository, copy: WorkingCopy, tmp_path: Path
) -> None:
    change = modify("a.txt", "half\n")
    diff = render(diff_of([change], {"a.txt": "one\n"}))
    copy.apply([create("tests/test_a.py")])
    copy.commit("Write tests\n")
    dying = copy.transactions()
    dying.checkpoint()
    assert dying.apply(diff) is None
    # Whoever takes over begins on the branch, which the dead runner's commit never reached.
    copies.close()
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ) as heir:
        again = heir.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="spec", branch=WORK, base=BranchName("main")
        )
        tree = again.transactions()
        with tree.hold() as is_ours:
            recovered, dirt = tree.recover(), tree.dirt()
            state = tree.checkpoint()
            refused = tree.apply(diff)
            kept = tree.commit("Change it\n", state)

        assert (is_ours, recovered, dirt, refused) == (True, False, (), None)
        assert (again.path, again.head, again.read("a.txt")) == (copy.path, kept, "half\n")
        assert "tests/test_a.py" not in again.files()


def test_a_file_is_read_as_a_branch_has_it_once_it_changed_there(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    """Whoever changes what was merged is heard by work that began before."""
    main = BranchName("main")
    remote.put("cogworks/7/swi-1", {"code.py": "x = 1\n", "src/b.txt": "ours\n"}, start="main")

    def opened() -> WorkingCopy:
        return copies.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="A", branch=WORK,
            base=BranchName("cogworks/7/swi-1"), besides=(main,),
        )  # fmt: skip

    copy = opened()
    assert copy.read_newest("a.txt", main) == "one\n"
    assert copy.read_newest("src/b.txt", main) == "ours\n"
    copies.close()
    remote.put("main", {"a.txt": "edited\r\n", "new.txt": "new\n"}, start="main")
    remote.put_link("main", "later.txt", "/etc/passwd")

    copy = opened()
    assert copy.read_newest("a.txt", main) == "edited\r\n"
    assert copy.read("a.txt") == "one\n"
    # What the work changed and the branch did not stays the work's.
    assert copy.read_newest("src/b.txt", main) == "ours\n"
    assert copy.read_newest("new.txt", main) == "new\n"
    assert copy.read_newest("later.txt", main) is None
    assert copy.read_newest("../a.txt", main) is None
    assert copy.read_newest("a.txt", BranchName("gone")) == "one\n"

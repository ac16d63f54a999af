"""Where working copies come from, who holds them, and how they come back when they are lost."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.failures import CodebaseError, GitFailed
from cogworks.codebase.git import Git
from cogworks.codebase.places import MAX_BESIDE, Places, beside
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import Patience, WorkingCopies
from cogworks.errors import PermissionRefused, TryAgainLater
from cogworks.vocabulary import BranchName, CommitOid, RunId
from tests.codebase.repositories import BOT, ENVIRONMENT, BareRepository, git, served_over_http
from tests.limits import ENDS_WITHIN_S, Started

RUN = RunId("r1")
MAIN = BranchName("main")
WORK = BranchName("cogworks/7/swi-1")


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    repository = BareRepository(tmp_path)
    repository.put("main", {"a.txt": "one\n", "src/b.txt": "two\n"})
    return repository


@pytest.fixture
def network() -> list[str]:
    return []


@pytest.fixture
def copies(tmp_path: Path, network: list[str]) -> Iterator[WorkingCopies]:
    with WorkingCopies(
        tmp_path / "cache", identity=BOT, environment=os.environ, on_network=network.append
    ) as opened:
        yield opened


def opened(
    copies: WorkingCopies, url: str, *, token: str | None = None, merge: tuple[str, ...] = ()
) -> WorkingCopy:
    branches = [BranchName(name) for name in merge]
    return copies.open(remote=Remote(url, token), run=RUN, name="A", branch=WORK, base=MAIN, merge=branches)


def changed(copy: WorkingCopy, text: str = "changed\n") -> CommitOid:
    assert copy.apply([FileChange(path="a.txt", action="modify", content=text)]) is None
    return copy.commit("Change a")


def test_a_new_branch_starts_at_the_base(
    copies: WorkingCopies, remote: BareRepository, network: list[str]
) -> None:
    copy = opened(copies, remote.url)

    assert copy.head == remote.head("main")
    assert copy.files() == ["a.txt", "src/b.txt"]
    assert network == ["fetch"]


def from_approved(copies: WorkingCopies, remote: BareRepository, approved: str, branch: str) -> WorkingCopy:
    return copies.open(
        remote=Remote(remote.url, None),
        run=RUN,
        name="A",
        branch=BranchName(branch),
        base=BranchName("interfaces"),
        base_oid=CommitOid(approved),
    )


@pytest.mark.parametrize("branch", [WORK, "interfaces"], ids=["own-branch", "no-branch"])
def test_a_copy_starts_from_the_approved_commit_though_its_branch_has_moved_on(
    copies: WorkingCopies, remote: BareRepository, branch: str
) -> None:
    approved = remote.put("interfaces", {"c.txt": "three\n"}, start="main")
    remote.put("interfaces", {"c.txt": "four\n"})

    assert from_approved(copies, remote, approved, branch).head == approved


def test_a_commit_whose_branch_was_squashed_and_deleted_is_fetched_when_it_is_asked_for(
    copies: WorkingCopies, remote: BareRepository, network: list[str]
) -> None:
    git(remote.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    approved = CommitOid(remote.put("interfaces", {"c.txt": "three\n"}, start="main"))
    remote.delete("interfaces")
    copy = opened(copies, remote.url)

    assert copy.read_at(approved, "c.txt") == "three\n"
    assert copy.read_at(approved, "a.txt") == "one\n"
    assert (copy.read_at(approved, "*.txt"), copy.read_at(approved, "../a.txt")) == (None, None)
    assert network == ["fetch", "fetch"]
    with pytest.raises(GitFailed):
        copy.read_at(CommitOid("1" * 40), "c.txt")


def test_the_files_below_a_folder_are_named_as_a_commit_has_them(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    texts = {"a/b/c.txt": "1\n", "a/d.txt": "2\n", "ab/e.txt": "3\n"}
    approved = CommitOid(remote.put("other", texts, start="main"))
    copy = opened(copies, remote.url)

    assert copy.files_at(approved, "a") == ("a/b/c.txt", "a/d.txt")
    assert copy.files_at(approved, "b") == ()


def test_a_branch_of_ones_own_goes_on_wherever_its_base_is(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    approved = remote.put("interfaces", {"c.txt": "three\n"}, start="main")
    ours = remote.put(WORK, {"d.txt": "five\n"}, start="main")

    assert from_approved(copies, remote, approved, WORK).head == ours


def test_a_base_without_its_approved_commit_is_named(copies: WorkingCopies, remote: BareRepository) -> None:
    approved = remote.put("interfaces", {"c.txt": "three\n"}, start="main")
    remote.put("interfaces", {"e.txt": "six\n"}, start="main")

    with pytest.raises(CodebaseError, match=f"'interfaces' no longer holds {approved[:12]}"):
        from_approved(copies, remote, approved, WORK)


def test_tags_of_what_is_fetched_are_at_hand_for_the_same_request(
    copies: WorkingCopies, remote: BareRepository, network: list[str]
) -> None:
    git(remote.path, "tag", "v1.0", remote.head("main"))
    git(remote.path, "tag", "--annotate", "--message=one", "v1.1", remote.head("main"))
    elsewhere = remote.put("elsewhere", {"c.txt": "three\n"}, start="main")
    git(remote.path, "tag", "v2.0", elsewhere)

    copy = opened(copies, remote.url)

    assert git(copy.path, "tag") == "v1.0\nv1.1"
    assert network == ["fetch"]


def test_a_tag_is_never_taken_for_the_branch_of_its_name(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    git(remote.path, "tag", "work-0", remote.head("main"))
    copy = opened(copies, remote.url)

    with pytest.raises(CodebaseError, match="'work-0' is neither a fetched branch nor a commit"):
        copy.merge(BranchName("work-0"))


def test_a_branch_on_the_remote_is_adopted(copies: WorkingCopies, remote: BareRepository) -> None:
    theirs = remote.put(WORK, {"c.txt": "three\n"}, start="main")

    assert opened(copies, remote.url).head == theirs


def test_a_branch_with_a_longer_name_is_not_taken_for_it(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    remote.put(f"{WORK}0", {"c.txt": "three\n"}, start="main")

    assert opened(copies, remote.url).head == remote.head("main")


def test_a_branch_deleted_on_the_remote_is_not_adopted(copies: WorkingCopies, remote: BareRepository) -> None:
    main = remote.head("main")
    remote.put(WORK, {"c.txt": "three\n"}, start="main")
    opened(copies, remote.url)
    remote.delete(WORK)

    assert opened(copies, remote.url).head == main


def test_dependencies_are_merged_in_reproducibly(tmp_path: Path, remote: BareRepository) -> None:
    remote.put("dep-1", {"c.txt": "three\n"}, start="main")
    remote.put("dep-2", {"d.txt": "four\n"}, start="main")

    heads = []
    for cache in ("one", "two"):
        with WorkingCopies(tmp_path / cache, identity=BOT, environment=os.environ) as copies:
            copy = opened(copies, remote.url, merge=("dep-1", "dep-2"))
            heads.append(copy.head)
            assert copy.files() == ["a.txt", "c.txt", "d.txt", "src/b.txt"]

    assert heads[0] == heads[1]


def test_a_merged_dependency_is_not_merged_again(copies: WorkingCopies, remote: BareRepository) -> None:
    remote.put("dep-1", {"c.txt": "three\n"}, start="main")
    copy = opened(copies, remote.url, merge=("dep-1",))
    merged = copy.head
    copy.push(WORK, None)

    assert opened(copies, remote.url, merge=("dep-1",)).head == merged


def test_a_conflicting_dependency_is_named_with_its_files(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    base = remote.head("main")
    remote.put("dep-1", {"a.txt": "theirs\n"}, start=base)
    remote.put("dep-2", {"a.txt": "ours\n"}, start=base)

    with pytest.raises(
        CodebaseError, match=r"'dep-2' does not merge into .*: a\.txt conflict\. Merge the two"
    ):
        opened(copies, remote.url, merge=("dep-1", "dep-2"))

    assert opened(copies, remote.url).files() == ["a.txt", "src/b.txt"]


def test_a_missing_base_and_a_missing_dependency_are_both_named(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    git(remote.path, "branch", "-m", "main", "trunk")

    with pytest.raises(CodebaseError, match="no branch 'main' and no branch 'dep-9'"):
        opened(copies, remote.url, merge=("dep-9",))


def test_left_overs_of_a_dead_process_are_gone_when_it_is_opened_again(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    copy = opened(copies, remote.url)
    changed(copy)
    (copy.path / "junk.txt").write_text("junk")

    again = opened(copies, remote.url)

    assert again.path == copy.path
    assert again.head == remote.head("main")
    assert again.read("a.txt") == "one\n"
    assert not (again.path / "junk.txt").exists()


def test_the_directory_is_kept_across_openings(copies: WorkingCopies, remote: BareRepository) -> None:
    inode = opened(copies, remote.url).path.stat().st_ino

    assert opened(copies, remote.url).path.stat().st_ino == inode


def _lose_the_copy(copy: WorkingCopy, cache: Path) -> None:
    shutil.rmtree(copy.path)


def _lose_the_cache(copy: WorkingCopy, cache: Path) -> None:
    shutil.rmtree(cache / "repositories")


def _break_the_link(copy: WorkingCopy, cache: Path) -> None:
    (copy.path / ".git").write_text("gitdir: /nowhere\n")


def _break_the_index(copy: WorkingCopy, cache: Path) -> None:
    for index in cache.glob("repositories/*/worktrees/*/index"):
        index.write_bytes(b"rubbish")


def _leave_a_lock(copy: WorkingCopy, cache: Path) -> None:
    for index in cache.glob("repositories/*/worktrees/*/index"):
        index.with_suffix(".lock").touch()


def _break_the_cache(copy: WorkingCopy, cache: Path) -> None:
    for head in cache.glob("repositories/*.git/HEAD"):
        head.write_text("rubbish")


def _lose_objects(copy: WorkingCopy, cache: Path) -> None:
    for folder in cache.glob("repositories/*/objects/??"):
        shutil.rmtree(folder)
    for pack in cache.glob("repositories/*/objects/pack/*"):
        pack.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        _lose_the_copy,
        _lose_the_cache,
        _break_the_link,
        _break_the_index,
        _leave_a_lock,
        _break_the_cache,
        _lose_objects,
    ],
)
def test_a_lost_or_broken_copy_is_rebuilt(
    damage: object, copies: WorkingCopies, remote: BareRepository, tmp_path: Path
) -> None:
    assert callable(damage)
    damage(opened(copies, remote.url), tmp_path / "cache")

    again = opened(copies, remote.url)

    assert again.head == remote.head("main")
    assert again.read("src/b.txt") == "two\n"
    assert again.diff("main") == ""


HOLDER = (
    "import os, sys\n"
    "from pathlib import Path\n"
    "from cogworks.codebase.git import Identity\n"
    "from cogworks.codebase.remotes import Remote\n"
    "from cogworks.codebase.worktree import WorkingCopies\n"
    "with WorkingCopies(Path(sys.argv[1]), identity=Identity('x', 'x@y'), environment=os.environ) as copies:\n"
    f"    copy = copies.open(remote=Remote(sys.argv[2], None), run='r1', name='A', branch={WORK!r}, base='main')\n"
    "    (copy.path / 'theirs.txt').write_text('unfinished')\n"
    "    print(copy.path, flush=True)\n"
    "    sys.stdin.read()\n"
)


@contextmanager
def stopped_runner(cache: Path, url: str) -> Iterator[Path]:
    """A process that opened the copy and was stopped in the middle of its work; where that copy is."""
    with Started(
        [sys.executable, "-c", HOLDER, str(cache), url], stdin=PIPE, stdout=PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        path = Path(runner.stdout.readline().strip())
        runner.send_signal(signal.SIGSTOP)
        try:
            yield path
        finally:
            runner.send_signal(signal.SIGCONT)
            runner.communicate(timeout=ENDS_WITHIN_S)


def test_a_copy_that_a_stopped_process_holds_is_left_to_it_and_another_is_used(
    copies: WorkingCopies, remote: BareRepository, tmp_path: Path
) -> None:
    with stopped_runner(tmp_path / "cache", remote.url) as theirs:
        mine = opened(copies, remote.url)
        pushed = changed(mine)
        mine.push(WORK, None)

        assert mine.path != theirs
        assert not (mine.path / "theirs.txt").exists()
        assert (theirs / "theirs.txt").read_text() == "unfinished"
        assert (theirs / "a.txt").read_text() == "one\n"
        assert remote.head(WORK) == pushed


def test_a_copy_made_beside_goes_when_the_first_one_is_free_again(
    copies: WorkingCopies, remote: BareRepository, tmp_path: Path
) -> None:
    with stopped_runner(tmp_path / "cache", remote.url) as theirs:
        mine = opened(copies, remote.url)
    copies.close()

    again = opened(copies, remote.url)

    assert again.path == theirs
    assert not (again.path / "theirs.txt").exists()
    assert not mine.path.exists()


def test_what_a_stopped_process_holds_of_a_run_that_is_over_goes_when_it_let_go(
    copies: WorkingCopies, remote: BareRepository, tmp_path: Path
) -> None:
    with stopped_runner(tmp_path / "cache", remote.url) as theirs:
        mine = opened(copies, remote.url)
        copies.discard(RUN)
        kept = (theirs.exists(), mine.path.exists())

    copies.open(remote=Remote(remote.url, None), run=RunId("r2"), name="A", branch=WORK, base=MAIN)

    assert kept == (True, False)
    assert not copies.has(RUN)


def test_an_object_cache_that_a_stopped_process_holds_is_left_to_it_too(
    remote: BareRepository, tmp_path: Path
) -> None:
    holder = Places((tmp_path / "cache").resolve())
    with WorkingCopies(
        tmp_path / "cache", identity=BOT, environment=os.environ, patience=Patience(cache_s=0)
    ) as copies:
        first = opened(copies, remote.url)
        copies.close()
        (cache,) = (tmp_path / "cache" / "repositories").resolve().iterdir()
        assert holder.hold(cache)

        mine = opened(copies, remote.url)
        holder.release(cache)
        copies.discard(RUN)

        assert mine.path != first.path
        assert list((tmp_path / "cache" / "repositories").resolve().iterdir()) == [cache]


def test_more_processes_than_there_are_places_are_told_to_wait(tmp_path: Path) -> None:
    first = tmp_path / "A"
    holders = [Places(tmp_path) for _ in range(MAX_BESIDE)]
    taken = [holder.take(first, "the working copy 'A'") for holder in holders]

    with pytest.raises(TryAgainLater, match=r"working copy 'A' .* is in use by other processes"):
        Places(tmp_path).take(first, "the working copy 'A'")

    assert taken == list(beside(first))


def test_discarding_a_run_removes_its_copies_and_no_other(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    mine = opened(copies, remote.url)
    other = copies.open(remote=Remote(remote.url, None), run=RunId("r2"), name="A", branch=WORK, base=MAIN)

    copies.discard(RUN)
    copies.discard(RunId("never-was"))

    assert not mine.path.exists()
    assert other.read("a.txt") == "one\n"
    assert opened(copies, remote.url).read("a.txt") == "one\n"


def test_a_missing_remote_is_named(copies: WorkingCopies, remote: BareRepository) -> None:
    remote.destroy()

    with pytest.raises(GitFailed, match="does not appear to be a git repository") as caught:
        opened(copies, remote.url)

    assert caught.value.kind == "missing"


def test_a_remote_that_does_not_answer_means_try_again(copies: WorkingCopies) -> None:
    with pytest.raises(TryAgainLater, match="Run the step again"):
        opened(copies, "http://127.0.0.1:9/none.git", token="secret-token")


def test_a_command_over_its_time_limit_is_killed(tmp_path: Path, remote: BareRepository) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    slow = programs / "git"
    slow.write_text("#!/bin/sh\nsleep 60 &\nwait\n")
    slow.chmod(0o755)
    environment = {"PATH": f"{programs}:{ENVIRONMENT['PATH']}"}
    with (
        WorkingCopies(
            tmp_path / "cache", identity=BOT, environment=environment, patience=Patience(command_s=0.2)
        ) as copies,
        pytest.raises(TryAgainLater, match=r"killed after 0\.2 s"),
    ):
        opened(copies, remote.url)


def test_http_with_a_token_fetches_and_pushes_and_stores_no_secret(
    copies: WorkingCopies, remote: BareRepository, tmp_path: Path, network: list[str]
) -> None:
    token = "ghs_verysecret"
    with served_over_http(remote, token) as url:
        git(remote.path, "config", "http.receivepack", "true")
        copy = opened(copies, url, token=token)
        oid = changed(copy)

        assert copy.push(WORK, None).status == "pushed"

    assert remote.head(WORK) == oid
    assert network == ["fetch", "push"]
    stored = [
        path
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file() and token.encode() in path.read_bytes()
    ]
    assert stored == []


def test_a_refused_token_is_not_shown(copies: WorkingCopies, remote: BareRepository) -> None:
    with (
        served_over_http(remote, "right") as url,
        pytest.raises(PermissionRefused, match="Give a token") as caught,
    ):
        opened(copies, url, token="wrong-and-secret")

    assert "wrong-and-secret" not in str(caught.value)


def history(copy: WorkingCopy) -> int:
    return len(git(copy.path, "log", "--format=%H").splitlines())


def test_a_moment_is_one_commit_without_its_history_and_goes_with_its_block(
    copies: WorkingCopies, remote: BareRepository, network: list[str], tmp_path: Path
) -> None:
    first = remote.head("main")
    second = remote.put("main", {"a.txt": "newer\n"})
    git(remote.path, "tag", "v1", first)
    url = f"file://{remote.url}"

    seen = []
    for ref in ("main", second, "v1", first, "HEAD"):
        with copies.at(url=url, token=None, ref=ref) as copy:
            seen.append((copy.head, copy.read("a.txt"), history(copy)))
            path = copy.path
        assert not path.exists()

    newer, older = (second, "newer\n", 1), (first, "one\n", 1)
    assert seen == [newer, newer, older, older, newer]
    assert network == ["fetch"] * 5
    assert len(list((tmp_path / "cache" / "repositories").iterdir())) == 1


def test_moments_and_whole_histories_do_not_touch_each_other(
    copies: WorkingCopies, remote: BareRepository
) -> None:
    remote.put("main", {"a.txt": "newer\n"})
    copy = opened(copies, remote.url)

    with (
        copies.at(url=remote.url, token=None, ref="main") as one,
        copies.at(url=remote.url, token=None, ref="main") as other,
    ):
        (one.path / "a.txt").write_text("spoilt")
        assert other.read("a.txt") == "newer\n"

    assert history(opened(copies, remote.url)) == history(copy) == 2


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("gone", "couldn't find remote ref gone"),
        ("0" * 40, "not our ref"),
        ("--upload-pack=x", "is no branch, tag or commit"),
        ("a:refs/heads/b", "is no branch, tag or commit"),
        ("", "is no branch, tag or commit"),
    ],
)
def test_a_moment_that_is_not_there_is_named(
    ref: str, words: str, copies: WorkingCopies, remote: BareRepository
) -> None:
    with (
        pytest.raises(CodebaseError, match=words),
        copies.at(url=f"file://{remote.url}", token=None, ref=ref),
    ):
        pass


def test_a_broken_cache_of_moments_is_made_again(
    copies: WorkingCopies, remote: BareRepository, tmp_path: Path
) -> None:
    with copies.at(url=remote.url, token=None, ref="main"):
        pass
    _break_the_cache(opened(copies, remote.url), tmp_path / "cache")

    with copies.at(url=remote.url, token=None, ref="main") as copy:
        assert copy.read("src/b.txt") == "two\n"


def missing_blobs(cache: Path) -> int:
    (repository,) = (cache / "repositories").iterdir()
    listed = git(repository, "rev-list", "--objects", "--all", "--missing=print")
    return sum(line.startswith("?") for line in listed.splitlines())


def test_whoever_has_no_access_sees_all_files_of_the_commits_a_blobless_copy_stands_on_and_began_at(
    remote: BareRepository, tmp_path: Path, network: list[str]
) -> None:
    git(remote.path, "config", "uploadpack.allowFilter", "true")
    git(remote.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    began = remote.put("main", {f"old/{number}.txt": f"{number}\n" for number in range(50)})
    remote.put(WORK, {"a.txt": "on the branch\n"}, start="main")
    remote.put("main", {"old/7.txt": "later\n"}, start="main")
    cache = tmp_path / "blobless"
    with (
        served_over_http(remote, "ghs_decoy") as url,
        WorkingCopies(
            cache, identity=BOT, environment=os.environ, is_blobless=True, on_network=network.append
        ) as copies,
    ):
        copy = opened(copies, url, token="ghs_decoy")
        first = list(network)
        opened(copies, url, token="ghs_decoy")
        alone = Git(environment=os.environ, home=tmp_path)
        texts = [alone.run("show", f"{began}:old/{number}.txt", cwd=copy.path) for number in (7, 49)]
        base = copy.base()

    assert texts == ["7\n", "49\n"]
    assert base == began
    # Commits with one request, all files with another; nothing is missing when the copy is opened again.
    assert first == ["fetch", "fetch"]
    assert network == [*first, "fetch"]


def test_a_blobless_history_has_every_commit_and_only_the_contents_that_were_needed(
    remote: BareRepository, tmp_path: Path
) -> None:
    git(remote.path, "config", "uploadpack.allowFilter", "true")
    git(remote.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    first = remote.head("main")
    remote.put("main", {"a.txt": "newer\n"})
    remote.put("dep-1", {"c.txt": "three\n"}, start="main")
    cache = tmp_path / "blobless"
    with (
        served_over_http(remote, "ghs_decoy") as url,
        WorkingCopies(cache, identity=BOT, environment=os.environ, is_blobless=True) as copies,
    ):
        copy = opened(copies, url, token="ghs_decoy", merge=("dep-1",))
        seen = copy.files(), history(copy), missing_blobs(cache)
        diff = copy.diff(first)
        left = missing_blobs(cache)
        changed(copy)
        pushed = copy.push(WORK, None)

    # Only the old content of `a.txt` is of no use, until somebody compares with it.
    assert seen == (["a.txt", "c.txt", "src/b.txt"], 4, 1)
    assert "-one\n+newer\n" in diff
    assert left == 0
    assert (pushed.status, pushed.oid) == ("pushed", remote.head(WORK))
    assert not any(b"ghs_decoy" in file.read_bytes() for file in cache.rglob("config"))

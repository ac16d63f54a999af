"""Commits made by API."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from cogworks.hub.actions.access import Actor, authenticate
from cogworks.hub.actions.commits import (
    FileWrite,
    TreeRow,
    create_commit_on_branch,
    put_file,
    write_blob,
    write_commit,
    write_tree,
)
from cogworks.hub.gitobjects import Commit
from cogworks.hub.refusals import Conflict, Forbidden, NotFound, StaleData, Unprocessable
from cogworks.hub.seeding import Permissions, add_token
from tests.hub.bench import Bench


def commit(
    bench: Bench,
    *,
    branch: str = "main",
    head: str | None = None,
    additions: dict[str, bytes] | None = None,
    deletions: tuple[str, ...] = (),
    actor: Actor | None = None,
) -> Commit:
    return create_commit_on_branch(
        bench.world,
        actor or bench.writer,
        bench.repository,
        branch=branch,
        expected_head_oid=head or bench.tip(),
        message="Subject\n\nBody",
        additions={"new.txt": b"new\n"} if additions is None else additions,
        deletions=deletions,
    )


def test_a_commit_is_appended_dated_by_the_server_and_signed_with_the_owner_of_the_token(
    bench: Bench,
) -> None:
    start = bench.tip()
    bench.clock.advance(90)

    made = commit(bench, deletions=("README.md",))

    assert (bench.tip(), made.parents, made.message) == (made.oid, (start,), "Subject\n\nBody\n")
    assert (made.author.name, made.author.email) == ("ada", bench.writer.known.noreply)
    assert made.committer.name == "GitHub"
    assert made.committer.date - bench.clock.now() == timedelta()
    assert [path for path, entry in bench.git.walk(made.tree) if entry.type == "blob"] == [
        "new.txt",
        "src/adder.py",
        "src/deep/er.txt",
    ]


def test_a_stale_head_is_refused_with_the_head_that_was_expected(bench: Bench) -> None:
    start = bench.tip()
    commit(bench)

    with pytest.raises(StaleData) as refused:
        commit(bench, head=start)

    assert str(refused.value) == f'Expected branch to point to "{start}" but it did not. Pull and try again.'


def test_of_many_commits_on_one_head_exactly_one_is_made(bench: Bench) -> None:
    start = bench.tip()

    def attempt(number: int) -> str | None:
        try:
            return commit(bench, head=start, additions={f"{number}.txt": b"x"}).oid
        except StaleData:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [oid for oid in pool.map(attempt, range(8)) if oid is not None]

    assert made == [bench.tip()]
    assert bench.git.count(bench.tip()) == 2


def test_a_branch_that_does_not_exist_is_not_created(bench: Bench) -> None:
    with pytest.raises(NotFound):
        commit(bench, branch="none")


@pytest.mark.parametrize("path", ["/abs", "a//b", "../up", "a/.git/config", "", "a/./b"])
def test_a_path_that_git_would_not_take_is_refused(bench: Bench, path: str) -> None:
    with pytest.raises(Unprocessable, match="A path was malformed"):
        commit(bench, additions={path: b""})


def test_the_empty_tree_is_refused(bench: Bench) -> None:
    with pytest.raises(Unprocessable, match="would be empty"):
        commit(bench, additions={}, deletions=("README.md", "src"))


def test_deleting_what_is_not_there_is_refused(bench: Bench) -> None:
    with pytest.raises(Unprocessable, match="does not exist"):
        commit(bench, deletions=("none.txt",))


def test_workflows_need_a_permission_of_their_own(bench: Bench) -> None:
    permissions: Permissions = {"contents": "write"}
    add_token(bench.world, bench.bot.known, "narrow", kind="installation", permissions=permissions)
    narrow = authenticate(bench.world, "narrow")
    workflow = {".github/workflows/ci.yml": b"on: push\n"}

    with pytest.raises(Forbidden, match="workflow"):
        commit(bench, additions=workflow, actor=narrow)
    assert commit(bench, actor=narrow).parents
    assert commit(bench, additions=workflow, actor=bench.writer).parents


def test_a_root_commit_is_made_of_its_own_tree(bench: Bench) -> None:
    blob = write_blob(bench.world, bench.writer, bench.repository, b"# Root\n")
    row = TreeRow(path="README.md", mode="100644", oid=blob)
    tree = write_tree(bench.world, bench.writer, bench.repository, [row], None)

    made = write_commit(bench.world, bench.writer, bench.repository, message="Root", tree=tree, parents=())

    assert (made.parents, bench.git.walk(made.tree)[0][0]) == ((), "README.md")


def test_a_tree_row_without_an_object_removes_its_path(bench: Bench) -> None:
    tree = write_tree(
        bench.world,
        bench.writer,
        bench.repository,
        [TreeRow(path="src/deep/er.txt", mode="100644", oid=None)],
        bench.tip(),
    )

    assert [path for path, _ in bench.git.walk(tree)] == ["README.md", "src", "src/adder.py"]


def test_a_file_is_replaced_only_by_naming_the_blob_that_is_there(bench: Bench) -> None:
    found = bench.git.resolve("main:README.md")
    write = FileWrite(path="README.md", content=b"2\n", message="Two", branch="main")

    with pytest.raises(Unprocessable, match="sha"):
        put_file(bench.world, bench.writer, bench.repository, write)
    wrong = FileWrite(path="README.md", content=b"2\n", message="Two", branch="main", sha="0" * 40)
    with pytest.raises(Conflict, match="does not match"):
        put_file(bench.world, bench.writer, bench.repository, wrong)
    right = FileWrite(path="README.md", content=b"2\n", message="Two", branch="main", sha=found)
    entry, made, is_new = put_file(bench.world, bench.writer, bench.repository, right)

    assert (bench.tip(), is_new) == (made.oid, False)
    assert entry is not None
    assert bench.git.blob(entry.oid) == b"2\n"


def test_reads_see_commits_of_other_tools(bench: Bench) -> None:
    empty = bench.git.git.run("hash-object", "-w", "-t", "tree", "--stdin")[1].decode().strip()

    assert bench.git.tree(empty) == ()
    assert bench.git.tree("1" * 40) is None


@pytest.mark.parametrize("has_base", [True, False], ids=["on-a-base", "from-nothing"])
def test_a_tree_of_no_rows_is_refused(bench: Bench, has_base: bool) -> None:
    base = bench.tip() if has_base else None

    with pytest.raises(Unprocessable, match="Invalid tree info"):
        write_tree(bench.world, bench.writer, bench.repository, [], base)

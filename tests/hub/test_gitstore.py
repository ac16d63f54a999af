"""The bare repositories of the hub."""

from pathlib import Path

import pytest

from cogworks.hub.gitobjects import ZERO_OID, Signature
from cogworks.hub.gitstore import GitRepository, GitStore, RefConflict, RefUpdate
from tests.hub.bench import Bench, StandingClock
from tests.hub.commandline import git


def test_refs_are_read_loose_and_packed_and_the_loose_one_wins(bench: Bench) -> None:
    bench.commit("one", {"a": "1"})
    before = bench.git.refs()
    bench.git.git.run("pack-refs", "--all")
    assert bench.git.refs() == before
    moved = bench.commit("one", {"a": "2"})

    assert bench.git.refs("refs/heads/o") == {"refs/heads/one": moved}
    assert (bench.git.branch("one"), bench.git.branch("main")) == (moved, before["refs/heads/main"])
    assert git("rev-parse", "one", cwd=bench.git.path) == moved


def test_an_update_names_the_value_it_expects(bench: Bench) -> None:
    start, other = bench.tip(), bench.commit("one", {"a": "1"})

    for update in (
        RefUpdate("refs/heads/main", other, old=other),
        RefUpdate("refs/heads/main", other, old=ZERO_OID),
        RefUpdate("refs/heads/none", None, old=other),
    ):
        with pytest.raises(RefConflict):
            bench.git.update_refs([RefUpdate("refs/heads/extra", other, old=ZERO_OID), update])
    assert (bench.tip(), bench.git.branch("extra")) == (start, None)


def test_objects_that_a_push_brought_are_seen_at_once(bench: Bench, tmp_path: Path) -> None:
    assert bench.git.commit("a" * 40) is None
    git("clone", "--quiet", str(bench.git.path), "clone", cwd=tmp_path)
    clone = tmp_path / "clone"
    (clone / "new.txt").write_text("new\n")
    git("add", ".", cwd=clone)
    git("commit", "--quiet", "--message", "New", cwd=clone)
    git("push", "--quiet", "origin", "HEAD:refs/heads/new", cwd=clone)

    found = bench.git.commit(git("rev-parse", "HEAD", cwd=clone))

    assert found is not None
    assert bench.git.entry(found.tree, "new.txt") is not None


def test_the_reader_survives_the_death_of_its_process(bench: Bench) -> None:
    assert bench.git.resolve("main") == bench.tip()
    bench.git.close()

    assert bench.git.resolve("main") == bench.tip()
    assert bench.git.resolve("main:src") is not None
    assert [bench.git.resolve(name) for name in ("none", "", "--all", "a\nb")] == [None] * 4


def test_an_annotated_tag_leads_to_its_commit(bench: Bench) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    bench.git.git.run(*identity, "tag", "--annotate", "--message", "One", "v1", "main")
    oid = bench.git.ref("refs/tags/v1")
    assert oid is not None

    commit = bench.git.commit(oid)

    assert commit is not None
    assert commit.oid == bench.tip()


def test_history_is_counted_between_two_commits(bench: Bench) -> None:
    bench.commit("one", {"a": "1"})
    tip = bench.commit("one", {"b": "2"})
    other = bench.commit("two", {"c": "3"})

    assert bench.git.merge_base(tip, other) == bench.tip()
    assert (bench.git.is_ancestor(bench.tip(), tip), bench.git.is_ancestor(tip, other)) == (True, False)
    assert (bench.git.count(tip, f"^{other}"), len(bench.git.log(tip, limit=2))) == (2, 2)
    assert [commit.oid for commit in bench.git.log(tip, paths=("b",))] == [tip]


def test_unrelated_histories_have_nothing_in_common(bench: Bench) -> None:
    who = Signature("Ada", "ada@example.com", StandingClock().now())
    tree = bench.git.commit(bench.tip())
    assert tree is not None
    root = bench.git.write_commit(tree=tree.tree, parents=(), author=who, committer=who, message="Root")

    assert bench.git.merge_base(root, bench.tip()) is None


def test_a_merge_is_tried_without_touching_anything(bench: Bench) -> None:
    one, two = bench.commit("one", {"a": "1"}), bench.commit("two", {"a": "2"})
    three = bench.commit("three", {"c": "3"})

    merged = bench.git.merged_tree(one, three)

    assert bench.git.merged_tree(one, two) is None
    assert merged is not None
    assert {path for path, _ in bench.git.walk(merged)} >= {"a", "c"}


def test_a_half_made_repository_is_made_anew(tmp_path: Path) -> None:
    store = GitStore(tmp_path)
    (tmp_path / "octo" / "half.git").mkdir(parents=True)
    (tmp_path / "octo" / "half.git" / "junk").touch()

    made = store.create("Octo/Half", default_branch="trunk")

    assert isinstance(made, GitRepository)
    assert git("symbolic-ref", "HEAD", cwd=made.path) == "refs/heads/trunk"
    assert store.create("octo/half", default_branch="main") is made
    store.close()


def test_no_configuration_of_the_user_reaches_git(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\tbare = nonsense\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/nowhere")

    assert bench.git.log(bench.tip(), limit=1)[0].oid == bench.tip()

"""Filling a hub."""

from pathlib import Path

import pytest

from cogworks.errors import UsageError
from cogworks.hub.actions.access import authenticate, role_of
from cogworks.hub.records import Label, User
from cogworks.hub.seeding import (
    TokenKind,
    add_collaborator,
    add_token,
    add_user,
    create_repository,
    fresh_token,
    parse_permissions,
)
from tests.hub.bench import Bench


def test_doing_it_twice_changes_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    before = bench.repository, bench.tip(), bench.world.store.every(User)

    add_user(bench.world, "OCTO")
    create_repository(bench.world, "Octo/Demo", tree=tmp_path / "other", default_branch="trunk")

    assert (bench.repository, bench.tip(), bench.world.store.every(User)) == before


def test_the_same_tree_and_date_make_the_same_commit(bench: Bench, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "config").write_text("not ours")
    (tree / "run").write_text("#!/bin/sh\n")
    (tree / "run").chmod(0o755)
    (tree / "link").symlink_to("run")

    made = [
        create_repository(bench.world, f"octo/{name}", tree=tree, date=bench.clock.now())
        for name in ("one", "two")
    ]
    tips = [bench.world.repository_git(each).branch("main") for each in made]

    assert tips[0] == tips[1]
    git = bench.world.repository_git(made[0])
    commit = git.commit(str(tips[0]))
    assert commit is not None
    assert [(path, entry.mode) for path, entry in git.walk(commit.tree)] == [
        ("link", "120000"),
        ("run", "100755"),
    ]
    assert len(bench.world.store.children(Label, made[0].id)) == 9


def test_an_empty_repository_has_no_commit_yet(bench: Bench) -> None:
    made = create_repository(bench.world, "octo/empty")

    assert bench.world.repository_git(made).refs() == {}


@pytest.mark.parametrize("name", ["none/demo", "octo", "octo/", "octo/a b", "octo/../x", "octo/.."])
def test_a_repository_needs_an_owner_and_a_name(bench: Bench, name: str) -> None:
    with pytest.raises(UsageError, match="wanted owner/name"):
        create_repository(bench.world, name)


@pytest.mark.parametrize("login", ["", "a b", "-a", "a--b", "x" * 40, "app[bot]"])
def test_a_login_is_one_that_github_would_take(bench: Bench, login: str) -> None:
    with pytest.raises(UsageError, match="is no login for a User"):
        add_user(bench.world, login)


def test_a_directory_without_files_makes_no_commit(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()

    with pytest.raises(UsageError, match="holds no file"):
        create_repository(bench.world, "octo/bare", tree=tmp_path / "bare")


def test_tokens_are_kept_as_digests_and_changed_in_place(bench: Bench) -> None:
    token = fresh_token()
    kinds: tuple[TokenKind, ...] = ("personal", "actions")
    for kind in kinds:
        add_token(bench.world, bench.owner.known, token, kind=kind)

    found = authenticate(bench.world, token).token
    assert found is not None
    assert (found.kind, token in found.model_dump_json()) == ("actions", False)


def test_a_role_is_one_of_githubs(bench: Bench) -> None:
    add_collaborator(bench.world, bench.repository, bench.reader.known, "maintain")
    assert role_of(bench.world, bench.repository, bench.reader.known) == "maintain"
    for role in ("none", "god"):
        with pytest.raises(UsageError, match="is no role"):
            add_collaborator(bench.world, bench.repository, bench.reader.known, role)


def test_permissions_are_read_from_words() -> None:
    assert parse_permissions(["contents=write", "issues=read"]) == {"contents": "write", "issues": "read"}
    for word in ("contents", "contents=all", "=write"):
        with pytest.raises(UsageError, match="wanted NAME=LEVEL"):
            parse_permissions([word])

"""Commits, trees and ref names as git itself sees them."""

import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.hub.gitobjects import (
    NewFile,
    Signature,
    TreeEntry,
    edit_tree,
    format_commit,
    format_tree,
    is_ref_name,
    oid_of,
    parse_commit,
    parse_signature,
    parse_tree,
)
from tests.exhaustive import examples
from tests.hub.commandline import git
from tests.limits import ENDS_WITHIN_S

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..", ".git")
)
PATHS = st.lists(st.sampled_from(["a", "b", "a.b", "a0", "ä"]), min_size=1, max_size=3).map("/".join)
OIDS = st.binary(min_size=20, max_size=20).map(bytes.hex)


@given(
    st.lists(
        st.builds(TreeEntry, NAMES, st.sampled_from(["100644", "040000", "120000"]), OIDS),
        unique_by=lambda e: e.name,
    )
)
def test_a_tree_survives_writing_and_reading(entries: list[TreeEntry]) -> None:
    assert set(parse_tree(format_tree(entries))) == set(entries)


def test_a_tree_is_sorted_as_git_sorts_it(tmp_path: Path) -> None:
    git("init", "--quiet", cwd=tmp_path)
    for path in ("a.txt", "a/b.txt", "a0", "a-b/c"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(path)
    git("add", ".", cwd=tmp_path)
    oid = git("write-tree", cwd=tmp_path)
    raw = subprocess.run(
        ["git", "cat-file", "tree", oid], cwd=tmp_path, capture_output=True, check=True, timeout=ENDS_WITHIN_S
    ).stdout

    assert format_tree(reversed(parse_tree(raw))) == raw
    assert oid_of("tree", raw) == oid


@settings(max_examples=examples(60))
@given(st.dictionaries(PATHS, st.booleans()), st.dictionaries(PATHS, st.booleans()))
def test_editing_a_tree_is_editing_a_set_of_paths(first: dict[str, bool], second: dict[str, bool]) -> None:
    trees: dict[str, tuple[TreeEntry, ...]] = {}

    def write(entries: tuple[TreeEntry, ...]) -> str:
        oid = oid_of("tree", format_tree(entries))
        trees[oid] = parse_tree(format_tree(entries))
        return oid

    def files(tree: str | None, prefix: str = "") -> set[str]:
        found = set()
        for entry in trees[tree] if tree else ():
            path = prefix + entry.name
            found |= files(entry.oid, f"{path}/") if entry.type == "tree" else {path}
        return found

    def edited(base: str | None, changes: dict[str, bool]) -> str | None:
        new = {path: NewFile("0" * 40) if kept else None for path, kept in changes.items()}
        return edit_tree(base, new, read=trees.__getitem__, write=write)

    start = edited(None, without_clashes(first))
    result = files(edited(start, without_clashes(second)))

    before = files(start)
    assert before == {path for path, kept in without_clashes(first).items() if kept}
    added = {path for path, kept in without_clashes(second).items() if kept}
    removed = {path for path, kept in without_clashes(second).items() if not kept}
    survivors = {path for path in before - removed - added if not clashes(path, added, removed)}
    assert result == survivors | added


def without_clashes(changes: dict[str, bool]) -> dict[str, bool]:
    """Only paths of which none is a directory of another."""
    return {
        path: kept
        for path, kept in changes.items()
        if not any(each.startswith(f"{path}/") for each in changes)
    }


def clashes(path: str, added: set[str], removed: set[str]) -> bool:
    """Whether an added file takes the place of the path's directory or file, or a removed path holds it."""
    over = any(path.startswith(f"{each}/") for each in added | removed)
    return over or any(each.startswith(f"{path}/") for each in added)


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="<>\n\0\r", exclude_categories=["Cc"]), min_size=1
    ).map(str.strip),
    st.emails(),
    st.integers(10**8, 4 * 10**9).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(-14 * 4, 14 * 4),
)
def test_a_signature_survives_writing_and_reading(
    name: str, email: str, date: datetime, quarters: int
) -> None:
    zone = timezone(timedelta(minutes=15 * quarters))
    signature = Signature(name, email, date.replace(microsecond=0, tzinfo=zone))

    assert parse_signature(signature.format()) == signature


def test_a_commit_survives_writing_and_reading() -> None:
    who = Signature("Ada", "ada@example.com", datetime(2026, 3, 1, tzinfo=UTC))
    data = format_commit(
        tree="1" * 40, parents=("2" * 40, "3" * 40), author=who, committer=who, message="One\n\nTwo\n\n"
    )

    commit = parse_commit("4" * 40, data)

    assert (commit.tree, commit.parents, commit.author) == ("1" * 40, ("2" * 40, "3" * 40), who)
    assert (commit.headline, commit.body, commit.message) == ("One", "Two", "One\n\nTwo\n")


@pytest.mark.parametrize(
    "name",
    [
        "refs/heads/main",
        "refs/heads/a/b.c",
        "refs/heads/.a",
        "refs/heads/a.lock",
        "refs/heads/a..b",
        "refs/heads/a b",
        "refs/heads/a@{1}",
        "refs/heads/@",
        "refs/heads/a.",
        "refs/heads/a/",
        "refs/heads//a",
        "refs/heads/a\\b",
        "refs/heads/-a",
        "refs/heads/ä",
        "refs/heads/a\x7f",
        "refs/heads/a?",
        "refs/heads/a[",
        "refs/heads/a.lock/b",
    ],
)
def test_a_ref_name_is_valid_exactly_when_git_says_so(name: str) -> None:
    git_says = (
        subprocess.run(["git", "check-ref-format", name], check=False, timeout=ENDS_WITHIN_S).returncode == 0
    )

    assert is_ref_name(name) is git_says

"""Which changes to files are refused, and with which words."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.codebase.changes import (
    PROTECTED_PATHS,
    Caps,
    FileChange,
    folded,
    normalised,
    path_problem,
    protected_by,
    protected_touched,
    refusal,
)

names = st.text(alphabet="abcXYZ._-é", min_size=1, max_size=6).filter(lambda name: name.strip(".") != "")
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


def create(path: str, content: str = "x\n") -> FileChange:
    return FileChange(path=path, action="create", content=content)


def modify(path: str, content: str = "y\n") -> FileChange:
    return FileChange(path=path, action="modify", content=content)


def delete(path: str) -> FileChange:
    return FileChange(path=path, action="delete")


def test_ordinary_changes_are_not_refused() -> None:
    changes = [create("src/new.py"), modify("src/old.py"), delete("gone.py")]

    assert refusal(changes, {"src/old.py", "gone.py"}) is None


def test_no_change_is_not_refused() -> None:
    assert refusal([], {"a.py"}) is None


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/etc/passwd",
        "C:/x.py",
        "c:x.py",
        "../x.py",
        "a/../x.py",
        "a/./../b",
        "a\\b.py",
        "a\0b",
        "a\nb",
        "a/",
        "\ud800",
        ".git/config",
        "a/.GIT/config",
        ".git./hooks/x",
        ".git /x",
        ".g\u200cit/config",
        ".\uff47it/config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        "x" * 256,
    ],
    ids=repr,
)
def test_a_path_that_names_no_file_of_the_repository_is_refused(path: str) -> None:
    assert path_problem(path) is not None
    assert refusal([create(path)], set()) is not None


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/dependabot.yml", "a/git/b.py", "...", "..a", "é.py", "a b.txt"]
)
def test_a_path_that_only_looks_odd_is_allowed(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        (".cogworks/config.toml", ".cogworks/**"),
        (".COGWORKS/packs/x/y.md", ".cogworks/**"),
        ("./.cogworks//config.toml", ".cogworks/**"),
        (".github/workflows/ci.yml", ".github/workflows/**"),
        ("codeowners", "CODEOWNERS"),
        (".github/CODEOWNERS", ".github/CODEOWNERS"),
        ("prompts/intake.md.j2", "prompts/**"),
        ("a/b/deep.lock", "**/*.lock"),
        ("top.lock", "**/*.lock"),
        ("docs/readme.md", None),
        ("src/cogworks/config.toml", None),
        ("prompts.py", None),
    ],
)
def test_protected_paths_match_in_any_spelling(path: str, pattern: str | None) -> None:
    assert protected_by(path, ("prompts/**", "**/*.lock")) == pattern


def test_the_documentation_names_what_is_always_protected() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
    section = page.partition("## What no model writes\n")[2].partition("\n## ")[0]

    assert [pattern for pattern in PROTECTED_PATHS if f"`{pattern}`" not in section] == []


def test_touched_protected_paths_are_named_in_order() -> None:
    changes = [create("b.py"), create("CODEOWNERS"), modify(".cogworks/config.toml")]

    assert protected_touched(changes) == ("CODEOWNERS", ".cogworks/config.toml")


def test_all_problems_are_reported_at_once() -> None:
    changes = [
        create("a.py"),
        modify("missing.py"),
        delete("lost.py"),
        create("new.py", "12345"),
        create("NEW.py"),
        create("../out.py"),
        create(".cogworks/config.toml"),
    ]

    assert refusal(changes, {"a.py"}, caps=Caps(files=6, file_bytes=4, total_bytes=10)) == (
        "the change has 9 problem(s):\n"
        "  - 7 files are changed; at most 6 are allowed at once\n"
        "  - 'new.py' has 5 bytes; at most 4 are allowed in one file\n"
        "  - the new files have 15 bytes together; at most 10 are allowed\n"
        "  - '../out.py': '..' is not allowed; write the path relative to the root of the repository\n"
        "  - '.cogworks/config.toml' is protected by '.cogworks/**'; a person has to change it\n"
        "  - 'new.py', 'NEW.py' is named 2 times; give one change per file, whatever its case\n"
        "  - 'a.py' exists already; use the action 'modify'\n"
        "  - 'missing.py' does not exist, so it cannot be modified; use the action 'create'\n"
        "  - 'lost.py' does not exist, so it cannot be deleted"
    )


@pytest.mark.parametrize(
    ("changes", "existing", "words"),
    [
        ([create("README.MD")], {"README.md"}, "differs only in case from 'README.md'"),
        ([create("a")], {"a/b.py"}, "'a' is a directory"),
        ([create("a/b.py")], {"a"}, "would lie below the file 'a'"),
        ([create("a"), create("a/b.py")], set(), "would lie below the file 'a'"),
        ([create("a.py", "\udc80")], set(), "cannot be written as UTF-8"),
        ([create("e\u0301.py")], {"\u00e9.py"}, "exists already"),
    ],
)
def test_a_change_that_does_not_fit_the_files_there_is_refused(
    changes: list[FileChange], existing: set[str], words: str
) -> None:
    reason = refusal(changes, existing)

    assert reason is not None
    assert words in reason


def test_a_deleted_file_makes_room_for_a_directory() -> None:
    assert refusal([delete("a"), create("a/b.py")], {"a"}) is None


@given(st.text(max_size=30))
def test_normalising_twice_changes_nothing(path: str) -> None:
    assert normalised(normalised(path)) == normalised(path)


@given(st.text(alphabet="./\\:aA~gGiItT \u200c\u0301\0", max_size=20))
def test_a_path_without_a_problem_stays_inside_and_off_git(path: str) -> None:
    if path_problem(path) is None:
        parts = normalised(path).split("/")

        assert not normalised(path).startswith("/")
        assert all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts)


@given(paths)
def test_every_spelling_of_a_protected_path_is_protected(path: str) -> None:
    for spelling in (path, path.upper(), unicodedata.normalize("NFD", path), f"./{path}"):
        assert protected_by(f".cogworks/{spelling}") == ".cogworks/**"


@given(st.sets(paths, max_size=5), paths)
def test_creating_and_modifying_exclude_each_other(existing: set[str], path: str) -> None:
    refused_create = refusal([create(path)], existing) is not None
    refused_modify = refusal([modify(path)], existing) is not None

    assert refused_create or refused_modify


def test_a_pattern_is_made_comparable_once_for_all_paths() -> None:
    protected_by("a.py")
    before = folded.cache_info().misses

    for number in range(5):
        protected_by(f"fresh_{number}.py")

    assert folded.cache_info().misses == before + 5

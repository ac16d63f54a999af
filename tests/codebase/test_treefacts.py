"""What git knows of a working copy's files without reading them, and what looks ask it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.codebase.changes import FileChange
from cogworks.codebase.remotes import Remote
from cogworks.codebase.workingcopy import WorkingCopy
from cogworks.codebase.worktree import WorkingCopies
from cogworks.vocabulary import VISIT_TRAILER, BranchName, RunId
from tests.codebase.repositories import BOT, BareRepository, git

MAIN = BranchName("main")


@pytest.fixture
def remote(tmp_path: Path) -> BareRepository:
    repository = BareRepository(tmp_path)
    repository.put("main", {"a.py": "def one():\n    return 1\n", "vendor.py": "one = 1\n"})
    repository.put(
        "main",
        {
            "src/ü.py": "one = 'ä'\n",
            ".gitattributes": "vendor.py linguist-vendored\nsrc/*.py linguist-generated=false\n",
        },
    )
    repository.put("main", {"a.py": "def one():\n    return 11\n", "blob.bin": "one\0two\n"})
    repository.put_link("main", "link.py", "a.py")
    return repository


@pytest.fixture
def copy(tmp_path: Path, remote: BareRepository) -> Iterator[WorkingCopy]:
    with WorkingCopies(tmp_path / "cache", identity=BOT, environment=os.environ, is_blobless=True) as copies:
        yield copies.open(
            remote=Remote(remote.url, None), run=RunId("r"), name="item", branch=MAIN, base=MAIN
        )


def test_every_content_has_a_name_and_links_have_none(copy: WorkingCopy) -> None:
    names = copy.contents()

    assert set(names) == {"a.py", "vendor.py", "src/ü.py", ".gitattributes", "blob.bin"}
    assert names["a.py"] == git(copy.path, "rev-parse", "HEAD:a.py").strip()


def test_a_change_gives_another_name_at_once(copy: WorkingCopy) -> None:
    before = copy.contents()

    assert copy.apply([FileChange(path="a.py", action="modify", content="one = 2\n")]) is None

    after = copy.contents()
    assert {path for path in after if after[path] != before[path]} == {"a.py"}


def test_attributes_are_those_of_the_repository(copy: WorkingCopy) -> None:
    assert copy.attributes() == {"vendor.py": {"vendored"}}


def test_the_past_is_told_newest_first_without_merges(copy: WorkingCopy) -> None:
    past = copy.past(10)

    assert [set(each.paths) for each in past[-3:]] == [
        {"a.py", "blob.bin"},
        {"src/ü.py", ".gitattributes"},
        {"a.py", "vendor.py"},
    ]
    assert len(copy.past(2)) == 2
    assert all(each.text for each in past)


def test_lines_are_found_by_text_and_by_expression(copy: WorkingCopy) -> None:
    found = copy.grep("one", is_regex=False)

    assert [(hit.path, hit.line) for hit in found if not isinstance(hit, str)] == [
        ("a.py", 1),
        ("src/ü.py", 1),
        ("vendor.py", 1),
    ]
    expression = copy.grep(r"return \d+$", is_regex=True)
    assert [(hit.path, hit.text) for hit in expression if not isinstance(hit, str)] == [
        ("a.py", "    return 11")
    ]
    assert copy.grep("nowhere", is_regex=False) == ()


def test_of_a_long_line_the_part_around_what_was_looked_for_is_given(copy: WorkingCopy) -> None:
    lines = ("ü" * 200 + "early" + "z" * 900, "ü" * 5_000 + "late" + "z" * 5_000)
    copy.apply([FileChange(path="a.py", action="modify", content="\n".join(lines) + "\n")])

    hits = [copy.grep("early", is_regex=False), copy.grep("l.te", is_regex=True)]
    [early], [late] = ([hit for hit in each if not isinstance(hit, str)] for each in hits)

    assert (early.before, early.text) == (0, lines[0])
    assert late.before == 4_850
    assert late.text.startswith("ü" * 150 + "latez")
    assert len(late.text) == 2_000


@pytest.mark.parametrize("text", ["(", "a\nb", "a\0b", "[", "*(", "--open-files-in-pager=x", "-f/etc/passwd"])
def test_a_search_that_cannot_be_made_says_why_or_finds_nothing(copy: WorkingCopy, text: str) -> None:
    for is_regex in (True, False):
        assert isinstance(copy.grep(text, is_regex=is_regex), str | tuple)


def test_an_expression_that_explodes_elsewhere_comes_to_its_end(copy: WorkingCopy) -> None:
    copy.apply([FileChange(path="a.py", action="modify", content="a" * 5_000 + "!\n")])

    assert copy.grep(r"(a+)+$", is_regex=True) == ()


def test_what_was_changed_and_not_committed_is_found_too(copy: WorkingCopy) -> None:
    copy.apply([FileChange(path="new.py", action="create", content="fresh = 1\n")])

    found = copy.grep("fresh", is_regex=False)
    assert not isinstance(found, str)
    [hit] = found
    assert (hit.path, hit.line, hit.text) == ("new.py", 1, "fresh = 1")


def test_the_commits_of_a_path_are_told_with_all_they_changed(copy: WorkingCopy) -> None:
    found = copy.commits("a.py", 5)

    assert [set(past.paths) for _, past in found] == [{"a.py", "blob.bin"}, {"a.py", "vendor.py"}]
    assert copy.commits("nowhere.py", 5) == ()
    assert copy.commits(":(top)", 5) is not None


def test_a_commit_before_the_head_is_shown_and_no_other(copy: WorkingCopy, remote: BareRepository) -> None:
    oid, _ = copy.commits("a.py", 1)[0]
    later = remote.put("main", {"later.py": "x = 1\n"})

    patch = copy.patch(oid[:12])
    assert patch is not None
    assert "+    return 11" in patch
    assert copy.patch(str(later)) is None
    assert copy.patch("f" * 40) is None


def test_commits_of_visits_are_no_past_of_the_repository(copy: WorkingCopy) -> None:
    before = copy.past(10)
    copy.apply([FileChange(path="new.py", action="create", content="x = 1\n")])
    copy.commit(f"Write it\n\nNotes.\n\n{VISIT_TRAILER}{'a' * 64}\n")

    assert copy.past(10) == before

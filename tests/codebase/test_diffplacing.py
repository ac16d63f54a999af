"""Model answers come into one form or are refused: lines are found where they stand exactly once, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.codebase.diffmodel import Diff, lines_of, mismatches, post_image, render
from cogworks.codebase.diffparsing import parse_diff
from cogworks.codebase.diffplacing import (
    Normalised,
    Replacement,
    between,
    normalised_diff,
    normalised_replacements,
    recounted,
)

SOURCE = "".join(f"line {number}\n" for number in range(1, 21))
FIXED = SOURCE.replace("line 10\n", "LINE 10\n")
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", " d"]), max_size=12).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


def image(found: Normalised, path: str, source: str | None) -> str | None:
    assert found.diff is not None, found.problems
    (file,) = [file for file in found.diff.files if file.path == path]
    return post_image(file, source)


@pytest.mark.parametrize(
    "answer",
    [
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n",
        "--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n",
        "--- a/f\n+++ b/f\n@@ -2,7 +1,99 @@\n line 9\n-line 10\n+LINE 10\n line 11\n",
        "--- a/f\n+++ b/f\n@@ def f():\n line 9\n-line 10\n+LINE 10\n line 11\n",
        "--- a/f\n+++ b/f\n@@\n-line 10\n+LINE 10\n",
        "```diff\n--- a/f\n+++ b/f\n@@ -10 +10 @@\n-line 10\n+LINE 10\n```\n",
        "\n```\n--- a/f\n+++ b/f\n@@ -10 +10 @@ heading\n-line 10\n+LINE 10\n\n```\n\n",
    ],
    ids=[
        "exact",
        "without git header",
        "wrong numbers",
        "no numbers",
        "bare",
        "fenced",
        "fenced with blanks",
    ],
)
def test_the_numbers_of_a_hunk_are_worked_out_from_its_lines(answer: str) -> None:
    found = normalised_diff(answer, {"f": SOURCE})

    assert found.diff == Diff(files=(between("f", SOURCE, FIXED),))


PLAIN = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n"


@pytest.mark.parametrize("is_diff_crlf", [False, True])
@pytest.mark.parametrize("is_file_crlf", [False, True])
def test_ends_of_lines_of_another_system_give_way_to_those_of_the_file(
    is_diff_crlf: bool, is_file_crlf: bool
) -> None:
    answer = PLAIN.replace("\n", "\r\n") if is_diff_crlf else PLAIN
    source, fixed = (text.replace("\n", "\r\n") if is_file_crlf else text for text in (SOURCE, FIXED))

    assert image(normalised_diff(answer, {"f": source}), "f", source) == fixed


def test_a_diff_that_fits_as_it_is_may_change_the_ends_of_lines() -> None:
    source = "one\r\ntwo\r\n"
    answer = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\r\n+one\n"

    assert image(normalised_diff(answer, {"f": source}), "f", source) == "one\ntwo\r\n"


@pytest.mark.parametrize("name", ["f", "src/f", "a/f"])
@pytest.mark.parametrize("header", ["", "diff --git {0} {0}\n"])
def test_names_without_a_and_b_are_those_of_the_file(name: str, header: str) -> None:
    answer = header.format(name) + f"--- {name}\n+++ {name}\n@@ -10 +10 @@\n-line 10\n+LINE 10\n"

    assert normalised_diff(answer, {name: SOURCE}).diff == Diff(files=(between(name, SOURCE, FIXED),))


@pytest.mark.parametrize(
    ("old", "new"), [("a/src/f", "b/src/f"), ("src/f", "src/f"), ("src/f", "b/src/f"), ("a/src/f", "src/f")]
)
@pytest.mark.parametrize("date", ["", "\t2026-11-28 03:15:21.000000000 +0000", "\t(revision 7)"])
def test_dates_behind_names_and_one_name_without_its_letter_are_no_part_of_them(
    old: str, new: str, date: str
) -> None:
    answer = f"--- {old}{date}\n+++ {new}{date}\n@@ -10 +10 @@\n-line 10\n+LINE 10\n"

    assert normalised_diff(answer, {"src/f": SOURCE}).diff == Diff(files=(between("src/f", SOURCE, FIXED),))


def test_a_date_behind_the_name_of_a_new_file_and_of_one_that_is_gone_is_no_part_of_it() -> None:
    date = "\t1970-01-01 00:00:00.000000000 +0000"
    answer = (
        f"--- /dev/null{date}\n+++ new.py{date}\n@@ -0,0 +1 @@\n+x = 1\n"
        f"--- a/old.py{date}\n+++ /dev/null{date}\n@@ -1 +0,0 @@\n-y\n"
    )

    found = normalised_diff(answer, {"old.py": "y\n"})

    assert found.diff is not None, found.problems
    assert [(file.path, file.kind) for file in found.diff.files] == [
        ("new.py", "create"),
        ("old.py", "delete"),
    ]


@pytest.mark.parametrize(
    ("answer", "sources", "problem"),
    [
        ("@@ -1 +1 @@\n-a\n+b\n", {"f": "a\na\nb\na\n"}, None),
        ("@@ -2 +2 @@\n-b\n+c\n", {"f": "a\na\nb\na\n"}, None),
        ("@@ -3 +3 @@\n-a\n+b\n", {"f": "a\na\nb\na\n"}, "fits 3 places (lines 1, 2, 4)"),
        ("@@ -1 +1 @@\n-x\n+b\n", {"f": "a\n"}, "fits nowhere"),
        ("@@ -1 +1 @@\n-a \n+b\n", {"f": "a\n"}, "fits nowhere"),
        ("@@ -1 +1 @@\n-a\n+b\n", {"f": "a"}, "fits nowhere"),
        ("@@ -1,0 +1 @@\n+b\n", {"f": "a\n"}, "has no line that says where it belongs"),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+c\n", {"f": "a\n"}, "overlaps or precedes"),
        ("@@ -1 +1 @@\n-a\n+b\n", {}, "does not exist"),
        ("@@ -1 +1 @@\n a\n", {"f": "a\n"}, "changes nothing"),
        ("@@ -1 +1 @@\nthis is not a diff\n", {"f": "a\n"}, "expected a hunk or the next file"),
    ],
)
def test_a_hunk_moves_to_its_only_place_or_is_refused(
    answer: str, sources: dict[str, str], problem: str | None
) -> None:
    found = normalised_diff(f"--- a/f\n+++ b/f\n{answer}", sources)

    if problem is None:
        assert found.problems == ()
    else:
        assert found.diff is None
        assert any(problem in text for text in found.problems)


def test_new_and_deleted_files_get_the_header_they_lack() -> None:
    answer = (
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
    )

    found = normalised_diff(answer, {"old.py": "y\n"})

    assert found.diff is not None
    assert [(file.path, file.kind) for file in found.diff.files] == [
        ("new.py", "create"),
        ("old.py", "delete"),
    ]


def test_a_blank_line_that_lost_its_blank_still_counts() -> None:
    answer = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n\n-b\n+c\n d\n\n"

    assert image(normalised_diff(answer, {"f": "a\n\nb\nd\n"}), "f", "a\n\nb\nd\n") == "a\n\nc\nd\n"


def test_a_removed_line_that_looks_like_a_header_stays_a_line() -> None:
    source = "-- a/f\nx\n"
    text = render(Diff(files=(between("f", source, "x\n"),)))

    assert image(normalised_diff(text, {"f": source}), "f", source) == "x\n"


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS, shift=st.integers(-30, 30))
def test_whatever_is_accepted_fits_and_is_in_the_form_of_git(before: str, after: str, shift: int) -> None:
    file = between("f", before, after)
    hunks = [
        hunk.model_copy(update={"old_start": max(hunk.old_start + shift, 0), "new_start": 3})
        for hunk in file.hunks
    ]
    text = render(Diff(files=(file.model_copy(update={"hunks": tuple(hunks)}),)))

    found = normalised_diff(text, {"f": before})

    if found.diff is not None:
        assert parse_diff(render(found.diff)) == (found.diff, ())
        assert mismatches(found.diff.files[0], before) == ()
    if shift == 0 and before != after:
        assert image(found, "f", before) == after


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_counting_again_changes_nothing_in_what_is_right(before: str, after: str) -> None:
    text = render(Diff(files=(between("f", before, after),)))

    assert recounted(text) == text or before == after


@pytest.mark.parametrize(
    ("edits", "problem"),
    [
        ([("f", "line 1", "x")], "stands 11 times"),
        ([("f", "line 99", "x")], "stands 0 times"),
        ([("f", "", "x")], "is there already"),
        ([("f", "line 5\n", "line 5\n")], "change nothing"),
        ([("f", "line 5\nline 6\n", "x\n"), ("f", "line 6\nline 7\n", "y\n")], "two edits overlap"),
        ([("g", "x", "y")], "does not exist"),
        ([("g", "", "y"), ("g", "", "z")], "one edit with an empty `search`"),
        ([], "there is no edit"),
    ],
)
def test_an_edit_without_its_one_place_is_refused(edits: list[tuple[str, str, str]], problem: str) -> None:
    wanted = [Replacement(path=path, search=search, replace=replace) for path, search, replace in edits]

    found = normalised_replacements(wanted, {"f": SOURCE})

    assert found.diff is None
    assert any(problem in text for text in found.problems)


@pytest.mark.parametrize(
    ("source", "search", "replace", "expected"),
    [
        ("one\r\ntwo\r\n", "one\n", "ONE\nmore\n", "ONE\r\nmore\r\ntwo\r\n"),
        ("one\r\ntwo\r\n", "one", "ONE\nmore", "ONE\r\nmore\r\ntwo\r\n"),
        ("one\r\ntwo\r\n", "\ntwo", "\n2\nmore", "one\r\n2\r\nmore\r\n"),
        ("one\ntwo\n", "one\r\n", "ONE\r\nmore\r\n", "ONE\nmore\ntwo\n"),
        ("one\r\ntwo\r\n", "one\r\n", "one\n", "one\ntwo\r\n"),
        ("one\r\ntwo\n", "two\n", "2\nmore\n", "one\r\n2\nmore\n"),
    ],
    ids=[
        "plain edit",
        "within a line",
        "from a line end on",
        "edit of another system",
        "the ends themselves",
        "both kinds",
    ],
)
def test_an_edit_takes_the_ends_of_lines_of_its_file(
    source: str, search: str, replace: str, expected: str
) -> None:
    found = normalised_replacements([Replacement(path="f", search=search, replace=replace)], {"f": source})

    assert image(found, "f", source) == expected


def test_edits_become_the_same_diff_as_git_would_write() -> None:
    wanted = [
        Replacement(path="f", search="line 10\n", replace="LINE 10\n"),
        Replacement(path="new.py", search="", replace="x = 1\n"),
    ]

    found = normalised_replacements(wanted, {"f": SOURCE})

    assert image(found, "f", SOURCE) == FIXED
    assert image(found, "new.py", None) == "x = 1\n"
    assert found.diff is not None
    assert parse_diff(render(found.diff)) == (found.diff, ())


@settings(deadline=None)
@given(source=TEXTS, start=st.integers(0, 20), length=st.integers(1, 6), new=TEXTS)
def test_an_accepted_edit_does_what_replacing_the_text_does(
    source: str, start: int, length: int, new: str
) -> None:
    search = source[start : start + length]

    found = normalised_replacements([Replacement(path="f", search=search, replace=new)], {"f": source})

    if found.diff is not None and search:
        assert source.count(search) == 1
        assert image(found, "f", source) == source.replace(search, new)
        assert len(lines_of(source)) - found.diff.files[0].removed + found.diff.files[0].added == len(
            lines_of(source.replace(search, new))
        )

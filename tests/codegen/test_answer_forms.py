"""Whole files, edits and diffs are one form: what they do is the same, and what has no exact place is told."""

from typing import Any

import pytest

from cogworks.codegen.answer_forms import amended, in_one_form, paths_of
from cogworks.nodes.replies import CodeChange, ProposedFile
from tests.fakes import MemoryWorkspace

THERE = {"a.py": "one = 1\ntwo = 2\nthree = 3\n", "b.py": "x = 1\nx = 1\n", "old.py": "gone = True\n"}
HUNK = "@@ -1,3 +1,3 @@\n one = 1\n-two = 2\n+two = 22\n three = 3\n"
DIFF = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n{HUNK}"
DELETION = "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone = True\n"
CHANGED = ProposedFile(path="a.py", action="modify", content="one = 1\ntwo = 22\nthree = 3\n")
NEW = ProposedFile(path="new.py", action="create", content="fresh = True\n")
GONE = ProposedFile(path="old.py", action="delete", content="")


def answer(**given: Any) -> CodeChange:
    return CodeChange.model_validate({"summary": "Change it", "files": (), "tests": (), **given})


def edit(path: str, search: str, replace: str) -> dict[str, str]:
    return {"path": path, "search": search, "replace": replace}


def found(**given: Any) -> tuple[tuple[ProposedFile, ...], tuple[str, ...]]:
    files, problems = in_one_form(answer(**given), MemoryWorkspace(THERE))
    return files, problems


@pytest.mark.parametrize(
    "given",
    [
        {"files": (CHANGED, NEW, GONE)},
        {
            "files": (GONE,),
            "edits": [edit("a.py", "two = 2\n", "two = 22\n"), edit("new.py", "", NEW.content)],
        },
        {
            "unified_diff": f"{DIFF}diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n"
            "@@ -0,0 +1 @@\n+fresh = True\ndiff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n"
            "+++ /dev/null\n@@ -1 +0,0 @@\n-gone = True\n"
        },
        {"files": (NEW, GONE), "unified_diff": f"```diff\n{DIFF}```\n"},
        {"files": (NEW,), "edits": [edit("./a.py", "2\nthree", "22\nthree")], "unified_diff": DELETION},
    ],
    ids=["whole-files", "edits", "diff", "fenced-diff", "all-three"],
)
def test_the_same_change_in_any_form_is_the_same_files(given: dict[str, Any]) -> None:
    files, problems = found(**given)

    assert (set(files), problems) == ({CHANGED, NEW, GONE}, ())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"edits": [edit("a.py", "four", "five")]},
            "'a.py': the text to replace stands 0 times in the file; it has to stand there once",
        ),
        (
            {"edits": [edit("b.py", "x = 1", "x = 2")]},
            "'b.py': the text to replace stands 2 times in the file; it has to stand there once",
        ),
        (
            {"edits": [edit("a.py", "two = 2 ", "two = 22")]},
            "'a.py': the text to replace stands 0 times in the file; it has to stand there once",
        ),
        (
            {"edits": [edit("none.py", "x", "y")]},
            "'none.py' does not exist; a new file is one edit with an empty `search`",
        ),
        (
            {"unified_diff": DIFF.replace(" three", " tree")},
            "hunk 1 of 'a.py' fits nowhere: the file has no place with exactly these lines, from 'one = 1\\n' on",
        ),
        ({"unified_diff": "I would change two to 22.\n"}, "line 1: expected 'diff --git'"),
        (
            {"files": (CHANGED,), "unified_diff": DIFF},
            "'a.py' is in `files` and `unified_diff`; change each file in one of them",
        ),
        (
            {"edits": [edit("a.py", "two", "2")], "unified_diff": DIFF},
            "'a.py' is in `edits` and `unified_diff`; change each file in one of them",
        ),
        (
            {
                "unified_diff": "diff --git a/a.py b/c.py\nsimilarity index 100%\nrename from a.py\nrename to c.py\n"
            },
            "'a.py' is to be renamed or copied; delete the old file and create the new one",
        ),
        (
            {"unified_diff": "diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n"},
            "the mode of 'a.py' is changed; only its text can be",
        ),
        (
            {
                "unified_diff": "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n"
            },
            "'run' is to get the mode 100755; files are created with 100644",
        ),
    ],
    ids=[
        "not-there", "twice-there", "blank-too-many", "no-file", "hunk-fits-nowhere", "prose", "file-and-diff",
        "edit-and-diff", "rename", "mode", "mode-of-a-new-file",
    ],
)  # fmt: skip
def test_what_has_no_exact_place_is_told_and_no_file_is_left(given: dict[str, Any], problem: str) -> None:
    files, problems = found(**given)

    assert files == ()
    assert problems[0].startswith(problem)


def test_all_problems_of_an_answer_are_told_at_once() -> None:
    _, problems = found(
        edits=[edit("a.py", "four", "five"), edit("b.py", "x", "y")],
        unified_diff="--- a/old.py\n+++ b/old.py\n@@ -1 +1 @@\n-no\n+yes\n",
    )

    assert [problem.split(":")[0] for problem in problems] == [
        "'a.py'", "'b.py'", "hunk 1 of 'old.py' fits nowhere",
    ]  # fmt: skip


class WithBinary(MemoryWorkspace):
    """A working copy with a file that is no text."""

    def read(self, path: str) -> str | None:
        return None if path == "old.py" else super().read(path)


def test_a_file_that_is_no_text_is_named_as_such() -> None:
    reply = answer(edits=[edit("old.py", "gone", "here")])

    _, problems = in_one_form(reply, WithBinary(THERE))

    assert problems[0] == "'old.py' is no text in UTF-8; no part of it can be replaced"


def test_every_path_is_named_whatever_form_it_is_in() -> None:
    reply = answer(files=(NEW,), edits=[edit(".github/./workflows/x.yml", "a", "b")], unified_diff=DIFF)

    assert paths_of(reply) == ("new.py", ".github/workflows/x.yml", "a.py")


def test_an_answer_that_corrects_another_is_placed_in_the_other_ones_files() -> None:
    earlier = (
        CHANGED,
        NEW,
        ProposedFile(path="data.csv", action="create", content="1\n"),
        ProposedFile(path="left.csv", action="create", content="2\n"),
    )
    reply = answer(edits=[edit("a.py", "22", "222"), edit("new.py", "True", "False")])

    files, problems = amended(
        reply, earlier, MemoryWorkspace(THERE), kept=("a.py", "new.py", "data.csv", "b.py")
    )

    assert problems == ()
    assert {(file.path, file.action, file.content) for file in files} == {
        ("a.py", "modify", "one = 1\ntwo = 222\nthree = 3\n"),
        ("new.py", "create", "fresh = False\n"),
        ("data.csv", "create", "1\n"),
    }


def test_a_file_that_the_earlier_answer_deleted_is_as_it_is_for_the_next() -> None:
    files, problems = amended(
        answer(edits=[edit("old.py", "True", "False")]), (GONE,), MemoryWorkspace(THERE), kept=()
    )

    assert (files[0].action, files[0].content, problems) == ("modify", "gone = False\n", ())

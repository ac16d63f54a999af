"""What is read from git's own diffs is what git wrote, and what does not fit is a problem instead of a guess."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogworks.codebase.diffmodel import (
    Diff,
    Edit,
    FileDiff,
    Hunk,
    Line,
    edits_of,
    hunks_of,
    lines_of,
    mismatches,
    numbered,
    post_image,
    render,
)
from cogworks.codebase.diffparsing import parse_diff, unquoted
from cogworks.codebase.diffplacing import between
from tests.codebase.repositories import ENVIRONMENT, git
from tests.exhaustive import examples
from tests.limits import ENDS_WITHIN_S

OPTIONS = ("--no-color", "--full-index", "--find-renames", "--find-copies-harder", "--binary")
TEXTS = st.lists(
    st.sampled_from(["a", "b", "", "  c", "d\r", "\x0c", "-- x", "@@ -1 +1 @@"]), max_size=14
).flatmap(lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{line}\n" for line in lines)]))


def git_diff(folder: Path, *options: str) -> str:
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", "diff", *options, "HEAD"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    return done.stdout.decode(errors="surrogateescape")


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose staged changes are of every kind that git's diff of two trees can show."""
    folder = tmp_path_factory.mktemp("kinds")
    git(folder, "init", "--quiet", "--initial-branch=main")
    long = "".join(f"line {number}\n" for number in range(40))
    for name, data in {
        "plain.py": long.encode(),
        "dos.txt": b"one\r\ntwo\r\nthree\r\n",
        "open end.txt": b"one\ntwo",
        "moved.py": long.replace("line", "word").encode(),
        "copied.py": long.replace("line", "item").encode(),
        "gone.txt": b"x\ny\n",
        "image.bin": bytes(range(256)),
        "latin.txt": b"caf\xe9\n",
        "tool.sh": b"#!/bin/sh\n",
        'weird "tab\t\\name.txt': b"1\n",
        "naïve.txt": b"1\n",
        "empty.txt": b"",
        "hollow.txt": b"",
    }.items():
        (folder / name).write_bytes(data)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "before")
    (folder / "plain.py").write_text(
        long.replace("line 3\n", "LINE 3\n").replace("line 30\n", "line 30\nmore\n")
    )
    (folder / "dos.txt").write_bytes(b"one\r\n2\r\nthree\r\n")
    (folder / "open end.txt").write_bytes(b"one\ntwo\nthree\n")
    (folder / "moved.py").rename(folder / "away to.py")
    (folder / "copy.py").write_text(long.replace("line", "item") + "end\n")
    (folder / "gone.txt").unlink()
    (folder / "image.bin").write_bytes(bytes(range(255, -1, -1)))
    (folder / "latin.txt").write_bytes(b"caf\xe8\n")
    (folder / "tool.sh").chmod(0o755)
    (folder / 'weird "tab\t\\name.txt').write_bytes(b"2\n")
    (folder / "naïve.txt").write_bytes(b"2")
    (folder / "empty.txt").write_bytes(b"no longer\n")
    (folder / "hollow.txt").unlink()
    (folder / "new").mkdir()
    (folder / "new" / "born.py").write_text("x = 1\n")
    (folder / "link").symlink_to("plain.py")
    (folder / "void").write_bytes(b"")
    git(folder, "add", "--all")
    return folder


@pytest.mark.parametrize("options", [OPTIONS, ("--no-renames",), ("-U0",), ("-U10", "--no-renames")])
def test_what_git_writes_is_read_and_written_again_byte_by_byte(
    every_kind: Path, options: tuple[str, ...]
) -> None:
    text = git_diff(every_kind, *options)

    parsed = parse_diff(text)

    assert parsed.problems == ()
    assert render(parsed.diff) == text


def test_names_and_kinds_are_told(every_kind: Path) -> None:
    files = {file.path: file for file in parse_diff(git_diff(every_kind, *OPTIONS)).diff.files}

    assert (files["away to.py"].kind, files["away to.py"].old_path) == ("rename", "moved.py")
    assert (files["copy.py"].kind, files["copy.py"].old_path) == ("copy", "copied.py")
    assert files["new/born.py"].kind == "create"
    assert files["gone.txt"].kind == "delete"
    assert files["tool.sh"].modes == ("100644", "100755")
    assert files["link"].modes == ("120000",)
    assert files["image.bin"].binary is not None
    assert files['weird "tab\t\\name.txt'].modes == ("100644",)


def test_the_image_afterwards_is_the_one_git_staged(every_kind: Path) -> None:
    diff = parse_diff(git_diff(every_kind, "--no-renames")).diff
    for file in diff.files:
        if file.binary is not None or file.modes == ("120000",):
            continue
        before = None if file.kind == "create" else _blob(every_kind, f"HEAD:{file.path}")
        after = None if file.kind == "delete" else _blob(every_kind, f":{file.path}")

        assert mismatches(file, before) == ()
        assert post_image(file, before) == after


def _blob(folder: Path, name: str) -> str:
    done = subprocess.run(
        ["git", "show", name],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
        timeout=ENDS_WITHIN_S,
    )
    return done.stdout.decode(errors="surrogateescape")


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS)
def test_reading_undoes_writing_and_the_image_comes_out(before: str, after: str) -> None:
    diff = Diff(files=(between("src/a b.txt", before, after),))

    if before == after:
        assert diff.files[0].hunks == ()
        return
    assert parse_diff(render(diff)).diff == diff
    assert parse_diff(render(diff)).problems == ()
    assert mismatches(diff.files[0], before) == ()
    assert post_image(diff.files[0], before) == after


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS, context=st.integers(0, 5))
def test_the_edits_of_a_hunk_are_those_it_was_made_of(before: str, after: str, context: int) -> None:
    edits = [edit for hunk in between("a", before, after).hunks for edit in edits_of(hunk)]

    again = hunks_of(edits, lines_of(before), context=context)

    assert [edit for hunk in again for edit in edits_of(hunk)] == edits


@settings(deadline=None)
@given(before=TEXTS, after=TEXTS, other=TEXTS)
def test_a_diff_fits_no_other_text_than_one_with_the_same_lines(before: str, after: str, other: str) -> None:
    file = between("a", before, after)

    if mismatches(file, other) == ():
        changed = post_image(file, other)
        assert changed is not None
        assert (changed == other) == (before == after)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


@settings(max_examples=examples(40), deadline=None)
@given(before=TEXTS, after=TEXTS, actual=TEXTS | st.none())
def test_git_agrees_on_what_applies_and_on_the_counts(
    stage: Path, before: str, after: str, actual: str | None
) -> None:
    if before == after:
        return
    file = between("f.txt", before, after)
    there = before if actual is None else actual
    (stage / "f.txt").write_bytes(there.encode())

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["git", "apply", *arguments, "-"],
            check=False,
            cwd=stage,
            env=ENVIRONMENT,
            input=render(Diff(files=(file,))).encode(),
            capture_output=True,
            timeout=ENDS_WITHIN_S,
        )

    # Where the lines stand elsewhere git moves a hunk by itself; here they have to stand where the hunk says.
    if mismatches(file, there) == ():
        # A hunk without lines around it is the end of the file to git, unless it is told otherwise.
        assert run("--check", *([] if there == before else ["--unidiff-zero"])).returncode == 0
        counts = run("--numstat").stdout.split()
        assert counts[:2] == [str(file.added).encode(), str(file.removed).encode()]
    else:
        applied = run("--check", "--unidiff-zero", "--recount").returncode == 0
        assert not applied or _stands_elsewhere(file, there)


def _stands_elsewhere(file: FileDiff, text: str) -> bool:
    """Git overlooks whether the last line ends with a line feed; we do not."""
    there = [line.rstrip("\n") for line in lines_of(text)]
    wanted = [[line.rstrip("\n") for line in hunk.old] for hunk in file.hunks]
    return all(any(there[at : at + len(old)] == old for at in range(len(there) + 1)) for old in wanted)


GOOD = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "shape"),
        ("Here is the fix:\n" + GOOD, "shape"),
        (GOOD + "\nDone.\n", "shape"),
        (GOOD.replace("-1,2", "-1,3"), "shape"),
        (GOOD.replace("+1,2 @@", "+1 @@"), "shape"),
        (GOOD.replace("-b\n+c\n", " b\n"), "shape"),
        (GOOD.replace("@@ -1,2 +1,2 @@", "@@"), "shape"),
        ("diff --git a/f b/f\n@@ -1 +1 @@\n-a\n+b\n", "shape"),
        ("diff --git a/f b/f\n--- a/f\n@@ -1 +1 @@\n-a\n+b\n", "shape"),
        ("diff --git a/f b/f\n--- a/f\n+++ b/f\n", "shape"),
        ("diff --git a/f b/f\nold mode 100644\n", "shape"),
        ("diff --git a/f b/f\nnew file mode 100644\ndeleted file mode 100644\n", "shape"),
        ("diff --git a/f b/f\nindex 1234567..89abcde 100644\n", "shape"),
        (GOOD.replace(" a\n", " a\n\\ No newline at end of file\n"), "shape"),
        (GOOD.replace("+++ b/f", "+++ b/g"), "path"),
        (GOOD.replace("--- a/f", "--- /dev/null"), "path"),
        (GOOD.replace("a/f b/f", "a/f b/g"), "path"),
        (GOOD.replace("a/f b/f", '"a/f b/f'), "path"),
    ],
)
def test_what_git_would_not_write_is_a_problem(text: str, code: str) -> None:
    assert code in {problem.code for problem in parse_diff(text).problems}


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from('ab/ \t\n"\\@+-01,.difgtx'), max_size=80))
def test_any_text_is_read_without_an_exception(noise: str) -> None:
    parsed = parse_diff(f"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n{noise}")

    assert (
        parsed.problems or mismatches(parsed.diff.files[0], "".join(parsed.diff.files[0].hunks[0].old)) == ()
    )


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ('"a/caf\\303\\251"', "a/café"),
        ('"a/\\t\\"\\\\"', 'a/\t"\\'),
        ("a/x y", "a/x y"),
        ('"a/open', None),
        ('"a/\\q"', None),
    ],
)
def test_quoted_names(name: str, plain: str | None) -> None:
    assert unquoted(name) == plain


@pytest.mark.parametrize(
    ("file", "source", "wanted"),
    [
        (between("f", "a\n", "b\n"), None, "'f' does not exist"),
        (FileDiff(old_path="f", new_path="f", kind="create"), "x", "'f' exists already"),
        (between("f", "a\n", "b\n"), "c\n", "expects 'a\\n' in line 1, found 'c\\n'"),
        (between("f", "a\n", "b\n"), "", "reaches line 1, but the file has 0 lines"),
        (between("f", "a\nb\n", "a\nc"), "a\nb\nd\n", "ends a line without line feed"),
        (
            between("f", "a\n", "b\n").model_copy(update={"kind": "delete"}),
            "a\nb\n",
            "does not remove all of its 2 lines",
        ),
        (
            FileDiff(old_path="f", new_path="f", hunks=hunks_of([Edit(0, ("a\n",), ())], ("a\n",)) * 2),
            "a\n",
            "overlaps or precedes",
        ),
        (
            FileDiff(
                old_path="f",
                new_path="f",
                hunks=(Hunk(old_start=7, new_start=8, lines=(Line("+", "a\n"),)),),
            ),
            "a\n",
            "starts after line 7",
        ),
    ],
)
def test_what_does_not_fit_is_said_with_its_place(file: FileDiff, source: str | None, wanted: str) -> None:
    assert any(wanted in problem for problem in mismatches(file, source))


@given(TEXTS, TEXTS)
def test_a_numbered_diff_says_where_each_line_stands_in_the_new_file(old: list[str], new: list[str]) -> None:
    diff = render(Diff(files=(between("a.txt", "\n".join(old), "\n".join(new)),)))

    shown = lines_of(numbered(diff))

    told = {int(line[:4]): line[6:].rstrip("\n") for line in shown if line[:4].strip().isdigit()}
    there = lines_of("\n".join(new))
    assert {number: there[number - 1].rstrip("\n") for number in told} == told
    heads = sum(len(hunk.lines) for file in parse_diff(diff).diff.files for hunk in file.hunks)
    assert sum(line[:5] == "     " or line[:4].strip().isdigit() for line in shown) >= heads
    plain = [line[5:] if line[:5] == "     " or line[:4].strip().isdigit() else line for line in shown]
    assert "".join(plain) == diff

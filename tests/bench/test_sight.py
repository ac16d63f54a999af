"""Which fixes are drawn from a history, and what is counted of them."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cogworks.sight.view import FirstView, Shown
from scripts.benchmarks.sight import Aider, CommitTree, History, bm25, main, measured, table
from scripts.benchmarks.sight_places import share_shown
from tests.codebase.repositories import BareRepository

SOURCES = {
    "src/cart.py": "def total(rows):\n    return sum(rows)\n",
    "src/mail.py": "def send(to):\n    print(to)\n",
    "tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
    "README.md": "# Shop\n",
}
FIX = (
    "Fix the total of an empty cart\n\nIt was wrong for carts without rows (#12).\n\nSigned-off-by: A <a@b.c>"
)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    repository = BareRepository(tmp_path)
    repository.put("main", SOURCES, message="Initial commit")
    repository.put(
        "main", {"README.md": "# The shop\n"}, message="Fix the words of the readme, they were wrong"
    )
    repository.put("main", {"src/mail.py": "def send(to):\n    print(to, to)\n"}, message="Send it twice")
    repository.put(
        "main",
        {"src/mail.py": "def send(to):\n    pass\n"},
        message="Fix lint of the mail module, nothing else changed",
    )
    repository.put(
        "main",
        {"src/cart.py": "def total(rows):\n    return sum(rows) or 0\n", "tests/test_cart.py": "x\n"},
        message=FIX,
    )
    repository.put(
        "main", {"src/new.py": "x = 1\n"}, message="Fix what was broken by adding a module of its own"
    )
    with closing(History(repository.path)) as opened:
        yield opened


def test_only_commits_that_mend_sources_that_were_there_are_drawn(history: History) -> None:
    [fix] = history.fixes(10)

    assert fix.files == ("src/cart.py",)
    assert fix.tests == ("tests/test_cart.py",)
    assert fix.request == "Fix the total of an empty cart\n\nIt was wrong for carts without rows ."
    assert fix.parent == history.git("rev-parse", f"{fix.oid}^").strip()


def test_the_tree_is_the_one_before_the_fix(history: History) -> None:
    [fix] = history.fixes(10)
    tree = CommitTree(history, fix.parent)

    assert tree.read("src/cart.py") == SOURCES["src/cart.py"]
    assert "src/new.py" not in tree.files()
    assert [past.text.strip() for past in tree.past(1)] == [
        "Fix lint of the mail module, nothing else changed"
    ]


def test_every_chooser_is_measured_and_only_ours_has_a_view(history: History) -> None:
    found = measured(history, history.fixes(10))

    assert (found["cogworks"].fixes, found["cogworks"].first_5, found["cogworks"].visible) == (1, 1, 1)
    assert found["cogworks"].filler_tokens == 0
    assert (found["cogworks"].with_tests, found["cogworks"].tests_visible, found["cogworks"].tests_shown) == (
        1,
        1,
        1,
    )
    assert found["cogworks"].places == 1
    assert found["plain BM25"].view_tokens == 0
    rows = table({"shop": found}, {"shop": 5}).splitlines()
    assert rows[2].startswith("| shop | 5 | 1 | cogworks | 100% | 100% | 100% | 100% | ")
    assert rows[2].endswith(" | 1 and 1 of 1 |")
    assert {row.count("|") for row in rows} == {13}


def test_plain_bm25_ranks_sources_by_their_words(history: History) -> None:
    tree = CommitTree(history, "HEAD")

    assert bm25(tree, "send the mail")[0] == "src/mail.py"
    assert "README.md" not in bm25(tree, "shop")


def test_a_history_without_fixes_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = BareRepository(tmp_path)
    repository.put("main", SOURCES, message="Initial commit")

    main([str(repository.path)])

    assert "no fix in its history" in capsys.readouterr().out


def test_a_fix_is_the_same_whoever_asks(history: History) -> None:
    with closing(History(history.folder)) as again:
        assert history.fixes(10) == again.fixes(10)


SAYS_WHAT_IT_GOT = """#!{python}
import json, pathlib, sys
folder, request, files = json.load(sys.stdin)
there = sorted(path.relative_to(folder).as_posix() for path in pathlib.Path(folder).rglob("*") if path.is_file())
assert there == files, (there, files)
print(json.dumps([path for path in files if request in (pathlib.Path(folder) / path).read_text()]))
"""


def test_another_chooser_is_given_each_tree_as_it_is(history: History, tmp_path: Path) -> None:
    program, folder = tmp_path / "other", tmp_path / "laid"
    program.write_text(SAYS_WHAT_IT_GOT.format(python=sys.executable))
    program.chmod(0o755)
    folder.mkdir()
    other = Aider(str(program), folder)

    assert other.order(CommitTree(history, "HEAD"), "x = 1")[0] == "src/new.py"
    assert "src/new.py" not in other.order(CommitTree(history, "HEAD^"), "print(to)")
    assert other.order(CommitTree(history, "HEAD~4"), "print(to)")[0] == "src/mail.py"


def test_a_place_that_a_fix_changes_is_shown_where_one_of_its_lines_is() -> None:
    def seen(path: str, *lines: tuple[int, int]) -> Shown:
        return Shown(path=path, level="slices", tokens=1, score=1.0, lines=lines)

    view = FirstView(files=(seen("a.py", (10, 20)), seen("b.py")), named=(), folders="", file_count=2)
    diffs = {"a.py": "@@ -20,3 +20 @@ def f\n@@ -21 +19,0 @@\n@@ -9,0 +9 @@\n", "b.py": "@@ -1 +1 @@\n"}

    assert share_shown(view, ("a.py", "b.py"), diffs.__getitem__) == 0.25
    assert share_shown(view, (), diffs.__getitem__) == 0.0

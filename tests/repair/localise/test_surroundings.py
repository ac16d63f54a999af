"""What a failure may be about besides the functions it leads to: tables, what its words find, and the tests themselves."""

from collections.abc import Mapping

import pytest

from cogworks.repair.localise.localising import localise
from cogworks.repair.localise.slices import Slice
from cogworks.repair.localise.surroundings import beyond
from cogworks.repair.localise.testsources import sources_of
from cogworks.repair.violations import TestRules
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from tests.fakes import MemoryWorkspace
from tests.repair.exploring import COVERAGE, FAILING, NODES, SHOP, ScriptedExplorer

LEXER = "from sql.words import KINDS\n\n\ndef kind(word):\n    return KINDS.get(word, 'name')\n"
WORDS = "TYPES = {'INT': 'type'}\nOTHER = 1\nKINDS = {'SELECT': 'verb', **TYPES}\n"
FAR = "# far away\n" * 400
LONG = [f"    'WORD{number}': 'noun',\n" for number in range(3_000)]


def index_of(files: Mapping[str, str]) -> Index:
    return Index(MemoryWorkspace(files), Store())


def window(path: str, text: str, first: int = 1) -> Slice:
    return Slice(artifact=path, lines=(first, first + text.count("\n") - 1), text=text)


def shown(
    files: Mapping[str, str], failure: str = "", *, path: str = "sql/lexer.py"
) -> dict[str, list[tuple[int, int]]]:
    found = beyond(index_of(files), failure, [window(path, files[path])], rules=TestRules())
    lines: dict[str, list[tuple[int, int]]] = {}
    for each in found:
        assert each.text == "".join(
            files[each.artifact].splitlines(keepends=True)[each.lines[0] - 1 : each.lines[1]]
        )
        lines.setdefault(each.artifact, []).append(each.lines)
    return lines


def test_a_table_that_the_suspects_name_is_shown_and_so_is_the_one_that_it_names() -> None:
    found = shown({"sql/lexer.py": LEXER, "sql/words.py": WORDS, "sql/far.py": "KINDS = {}\n" * 400})

    assert found["sql/lexer.py"] == [(1, 5)]
    assert {line for first, last in found["sql/words.py"] for line in range(first, last + 1)} >= {1, 3}


def test_the_signature_of_a_function_in_whose_midst_a_window_begins_is_shown() -> None:
    body = "        total += 1\n" * 40
    text = f"class Cart:\n    tax = 0\n{body}\n    @cached\n    def load(\n        self,\n        partial=None,\n    ):\n{body}{body}"
    first = text.count("\n", 0, text.index("partial=None")) + 60

    found = beyond(
        index_of({"cart.py": text}),
        "",
        [Slice(artifact="cart.py", lines=(first, first + 5), text="x")],
        rules=TestRules(),
        room_tokens=0,
    )

    shown = "".join(each.text for each in found)
    assert "class Cart:" in shown
    assert "    @cached\n    def load(\n        self,\n        partial=None,\n    ):\n" in shown
    assert len(shown.splitlines()) < 40


def test_what_stands_between_a_signature_and_a_window_right_below_it_is_shown_too() -> None:
    text = "def load(partial):\n    a = 1\n    b = 2\n    c = 3\n    return a\n" + "x = 1\n" * 90

    found = beyond(
        index_of({"cart.py": text}),
        "",
        [Slice(artifact="cart.py", lines=(4, 5), text="x")],
        rules=TestRules(),
        room_tokens=0,
    )

    assert [each.lines for each in found] == [(1, 5)]


def test_of_a_long_table_the_lines_that_say_something_of_the_failure_are_shown() -> None:
    text = "".join(["KINDS = {\n", *LONG[:2_000], "    'TABLESAMPLE': 'verb',\n", *LONG[2_000:], "}\n"])

    found = shown({"sql/lexer.py": LEXER, "sql/words.py": text}, "assert kind('TABLESAMPLE') == 'noun'")

    assert any(first <= 2_002 <= last for first, last in found["sql/words.py"])
    assert sum(last - first + 1 for first, last in found["sql/words.py"]) < 1_000


def test_a_table_of_tests_is_never_shown_as_a_place_to_change() -> None:
    files = {"sql/lexer.py": LEXER.replace("sql.words", "tests.words"), "tests/words.py": WORDS}

    assert list(shown(files)) == ["sql/lexer.py"]


def test_a_file_that_no_test_executes_is_found_by_the_words_of_the_failure() -> None:
    files = {
        "sql/lexer.py": LEXER,
        "sql/words.py": WORDS,
        "sql/settings.toml": "[dialects]\ntablesample = false\n",
        **{f"sql/other{number}.py": "def unrelated():\n    return None\n" for number in range(30)},
    }

    assert "sql/settings.toml" in shown(files, "the dialects in `sql/settings.toml` have no tablesample")


def test_windows_stay_as_they_are_where_nothing_else_is_found() -> None:
    assert shown({"a.py": SHOP}, path="a.py") == {"a.py": [(1, 6)]}


@pytest.mark.parametrize("test", ["tests/test_a.py::Test::test_b[c-d]", "tests/test_a.py::Test::test_b"])
def test_a_failing_test_is_shown_with_the_fixtures_it_is_given(test: str) -> None:
    files = {
        "tests/test_a.py": "import x\n\n\nclass Test:\n    def test_a(self): ...\n\n    def test_b(self, shop):\n        assert shop\n",
        "tests/conftest.py": "def other(): ...\n\n\ndef shop():\n    return 1\n",
    }

    found = sources_of([test], index_of(files))

    assert [(each.artifact, each.lines) for each in found] == [
        ("tests/test_a.py", (7, 8)),
        ("tests/conftest.py", (4, 5)),
    ]


def test_a_test_that_cannot_be_found_is_left_out() -> None:
    assert (
        sources_of(["tests/gone.py::test_x", "not an id", ""], index_of({"tests/test_a.py": "x = 1\n"})) == ()
    )


def test_localisation_shows_the_failing_test_and_what_is_around_the_suspects() -> None:
    files = {
        "shop.py": f"RATE = 1\n{SHOP}".replace("- 1", "- RATE"),
        "tests/test_shop.py": "import shop\n\n\ndef test_total():\n    assert shop.total([1]) == 1\n",
    }

    found = localise(FAILING, ScriptedExplorer(files, nodes=NODES, coverage=COVERAGE, is_indexed=True))

    assert [each.text for each in found.tests] == ["def test_total():\n    assert shop.total([1]) == 1\n"]
    assert "RATE = 1\n" in "".join(each.text for each in found.slices)


def test_a_table_of_code_that_ran_is_found_though_no_suspect_names_it() -> None:
    files = {
        "sql/format.py": "def tidy(text):\n    return text.strip()\n",
        "sql/lexer.py": LEXER,
        "sql/words.py": f"KINDS = {{'SELECT': 'verb'}}\nUNUSED = {{'SELECT': 'noun'}}\n{FAR}",
    }
    windows = [window("sql/format.py", files["sql/format.py"])]

    found = beyond(
        index_of(files),
        "assert kind('SELECT') == 'noun'",
        windows,
        rules=TestRules(),
        executed=["sql/lexer.py"],
        room_tokens=40,
    )

    assert [(each.artifact, each.lines) for each in found] == [
        ("sql/format.py", (1, 2)),
        ("sql/words.py", (1, 1)),
    ]


def test_the_imports_of_a_suspect_are_shown_for_a_repair_may_need_another_one() -> None:
    head = '"""Doc."""\n\nimport os\nfrom re import (\n    match,\n)\nimport sys\n'
    text = f"{head}{FAR}\n\ndef total():\n    return 1\n"
    last = text.count("\n")

    found = beyond(
        index_of({"a.py": text}),
        "",
        [window("a.py", "def total():\n    return 1\n", last - 1)],
        rules=TestRules(),
        room_tokens=60,
    )

    assert found[0].lines == (3, 7)

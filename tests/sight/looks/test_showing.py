"""What each look gives, and what it says where there is nothing to give."""

from typing import Any

import pytest

from cogworks.codebase.treefacts import Hit
from cogworks.sight.looks.lines import MAX_LINES
from cogworks.sight.looks.room import Room
from cogworks.sight.looks.schema import Look
from cogworks.sight.looks.showing import MAX_HITS, shown
from tests.sight.looks.rooms import COMMIT, room
from tests.sight.trees import SHOP

LONG = "".join(f"value_{number} = {number}\n" for number in range(1_000))


def looked(where: Room | None = None, **look: Any) -> str:
    return shown(Look.model_validate(look), where or room())


def test_a_file_is_shown_with_numbers() -> None:
    text = looked(look="read", target="src/shop/cart.py")

    assert text.startswith("src/shop/cart.py, lines 1 to 10 of 10:\n    1| ")
    assert "    6| class Cart:" in text


def test_of_a_long_file_a_part_is_shown_and_the_way_to_the_rest() -> None:
    where = room({**SHOP, "src/shop/values.py": LONG})

    first = looked(where, look="read", target="src/shop/values.py")
    rest = looked(where, look="read", target="src/shop/values.py", first_line=990)

    assert f"lines 1 to {MAX_LINES} of 1000" in first
    assert f"lines {MAX_LINES + 1} to 1000 after" in first
    assert "  990| value_989 = 989" in rest
    assert "lines 1 to 989 before" in rest


def test_a_definition_of_a_file_is_read_by_its_name() -> None:
    assert "def total" in looked(look="read", target="src/shop/cart.py::Cart.total")
    assert "def total" in looked(look="read", target="src/shop/cart.py::total")
    assert "There is total" in looked(look="read", target="src/shop/cart.py::totall")


def test_of_several_definitions_with_one_name_the_one_in_the_named_class_is_read() -> None:
    text = "class List:\n    def infer(self):\n        return 1\n\nclass Call:\n    def infer(self):\n        return 2\n"
    where = room({**SHOP, "src/shop/nodes.py": text})

    named = looked(where, look="read", target="src/shop/nodes.py::Call.infer")
    first = looked(where, look="read", target="src/shop/nodes.py::infer")

    assert ("return 2" in named, "return 1" in named) == (True, False)
    assert "also defined" not in named
    assert "return 1" in first
    assert first.endswith("(also defined at line 6)")


def test_a_search_for_several_words_says_that_they_are_one_text() -> None:
    assert looked(look="search", text="nowhere total").endswith("is nowhere. It was looked for as one text.")
    assert looked(look="search", text="nowhere").endswith("`nowhere` is nowhere.")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("src/shop/card.py", "There is no file src/shop/card.py. There is src/shop/cart.py"),
        ("/etc/passwd", "outside of the repository"),
        ("../secrets.txt", "outside of the repository"),
        ("src/../../x", "outside of the repository"),
        (".git/config", "not for you to see"),
        (".cogworks/config.toml", "not for you to see"),
        ("src/./../.cogworks/config.toml", "not for you to see"),
        ("src/shop", "is a folder"),
        ("", "needs a path"),
        ("src/shop/blob.bin", "is empty, or no text"),
    ],
)
def test_what_cannot_be_read_is_said(target: str, said: str) -> None:
    where = room({**SHOP, ".cogworks/config.toml": "secret", "src/shop/blob.bin": ""})

    assert said in looked(where, look="read", target=target)


def test_a_file_that_this_reader_may_not_see_is_not_said_to_be_missing() -> None:
    where = room(SHOP, hidden=frozenset({"tests/test_mail.py"}))

    assert (
        looked(where, look="read", target="tests/test_mail.py") == "tests/test_mail.py is not for you to see."
    )


def test_a_line_of_ten_megabytes_is_cut_and_says_how_much() -> None:
    where = room({**SHOP, "src/shop/data.py": f"x = '{'a' * 10_000_000}'\n"})

    text = looked(where, look="read", target="src/shop/data.py")

    assert len(text) < 2_000
    assert "more characters" in text


def test_a_line_that_is_not_there_is_said() -> None:
    assert (
        looked(look="read", target="src/shop/mail.py", first_line=9)
        == "src/shop/mail.py has 2 lines; there is no line 9."
    )


def test_hits_come_with_definitions_first_and_source_before_tests() -> None:
    lines = looked(look="search", text="rounded").splitlines()

    assert lines[0] == "`rounded`: 56 line(s)"
    assert lines[1].startswith("src/shop/pricing.py:6: def rounded")
    sources = [number for number, line in enumerate(lines) if line.startswith("src/")]
    tests = [number for number, line in enumerate(lines) if line.startswith("tests/")]
    assert max(sources) < min(tests)


def test_a_search_can_be_kept_to_some_files() -> None:
    assert "src/" not in looked(look="search", text="rounded", glob="tests/**/*.py")
    assert "is nowhere in files that match 'src/*'" in looked(look="search", text="nosuchword", glob="src/*")
    assert "src/" in looked(look="search", text="rounded", glob="{docs,src}/**/*.py")


def test_a_search_in_files_that_are_not_there_does_not_look_like_a_search() -> None:
    said = looked(look="search", text="rounded", glob="doc/*")

    assert said == "No file matches 'doc/*', so nothing was searched."


def test_a_hundred_thousand_hits_are_counted_and_a_few_of_them_shown() -> None:
    where = room({f"src/many{number}.py": "value = 1\n" * 1_000 for number in range(100)})

    text = looked(where, look="search", text="value")

    assert text.startswith("`value`: 100000 line(s)")
    assert len(text.splitlines()) == MAX_HITS + 2
    assert "not listed" in text


def test_of_one_or_two_files_all_hits_are_shown_as_they_stand_there() -> None:
    where = room({"src/a.py": "def a():\n" + "    value = 1\n" * 100, "tests/b.py": "other = 1\n"})

    text = looked(where, look="search", text="value")

    assert text.count("src/a.py:") == 100
    assert "src/a.py:7:     value = 1\n" in text
    assert "not listed" not in text


def test_a_search_says_how_much_of_a_long_line_stands_before_the_part_it_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = room()
    hit = Hit("src/shop/cart.py", 3, "z rounded" + "y" * 600, before=4_850)
    monkeypatch.setattr(where.past, "grep", lambda text, is_regex: [hit])

    [_, line] = looked(where, look="search", text="rounded").splitlines()

    assert line.startswith("src/shop/cart.py:3: 4850 characters … z roundedyyy")
    assert line.endswith("y … 209 more characters")


def test_a_search_that_cannot_be_made_says_why() -> None:
    assert "cannot be looked for" in looked(look="search", text="(", is_regex=True)
    assert "needs a `text`" in looked(look="search", text=" ")


def test_an_outline_lists_definitions_with_their_lines() -> None:
    text = looked(look="outline", target="src/shop/cart.py")

    assert "    6-10: class Cart:  # What is bought." in text or "    6-11: class Cart" in text
    assert "  def total(self) -> float" in text
    assert "no definitions" in looked(look="outline", target="README.md")


def test_a_definition_is_found_wherever_it_is() -> None:
    assert "    6| def rounded(price: float) -> float:" in looked(
        look="definition", target="shop.pricing.rounded()"
    )
    assert "Nothing named 'missing'" in looked(look="definition", target="missing")
    assert "needs the name" in looked(look="definition", target="!")


def test_references_are_uses_without_the_definition() -> None:
    text = looked(look="references", target="rounded")

    assert "src/shop/cart.py:10" in text or "src/shop/cart.py:11" in text
    assert "def rounded" not in text
    assert "Nothing uses 'unused'" in looked(look="references", target="unused")


def test_tests_are_found_by_name_and_by_what_they_mention() -> None:
    assert looked(look="tests_of", target="src/shop/pricing.py").startswith(
        "tests/test_pricing.py (by its name)"
    )
    assert "tests/test_mail.py (2 line(s) name 'send')" in looked(look="tests_of", target="send")
    assert "No test has the name" in looked(look="tests_of", target="nothing_like_it")


def test_the_tests_that_name_something_are_named_with_their_lines() -> None:
    tests = "".join(f"def test_{letter}():\n    assert load() == 1\n\n\n" for letter in "abcdefghij")
    files = {
        "load.py": "def load():\n    return 1\n",
        "tests/test_it.py": f"from load import load\n\n\n{tests}",
        "tests/test_load.py": "from load import load\n\n\nclass TestLoad:\n    def test_x(self):\n        load()\n",
    }

    text = looked(room(files), look="tests_of", target="load")

    assert "tests/test_load.py (by its name): test_x 5-6" in text
    assert "tests/test_it.py (11 line(s) name 'load'): test_a 4-5, test_b 8-9," in text
    assert (
        "test_h 32-33 and 2 more\n\ntests/test_load.py, lines 5 to 6 of 6:\n    5|     def test_x(self):\n"
        in text
    )
    assert text.endswith(
        "tests/test_it.py, lines 40 to 41 of 43:\n   40| def test_j():\n   41|     assert load() == 1"
    )


def test_of_long_tests_only_the_lines_are_named() -> None:
    body = "".join(f"    load({number})\n" for number in range(200))
    files = {
        "ssrLoadAll.py": "def load():\n    return 1\n",
        "tests/ssrAll.py": f"def test_long():\n{body}",
    }

    text = looked(room(files), look="tests_of", target="ssrLoadAll.py")

    assert text == "tests/ssrAll.py (by its name)"
    assert looked(room(files), look="tests_of", target="load") == (
        "tests/ssrAll.py (200 line(s) name 'load'): test_long 1-201"
    )


def test_tests_of_a_file_are_those_that_name_it_and_not_those_that_name_its_ending() -> None:
    files = {
        "lib/parse.js": "module.exports = 1;\n",
        "test/all.test.js": "const parse = require('../lib/parse');\n",
        "test/other.test.js": "const path = 'a.js';\n",
    }
    text = looked(room(files), look="tests_of", target="lib/parse.js")

    assert text == "test/all.test.js (1 line(s) name 'parse')"


def test_a_folder_is_listed_with_sizes() -> None:
    assert looked(look="list", target="src/shop").splitlines()[0] == "src/shop/__init__.py (1 lines)"
    assert "src/ (4 files)" in looked(look="list", target="")
    assert "There is no folder 'sr'" in looked(look="list", target="sr")


def test_the_commits_of_a_path_and_what_one_of_them_changed() -> None:
    assert looked(look="history", target="src/shop/mail.py").startswith(
        f"{COMMIT[:12]} Change src/shop/mail.py"
    )
    assert "+++ b/src/shop/mail.py" in looked(look="history", target=COMMIT)
    assert "There is no commit" in looked(look="history", target="0" * 12)
    assert "No commit changed" in looked(look="history", target="nowhere.py")


@pytest.mark.parametrize(
    "look", ["read", "search", "outline", "definition", "references", "tests_of", "list", "history"]
)
def test_what_is_hidden_is_not_even_named(look: str) -> None:
    where = room(SHOP, hidden=frozenset({"tests/test_mail.py"}))

    targets = {
        "read": "tests/test_mail.py",
        "outline": "tests/test_mail.py",
        "list": "tests",
        "history": "tests/test_mail.py",
    }
    text = looked(where, look=look, target=targets.get(look, "test_mail"), text="test_mail")

    assert "def test_mail" not in text
    assert "send('a')" not in text
    assert "tests/test_mail.py (" not in text


def test_of_a_name_that_is_defined_everywhere_some_places_are_told() -> None:
    many = {f"src/part{number:02}.py": f"def total():\n    return {number}\n" for number in range(40)}

    text = looked(room(many), look="definition", target="total")

    assert text.count("def total") == 4
    assert "Also defined at src/part04.py:1, src/part05.py:1" in text
    assert "src/part23.py:1" in text
    assert "src/part24.py" not in text


@pytest.mark.parametrize(
    "target", ["Basket.total", "Basket::total()", "src/shop/basket.py::total", "shop.basket.total"]
)
def test_of_a_name_with_its_class_or_module_only_the_definitions_there_are_shown(target: str) -> None:
    basket = "class Basket:\n    def total(self):\n        return 2\n"
    where = room({**SHOP, "src/shop/basket.py": basket})

    text = looked(where, look="definition", target=target)

    assert text.count("def total") == 1
    assert text.startswith("src/shop/basket.py, lines 2 to 3 of 3:")
    assert looked(where, look="definition", target="Elsewhere.total").count("def total") == 2


def test_in_a_large_repository_a_mistyped_path_is_told_from_those_beside_it() -> None:
    many = {f"data/set{number}.txt": "x\n" for number in range(2_000)}
    where = room({**SHOP, **many})

    assert "There is src/shop/cart.py" in looked(where, look="read", target="src/shop/card.py")
    assert "There is src/shop/cart.py" in looked(where, look="read", target="shop/cart.py")

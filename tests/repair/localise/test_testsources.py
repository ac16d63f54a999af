"""Failing tests are shown with whatever they are given, wherever it stands, and with nothing else."""

from collections.abc import Mapping

import pytest

from cogworks.repair.localise.testsources import are_titled, called_by, sources_of
from cogworks.repair.violations import TestRules
from cogworks.sight.index import Index
from cogworks.sight.store import Store
from tests.fakes import MemoryWorkspace

TEST = "tests/test_a.py"


def shown(files: Mapping[str, str], test: str, *, room_tokens: int = 3_000) -> dict[str, str]:
    index = Index(MemoryWorkspace(files), Store())
    found: dict[str, str] = {}
    for each in sources_of([f"{TEST}::{test}"], index, room_tokens=room_tokens):
        found[each.artifact] = found.get(each.artifact, "") + each.text
    return found


CONFTEST = (
    "import pytest\n\n\n@pytest.fixture\ndef shop(price):\n    return price\n\n\n@pytest.fixture\ndef price():\n    return RATE\n\n\n"
    "RATE = 3\n\n\n@pytest.fixture(autouse=True)\ndef clean():\n    yield\n\n\n@pytest.fixture\ndef other():\n    return 1\n"
)


@pytest.mark.parametrize(
    ("text", "test", "also", "never"),
    [
        ("def test_a(shop):\n    assert shop\n", "test_a", ("return price", "return RATE", "RATE = 3", "yield"), ("return 1",)),
        ("@pytest.mark.usefixtures('other')\ndef test_a():\n    assert x\n", "test_a", ("return 1",), ("RATE",)),
        ("CASES = [HARD]\nHARD = 7\nEASY = 1\n\n\n@mark('n', CASES)\ndef test_a(n):\n    assert n\n", "test_a[7 > 5]", ("CASES = [HARD]", "HARD = 7"), ("EASY",)),
        ("def made(x):\n    return x\n\n\ndef test_b():\n    assert 2\n\n\ndef test_a():\n    assert made(1)\n", "test_a", ("return x",), ("assert 2",)),
        ("class TestA:\n    def setup_method(self):\n        self.x = 5\n\n    def test_b(self):\n        assert 2\n\n    def test_a(self):\n        assert self.made()\n\n    def made(self):\n        return 6\n", "TestA::test_a", ("self.x = 5", "return 6"), ("assert 2",)),
        ("from tests.base import Base\n\n\nclass TestA(Base):\n    def test_a(self):\n        assert 1\n", "TestA::test_a", ("self.deep = 1",), ("def help",)),
        ("def setup_module():\n    begin()\n\n\ndef test_a():\n    assert 1\n", "test_a", ("begin()",), ()),
        ("from shop import total\n\n\ndef test_a():\n    assert total(1)\n", "test_a", ("assert total(1)",), ("product code",)),
    ],
    ids=["fixture of a fixture", "usefixtures", "table of cases", "helper", "set-up of a class", "set-up of a base", "set-up of a file", "what is tested"],
)  # fmt: skip
def test_a_failing_test_is_shown_with_what_it_is_given(
    text: str, test: str, also: tuple[str, ...], never: tuple[str, ...]
) -> None:
    files = {
        TEST: text,
        "tests/conftest.py": CONFTEST,
        "tests/base.py": "class Base:\n    def setUp(self):\n        self.deep = 1\n\n    def help(self): ...\n",
        "shop.py": "def total(x):\n    return 'product code'\n",
    }

    said = "\n".join(shown(files, test).values())

    assert [each for each in also if each not in said] == []
    assert [each for each in never if each in said] == []


def test_names_that_go_round_end_and_what_has_no_room_is_left_out() -> None:
    around = "def one(two): ...\n\n\ndef two(one): ...\n\n\ndef test_a(one):\n    assert one\n"

    assert shown({TEST: around}, "test_a") == {TEST: around.replace("\n\n", "\n").replace("\n\n", "\n")}
    assert (
        "CASES"
        not in shown(
            {TEST: f"CASES = {list(range(900))}\n\n\ndef test_a():\n    assert CASES\n"},
            "test_a",
            room_tokens=100,
        )[TEST].partition("def")[0]
    )


JASMINE = (
    "describe('cart', () => {\n  it('is empty [at first]', () => {\n    expect(cart()).toEqual([])\n  })\n})\n\n"
    "describe('basket', () => {\n  it('is empty [at first]', () => {\n    expect(basket()).toEqual([])\n  })\n})\n"
)


@pytest.mark.parametrize(
    ("test", "also", "never"),
    [
        ("cart > is empty [at first]", "expect(cart())", "expect(basket())"),
        ("basket > is empty [at first]", "expect(basket())", "expect(cart())"),
    ],
)
def test_a_test_of_other_languages_is_known_by_its_titles(test: str, also: str, never: str) -> None:
    index = Index(MemoryWorkspace({"test/cart.test.js": JASMINE}), Store())

    said = "".join(each.text for each in sources_of([f"test/cart.test.js::{test}"], index))

    assert also in said
    assert never not in said


@pytest.mark.parametrize(
    ("tests", "titled"),
    [
        (("test/cart.test.js::cart > is empty",), True),
        (("test/cart.test.js::is empty",), True),
        (("test/cart_test.rb::CartTest > test_empty",), True),
        (("tests/test_cart.py::TestCart::test_empty[a > b]",), False),
        (("tests/test_cart.py::test_empty[0]", "cart_test.go::TestEmpty"), False),
        (("test/cart.test.js::cart > is empty", "tests/test_cart.py::test_empty"), False),
        ((), False),
    ],
)
def test_ids_that_are_made_of_titles_are_known(tests: tuple[str, ...], titled: bool) -> None:
    assert are_titled(tests) is titled


def test_what_a_test_calls_by_name_is_found_in_the_code_unless_many_files_define_it() -> None:
    made = {f"src/made_{number}.js": "export function push(x) { return x }\n" for number in range(4)}
    files = {
        "test/cart.test.js": "it('adds', () => {\n  const c = cart(1)\n  c.push(total(c), help())\n})\n\nfunction help() {}\n",
        "src/cart.js": "// A cart.\nexport function cart(n) { return [n] }\n\nexport function total(c) { return 0 }\n",
        "test/total.test.js": "function total() {}\n",
        **made,
    }
    index = Index(MemoryWorkspace(files), Store())

    found = called_by(["test/cart.test.js::adds"], index, rules=TestRules(files=("test/**",)))

    assert found == (("src/cart.js", 2), ("src/cart.js", 4))

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.repair.localise.symbols import SUFFIXES, symbols_of

RUST = b"""\
mod cart {
    pub struct Cart { items: Vec<u32> }

    impl Cart {
        pub fn add(&mut self, item: u32) {
            fn inner() {}
        }
    }

    impl Default for Cart {
        fn default() -> Self { Cart { items: vec![] } }
    }
}

#[test]
fn test_adds() { assert_eq!(1, 1); }

fn main() {}
"""
GO = b"""\
package shop

type Cart struct{ items []int }

func (c *Cart) Add(item int) {
\tc.items = append(c.items, item)
}

func (c Cart) Len() int { return len(c.items) }

func Total() int { return 0 }
"""
JAVA = b"""\
class Cart {
    Cart() {}
    Cart(int size) {}

    int add(int item) {
        return item;
    }

    @Test
    void adds() {}

    record Line(int price) {}
}
"""
TYPESCRIPT = b"""\
export class Cart {
  constructor() {}
  add(item: number): number { return item }
  total = () => 0
}
function free() {}
export const half = (x: number) => x / 2
const three = 3
namespace Tax {
  export function rate() {}
}
"""


@pytest.mark.parametrize(
    ("artifact", "source", "expected"),
    [
        (
            "src/lib.rs",
            RUST,
            {
                "src.lib.cart.Cart": ("class", (2, 2)),
                "src.lib.cart.Cart.add": ("method", (5, 7)),
                "src.lib.cart.Cart.add.inner": ("function", (6, 6)),
                "src.lib.cart.Cart.default": ("method", (11, 11)),
                "src.lib.test_adds": ("function", (16, 16)),
                "src.lib.main": ("function", (18, 18)),
            },
        ),
        (
            "shop/cart.go",
            GO,
            {
                "shop.cart.Cart": ("class", (3, 3)),
                "shop.cart.Cart.Add": ("method", (5, 7)),
                "shop.cart.Cart.Len": ("method", (9, 9)),
                "shop.cart.Total": ("function", (11, 11)),
            },
        ),
        (
            "Cart.java",
            JAVA,
            {
                "Cart.Cart": ("class", (1, 13)),
                "Cart.Cart.Cart": ("method", (2, 2)),
                "Cart.Cart.Cart#2": ("method", (3, 3)),
                "Cart.Cart.add": ("method", (5, 7)),
                "Cart.Cart.adds": ("method", (9, 10)),
                "Cart.Cart.Line": ("class", (12, 12)),
            },
        ),
        (
            "web/cart.ts",
            TYPESCRIPT,
            {
                "web.cart.Cart": ("class", (1, 5)),
                "web.cart.Cart.constructor": ("method", (2, 2)),
                "web.cart.Cart.add": ("method", (3, 3)),
                "web.cart.Cart.total": ("method", (4, 4)),
                "web.cart.free": ("function", (6, 6)),
                "web.cart.half": ("function", (7, 7)),
                "web.cart.Tax.rate": ("function", (10, 10)),
            },
        ),
    ],
    ids=["rust", "go", "java", "typescript"],
)
def test_what_a_file_defines(
    artifact: str, source: bytes, expected: dict[str, tuple[str, tuple[int, int]]]
) -> None:
    found = symbols_of(artifact, source)

    assert {each.id: (each.kind, each.lines) for each in found} == expected


@pytest.mark.parametrize(
    ("artifact", "source", "tests"),
    [
        ("src/lib.rs", RUST, {"src.lib.test_adds"}),
        ("tests/api.rs", b"fn setup() {}\n", {"tests.api.setup"}),
        ("cart_test.go", b"package p\nfunc TestAdd(t *T) {}\n", {"cart_test.TestAdd"}),
        ("Cart.java", JAVA, {"Cart.Cart.adds"}),
        ("src/test/java/A.java", b"class A {}\n", {"src.test.java.A.A"}),
        ("web/cart.spec.ts", b"function given() {}\n", {"web.cart.spec.given"}),
        ("web/__tests__/a.js", b"function given() {}\n", {"web.__tests__.a.given"}),
        ("web/latest/a.js", b"function given() {}\n", set()),
    ],
    ids=["rust-mark", "rust-folder", "go", "java-mark", "java-folder", "spec", "tests-folder", "no-test"],
)
def test_tests_are_told_from_code(artifact: str, source: bytes, tests: set[str]) -> None:
    assert {each.id for each in symbols_of(artifact, source) if each.is_test} == tests


def test_a_definition_knows_the_one_around_it() -> None:
    parents = {each.id: each.parent for each in symbols_of("src/lib.rs", RUST)}

    assert parents["src.lib.cart.Cart.add.inner"] == "src.lib.cart.Cart.add"
    # A module of the language is no definition here.
    assert parents["src.lib.cart.Cart"] is None


def test_a_language_without_a_grammar_defines_nothing() -> None:
    assert symbols_of("main.cob", b"IDENTIFICATION DIVISION.") == ()


def test_a_file_with_mistakes_gives_what_can_be_made_out() -> None:
    found = symbols_of("a.go", b"package p\nfunc Good() {}\nfunc Bad( {\n")

    assert "a.Good" in {each.id for each in found}


def test_a_very_deep_file_is_read() -> None:
    depth = 3_000
    source = b"fn f() {" * depth + b"}" * depth

    assert len(symbols_of("deep.rs", source)) == depth


@given(st.sampled_from(SUFFIXES), st.binary(max_size=200), st.integers(0, 400), st.integers(0, 400))
def test_no_bytes_are_too_strange(suffix: str, noise: bytes, at: int, cut: int) -> None:
    whole = {".rs": RUST, ".go": GO, ".java": JAVA}.get(suffix, TYPESCRIPT)
    source = whole[:at] + noise + whole[at + cut :]

    found = symbols_of(f"a{suffix}", source)

    assert len({each.id for each in found}) == len(found)
    assert all(1 <= each.lines[0] <= each.lines[1] for each in found)

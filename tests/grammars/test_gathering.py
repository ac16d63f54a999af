"""What is known of one file in each language."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogworks.grammars.facts import FileFacts, Unreadable
from cogworks.grammars.gathering import gather, receiver_in
from cogworks.grammars.languages.python import PYTHON
from cogworks.grammars.languages.registry import LANGUAGES, language_of
from cogworks.grammars.parsing import check
from cogworks.grammars.spec import LanguageSpec
from tests.services.command.grammars.sources import FILES


def facts_of(path: str, text: str | bytes | None = None) -> FileFacts:
    source = FILES[path] if text is None else text
    spec = language_of(path)
    assert spec is not None
    facts = gather(spec, source.encode() if isinstance(source, str) else source)
    assert isinstance(facts, FileFacts), facts
    return facts


def names_of(facts: FileFacts) -> list[str]:
    """Dotted names from the top of the file."""
    names: list[str] = []
    for each in facts.definitions:
        around = () if each.parent < 0 else (names[each.parent],)
        names.append(".".join((*around, *each.owner, each.name)))
    return names


@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_the_query_of_a_language_fits_its_grammar(spec: LanguageSpec) -> None:
    check(spec)


@pytest.mark.parametrize("path", FILES)
def test_modern_code_has_no_mistakes(path: str) -> None:
    assert facts_of(path).mistakes == ()


DEFINED = {
    "web/cart.ts": "Cart Cart.empty Cart.constructor Cart.add Cart.hidden Cart.total Cart.size Item Item.price Pair Colour Flag Base "
    "Base.run local half over over over main Inner.Deep Inner.Deep.deep ext ext.outer config guard x",
    "web/card.tsx": "Props Card Card.onClick Fancy",
    "web/old.js": "cart Cart Cart.total Cart.walk Cart.load free helper",
    "shop/cart.go": "Limit other Default Cart Sized Sized.Len ID Number Cart.Add Cart.check New init",
    "src/lib.rs": "Cart Kind Sized Sized.len Sized.is_empty Cart.MAX Cart.add Cart.other Cart.default shout check inner inner.NAME "
    "inner.raw Pair tests tests.adds tests.waits tests.given",
    "src/main/java/com/shop/Cart.java": "Cart Cart.MAX Cart.items Cart.Cart Cart.Cart Cart.add Cart.helper Cart.Line Cart.Line.Line "
    "Cart.Kind Cart.Kind.n Cart.Kind.n Cart.Mark Cart.Mark.value Cart.Inner Cart.Inner.f Cart.Inner.g Cart.Holder Cart.Holder.get Cart.text",
    "native/cart.c": "MAX LIMIT cart_t cart_t.cart compare kind hidden counter cart_add hidden names old plat plat",
    "native/cart.hpp": "shop.detail shop.detail.Number shop.detail.Cart shop.detail.Cart.Cart shop.detail.Cart.~Cart "
    "shop.detail.Cart.operator+= shop.detail.Cart.size shop.detail.Cart.emplace shop.detail.Cart.helper shop.detail.Cart.Inner "
    "shop.detail.Cart.Inner.f shop.detail.Colour shop.detail.Ints shop.detail.Cart.helper operator== main",
    "net/Cart.cs": "Cart Cart.Max Cart.Count Cart.Name Cart.Cart Cart.AddAsync Cart.Check Cart.Line Cart.Kind Cart.IInner "
    "Cart.IInner.F Cart.Adds Point Changed",
    "lib/shop/cart.rb": "Shop Shop.Cart Shop.Cart.LIMIT Shop.Cart.initialize Shop.Cart.empty Shop.Cart.other Shop.Cart.add "
    "Shop.Cart.<=> Shop.Cart.check",
    "php/Cart.php": "Cart Cart.LIMIT Cart.__construct Cart.empty Cart.add Cart.check Sized Sized.size Counts Kind Kind.label free",
}


@pytest.mark.parametrize("path", DEFINED)
def test_what_a_file_defines(path: str) -> None:
    assert names_of(facts_of(path)) == DEFINED[path].split(" ")


PRIVATE = {
    "web/cart.ts": {"hidden", "local", "Deep", "deep", "ext", "outer", "config", "x"},
    "web/old.js": {"cart"},
    "shop/cart.go": {"other", "check", "init"},
    "src/lib.rs": {"other", "default", "shout", "check", "tests", "adds", "waits", "given"},
    "native/cart.c": {"hidden"},
    "net/Cart.cs": {"Check"},
    "lib/shop/cart.rb": {"check"},
    "php/Cart.php": {"check"},
}


@pytest.mark.parametrize("path", PRIVATE)
def test_what_other_files_may_not_use(path: str) -> None:
    assert {each.name for each in facts_of(path).definitions if not each.is_public} == PRIVATE[path]


TESTS = {
    "web/__tests__/old.spec.js": {"cart", "adds an item", 'says "no"', "empty", "is free"},
    "shop/cart_test.go": {"TestAdd", "BenchmarkAdd"},
    "src/lib.rs": {"adds", "waits"},
    "src/test/java/com/shop/CartTest.java": {"adds", "many", "isEmpty"},
    "net/Cart.cs": {"Adds"},
    "spec/cart_spec.rb": {"Shop::Cart", "when empty", "has no items", "test_adds"},
    "php/tests/CartTest.php": {"testAdds", "it_is_empty"},
}


@pytest.mark.parametrize("path", TESTS)
def test_tests_are_told_by_their_form(path: str) -> None:
    assert {each.name for each in facts_of(path).definitions if each.is_test} == TESTS[path]


@pytest.mark.parametrize(
    ("path", "name", "lines", "documentation"),
    [
        ("web/cart.ts", "Cart", (7, 21), "Everything a customer wants."),
        ("shop/cart.go", "Cart", (18, 24), "Cart holds items.\nThey are ordered."),
        ("src/lib.rs", "Cart", (6, 8), "Items that were chosen."),
        ("src/main/java/com/shop/Cart.java", "add", (14, 19), "Puts one in."),
        ("native/cart.c", "cart_add", (11, 15), "Puts one in."),
        ("lib/shop/cart.rb", "Cart", (6, 34), "What was chosen."),
        ("php/Cart.php", "Cart", (9, 19), "What was chosen."),
    ],
)
def test_a_definition_has_what_stands_right_above_it(
    path: str, name: str, lines: tuple[int, int], documentation: str
) -> None:
    found = next(each for each in facts_of(path).definitions if each.name == name)

    assert (found.lines, found.documentation) == (lines, documentation)


MEMBERS = """\
/** What this file is for. */

const shop = glob => glob;

/**
 * Whether the last part of a path matches.
 */

shop.matchBase = (input, glob = '*') => {
  return input === glob;
};
shop.parse = function (text) { return text; };
shop.Rule = class { test() { return 1; } };
Cart.prototype.total = function () { return 2; };
hidden.thing = () => 3;
module.exports = shop;
exports.load = async () => 4;
exports.LIMIT = 5;
module.exports.save = function* (rows) { yield rows; };
"""


@pytest.mark.parametrize("path", ["lib/shop.js", "lib/shop.ts"])
def test_what_is_assigned_to_members_is_defined_and_as_public_as_what_it_belongs_to(path: str) -> None:
    facts = facts_of(path, MEMBERS)

    assert names_of(facts) == [
        *(
            "shop",
            "shop.matchBase",
            "shop.parse",
            "shop.Rule",
            "shop.Rule.test",
            "Cart.total",
            "hidden.thing",
        ),
        *("load", "LIMIT", "save"),
    ]
    assert {each.name for each in facts.definitions if not each.is_public} == {"total", "thing"}
    shop, found = facts.definitions[:2]
    assert (found.lines, found.line, found.signature) == ((5, 11), 9, "shop.matchBase = (input, glob = '*')")
    assert found.documentation == "Whether the last part of a path matches."
    assert [each.name for each in found.parameters] == ["input", "glob"]
    assert shop.documentation == ""


def test_a_blank_line_parts_a_comment_that_documents_nothing_from_what_comes_next() -> None:
    (found,) = facts_of("a.js", "// a\n\n// b\n\nfunction f() {}\n").definitions

    assert (found.lines, found.documentation) == ((5, 5), "")


def test_functions_in_objects_and_methods_that_ruby_is_told_to_define_are_known() -> None:
    script = "module.exports = { load: function (x) { return x; }, other: 5 };\n"
    ruby = "class Cart\n  define_method(:total) { 1 }\n  define_method('size') { 2 }\nend\n"

    assert names_of(facts_of("a.js", script)) == ["load"]
    assert names_of(facts_of("a.rb", ruby)) == ["Cart", "Cart.total", "Cart.size"]


def test_a_comment_at_the_end_of_a_line_belongs_to_that_line() -> None:
    first, second = facts_of("a.go", "package p\nvar a = 1 // one\nvar b = 2\n").definitions

    assert (first.lines, second.lines) == ((2, 2), (3, 3))


@pytest.mark.parametrize(
    ("path", "text", "imports"),
    [
        (
            "a.rs",
            "use a::{b::{c as d, self}, *};",
            [("a::b", "c", "d"), ("a::b", None, None), ("a", "*", None)],
        ),
        ("a.ts", 'import type { A } from "./a";\nimport "./b";', [("./a", "A", None), ("./b", None, None)]),
        ("a.go", 'package p\nimport _ "embed"\n', [("embed", None, None)]),
        ("a.php", "<?php use A\\{B, C as D};", [("A\\B", None, None), ("A\\C", None, "D")]),
        ("a.java", "import static a.B.*;", [("a.B", "*", None)]),
        ("a.cs", "global using X = A.B;", [("A.B", None, "X")]),
        ("a.c", "#include <a/b.h>\n", [("a/b.h", None, None)]),
    ],
)
def test_what_a_file_imports(path: str, text: str, imports: list[tuple[str, str | None, str | None]]) -> None:
    assert [tuple(each[1:]) for each in facts_of(path, text).imports] == imports


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.ts", "const a = 1;\nfunction f( {\n", 2),
        ("a.go", "package p\nfunc Good() {}\nfunc Bad( {\n", 3),
        ("a.rs", "fn a() {}\nfn b() { let = 3; }\n", 2),
        ("a.java", "class A {\n  void f() { int = 3; }\n}\n", 2),
        ("a.php", "<?php\nfunction f() { return 1 }\n", 2),
        ("a.rb", "def f\n  [1, 2\nend\n", 2),
        ("a.cs", "class A {\n  void F() { int = ; }\n}\n", 2),
        ("a.c", "int a;\nint f( { return }\n", 2),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_rest_is_read(path: str, text: str, line: int) -> None:
    mistakes = facts_of(path, text).mistakes

    assert mistakes
    assert abs(mistakes[0].line - line) <= 1
    assert len(mistakes) <= 5


@pytest.mark.parametrize("data", [b"package p\0", b"x" * 2_000_001], ids=["binary", "long"])
def test_what_is_no_source_says_why(data: bytes) -> None:
    spec = language_of("a.go")
    assert spec is not None

    assert isinstance(gather(spec, data), Unreadable)


_BEFORE_DOT = re.compile(rb"([\w$]*)[)\]}!?]*\s*(?:\?\.|\.|->|::)\s*$")


@given(st.text("ab9_$ \t\n)]}!?.-:>(é", max_size=12))
@example("a?.")
@example("f(x)  ?.\n")
@example("$cart->")
@example("...")
def test_what_a_call_is_made_on_is_the_name_before_the_dot(code: str) -> None:
    before = code.encode()
    found = _BEFORE_DOT.search(before)

    assert receiver_in(before) == (found[1].decode().lstrip("$") if found else None)


@pytest.mark.parametrize("path", FILES)
def test_an_outline_has_the_same_definitions_and_imports_without_what_else_is_told_of_them(path: str) -> None:
    spec, source = language_of(path), FILES[path]
    assert spec is not None
    whole, outline = facts_of(path), gather(spec, source.encode(), is_outline=True)

    assert isinstance(outline, FileFacts)
    assert outline == whole._replace(
        calls=(),
        doubts=(),
        package="",
        definitions=tuple(
            each._replace(is_test=False, is_public=True, parameters=(), bases=(), decorators=())
            for each in whole.definitions
        ),
    )


def test_what_a_signal_raises_amid_a_parse_comes_out_as_it_is() -> None:
    class Interrupted(bytes):
        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, slice) and key.start:
                raise KeyboardInterrupt
            return super().__getitem__(key)

    with pytest.raises(KeyboardInterrupt):
        gather(PYTHON, Interrupted(b"price = 1\n" * 2_000))

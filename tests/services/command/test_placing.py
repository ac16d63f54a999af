"""From what a report calls a test to an id that begins with its file."""

from collections.abc import Mapping

import pytest

from cogworks.services.command.placing import Placer, Sources
from cogworks.services.command.reports.cases import Case

GO = {
    "cart/cart_test.go": "func TestAdd(t *testing.T) {",
    "cart/more_test.go": "func TestMore(t *testing.T) {",
}
JAVA = {"api/src/test/java/shop/CartTest.java": "", "web/src/test/java/web/CartTest.java": ""}
RUST = {"src/lib.rs": "", "src/cart.rs": "", "src/a/mod.rs": "", "tests/whole.rs": ""}
WORKSPACE = {"crates/my-shop/src/lib.rs": "", "crates/other/src/lib.rs": "", "crates/my-shop/src/cart.rs": ""}
CSHARP = {"Tests/Carts.cs": "public class CartTest { }"}


def placed(files: Mapping[str, str], case: Case, module: str = "") -> str:
    sources = Sources(list(files), lambda path: files[path], ("/tmp/x/copy",), module)
    [(test, _)] = Placer(sources).ids([case])
    return test


@pytest.mark.parametrize(
    ("files", "case", "wanted"),
    [
        (GO, Case("TestMore/sub", "passed", group="example.org/shop/cart"), "cart/more_test.go::TestMore/sub"),
        (JAVA, Case("adds()", "passed", group="web.CartTest"), "web/src/test/java/web/CartTest.java::adds"),
        (JAVA, Case("isZero", "passed", group="shop.CartTest$Empty"), "api/src/test/java/shop/CartTest.java::Empty > isZero"),
        (RUST, Case("cart::tests::adds", "passed", group="my_shop:src/lib.rs"), "src/cart.rs::cart::tests::adds"),
        (RUST, Case("a::b::adds", "passed", group="my_shop:src/lib.rs"), "src/a/mod.rs::a::b::adds"),
        (RUST, Case("whole", "passed", group="whole:tests/whole.rs"), "tests/whole.rs::whole"),
        (WORKSPACE, Case("cart::adds", "passed", group="my_shop:src/lib.rs"), "crates/my-shop/src/cart.rs::cart::adds"),
        (CSHARP, Case("Adds", "passed", group="Shop.CartTest"), "Tests/Carts.cs::Adds"),
        ({"t/a.test.ts": ""}, Case("cart > adds", "passed", file="/tmp/x/copy/t/a.test.ts"), "t/a.test.ts::cart > adds"),
        ({"t/a.test.ts": ""}, Case("cart > adds", "passed", group="t/a.test.ts"), "t/a.test.ts::cart > adds"),
        ({"t/a.spec.js": ""}, Case("adds", "passed", file="t/a.spec.js", group="a whole cart"), "t/a.spec.js::a whole cart > adds"),
        ({}, Case("adds", "passed", group="nobody.knows"), ".::adds"),
    ],
)  # fmt: skip
def test_an_id_begins_with_the_file_of_the_test(files: Mapping[str, str], case: Case, wanted: str) -> None:
    assert placed(files, case, "example.org/shop" if files is GO else "") == wanted


def test_two_cases_of_one_name_have_two_ids() -> None:
    cases = [Case("adds", "passed", file="a.js"), Case("adds", "failed", file="a.js")]
    ids = Placer(Sources(["a.js"], lambda _: "")).ids(cases)

    assert [test for test, _ in ids] == ["a.js::adds", "a.js::adds #2"]


def test_a_path_that_leads_out_is_nobodys() -> None:
    assert placed({"a.js": ""}, Case("adds", "passed", file="../../etc/passwd")) == ".::adds"

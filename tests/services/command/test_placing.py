"""From what a report calls a test to an id that begins with its file."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.services.command.grammars.reported import reported_tests
from cogworks.services.command.placing import Placer, Sources, ava_tests
from cogworks.services.command.reports.cases import Case
from tests.services.asking import laid_out

GO = {
    "go.mod": "module example.org/shop\n",
    "cart/cart_test.go": "package cart\nfunc TestAdd(t *testing.T) {}\nconst text = `\nfunc TestMore(`\n",
    "cart/more_test.go": "package cart\nfunc TestMore(t *testing.T) {}\nfunc ExampleMore() {}\n",
}
JAVA = {"api/src/test/java/shop/CartTest.java": "", "web/src/test/java/web/CartTest.java": ""}
RUST = {"src/lib.rs": "", "src/cart.rs": "", "src/a/mod.rs": "", "tests/whole.rs": ""}
WORKSPACE = {"crates/my-shop/src/lib.rs": "", "crates/other/src/lib.rs": "", "crates/my-shop/src/cart.rs": ""}
TWINS = {
    "z/Cargo.toml": '[package]\nname = "apples"\n',
    "a/Cargo.toml": '[package]\nname = "pears"\n',
    "z/tests/all.rs": "",
    "a/tests/all.rs": "",
}
CSHARP = {
    "Tests/Carts.cs": "namespace Shop;\npublic class CartTest { [Fact] public void Adds() {} }\n",
    "Web/Carts.cs": "namespace Web;\npublic class CartTest { [Fact] public void Adds() {} }\n",
}
BUILT = {
    "src/a.test.ts": "",
    "test/cart/a.test.ts": "",
    "test/b.test.mts": "",
    "src/b.ts": "",
    "x/c.ts": "",
    "y/c.ts": "",
}
KOTLIN = {"src/test/kotlin/Carts.kt": "class CartTest { }"}


def placed(folder: Path, files: Mapping[str, str], case: Case, module: str = "") -> str:
    laid_out(folder, files)
    sources = Sources(
        list(files),
        lambda path: files.get(path, ""),
        ("/tmp/x/copy",),
        module,
        lambda asked: reported_tests(folder, only=asked),
    )
    [(test, _)] = Placer(sources).ids([case])
    return test


@pytest.mark.parametrize(
    ("files", "case", "wanted"),
    [
        (BUILT, Case("adds", "passed", file="/tmp/x/copy/dist/src/a.test.js"), "src/a.test.ts::adds"),
        (BUILT, Case("adds", "passed", file="/tmp/x/copy/dist/test/cart/a.test.js"), "test/cart/a.test.ts::adds"),
        (BUILT, Case("adds", "passed", file="file:///tmp/x/copy/build/b.test.mjs"), "test/b.test.mts::adds"),
        (BUILT, Case("adds", "passed", file="/tmp/x/copy/dist/c.js"), ".::adds"),
        (GO, Case("TestMore/sub", "passed", group="example.org/shop/cart"), "cart/more_test.go::TestMore/sub"),
        (GO, Case("ExampleMore", "passed", group="example.org/shop/cart"), "cart/more_test.go::ExampleMore"),
        (JAVA, Case("adds()", "passed", group="web.CartTest"), "web/src/test/java/web/CartTest.java::adds"),
        (JAVA, Case("isZero", "passed", group="shop.CartTest$Empty"), "api/src/test/java/shop/CartTest.java::Empty > isZero"),
        (RUST, Case("cart::tests::adds", "passed", group="my_shop:src/lib.rs"), "src/cart.rs::cart::tests::adds"),
        (RUST, Case("a::b::adds", "passed", group="my_shop:src/lib.rs"), "src/a/mod.rs::a::b::adds"),
        (RUST, Case("whole", "passed", group="whole:tests/whole.rs"), "tests/whole.rs::whole"),
        (WORKSPACE, Case("cart::adds", "passed", group="my_shop:src/lib.rs"), "crates/my-shop/src/cart.rs::cart::adds"),
        (TWINS, Case("adds", "passed", group="all:tests/all.rs"), "z/tests/all.rs::adds"),
        (TWINS, Case("adds", "passed", group="all:tests/all.rs#2"), "a/tests/all.rs::adds"),
        ({"test/a.js": ""}, Case("test/a.js > adds > one", "passed"), "test/a.js::adds > one"),
        (CSHARP, Case("Adds", "passed", group="Shop.CartTest"), "Tests/Carts.cs::Adds"),
        (CSHARP, Case("Adds(count: 1)", "passed", group="Web.CartTest"), "Web/Carts.cs::Adds(count: 1)"),
        (KOTLIN, Case("adds", "passed", group="shop.CartTest"), "src/test/kotlin/Carts.kt::adds"),
        ({"t/a.test.ts": ""}, Case("cart > adds", "passed", file="/tmp/x/copy/t/a.test.ts"), "t/a.test.ts::cart > adds"),
        ({"t/a.test.ts": ""}, Case("cart > adds", "passed", group="t/a.test.ts"), "t/a.test.ts::cart > adds"),
        ({"t/a.spec.js": ""}, Case("adds", "passed", file="t/a.spec.js", group="a whole cart"), "t/a.spec.js::a whole cart > adds"),
        ({}, Case("adds", "passed", group="nobody.knows"), ".::adds"),
    ],
)  # fmt: skip
def test_an_id_begins_with_the_file_of_the_test(
    files: Mapping[str, str], case: Case, wanted: str, tmp_path: Path
) -> None:
    assert placed(tmp_path, files, case, "example.org/shop" if files is GO else "") == wanted


def test_two_cases_of_one_name_have_two_ids() -> None:
    cases = [Case("adds", "passed", file="a.js"), Case("adds", "failed", file="a.js")]
    ids = Placer(Sources(["a.js"], lambda _: "")).ids(cases)

    assert [test for test, _ in ids] == ["a.js::adds", "a.js::adds #2"]


def test_a_path_that_leads_out_is_nobodys(tmp_path: Path) -> None:
    assert placed(tmp_path, {"a.js": ""}, Case("adds", "passed", file="../../etc/passwd")) == ".::adds"


AVA = {
    "test/chalk.js": "",
    "test/level.test.ts": "",
    "test/cli/test-run.mjs": "",
    "test/a/same.js": "",
    "test/b/same.js": "",
    "source/chalk.js": "",
    "lib/__tests__/deep/walk.js": "",
}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("chalk › keeps colours", "test/chalk.js::keeps colours"),
        ("level › a › b", "test/level.test.ts::a › b"),
        ("cli › run › ends", "test/cli/test-run.mjs::ends"),
        ("deep › walk › goes on", "lib/__tests__/deep/walk.js::goes on"),
        ("a › same › is one", "test/a/same.js::is one"),
        ("same › is two", ".::same › is two"),
        ("nothing › of the kind", ".::nothing › of the kind"),
        ("chalk", ".::chalk"),
    ],
)
def test_a_title_of_ava_says_in_which_file_it_stands(name: str, wanted: str) -> None:
    [(found, _)] = Placer(Sources([*AVA], AVA.__getitem__)).ids([Case(name, "passed")])

    assert found == wanted


def test_files_that_ava_may_run_are_those_with_its_names_without_helpers() -> None:
    files = ["index.js", "test.js", "index.test-d.ts", "test/_setup.js", "test/helpers/run.js", "test/fixtures/a.js"]  # fmt: skip

    assert ava_tests(files) == ("test.js",)
    assert ava_tests(["src/a.spec.ts", "test/b.js", "bench.js"]) == ("src/a.spec.ts", "test/b.js")

"""What is answered about repositories."""

from pathlib import Path

import pytest

from cogworks.domain_services.checking import DependencyGraph, InterfaceMap
from cogworks.domain_services.exploring import CallGraph, Signatures, SymbolIndex
from cogworks.grammars.facts import FileFacts, Unreadable
from cogworks.grammars.gathering import gather
from cogworks.grammars.languages.registry import language_of
from cogworks.grammars.spec import LanguageSpec
from cogworks.nodes.interface_design import undeclared
from cogworks.nodes.replies import InterfaceName
from cogworks.services.command.grammars.code import Shelf
from cogworks.services.command.grammars.reported import reported_tests
from tests.services.command.grammars.sources import FILES, ask, repository

GO_SHOP = {
    "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "cart/cart.go": 'package cart\nimport "example.com/shop/tax"\ntype Cart struct{}\nfunc (c *Cart) Add(n int) int { return tax.Rate(n) }\n',
    "cart/cart_test.go": 'package cart\nimport "testing"\nfunc TestAdd(t *testing.T) { c := Cart{}; c.Add(1) }\n',
    "tax/tax.go": "package tax\n\n// Rate is what is due.\nfunc Rate(n int) int { return twice(n) }\nfunc twice(n int) int { return n * 2 }\n",
}


def test_the_index_of_a_whole_repository(tmp_path: Path) -> None:
    answer = ask("index", repository(tmp_path, FILES))
    index = SymbolIndex.model_validate(answer["result"])

    ids = [each.id for each in index.symbols]
    assert len(set(ids)) == len(ids)
    assert answer["metadata"]["counts"] == {"artifacts": len(FILES), "unread": 0}
    known = set(ids)
    assert all(each.parent is None or each.parent in known for each in index.symbols)
    assert all(each.caller in known for each in index.calls)
    kinds = {each.id: each.kind for each in index.symbols}
    assert kinds["src.lib.Cart.add"] == "method"
    assert kinds["shop.cart.Cart.Add"] == "method"
    assert kinds["web.cart.Cart"] == "class"
    # Two languages, one stem: both keep their endings.
    assert {"native.cart.c", "native.cart.hpp"} <= known


def test_overloads_have_names_of_their_own(tmp_path: Path) -> None:
    index = SymbolIndex.model_validate(
        ask("index", repository(tmp_path, {"a.ts": FILES["web/cart.ts"]}))["result"]
    )

    assert [each.id for each in index.symbols if each.id.startswith("a.over")] == [
        "a.over",
        "a.over#2",
        "a.over#3",
    ]


def test_only_what_is_asked_about_and_below_the_root_is_read(tmp_path: Path) -> None:
    repository(tmp_path, FILES)

    asked = ask("index", tmp_path, artifacts=["src/lib.rs", "README.md"])["result"]["symbols"]
    below = ask("index", tmp_path, root="php")["result"]["symbols"]

    assert {each["artifact"] for each in asked} == {"src/lib.rs"}
    assert {each["artifact"] for each in below} == {"php/Cart.php", "php/tests/CartTest.php"}


def test_what_tools_made_links_and_strange_files_are_not_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "src/a.js": "function a() {}",
        "node_modules/x/b.js": "x",
        "package.json": "{}",
        "dist/c.js": "x",
        "bad.js": b"\0",
    }
    repository(tmp_path, files)
    (tmp_path / "link.js").symlink_to("/etc/passwd")

    result = ask("index", tmp_path)["result"]

    assert {each["artifact"] for each in result["symbols"]} == {"src/a.js"}
    assert {each["artifact"] for each in result["unread"]} == {"bad.js", "link.js"}


def test_paths_outside_are_refused(tmp_path: Path) -> None:
    for method in ("index", "validate", "signatures", "dependency_graph", "extract_interfaces"):
        assert ask(method, tmp_path, artifacts=["../a.go"])["error"]["code"] == "invalid_request"


def test_the_call_graph_follows_packages_and_knows_tests(tmp_path: Path) -> None:
    answer = ask("call_graph", repository(tmp_path, GO_SHOP), seeds=["cart/cart.go:4"], hops=2)
    graph = CallGraph.model_validate(answer["result"])

    edges = {(each.source, each.target, each.kind) for each in graph.edges}
    assert ("cart.cart.Cart.Add", "tax.tax.Rate", "calls") in edges
    assert ("tax.tax.Rate", "tax.tax.twice", "calls") in edges
    assert ("cart.cart_test.TestAdd", "cart.cart.Cart.Add", "tests") in edges
    assert graph.nodes[0].symbol.id == "cart.cart.Cart.Add"


def test_a_class_and_its_base_are_related(tmp_path: Path) -> None:
    files = {
        "base.ts": "export class Base { run() {} }",
        "a.ts": 'import { Base } from "./base";\nexport class A extends Base { go() { this.run(); new A(); } }',
    }
    graph = CallGraph.model_validate(ask("call_graph", repository(tmp_path, files), seeds=["a.A"])["result"])

    edges = {(each.source, each.target, each.kind) for each in graph.edges}
    assert {
        ("a.A", "base.Base", "inherits"),
        ("a.A.go", "base.Base.run", "calls"),
        ("a.A.go", "a.A", "calls"),
    } <= edges


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.go", "package a\n\nvar (\n\tFirst = twice(1)\n)\n\nfunc twice(n int) int { return n * 2 }\n"),
        ("a.ts", "export const first = twice(1);\nfunction twice(n: number) { return n * 2; }\n"),
        ("a.js", "var first = twice(1);\nfunction twice(n) { return n * 2; }\n"),
        ("a.rs", "static FIRST: i32 = twice(1);\nconst fn twice(n: i32) -> i32 { n * 2 }\n"),
        ("a.rb", "FIRST = twice(1)\ndef twice(n)\n  n * 2\nend\n"),
        ("A.java", "class A { static int first = twice(1); static int twice(int n) { return n * 2; } }\n"),
        ("a.php", "<?php\nconst FIRST = 1;\n$first = twice(1);\nfunction twice($n) { return $n * 2; }\n"),
        ("a.c", "int twice(int n) { return n * 2; }\nint first = twice(1);\n"),
    ],
    ids=lambda each: each if len(each) < 8 else "",
)
def test_what_the_value_of_a_variable_calls_is_called_by_what_is_around_it(
    tmp_path: Path, name: str, text: str
) -> None:
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "n * 2" in each)
    response = ask("call_graph", repository(tmp_path, {name: text}), seeds=[f"{name}:{line}"])
    graph = CallGraph.model_validate(response["result"])

    callers = {each.source for each in graph.edges if each.target.endswith("twice")}
    known = {each.symbol.id: each.symbol.kind for each in graph.nodes}
    assert len(callers) == 1
    assert {known[each] for each in callers} <= {"module", "class"}


def test_interfaces_are_public_names_with_signature_and_documentation(tmp_path: Path) -> None:
    answer = ask(
        "extract_interfaces", repository(tmp_path, GO_SHOP), artifacts=["tax/tax.go", "cart/cart_test.go"]
    )
    found = InterfaceMap.model_validate(answer["result"])

    assert found.status == "complete"
    assert [(each.name, each.kind, each.signature, each.documentation) for each in found.interfaces] == [
        ("tax.tax.Rate", "function", "func Rate(n int) int", "Rate is what is due.")
    ]


def test_what_is_assigned_to_an_exported_function_is_an_interface(tmp_path: Path) -> None:
    text = "const shop = a => a;\nshop.total = function (rows) { return rows; };\nmodule.exports = shop;\n"
    answer = ask("extract_interfaces", repository(tmp_path, {"lib/shop.js": text}), artifacts=["lib/shop.js"])
    found = InterfaceMap.model_validate(answer["result"])

    claimed = [InterfaceName(name="shop.total", path="lib/shop.js", purpose="Adds up.")]
    assert undeclared(claimed, found) == []
    assert [each.name for each in found.interfaces] == ["lib.shop.shop", "lib.shop.shop.total"]


def test_interfaces_that_may_be_more_are_incomplete(tmp_path: Path) -> None:
    answer = ask(
        "extract_interfaces", repository(tmp_path, {"a.ts": 'export * from "./b";'}), artifacts=["a.ts"]
    )

    assert answer["result"]["status"] == "incomplete"
    assert "export *" in answer["diagnostics"][0]["message"]


def test_signatures_tell_parameters(tmp_path: Path) -> None:
    files = {"a.ts": FILES["web/cart.ts"], "b.php": FILES["php/Cart.php"]}
    found = {
        each.id: each
        for each in Signatures.model_validate(
            ask("signatures", repository(tmp_path, files))["result"]
        ).signatures
    }

    add = found["a.Cart.add"]
    assert (add.positional, add.with_default, add.var_positional) == (("item", "count"), ("count",), "rest")
    assert (add.is_async, add.annotations["item"]) == (True, "T")
    assert found["a.Cart.empty"].kind == "static_method"
    assert found["b.Cart.__construct"].with_default == ("items", "rate")
    assert "a.Cart.hidden" not in found


DEPENDING = {
    "scripts": (
        {
            "tsconfig.json": '{ // ours\n "compilerOptions": { "paths": { "@app/*": ["./src/*"] } }, }',
            "packages/tax/package.json": '{"name": "@shop/tax", "exports": {".": {"import": "./src/main.ts"}}}',
            "packages/tax/src/main.ts": "export const a = 1;",
            "src/lib/index.ts": "export const b = 1;",
            "src/other.ts": "export const c = 1;",
            "src/a.ts": 'import "./lib"; import "@app/other.js"; import "@shop/tax"; import "react";',
        },
        "src/a.ts",
        {"src/lib/index.ts", "src/other.ts", "packages/tax/src/main.ts"},
        {"react"},
    ),
    "go": (GO_SHOP, "cart/cart.go", {"tax/tax.go"}, None),
    "rust": (
        {
            "Cargo.toml": '[package]\nname = "shop"\n',
            "src/lib.rs": "mod cart; mod tax;",
            "src/tax/mod.rs": "pub mod deep;",
            "src/tax/deep.rs": "pub fn f() {}",
            "src/cart.rs": "use crate::tax::deep::f; use super::tax; use std::io;",
        },
        "src/cart.rs",
        {"src/tax/deep.rs", "src/tax/mod.rs"},
        {"std"},
    ),
    "java": (
        {
            "a/src/main/java/com/shop/Cart.java": "package com.shop; import com.tax.Rate; import com.all.*; import java.util.List; class Cart {}",
            "b/src/main/java/com/tax/Rate.java": "package com.tax; public class Rate {}",
            "b/src/main/java/com/all/One.java": "package com.all; public class One {}",
        },
        "a/src/main/java/com/shop/Cart.java",
        {"b/src/main/java/com/tax/Rate.java", "b/src/main/java/com/all/One.java"},
        {"java.util"},
    ),
    "c": (
        {
            "src/a.c": '#include "b.h"\n#include <lib/c.h>\n#include <stdio.h>\n',
            "src/b.h": "int b;",
            "include/lib/c.h": "int c;",
        },
        "src/a.c",
        {"src/b.h", "include/lib/c.h"},
        {"stdio.h"},
    ),
    "c-sharp": (
        {"A.cs": "using Shop.Tax; using System; class A {}", "B.cs": "namespace Shop.Tax; class B {}"},
        "A.cs",
        {"B.cs"},
        {"System"},
    ),
    "ruby": (
        {
            "lib/shop.rb": 'require_relative "shop/cart"\nrequire "shop/tax"\nrequire "json"\n',
            "lib/shop/cart.rb": "",
            "lib/shop/tax.rb": "",
        },
        "lib/shop.rb",
        {"lib/shop/cart.rb", "lib/shop/tax.rb"},
        {"json"},
    ),
    "php": (
        {
            "composer.json": '{"autoload": {"psr-4": {"Shop\\\\": "src/"}}}',
            "src/Cart.php": "<?php namespace Shop; use Shop\\Tax\\Rate; use Psr\\Log; require __DIR__ . '/boot.php';",
            "src/Tax/Rate.php": "<?php namespace Shop\\Tax; class Rate {}",
            "src/boot.php": "<?php",
        },
        "src/Cart.php",
        {"src/Tax/Rate.php", "src/boot.php"},
        {"Psr\\Log"},
    ),
}


@pytest.mark.parametrize("case", DEPENDING)
def test_to_which_files_imports_lead(case: str, tmp_path: Path) -> None:
    files, asking, uses, external = DEPENDING[case]
    answer = ask("dependency_graph", repository(tmp_path, files), artifacts=[])
    graph = DependencyGraph.model_validate(answer["result"])

    name = next(module for module, path in graph.modules.items() if path == asking)
    assert {graph.modules[each] for each in graph.uses[name]} == uses
    if external is not None:
        assert set(graph.external[name]) == external


def test_a_mistake_blocks_where_the_grammar_is_exact(tmp_path: Path) -> None:
    files = {"a.go": "package p\nfunc f( {\n", "a.c": "int f( {\n", "b.go": "package p\n", "c.txt": "x"}
    answer = ask(
        "validate", repository(tmp_path, files), artifacts=["a.go", "a.c", "b.go", "c.txt", "gone.go"]
    )

    found = {(each["artifact"], each["severity"], each["category"]) for each in answer["diagnostics"]}
    assert answer["status"] == "failure"
    assert found == {
        ("a.go", "blocking", "syntax_error"),
        ("a.c", "warning", "syntax_error"),
        ("gone.go", "blocking", "completeness"),
    }
    assert answer["metadata"]["counts"] == {"artifacts": 4, "skipped": 1}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/lib.rs", "Cart::add"),
        ("src/lib.rs", "inner::raw"),
        ("shop/cart.go", "Cart.Add"),
        ("src/main/java/com/shop/Cart.java", "com.shop.Cart.Line"),
        ("native/cart.hpp", "shop::detail::Cart::size"),
        ("php/Cart.php", "Shop\\Carts\\Cart::add"),
        ("lib/shop/cart.rb", "Shop::Cart#add"),
        ("web/cart.ts", "web.cart.Cart.add"),
    ],
)
def test_agreed_names_are_found_in_the_spelling_of_their_language(
    path: str, name: str, tmp_path: Path
) -> None:
    repository(tmp_path, {path: FILES[path]})

    there = ask("validate", tmp_path, artifacts=[path], interfaces=[name])
    missing = ask("validate", tmp_path, artifacts=[path], interfaces=[f"{name}X"])

    assert there["status"] == "success"
    assert [each["category"] for each in missing["diagnostics"]] == ["interface_mismatch"]


def test_tests_have_the_names_their_runners_report(tmp_path: Path) -> None:
    files = {
        **GO_SHOP,
        "r/Cargo.toml": '[package]\nname = "r"\n',
        "r/src/cart/item.rs": "#[cfg(test)]\nmod tests { #[test] fn adds() {} }",
        "r/tests/api.rs": "#[test]\nfn answers() {}",
        **{
            path: FILES[path]
            for path in ("web/__tests__/old.spec.js", "src/test/java/com/shop/CartTest.java")
        },
        **{path: FILES[path] for path in ("net/Cart.cs", "spec/cart_spec.rb", "php/tests/CartTest.php")},
    }

    found = reported_tests(repository(tmp_path, files))

    assert {tuple(each) for each in found} == {
        ("example.com/shop/cart.TestAdd", "cart/cart_test.go"),
        ("cart::item::tests::adds", "r/src/cart/item.rs"),
        ("answers", "r/tests/api.rs"),
        ("cart adds an item", "web/__tests__/old.spec.js"),
        ('cart says "no"', "web/__tests__/old.spec.js"),
        ("cart empty is free", "web/__tests__/old.spec.js"),
        ("com.shop.CartTest.adds", "src/test/java/com/shop/CartTest.java"),
        ("com.shop.CartTest.many", "src/test/java/com/shop/CartTest.java"),
        ("com.shop.CartTest$Empty.isEmpty", "src/test/java/com/shop/CartTest.java"),
        ("Shop.Carts.Cart.Adds", "net/Cart.cs"),
        ("Shop::Cart when empty has no items", "spec/cart_spec.rb"),
        ("CartTest#test_adds", "spec/cart_spec.rb"),
        ("Shop\\Tests\\CartTest::testAdds", "php/tests/CartTest.php"),
        ("Shop\\Tests\\CartTest::it_is_empty", "php/tests/CartTest.php"),
    }


def test_a_file_is_read_once_for_each_content() -> None:
    seen: list[bytes] = []

    def read(spec: LanguageSpec, data: bytes) -> FileFacts | Unreadable:
        seen.append(data)
        return gather(spec, data)

    shelf = Shelf(read)
    go, rust = language_of("a.go"), language_of("a.rs")
    assert go is not None
    assert rust is not None

    first, again, other = (shelf.facts(spec, b"package p\n") for spec in (go, go, rust))

    assert first is again
    assert isinstance(other, FileFacts)
    assert len(seen) == 2

"""The index of a whole repository."""

import json
from pathlib import Path

import pytest

from cogworks.domain_services.checking import Unread
from cogworks.domain_services.exploring import CallSite, Import, Symbol, SymbolIndex
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.code.repository import read_code
from cogworks.services.python.operations import index_of
from tests.services.code.samples import code_of


def indexed(files: dict[str, str]) -> SymbolIndex:
    """As it would travel."""
    return SymbolIndex.model_validate_json(json.dumps(index_of(code_of(files))), strict=True)


def test_every_symbol_has_a_qualified_name_of_its_own() -> None:
    index = indexed(
        {
            "shop/__init__.py": "def cart(): ...\n",
            "shop/cart.py": (
                "if True:\n    def price(): ...\nelse:\n    def price():\n        def inner(): ...\n"
                "class Cart:\n    def add(self): ...\n    class Row:\n        def add(self): ...\n"
            ),
            "tests/test_cart.py": "RATE = 1\nasync def test_add(): ...\n",
        }
    )

    assert [(each.id, each.kind, each.parent, each.lines, each.is_test) for each in index.symbols] == [
        ("shop", "module", None, (1, 1), False),
        ("shop.cart#2", "function", "shop", (1, 1), False),
        ("shop.cart", "module", None, (1, 9), False),
        ("shop.cart.price", "function", "shop.cart", (2, 2), False),
        ("shop.cart.price#2", "function", "shop.cart", (4, 5), False),
        ("shop.cart.price#2.inner", "function", "shop.cart.price#2", (5, 5), False),
        ("shop.cart.Cart", "class", "shop.cart", (6, 9), False),
        ("shop.cart.Cart.add", "method", "shop.cart.Cart", (7, 7), False),
        ("shop.cart.Cart.Row", "class", "shop.cart.Cart", (8, 9), False),
        ("shop.cart.Cart.Row.add", "method", "shop.cart.Cart.Row", (9, 9), False),
        ("tests.test_cart", "module", None, (1, 2), True),
        ("tests.test_cart.RATE", "variable", "tests.test_cart", (1, 1), True),
        ("tests.test_cart.test_add", "function", "tests.test_cart", (2, 2), True),
    ]


def test_calls_and_imports_name_where_they_stand_and_what_they_mean() -> None:
    index = indexed(
        {
            "shop/__init__.py": "",
            "shop/deep/tax.py": "from ..cart import Cart as C\nimport os.path as p\ndef f():\n    C().add(p.join())\n",
            "shop/cart.py": "",
        }
    )

    path = "shop/deep/tax.py"
    assert index.imports == (
        Import(artifact=path, line=1, module="shop.cart", name="Cart", alias="C"),
        Import(artifact=path, line=2, module="os.path", alias="p"),
    )
    assert sorted((each.line, each.name, each.caller) for each in index.calls) == [
        (4, "C", "shop.deep.tax.f"),
        (4, "add", "shop.deep.tax.f"),
        (4, "join", "shop.deep.tax.f"),
    ]
    assert index.calls[0] == CallSite(
        name=index.calls[0].name, caller="shop.deep.tax.f", artifact=path, line=4
    )


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_indexed(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("def (:\n")
    (tmp_path / "old.py").write_bytes(b"x = '\xe4\xf6'\n")
    (tmp_path / "link.py").symlink_to("good.py")

    code = read_code(tmp_path, gather)

    assert list(code.files) == ["good.py"]
    assert [each.artifact for each in code.unread] == ["bad.py", "link.py", "old.py"]
    assert code.unread[0] == Unread(artifact="bad.py", reason="invalid syntax (line 1)")


def test_only_what_was_asked_for_is_read_but_all_of_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/cart.py").write_text("class Cart: ...\n")
    (tmp_path / "run.py").write_text("from shop.cart import Cart\n")

    code = read_code(tmp_path, gather, only=["run.py", "notes.txt", "run.py", "gone.py"])

    assert list(code.files) == ["run.py"]
    assert [each.artifact for each in code.unread] == ["gone.py"]
    assert code.modules.find("shop.cart", asking="run.py") == "shop/cart"


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_the_files_plays_no_part(order: int) -> None:
    files = {f"m{each}.py": f"import m{9 - each}\ndef f{each}(): m{9 - each}.g()\n" for each in range(10)}

    index = indexed(dict(list(files.items())[::order]))

    assert index == indexed(files)
    assert index.symbols[0] == Symbol(id="m0", kind="module", artifact="m0.py", lines=(1, 2))

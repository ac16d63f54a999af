"""What files offer to other code."""

from pathlib import Path
from textwrap import dedent

import pytest

from cogworks.domain_services.checking import Interface
from cogworks.services.python.code.gathering import gather
from cogworks.services.python.code.offers import MAX_VALUE_CHARS, Offer, offer_of
from cogworks.services.python.code.repository import read_code


def offered(folder: Path, text: str, path: str = "shop/cart.py") -> Offer:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(dedent(text))
    return offer_of(read_code(folder, gather), folder)


TEXT = '''\
    """Carts."""
    from typing import overload
    raise SystemExit("never imported")
    LIMIT: int = 3

    class Cart(Base):
        """What somebody means to buy."""

        owner: str

        def __init__(self, owner: str) -> None:
            self.rows = []

        @property
        def total(self) -> int:
            """In cents."""

        @overload
        def add(self, row: int) -> None: ...
        @overload
        def add(self, row: str) -> None: ...
        def add(self, row, *, times=1): ...

        @classmethod
        async def make(cls, /, *owners: str) -> "Cart": ...

        def _own(self): ...

    def _hidden(): ...
    '''


def test_names_come_with_signature_documentation_and_line(tmp_path: Path) -> None:
    offer = offered(tmp_path, TEXT)

    def interface(name: str, kind: str, line: int, signature: str, documentation: str = "") -> Interface:
        return Interface(
            name=name,
            kind=kind,
            artifact="shop/cart.py",
            line=line,
            signature=signature,
            documentation=documentation,
        )

    assert offer == Offer(
        (
            interface("shop.cart.LIMIT", "attribute", 4, "LIMIT: int = 3"),
            interface("shop.cart.Cart", "class", 6, "class Cart(Base)", "What somebody means to buy."),
            interface("shop.cart.Cart.owner", "attribute", 9, "owner: str"),
            interface("shop.cart.Cart.__init__", "method", 11, "def __init__(owner: str) -> None"),
            interface("shop.cart.Cart.rows", "attribute", 12, "rows = []"),
            interface("shop.cart.Cart.total", "property", 15, "total: int", "In cents."),
            interface(
                "shop.cart.Cart.add",
                "method",
                22,
                "def add(row: int) -> None\ndef add(row: str) -> None\ndef add(row, *, times=1)",
            ),
            interface(
                "shop.cart.Cart.make", "method", 24, "@classmethod async def make(*owners: str) -> Cart"
            ),
        ),
        (),
        (),
    )


def test_all_decides_what_is_public_and_names_what_is_passed_on(tmp_path: Path) -> None:
    offer = offered(
        tmp_path,
        "from .cart import Cart\n__all__ = ['Cart', '_f']\ndef _f(): ...\ndef g(): ...\n",
        "shop/__init__.py",
    )

    assert [(each.name, each.kind, each.signature) for each in offer.interfaces] == [
        ("shop.Cart", "alias", "Cart = shop.cart.Cart"),
        ("shop._f", "function", "def _f()"),
    ]


def test_a_long_value_is_left_out(tmp_path: Path) -> None:
    offer = offered(tmp_path, f"SHORT = '{'x' * 10}'\nLONG: str = '{'x' * MAX_VALUE_CHARS}'\n")

    assert [each.signature for each in offer.interfaces] == ["SHORT = 'xxxxxxxxxx'", "LONG: str"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from os import *\n", "takes every name of 'os'; which ones is not listed here"),
        ("__all__ = [*names]\n", "computes `__all__`, so only a part of it is known"),
        ("def __getattr__(name): ...\n", "makes up names in `__getattr__`, which nobody can list"),
    ],
)
def test_what_cannot_be_listed_is_said(text: str, reason: str, tmp_path: Path) -> None:
    offer = offered(tmp_path, text)

    assert [each.message for each in offer.doubts] == [reason]


@pytest.mark.parametrize("value", ["+".join(["1"] * 900), "f" + ".a()" * 900, "[" * 90 + "]" * 90])
def test_a_value_that_is_nested_deeply_is_left_out(value: str, tmp_path: Path) -> None:
    assert [each.signature for each in offered(tmp_path, f"x = {value}\n").interfaces] == ["x"]

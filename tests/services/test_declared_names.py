"""Names that were agreed on are declared, or missed by name."""

import pytest

from cogworks.services.python.validating import absent
from tests.services.asking import diagnostic

SOURCES = {
    "src/shop/cart.py": (
        b"LIMIT = 3\nname: str\nclass Cart:\n    size: int = 0\n    def add(self): ...\nasync def total(): ...\n"
    ),
    "src/shop/__init__.py": b"from shop.cart import Cart as Basket\n",
    "bad.py": b"def f(:\n",
    "nul.py": b"\0",
}


@pytest.mark.parametrize(
    "name",
    [
        "Cart",
        "Cart.add",
        "Cart.size",
        "total",
        "LIMIT",
        "name",
        "shop.cart.Cart.add",
        "cart.total",
        "shop.Basket",
    ],
)
def test_a_name_is_declared_by_itself_or_behind_its_module(name: str) -> None:
    assert absent([name], SOURCES) == ()


@pytest.mark.parametrize("name", ["add", "shop.Cart", "Cart.remove", "f", "hop.cart.Cart"])
def test_another_name_is_missed(name: str) -> None:
    words = f"{name!r} is expected and none of the files declares it"

    assert absent([name, name], SOURCES) == (diagnostic("bad.py", "blocking", "interface_mismatch", words),)

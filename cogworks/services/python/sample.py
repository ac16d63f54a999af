"""A small Python repository for the conformance suite: one module, its tests, one file that is broken."""

ARTIFACTS = ("shop.py", "test_shop.py")
BROKEN = "broken.py"
FAILING_TEST = "failing_shop.py"
FILES = {
    "shop.py": (
        '"""Prices."""\n\n\nclass Cart:\n    """What somebody means to buy."""\n\n'
        "    def __init__(self) -> None:\n        self.prices: list[int] = []\n\n"
        "    def add(self, price: int) -> None:\n        self.prices.append(price)\n\n\n"
        "def total(cart: Cart) -> int:\n    return sum(cart.prices)\n"
    ),
    "test_shop.py": (
        "from shop import Cart, total\n\n\ndef test_an_empty_cart_costs_nothing() -> None:\n"
        "    assert total(Cart()) == 0\n\n\ndef test_prices_are_summed() -> None:\n"
        "    cart = Cart()\n    cart.add(2)\n    assert total(cart) == 2\n"
    ),
    "failing_shop.py": (
        "from shop import Cart, total\n\n\ndef test_an_empty_cart_costs_something() -> None:\n"
        "    assert total(Cart()) == 1\n"
    ),
    "broken.py": "def total(:\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
}

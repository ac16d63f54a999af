"""Which module uses which."""

from cogworks.domain_services.checking import DependencyGraph, Unread
from cogworks.services.python.operations import dependencies_of
from tests.services.code.samples import code_of


def test_modules_of_the_repository_and_others_are_told_apart() -> None:
    graph = dependencies_of(
        code_of(
            {
                "src/shop/__init__.py": "from .cart import Cart\nfrom shop import tax as t\n",
                "src/shop/cart.py": "import os.path, requests\nfrom . import tax\ndef f():\n    import shop\n",
                "src/shop/tax.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop.cart import *\n",
                "space/one.py": "import space.two\nfrom space import two as other\nfrom ...beyond import x\n",
                "space/two.py": "from space import gone\n",
                "bad.py": "def (\n",
            }
        )
    )

    assert graph == DependencyGraph(
        modules={
            "shop": "src/shop/__init__.py",
            "shop.cart": "src/shop/cart.py",
            "shop.tax": "src/shop/tax.py",
            "space.one": "space/one.py",
            "space.two": "space/two.py",
        },
        uses={
            "shop": ("shop.cart", "shop.tax"),
            "shop.cart": ("shop", "shop.tax"),
            "shop.tax": ("shop.cart",),
            "space.one": ("space.two",),
            "space.two": (),
        },
        external={
            "shop.cart": ("os.path", "requests"),
            "shop.tax": ("typing",),
            "space.one": ("...beyond",),
            "space.two": ("space",),
        },
        unread=(Unread(artifact="bad.py", reason="invalid syntax (line 1)"),),
    )


def test_what_was_not_asked_for_is_named_but_not_followed() -> None:
    files = {"a.py": "import b\n", "b.py": "import c\n", "c.py": ""}
    code = code_of({"a.py": files["a.py"]})
    asked = type(code)(code.files, {}, others=list(files))

    graph = dependencies_of(asked)

    assert (graph.modules, graph.uses) == ({"a": "a.py", "b": "b.py"}, {"a": ("b",)})

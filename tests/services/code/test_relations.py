"""Which definition relates to which."""

import pytest

from cogworks.services.call_graph import Relation
from cogworks.services.python.code.relations import MAX_NAMESAKES, relations_of
from tests.services.code.samples import code_of

SHOP = {
    "shop/__init__.py": "from .cart import Cart\nfrom shop.tools import *\n",
    "shop/tools.py": "def round_up(x): ...\ndef _hidden(): ...\n",
    "shop/cart.py": """\
        from __future__ import annotations
        import shop.tools as t
        from . import tools

        class Row:
            def price(self): ...

        class Base:
            def __init__(self): ...
            def log(self): self.total()

        class Cart(Base):
            def __init__(self):
                super().__init__()
                self.row = Row()
            def total(self):
                return t.round_up(self.row.price())
            @classmethod
            def make(cls) -> Cart:
                return cls()
            @property
            def first(self) -> Row:
                return self.row
        """,
    "app.py": """\
        import shop
        from shop import Cart as Basket, round_up

        def main(given: Basket):
            basket = Basket()
            alias = basket
            alias.total()
            shop.cart.Cart.make().total()
            given.first.price()
            round_up(len("x"))
            "".join([])
            print(unknown.total())
        """,
    "tests/test_app.py": "import app\ndef helper(): ...\ndef test_main():\n    helper()\n    app.main(None)\n",
}


def related(files: dict[str, str], *kinds: str) -> list[tuple[str, str, str, float]]:
    return [
        (each.source, each.kind, each.target, weight)
        for each, weight in relations_of(code_of(files)).items()
        if not kinds or each.kind in kinds
    ]


def test_the_relations_of_a_small_repository_are_known_one_by_one() -> None:
    assert related(SHOP) == [
        ("app", "imports", "shop", 1.0),
        ("app", "imports", "shop.cart.Cart", 1.0),
        ("app", "imports", "shop.tools.round_up", 1.0),
        ("app.main", "calls", "shop.cart.Cart", 1.0),
        ("app.main", "calls", "shop.cart.Cart.__init__", 1.0),
        ("app.main", "calls", "shop.cart.Cart.make", 1.0),
        ("app.main", "calls", "shop.cart.Cart.total", 1.0),
        ("app.main", "calls", "shop.cart.Row.price", 1.0),
        ("app.main", "calls", "shop.tools.round_up", 1.0),
        ("shop", "imports", "shop.cart.Cart", 1.0),
        ("shop", "imports", "shop.tools", 1.0),
        ("shop.cart", "imports", "shop.tools", 1.0),
        ("shop.cart.Base.log", "calls", "shop.cart.Cart.total", 1.0),
        ("shop.cart.Cart", "inherits", "shop.cart.Base", 1.0),
        ("shop.cart.Cart.__init__", "calls", "shop.cart.Base.__init__", 1.0),
        ("shop.cart.Cart.__init__", "calls", "shop.cart.Row", 1.0),
        ("shop.cart.Cart.make", "calls", "shop.cart.Cart", 1.0),
        ("shop.cart.Cart.make", "calls", "shop.cart.Cart.__init__", 1.0),
        ("shop.cart.Cart.total", "calls", "shop.cart.Row.price", 1.0),
        ("shop.cart.Cart.total", "calls", "shop.tools.round_up", 1.0),
        ("tests.test_app", "imports", "app", 1.0),
        ("tests.test_app.test_main", "tests", "app.main", 1.0),
        ("tests.test_app.test_main", "calls", "tests.test_app.helper", 1.0),
    ]


@pytest.mark.parametrize(
    ("files", "target"),
    [
        ({"a/b.py": "def f(): ...", "m.py": "import a.b as c\nc.f()"}, "a.b.f"),
        ({"a/b.py": "def f(): ...", "m.py": "import a.b\na.b.f()"}, "a.b.f"),
        ({"a/b.py": "def f(): ...", "m.py": "from a.b import f as g\ng()"}, "a.b.f"),
        ({"p/__init__.py": "", "p/a.py": "def f(): ...", "p/m.py": "from .a import f\nf()"}, "p.a.f"),
        (
            {
                "p/__init__.py": "from .q import f",
                "p/q/__init__.py": "from .r import f",
                "p/q/r.py": "def f(): ...",
                "m.py": "import p\np.f()",
            },
            "p.q.r.f",
        ),
        ({"a.py": "__all__ = ['_f']\ndef _f(): ...", "m.py": "from a import *\n_f()"}, "a._f"),
        ({"m.py": "def f(): ...\ng = f\nh = g\nh()"}, "m.f"),
        ({"m.py": "class C:\n    def f(self): ...\nc = C()\nc.f()"}, "m.C.f"),
        ({"m.py": "class C:\n    def f(self): ...\nclass D:\n    c = C()\nD().c.f()"}, "m.C.f"),
        ({"m.py": "class C:\n    def f(self): ...\nclass D(C): ...\nclass E(D): ...\nE().f()"}, "m.C.f"),
        (
            {"m.py": "class C:\n    def f(self): ...\nclass D(C):\n    def f(self):\n        super().f()"},
            "m.C.f",
        ),
        ({"m.py": "class C:\n    def f(self): ...\nwith C() as c:\n    c.f()"}, "m.C.f"),
        ({"m.py": "class C:\n    def f(self): ...\ndef g() -> 'C | None': ...\ng().f()"}, "m.C.f"),
        ({"m.py": "class C:\n    def __call__(self): ...\nc = C()\nc()"}, "m.C.__call__"),
        ({"m.py": "class C:\n    def f(self): ...\n    def g(self):\n        def h(): self.f()"}, "m.C.f"),
        ({"m.py": "def deco(f): ...\n@deco\ndef g(): ..."}, "m.deco"),
        (
            {"m.py": "class C(Generic[T]):\n    def f(self): ...\nclass D(C[int]): ...\nD().f()"},
            "m.C.f",
        ),
        ({"m.py": "def f():\n    def g(): ...\n    g()"}, "m.f.g"),
    ],
    ids=[
        "alias",
        "dotted",
        "from-as",
        "relative",
        "re-exported",
        "star-all",
        "renamed",
        "local-object",
        "class-attribute",
        "inherited",
        "super",
        "with",
        "annotated-result",
        "callable-object",
        "closure",
        "decorator",
        "generic-base",
        "nested",
    ],
)
def test_a_call_is_followed_to_its_definition(files: dict[str, str], target: str) -> None:
    found = {
        (each.target, weight) for each, weight in relations_of(code_of(files)).items() if each.kind == "calls"
    }

    assert (target, 1.0) in found


@pytest.mark.parametrize(
    "text",
    [
        "def add(): ...\ndef f(add): add()",
        "def f():\n    add = other()\n    add()\ndef add(): ...",
        "import os\nclass C:\n    def join(self): ...\nos.path.join()",
        "class C:\n    def join(self): ...\n', '.join([])\nf'{1}'.join([])",
        "class C:\n    def add(self): ...\nadd()",
        "import json as C\nclass D:\n    def dumps(self): ...\nC.dumps()",
        "import other\nother.gone()",
        "a = b\nb = a\na()\na.f()",
        "class A(B): ...\nclass B(A): ...\nA().f()",
    ],
    ids=[
        "parameter",
        "local",
        "library",
        "literal",
        "method-by-plain-name",
        "foreign-alias",
        "foreign",
        "circle",
        "bases-in-a-circle",
    ],
)
def test_what_is_known_to_be_something_else_is_no_relation(text: str) -> None:
    assert [
        each for each in related({"m.py": text}, "calls") if each[2].endswith(("add", "join", "dumps", "f"))
    ] == []


def test_a_call_on_something_unknown_may_mean_every_method_of_that_name() -> None:
    text = "".join(f"class C{n}:\n    def save(self): ...\n" for n in range(4)) + "def f(x):\n    x.save()\n"

    found = related({"m.py": text}, "calls")

    assert found == [("m.f", "calls", f"m.C{n}.save", 0.25) for n in range(4)]


def test_a_name_that_could_mean_too_much_means_nothing() -> None:
    classes = "".join(f"class C{n}:\n    def save(self): ...\n" for n in range(MAX_NAMESAKES + 1))

    assert related({"m.py": classes + "def f(x):\n    x.save()\n"}, "calls") == []


def test_two_known_values_share_the_weight() -> None:
    text = (
        "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\nx = A()\nif x:\n    x = B()\nx.f()\n"
    )

    found = relations_of(code_of({"m.py": text}))

    assert found[Relation("m", "m.A.f", "calls")] == found[Relation("m", "m.B.f", "calls")] == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"a{n + 1} = a{n}" for n in range(3000)) + "\na3000()",
        "\n".join(f"class C{n + 1}(C{n}): ..." for n in range(1000)) + "\nC1000().f()",
        "from m import *\nfrom m import x\nx()",
        "x = x()\ndef f() -> 'x()': ...\nf().g()",
        "x: Self\nx.f()\ndef g() -> Self: ...\ng().f()",
    ],
    ids=["aliases", "bases", "itself", "nonsense", "nobody"],
)
def test_names_without_end_do_no_harm(text: str) -> None:
    related({"m.py": text})

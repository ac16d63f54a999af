"""Which module a file is, and which file an import means."""

import pytest

from cogworks.services.python.code.facts import MODULE, Imported
from cogworks.services.python.code.modules import Modules


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["shop/__init__.py", "shop/cart.py"], {"shop/__init__.py": "shop", "shop/cart.py": "shop.cart"}),
        (
            ["src/shop/__init__.py", "src/shop/cart.py"],
            {"src/shop/__init__.py": "shop", "src/shop/cart.py": "shop.cart"},
        ),
        (["src/space/shop/__init__.py"], {"src/space/shop/__init__.py": "space.shop"}),
        (["parts/a/src/shop/cart.py"], {"parts/a/src/shop/cart.py": "shop.cart"}),
        (["backend/app/__init__.py"], {"backend/app/__init__.py": "app"}),
        (["scripts/run.py", "setup.py"], {"scripts/run.py": "scripts.run", "setup.py": "setup"}),
        (["src/__init__.py", "src/a.py"], {"src/__init__.py": "src", "src/a.py": "src.a"}),
        (["__init__.py", "a.py"], {"__init__.py": "__init__", "a.py": "a"}),
        (
            ["a/__init__.py", "a.py", "a.pyi", "src/a.py"],
            {"a/__init__.py": "a", "a.py": "a#2", "src/a.py": "a#3", "a.pyi": "a#4"},
        ),
    ],
    ids=[
        "package",
        "src",
        "namespace",
        "several-src",
        "below",
        "loose",
        "src-is-a-package",
        "root",
        "same-name",
    ],
)
def test_a_file_has_one_module_name(paths: list[str], names: dict[str, str]) -> None:
    assert Modules(paths).names == names
    assert Modules(reversed(paths)).names == names


FILES = [
    "src/shop/__init__.py",
    "src/shop/cart.py",
    "src/shop/deep/__init__.py",
    "src/shop/deep/tax.py",
    "space/parts/one.py",
    "tests/helpers.py",
    "tests/unit/test_cart.py",
    "other/src/shop/cart.py",
    "json/own.py",
]


@pytest.mark.parametrize(
    ("name", "asking", "stem"),
    [
        ("shop.cart", "tests/unit/test_cart.py", "other/src/shop/cart"),
        ("shop.deep", "tests/helpers.py", "src/shop/deep"),
        ("helpers", "tests/unit/test_cart.py", "tests/helpers"),
        ("helpers", "src/shop/cart.py", None),
        ("space.parts.one", "src/shop/cart.py", "space/parts/one"),
        ("space.parts", "src/shop/cart.py", "space/parts"),
        ("cart", "src/shop/deep/tax.py", None),
        ("json", "src/shop/cart.py", None),
        ("requests", "src/shop/cart.py", None),
    ],
    ids=[
        "first-source",
        "package",
        "beside",
        "not-from-afar",
        "namespace-file",
        "namespace",
        "package-is-closed",
        "library",
        "foreign",
    ],
)
def test_an_absolute_import_means_what_a_running_program_would_find(
    name: str, asking: str, stem: str | None
) -> None:
    assert Modules(FILES).find(name, asking=asking) == stem


@pytest.mark.parametrize(
    ("level", "module", "asking", "spelled"),
    [
        (1, "cart", "src/shop/__init__.py", "shop.cart#2"),
        (2, "cart", "src/shop/deep/tax.py", "shop.cart#2"),
        (2, "", "src/shop/deep/tax.py", "shop"),
        (1, "", "space/parts/one.py", "space.parts"),
        (9, "cart", "src/shop/deep/tax.py", ".........cart"),
        (1, "gone", "src/shop/cart.py", ".gone"),
        (0, "shop.deep.tax", "tests/helpers.py", "shop.deep.tax"),
        (0, "os.path", "tests/helpers.py", "os.path"),
    ],
)
def test_a_relative_import_is_spelled_out(level: int, module: str, asking: str, spelled: str) -> None:
    imported = Imported(1, MODULE, level, module, "x", None)

    assert Modules(FILES).spelled(imported, asking=asking) == spelled

"""Which modules a file imports, and where they come from."""

import pytest

from cogworks.services.python.distributions import Catalogue
from cogworks.services.python.imports import Imported, imports_in, is_standard


def imported(module: str, line: int = 1, *, optional: bool = False) -> Imported:
    return Imported(module=module, line=line, is_optional=optional)


def test_absolute_imports_are_found_wherever_they_stand() -> None:
    source = b"""import a, b.c as d
from e.f import g
from . import h
from .i import j
def k():
    import l
    class M:
        async def n(self):
            with open('x'):
                from o import p
match 1:
    case 1:
        import q
"""

    assert imports_in(source) == (
        imported("a"),
        imported("b.c"),
        imported("e.f", 2),
        imported("l", 6),
        imported("o", 10),
        imported("q", 13),
    )


@pytest.mark.parametrize(
    ("text", "optional"),
    [
        ("try:\n    import a\nexcept ImportError:\n    a = None\n", True),
        ("try:\n    import a\nexcept (ValueError, ModuleNotFoundError):\n    a = None\n", True),
        ("try:\n    import a\nexcept:\n    a = None\n", True),
        ("try:\n    pass\nexcept ImportError:\n    import a\n", True),
        ("try:\n    import a\nexcept ValueError:\n    pass\n", False),
        ("try:\n    import a\nfinally:\n    pass\n", False),
        ("if typing.TYPE_CHECKING:\n    import a\n", True),
        ("if x:\n    import a\n", False),
    ],
    ids=["import-error", "tuple", "bare", "fallback", "other-error", "finally", "types", "if"],
)
def test_what_the_code_can_do_without_is_optional(text: str, optional: bool) -> None:
    (found,) = imports_in(text.encode())

    assert (found.module, found.is_optional) == ("a", optional)


def test_python_s_own_modules_are_known() -> None:
    assert [is_standard(imported(each)) for each in ("os.path", "__future__", "__main__", "requests")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("distribution", "module", "expected"),
    [
        ("pyyaml", "yaml", True),
        ("installed-one", "first", True),
        ("requests", "requests", True),
        ("google-cloud-storage", "google.cloud.storage", True),
        ("python-foo", "foo", True),
        ("my-tool", "my_tool", True),
        ("requests", "httpx", False),
        ("request", "requests", False),
    ],
    ids=["table", "installed", "plain", "namespace", "prefix", "signs", "other", "shorter"],
)
def test_which_distribution_may_bring_a_module(distribution: str, module: str, expected: bool) -> None:
    catalogue = Catalogue({"first": ["Installed.One"]})

    assert catalogue.may_bring(distribution, module) is expected


def test_what_is_known_of_a_distribution() -> None:
    catalogue = Catalogue({"first": ["Installed.One"]})
    names = ("installed-one", "pyyaml", "numpy", "types-requests", "pytest-cov", "obscure")

    assert [catalogue.is_known(name) for name in names] == [True, True, True, True, True, False]
    assert catalogue.bringing("PIL") == {"pillow"}


def test_this_interpreter_s_own_packages_are_in_the_catalogue() -> None:
    assert "pydantic" in Catalogue().bringing("pydantic")

"""Which files below a folder of tests a runner comes to load, so that what they import matters."""

import pytest

from cogworks.domain_services.messages import RepositorySettings
from cogworks.services.python.recipe.loaded import loaded_tests
from cogworks.services.python.recipe.reading import read_recipe

PROJECT = '[project]\nname = "shop"\n'


@pytest.mark.parametrize(
    ("statement", "helper"),
    [
        ("from helpers import checked", "tests/helpers.py"),
        ("import tests.helpers", "tests/helpers.py"),
        ("from tests import (\n    helpers,\n    others,\n)", "tests/helpers.py"),
        ("from .helpers import checked", "tests/unit/helpers.py"),
        ("    from ..helpers import checked", "tests/helpers.py"),
        ("from . import helpers", "tests/unit/helpers/__init__.py"),
        ("pytest_plugins = ['tests.helpers']", "tests/helpers.py"),
    ],
)
def test_what_a_test_imports_is_loaded_with_it(statement: str, helper: str) -> None:
    tests = {"tests/unit/test_cart.py": f"{statement}\n", helper: "import inner\n", "tests/inner.py": ""}

    assert loaded_tests(tests) == set(tests)


def test_files_that_tests_only_read_are_not_loaded() -> None:
    tests = {
        "tests/conftest.py": "",
        "tests/unittest_lint.py": "import pathlib\n",
        "tests/functional/import_error.py": "import missing\n",
        "tests/roots/extension/target.py": "import missing\n",
    }

    assert loaded_tests(tests) == {"tests/conftest.py", "tests/unittest_lint.py"}


def test_where_no_file_has_the_name_of_a_test_any_may_be_one() -> None:
    files = {"pyproject.toml": PROJECT, "tests/cart.py": "import lost\n", "tests/prices.py": ""}

    assert [each.module for each in read_recipe(files, RepositorySettings()).undeclared] == ["lost"]


def test_imports_of_files_that_tests_only_read_are_no_notes() -> None:
    data = "import missing\ntry:\n    import faster\nexcept ImportError:\n    pass\n"
    test = "def test_a():\n    import lost\n    try:\n        import quick\n    except ImportError:\n        pass\n"
    files = {"pyproject.toml": PROJECT, "tests/data/linted.py": data, "tests/unit/deep/test_a.py": test}

    recipe = read_recipe(files, RepositorySettings())

    assert [each.module for each in recipe.undeclared] == ["lost", "quick"]


def test_a_note_names_the_place_that_a_runner_loads() -> None:
    files = {
        "pyproject.toml": PROJECT,
        "tests/data.py": "import lost\ntry:\n    import faster\nexcept ImportError:\n    pass\n",
        "tests/unit/test_a.py": "import lost\ntry:\n    import faster\nexcept ImportError:\n    pass\n",
    }

    recipe = read_recipe(files, RepositorySettings())

    assert [each.place for each in recipe.undeclared] == [
        "tests/unit/test_a.py, line 1",
        "tests/unit/test_a.py, line 3",
    ]


def test_what_any_version_of_python_brings_is_no_note() -> None:
    tried = ("annotationlib", "_testcapi", "compression.zstd", "BaseHTTPServer", "xmlrpclib")
    optional = "".join(f"try:\n    import {name}\nexcept ImportError:\n    pass\n" for name in tried)
    test = f"import pytest\nimport compression\npytest.importorskip('annotationlib')\n{optional}"

    recipe = read_recipe({"pyproject.toml": PROJECT, "tests/test_a.py": test}, RepositorySettings())

    assert recipe.undeclared == ()

"""The recipe from each way in which a repository may say what its tests need."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from cogworks.domain_services.messages import RepositorySettings
from cogworks.services.python.recipe.pyproject import translated
from cogworks.services.python.recipe.reading import read_recipe
from cogworks.services.python.recipe.result import (
    Recipe,
    Undeclared,
    configuration,
    places,
    undeclared_in_words,
)
from cogworks.services.python.recipe.tox import expanded
from tests.exhaustive import examples

PROJECT = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "shop"\ndependencies = ["attrs"]\n'
EXTRAS = "[project.optional-dependencies]\n"


def recipe(files: Mapping[str, str], **settings: object) -> Recipe:
    return read_recipe(files, RepositorySettings.model_validate(settings), python="3.12")


TOX = """\
[tox]
envlist = lint, py{310,311,312}-django{42,50}-{cov,nocov}
[base]
deps =
    pytest>=8
[testenv]
extras = test
deps =
    {[base]deps}
    -r requirements/extra.txt
    django42: Django>=4.2,<4.3
    django50: Django>=5.0,<5.1
    {django42,django50}: in-braces
    {py310,django42}: in-other-braces
    !cov: only-without-cov
    cov: only-with-cov
    py310: backport
    black; python_version < "3"
setenv =
    SHOP_MODE = test
    PYTHONPATH = src
    django50: SHOP_DJANGO = 5
commands =
    cov: coverage run -m pytest {posargs:tests} --doctest-modules
    !cov: pytest {posargs:tests} --doctest-modules -v -W error
"""


def test_tox_factors_are_resolved_for_a_plain_environment_of_this_python() -> None:
    found = recipe(
        {
            "tox.ini": TOX,
            "requirements/extra.txt": "moto\n",
            "pyproject.toml": f'{PROJECT}{EXTRAS}test = ["hypothesis"]\n',
        }
    )

    assert found.requirements == (
        "Django<5.1,>=5.0", "attrs", 'black; python_version < "3"', "hypothesis", "in-braces", "moto", "only-without-cov", "pytest>=8",
    )  # fmt: skip
    assert (found.extras, found.files) == (("test",), ("requirements/extra.txt",))
    assert found.variables == {"SHOP_MODE": "test", "SHOP_DJANGO": "5"}
    assert found.command == ("pytest", "--doctest-modules", "-W", "error")
    assert found.paths == ("tests",)
    assert {each.source for each in found.choices} == {"tox.ini [testenv]"}


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": '[tool.tox]\nenv_list = ["3.12", "lint"]\n[tool.tox.env_run_base]\ndeps = ["b"]\ndependency_groups = ["t"]\n'
         'commands = [["pytest", "-W", "error", {replace = "posargs", default = ["tests"], extend = true}]]\n[dependency-groups]\nt = ["c"]\n'},
        {"pyproject.toml": '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps = b\ndependency_groups = t\ncommands = pytest -W error tests\n"""\n[dependency-groups]\nt = ["c"]\n'},
        {"setup.cfg": "[tox:tox]\nenvlist = py312\n[testenv]\ndeps = b\ndependency_groups = t\ncommands = python -m pytest -W error tests\n", "pyproject.toml": '[dependency-groups]\nt = ["c"]\n'},
        {"tox.ini": "[tox]\nenvlist = tests\n[testenv:tests]\ndeps = b\ndependency_groups = t\ncommands = {envpython} -X dev -m pytest -W error tests\n", "pyproject.toml": '[dependency-groups]\nt = ["c"]\n'},
    ],
    ids=["toml", "legacy", "setup.cfg", "tests"],
)  # fmt: skip
def test_tox_is_read_wherever_it_is_configured(files: dict[str, str]) -> None:
    found = recipe(files)

    assert found.requirements == ("b", "c")
    assert (found.packages, found.groups, found.command) == (("b",), ("t",), ("pytest", "-W", "error"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("py{311,312}-{a,b}, lint", ["py311-a", "py311-b", "py312-a", "py312-b", "lint"]),
        ("py3{9-11}\ndocs # why", ["py39", "py310", "py311", "docs"]),
        ("py312{,-x}", ["py312", "py312-x"]),
        ("{a,b}{c,d}{e,f}" * 12, None),
    ],
)
def test_lists_of_tox_environments_are_expanded(text: str, names: list[str] | None) -> None:
    found = expanded(text)

    assert found == names if names is not None else len(found) <= 2_001


NOX = """\
import nox
PYPROJECT = nox.project.load_toml("pyproject.toml")
BASE = ["pytest", "betamax>=0.9"]

def install(session, *more):
    session.install("-r", "requirements/nox.txt")

@nox.session
def lint(session):
    session.install("ruff")

@nox.session(python=["3.11", "3.12"], name="tests")
@nox.parametrize("django", ["4.2", "5.0"])
def unit(session: nox.Session, django: str) -> None:
    session.install("-e", ".[extra]", *BASE)
    session.install(f"django~={django}")
    session.install(*nox.project.dependency_groups(PYPROJECT, "t"))
    install(session)
    session.run("coverage", "run", "-m", "pytest", "-p", "no:randomly", *session.posargs, env={"SHOP": "1"})
"""


def test_nox_is_read_as_a_syntax_tree() -> None:
    text = f'{PROJECT}{EXTRAS}extra = ["redis"]\n[dependency-groups]\nt = ["time-machine"]\n'

    found = recipe({"noxfile.py": NOX, "requirements/nox.txt": "faker", "pyproject.toml": text})

    assert found.requirements == (
        "attrs", "betamax>=0.9", "django~=5.0", "faker", "pytest", "redis", "time-machine",
    )  # fmt: skip
    assert (found.command, found.variables) == (("pytest", "-p", "no:randomly"), {"SHOP": "1"})
    assert found.choices[0].source == "noxfile.py, line 14, session 'tests'"


def test_a_noxfile_is_never_run() -> None:
    hostile = "import os\nos.abort()\nimport nox\n@nox.session\ndef tests(session): session.install('b')\n"

    assert recipe({"noxfile.py": hostile}).requirements == ("b",)


@pytest.mark.parametrize(
    ("text", "requirements", "command"),
    [
        (
            '[tool.hatch.envs.default]\ndependencies = ["pytest", "b"]\n[tool.hatch.envs.default.scripts]\ntest = "pytest -W error {args:tests}"\n',
            ("attrs", "b", "pytest"),
            ("pytest", "-W", "error"),
        ),
        (
            ('[tool.hatch.envs.default]\ndependencies = ["a"]\n[tool.hatch.envs.test]\nextra-dependencies = ["b"]\nfeatures = ["x"]\n[[tool.hatch.envs.test.matrix]]\npython = ["3.12"]\n'
            f'[tool.hatch.envs.test.scripts]\ncov = "pytest --cov"\ntest = ["cov"]\n{EXTRAS}x = ["c"]\n'),
            ("a", "attrs", "b", "c", "pytest-cov"),
            (),
        ),
        ('[tool.hatch.envs.hatch-test]\nextra-dependencies = ["b"]\n', ("attrs", "b", "pytest-mock"), ()),
    ],
    ids=["default", "matrix", "hatch-test"],
)  # fmt: skip
def test_hatch_says_what_tests_need(
    text: str, requirements: tuple[str, ...], command: tuple[str, ...]
) -> None:
    found = recipe({"pyproject.toml": PROJECT + text})

    # What only reports on the run is no part of the command, and its plugin no part of what the tests need.
    assert set(found.requirements) - {"pytest-cov"} == set(requirements) - {"pytest-cov"}
    assert found.command == command


POETRY = """\
[tool.poetry]
name = "shop"
[tool.poetry.dependencies]
python = "^3.11"
attrs = "^23.1"
six = "*"
redis = {version = "~5.0.1", optional = true, extras = ["hiredis"]}
old = [{version = "1.2", python = "<3.12"}, {version = ">=2,<3", markers = "sys_platform == 'linux'"}]
mine = {git = "https://evil.example/mine.git"}
[tool.poetry.extras]
cache = ["redis"]
[tool.poetry.group.test.dependencies]
pytest = "^8"
[tool.poetry.group.docs]
optional = true
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""


def test_poetry_s_versions_become_specifiers() -> None:
    found = recipe({"pyproject.toml": POETRY, "tests/test_a.py": "import redis\n"})

    assert found.requirements == (
        "attrs<24,>=23.1", 'old<3,>=2; sys_platform == "linux"', 'old==1.2; python_full_version < "3.12"', "pytest<9,>=8",
        "redis[hiredis]<5.1,>=5.0.1", "six",
    )  # fmt: skip
    assert (found.requires_python, found.extras, found.groups) == ("<4,>=3.11", ("cache",), ("test",))
    assert "'mine' names an address or a path" in found.left_out[0]


@pytest.mark.parametrize(
    ("poetry", "specifier"),
    [
        ("^1.2.3", ">=1.2.3,<2"), ("^0.2.3", ">=0.2.3,<0.3"), ("^0.0.3", ">=0.0.3,<0.0.4"), ("^0.0", ">=0.0,<0.1"), ("^0", ">=0,<1"),
        ("~1.2.3", ">=1.2.3,<1.3"), ("~1.2", ">=1.2,<1.3"), ("~1", ">=1,<2"), ("*", ""), ("1.2.*", "==1.2.*"), ("1.2.3", "==1.2.3"),
        (">=1,<2", ">=1,<2"), (">=1 <2", ">=1,<2"), ("^1.2 || ^2.0", ">=1.2,<3"), ("~=1.4", "~=1.4"), ("!=1.3", "!=1.3"),
    ],
)  # fmt: skip
def test_carets_and_tildes_mean_what_poetry_means(poetry: str, specifier: str) -> None:
    assert SpecifierSet(translated(poetry)) == SpecifierSet(specifier)


def test_pdm_and_uv_have_groups_of_their_own() -> None:
    pdm = recipe(
        {
            "pyproject.toml": PROJECT
            + '[tool.pdm.dev-dependencies]\ntest = ["b", "-e file:///x"]\nlint = ["c"]\n'
        }
    )
    uv = recipe({"pyproject.toml": PROJECT + '[tool.uv]\ndev-dependencies = ["b"]\n'})

    assert (pdm.requirements, pdm.groups) == (("attrs", "b"), ("test",))
    assert (uv.requirements, uv.groups) == (("attrs", "b"), ("dev",))


SETUP = """\
import os
from setuptools import setup
BASE = ["attrs>=20", 'tomli; python_version < "3.11"']
extras = {"redis": ["redis"], "test": ["pytest"]}
extras["all"] = extras["redis"] + extras["test"]
setup(name="shop", install_requires=BASE, extras_require=extras, tests_require=["mock"], python_requires=">=3.8", version=open("V").read())
"""


def test_the_literals_of_setup_py_are_read() -> None:
    found = recipe({"setup.py": SETUP})

    assert found.requirements == ("attrs>=20", "mock", "pytest", 'tomli; python_version < "3.11"')
    assert (found.extras, found.requires_python, found.project is not None, found.dynamic) == (
        ("test",),
        ">=3.8",
        True,
        (),
    )


def test_what_setup_py_computes_only_a_build_tells() -> None:
    text = "from setuptools import setup\nsetup(name='shop', install_requires=open('r').read().split())\n"

    assert recipe({"setup.py": text}).dynamic == ("dependencies",)
    assert "only a build would tell" in recipe({"setup.py": text}, install="never").left_out[0]


WORKFLOW = """\
name: CI
on: [push]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: pip install ruff && ruff check
  test:
    runs-on: ubuntu-latest
    strategy: {{matrix: {{python: ["3.11", "3.12"]}}}}
    steps:
      - uses: actions/checkout@v4
      - run: |
          python -m pip install --upgrade pip
          {install}
      - name: Tests
        run: {test}
"""


@pytest.mark.parametrize(
    ("install", "test", "requirements", "command"),
    [
        ("pip install -e '.[ci]' pytest-xdist", "pytest -n auto tests", ("attrs", "b", "pytest-xdist"), ()),
        ("uv sync --extra ci --group g --frozen", "uv run --frozen pytest -W error", ("attrs", "b", "c"), ("pytest", "-W", "error")),
        ("poetry install --with g -E ci", "poetry run python -m unittest discover -s tests", ("attrs", "b", "c"), ("python", "-m", "unittest", "discover", "-s", "tests")),
        ("pdm install -G g", "pdm run pytest", ("attrs", "c"), ()),
        ("pip install . -r ci/deps.txt -c ci/limits.txt", "python manage.py test shop --keepdb", ("attrs", "d"), ("python", "manage.py", "test", "shop", "--keepdb")),
        ("pip install --group g", "uv run --with moto --extra ci pytest", ("attrs", "b", "c", "moto"), ()),
    ],
    ids=["pip", "uv", "poetry", "pdm", "files", "uv-run"],
)  # fmt: skip
def test_a_job_of_a_workflow_says_what_it_installs(
    install: str, test: str, requirements: tuple[str, ...], command: tuple[str, ...]
) -> None:
    files = {
        "pyproject.toml": f'{PROJECT}{EXTRAS}ci = ["b"]\n[dependency-groups]\ng = ["c"]\n',
        ".github/workflows/main.yml": WORKFLOW.format(install=install, test=test),
        "ci/deps.txt": "d",
        "ci/limits.txt": "d<3",
    }

    found = recipe(files)

    assert found.requirements == requirements
    assert found.command == command
    assert found.choices[0].source == ".github/workflows/main.yml, job 'test'"
    assert found.constraints == (("d<3",) if "limits" in install else ())


def test_the_first_source_that_says_anything_counts() -> None:
    files = {
        "tox.ini": "[testenv]\ndeps = of-tox\ncommands = make test\n",
        "noxfile.py": NOX,
        "requirements-test.txt": "of-file",
        "pyproject.toml": f'{PROJECT}[dependency-groups]\ntest = ["of-group"]\n',
    }

    assert recipe(files).requirements == ("attrs", "of-tox")
    del files["tox.ini"], files["noxfile.py"]
    assert recipe(files).requirements == ("attrs", "of-file", "of-group")


def test_an_extra_that_only_the_tests_imports_name_is_chosen() -> None:
    text = f'{PROJECT}{EXTRAS}web = ["flask>=3"]\ncache = ["redis"]\ndocs = ["sphinx"]\n'
    files = {
        "pyproject.toml": text,
        "src/shop/__init__.py": "",
        "src/shop/cached.py": "import redis\n",
        "tests/conftest.py": "from flask import Flask\n",
        "tests/test_a.py": "import pytest, lost\nfrom shop import cached\ntry:\n    import sphinx\nexcept ImportError:\n    sphinx = None\n",
    }

    found = recipe(files)

    assert found.extras == ("cache", "web")
    assert found.requirements == ("attrs", "flask>=3", "redis")
    assert "tests/conftest.py, line 1` imports 'flask'" in found.choices[0].why
    assert (found.undeclared[0].module, found.undeclared[0].is_optional) == ("lost", False)


def test_what_several_extras_declare_is_taken_alone() -> None:
    text = f'{PROJECT}{EXTRAS}all = ["redis>=4", "torch"]\nci = ["redis", "tensorflow"]\n'

    found = recipe({"pyproject.toml": text, "tests/test_a.py": "import redis\n"})

    assert (found.extras, found.packages) == ((), ("redis>=4",))


@pytest.mark.parametrize(
    ("files", "plugin"),
    [
        ({"pytest.ini": "[pytest]\naddopts = --cov=shop -n auto\n"}, ("pytest-cov", "pytest-xdist")),
        ({"pyproject.toml": '[tool.pytest.ini_options]\nasyncio_mode = "auto"\ntimeout = 5\n'}, ("pytest-asyncio", "pytest-timeout")),
        ({"pyproject.toml": '[tool.pytest]\naddopts = ["--timeout=4"]\n'}, ("pytest-timeout",)),
        ({"pytest.ini": "[pytest]\naddopts = --mypy-ini-file=a.ini\n"}, ("pytest-mypy-plugins",)),
        ({"setup.cfg": "[tool:pytest]\nDJANGO_SETTINGS_MODULE = shop.settings\n"}, ("pytest-django",)),
        ({"tox.ini": "[pytest]\nrequired_plugins = pytest-mock>=3\n"}, ("pytest-mock>=3",)),
        ({"tests/test_a.py": "import pytest\n@pytest.mark.asyncio\nasync def test_a(mocker): ...\n"}, ("pytest-asyncio", "pytest-mock")),
        ({"tests/test_a.py": "import pytest\n@pytest.fixture\ndef mocker(): ...\ndef test_a(mocker): ...\n"}, ()),
    ],
    ids=["options", "keys", "native", "mypy", "django", "required", "tests", "own-fixture"],
)  # fmt: skip
def test_plugins_that_are_used_and_not_named_are_added(
    files: dict[str, str], plugin: tuple[str, ...]
) -> None:
    found = recipe(files)

    assert found.packages == plugin
    assert all(each.why for each in found.choices)


def test_a_plugin_comes_with_the_version_that_is_declared_anywhere() -> None:
    text = '[tool.pytest.ini_options]\nasyncio_mode = "auto"\n[dependency-groups]\ntest = []\nother = ["pytest-asyncio<1"]\n'

    assert recipe({"pyproject.toml": text}).requirements == ("pytest-asyncio<1",)


UV_LOCK = """\
version = 1
[[package]]
name = "shop"
version = "0"
source = { editable = "." }
[[package]]
name = "attrs"
version = "23.2.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version < '3.12'"]
[[package]]
name = "numpy"
version = "2.1.0"
source = { registry = "https://pypi.org/simple" }
resolution-markers = ["python_full_version >= '3.12'"]
[[package]]
name = "mine"
version = "1"
source = { git = "https://evil.example/mine" }
"""


@pytest.mark.parametrize(
    ("files", "locked"),
    [
        ({"uv.lock": UV_LOCK}, ("attrs==23.2.0", 'numpy==1.26.4; python_full_version < "3.12"', 'numpy==2.1.0; python_full_version >= "3.12"')),
        ({"poetry.lock": '[[package]]\nname = "Attrs"\nversion = "23.2.0"\n[[package]]\nname = "g"\nversion = "1"\n[package.source]\ntype = "git"\nurl = "x"\n'}, ("Attrs==23.2.0",)),
        ({"pdm.lock": '[[package]]\nname = "attrs"\nversion = "23.2.0"\n[[package]]\nname = "p"\nversion = "1"\npath = "./p"\n'}, ("attrs==23.2.0",)),
        ({"pylock.toml": 'lock-version = "1.0"\n[[packages]]\nname = "attrs"\nversion = "23.2.0"\nmarker = "python_version >= \'3\'"\n[[packages]]\nname = "d"\n[packages.directory]\npath = "."\n'}, ('attrs==23.2.0; python_version >= "3"',)),
    ],
    ids=["uv", "poetry", "pdm", "pylock"],
)  # fmt: skip
def test_locked_versions_win(files: dict[str, str], locked: tuple[str, ...]) -> None:
    found = recipe({"pyproject.toml": PROJECT, **files})

    assert (found.locked, found.left_out) == (locked, ())


def test_a_lock_that_contradicts_the_manifest_gives_way_with_a_note() -> None:
    found = recipe({"pyproject.toml": PROJECT.replace('"attrs"', '"attrs>=24"'), "uv.lock": UV_LOCK})

    assert not [each for each in found.locked if each.startswith("attrs")]
    assert found.left_out == (
        "uv.lock: attrs ==23.2.0 contradicts 'attrs>=24', which counts; run 'uv lock' anew",
    )


def test_hashes_of_requirement_files_are_kept() -> None:
    text = "b==1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nc==2 ; python_version > '3' --hash=sha256:22\n"

    found = recipe({"requirements.txt": text})

    assert found.requirements == ("b==1", 'c==2; python_version > "3"')
    assert found.hashed == (
        "b==1 --hash=sha256:00 --hash=sha256:11",
        'c==2; python_version > "3" --hash=sha256:22',
    )


EVERYTHING = {
    "tox.ini": TOX,
    "requirements/extra.txt": "moto\n-c limits.txt\n",
    "requirements/limits.txt": "moto<5",
    "uv.lock": UV_LOCK,
    "pytest.ini": "[pytest]\naddopts = -n 2\n",
    "tests/test_a.py": "import redis\n",
    "pyproject.toml": f'{PROJECT}{EXTRAS}test = ["hypothesis"]\ncache = ["redis"]\n',
}
WORKFLOW_ONLY = {
    "pyproject.toml": PROJECT,
    ".github/workflows/ci.yml": WORKFLOW.format(install="pip install -c limits.txt b .", test="pytest"),
    "limits.txt": "b<2",
}


@pytest.mark.parametrize(
    "files",
    [EVERYTHING, WORKFLOW_ONLY, {"noxfile.py": NOX, "pyproject.toml": PROJECT}, {"pyproject.toml": POETRY}, {"requirements.txt": "b", "requirements-dev.txt": "c"}],
    ids=["everything", "workflow", "nox", "poetry", "files"],
)  # fmt: skip
def test_the_block_of_configuration_comes_to_the_same(files: dict[str, str]) -> None:
    before = recipe(files)

    block = tomllib.loads(configuration(before))
    after = recipe(files, **block["environment"])

    unlike = {"choices", "left_out", "notes"}
    assert after.model_dump(exclude=unlike) == before.model_dump(exclude=unlike)


@pytest.mark.parametrize(
    ("run", "command"),
    [
        ("pytest --doctest-modules --pyargs shop", "pytest --doctest-modules --pyargs src/shop"),
        ("pytest -W error", "pytest -W error"),
        ("pytest --doctest-modules gone src", "pytest --doctest-modules"),
        ("pytest tests", ""),
    ],
    ids=["places", "options", "lost", "found-anyway"],
)
def test_the_block_of_configuration_runs_the_places_of_the_command(
    run: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "src/shop").mkdir(parents=True)
    found = recipe({"tox.ini": f"[testenv]\ncommands = {run}\n", "src/shop/__init__.py": ""})

    block = tomllib.loads(configuration(found, places(found, tmp_path)))

    assert block.get("tests", {}).get("command", "") == command


@pytest.mark.parametrize(
    ("said", "requirements"),
    [
        ({"extras": ["cache"]}, ("attrs", "of-group", "redis")),
        ({"groups": ["lint"]}, ("attrs", "ruff")),
        ({"groups": [], "extras": [], "requirements": []}, ("attrs",)),
        ({"requirements": ["more.txt"], "groups": []}, ("attrs", "d")),
        ({"packages": ["d>1"], "groups": []}, ("attrs", "d>1")),
    ],
    ids=["extras", "groups", "nothing", "requirements", "packages"],
)
def test_what_is_configured_counts_before_everything_else(
    said: dict[str, object], requirements: tuple[str, ...]
) -> None:
    files = {
        "pyproject.toml": f'{PROJECT}{EXTRAS}cache = ["redis"]\n[dependency-groups]\ntest = ["of-group"]\nlint = ["ruff"]\n',
        "more.txt": "d",
    }

    assert recipe(files, **said).requirements == requirements


def test_what_is_configured_and_not_there_is_named() -> None:
    found = recipe({"pyproject.toml": PROJECT}, extras=["gone"], groups=["lost"], requirements=["no.txt"])

    place = ".cogworks/config.toml [environment]"
    assert found.left_out == (
        f"{place}: the project has no extra 'gone'",
        f"{place}: there is no dependency group 'lost'",
        f"{place}: 'no.txt' is not among the requirements files that were read",
    )


CASE = "import unittest\n\n\nclass Shop(unittest.TestCase):\n    def test_it(self):\n        pass\n\n\n"
PROGRAM = f"{CASE}if __name__ == '__main__':\n    unittest.main()\n"
SCRIPT = f"{CASE}if __name__ == '__main__':\n    unittest.TextTestRunner().run(unittest.makeSuite(Shop))\n"
GATHERS = (
    "LOADER.discover('.')",
    "LOADER.loadTestsFromName('a')",
    "LOADER.loadTestsFromNames(['a'])",
    "LOADER.loadTestsFromModule(a)",
)
OWN_RUNNER = (
    "import unittest\n\ndef collected(names):\n    if names:\n        return unittest.TestLoader().loadTestsFromNames(names)\n"
    "    import tests\n    return unittest.TestLoader().loadTestsFromModule(tests)\n\n"
    "def slow():\n    from tests import stress\n    return unittest.TestLoader().loadTestsFromModule(stress)\n\n"
    "if __name__ == '__main__':\n    unittest.TextTestRunner().run(collected(sys.argv[1:]))\n"
)
PACKAGE = {
    "tests/__init__.py": "from .fields import *\n",
    "tests/fields.py": CASE,
    "tests/test_utils.py": CASE,
}
WITH_FILTERS = ("-W", "default::DeprecationWarning:tests")


@pytest.mark.parametrize(
    ("files", "runner", "command"),
    [
        ({"manage.py": "", "shop/tests.py": "from django.test import TestCase\n"}, "django", ("python", "manage.py", "test")),
        ({"shop.py": "def a():\n    '''\n    >>> a()\n    '''\n    import doctest\n"}, "pytest", ("pytest", "--doctest-modules")),
        ({"shop.py": "'''>>> a()'''\n"}, "pytest", ()),
        ({"tests/test_a.py": "import unittest\n"}, "pytest", ()),
        ({"tox.ini": "[testenv]\ncommands = python -m unittest discover -s tests -v\n"}, "unittest", ("python", "-m", "unittest", "discover", "-s", "tests", "-v")),
        ({"tox.ini": "[testenv]\ncommands = coverage run tests.py -v\n    coverage report\n", "tests.py": SCRIPT}, "unittest", ("python", *WITH_FILTERS, "-m", "unittest", "tests.py")),
        ({"tox.ini": "[testenv]\ncommands = python tests/run_tests.py\n", "tests/run_tests.py": PROGRAM}, "unittest", ("python", "-m", "unittest", "discover", "-s", "tests", "-p", "run_tests.py")),
        ({"noxfile.py": "import nox\n@nox.session\ndef tests(s):\n s.run('python', 'tests.py')\n", "tests.py": PROGRAM}, "unittest", ("python", "-m", "unittest", "tests.py")),
        ({"tox.ini": "[testenv]\ncommands = python tests.py\n pytest\n", "tests.py": PROGRAM}, "pytest", ()),
        ({"tox.ini": "[testenv]\ncommands = python tests.py\n", "tests.py": "print('all is well')\n"}, "pytest", ()),
        ({"tox.ini": "[testenv]\ncommands = python tests.py --browser=firefox\n", "tests.py": f"{PROGRAM}# not pytest\n"}, "pytest", ()),
        ({"tox.ini": "[testenv]\nchangedir = tests\ncommands = python tests.py\n", "tests/tests.py": f"import pytest\n{PROGRAM}"}, "pytest", ()),
        ({"tests/tests.py": PROGRAM}, "unittest", ("python", "-m", "unittest", "discover", "-s", "tests", "-p", "tests.py")),
        ({"shop/__init__.py": "", "shop/tests.py": PROGRAM}, "unittest", ("python", "-m", "unittest", "shop/tests.py")),
        *(({"tox.ini": "[testenv]\ncommands = python tests.py\n", "tests.py": f"{SCRIPT}{each}\n"}, "pytest", ()) for each in GATHERS),
        *(({"tests/tests.py": f"{PROGRAM}{each}\n"}, "pytest", ()) for each in GATHERS),
        ({"runtests.py": OWN_RUNNER, **PACKAGE}, "unittest", ("python", "-m", "unittest", "tests")),
        ({"runtests.py": OWN_RUNNER, **PACKAGE, "tox.ini": "[testenv]\ncommands = python runtests.py\n"}, "unittest", ("python", "-m", "unittest", "tests")),
        ({"runtests.py": OWN_RUNNER, **PACKAGE, "pytest.ini": "[pytest]\naddopts = -q\n"}, "pytest", ()),
        ({"runtests.py": OWN_RUNNER, **PACKAGE, "tests/fields.py": f"import pytest\n{CASE}"}, "pytest", ()),
        ({"runtests.py": f"{OWN_RUNNER}    LOADER.discover('more')\n", **PACKAGE}, "pytest", ()),
        ({"runtests.py": f"{OWN_RUNNER}    LOADER.loadTestsFromNames(['more'])\n", **PACKAGE}, "pytest", ()),
        ({"runtests.py": OWN_RUNNER.replace("from tests", "from more"), **PACKAGE}, "pytest", ()),
        ({"runtests.py": OWN_RUNNER, "tests/test_a.py": CASE}, "pytest", ()),
        ({"runtests.py": OWN_RUNNER, "test_more.py": OWN_RUNNER.replace("tests", "more"), **PACKAGE, "more/__init__.py": ""}, "pytest", ()),
        ({"tests/tests.py": f"{PROGRAM}\ndef test_alone():\n    pass\n"}, "pytest", ()),
        ({"tests/tests.py": PROGRAM, "setup.cfg": "[tool:pytest]\n"}, "pytest", ()),
        ({"tests/tests.py": PROGRAM, "shop/tests.py": PROGRAM}, "pytest", ()),
    ],
    ids=[
        "django", "doctest", "no-doctest", "plain", "unittest", "script", "script-in-a-folder", "script-of-nox", "script-and-pytest",
        "another-script", "script-with-arguments", "script-elsewhere", "unittest-alone", "unittest-in-a-package",
        *(f"script-gathers-{each}" for each in range(4)), *(f"alone-gathers-{each}" for each in range(4)),
        "gathers-a-package", "gathers-a-package-by-tox", "gathers-and-pytest-is-configured", "gathers-and-pytest-is-imported",
        "gathers-what-it-finds", "gathers-names", "gathers-two-packages", "gathers-no-package", "two-that-gather", "function", "pytest-is-named", "two-files",
    ],
)  # fmt: skip
def test_the_runner_is_found(files: dict[str, str], runner: str, command: tuple[str, ...]) -> None:
    found = recipe(files)

    assert (found.runner, found.command) == (runner, command)


@pytest.mark.parametrize(
    ("files", "imports"),
    [
        ({}, False),
        ({"tests/test_b.py": "import pytest\n"}, True),
        ({"tests/test_b.py": "def test():\n    from pytest import raises\n"}, True),
        ({"tests/test_b.py": "try:\n\timport pytest\nexcept ImportError:\n\tpytest = None\n"}, True),
        ({"tests/test_b.py": "from shop.testing import raises\n", "shop/testing.py": "from pytest import raises\n"}, True),
        ({"tests/test_b.py": "import shop\n", "shop/__init__.py": "from shop import inner\n", "shop/inner.py": "import _pytest\n"}, True),
        ({"tests/test_b.py": "import shop\n", "shop/testing.py": "import pytest\n"}, False),
        ({"tests/test_b.py": "import pytester\n"}, False),
    ],
    ids=["nowhere", "directly", "in a test", "if it is there", "by a module", "by two modules", "by nobody's module", "another name"],
)  # fmt: skip
def test_whatever_a_test_file_loads_may_need_pytest(files: dict[str, str], imports: bool) -> None:
    base = {
        "shop/__init__.py": "",
        "tests/test_a.py": CASE,
        "setup.cfg": "[options]\ninstall_requires = attrs\n",
    }

    assert recipe({**base, **files}).imports_pytest is imports


NAMES = st.sampled_from(
    ["pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "hatch.toml", "uv.lock", "requirements.txt",
     "requirements/test.txt", ".github/workflows/ci.yml", "pytest.ini", "tests/test_a.py"]
)  # fmt: skip
PIECES = st.sampled_from(
    ["[testenv]\n", "[tox]\n", "deps = ", "envlist = ", "{", "}", "py{3,4}", "-r ", "-c ", "requirements.txt", "tox.ini", "\n", "[project]\n",
     "dependencies = ", '["a"]', "[[package]]\n", "name = ", '"a"', "version = ", "1", "[tool.poetry.dependencies]\n", "[tool.tox]\n", "[tool.hatch.envs.default]\n",
     "jobs:\n", "  a:\n    steps:\n", "      - run: ", "pytest", "pip install ", ".[a]", "{[testenv]deps}", "'", ":", "=", "import nox\n@nox.session\ndef tests(s):\n s.install(",
     ")", "*", "^1", "||", "--hash=", "\\\n", "# x\n", "\x00", "\ud800", "é", "[dependency-groups]\n", "{include-group = 'a'}", "&a ", "*a", "- "]
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(NAMES, st.lists(PIECES, max_size=30).map("".join), max_size=5))
def test_whatever_the_files_say_a_recipe_of_plain_requirements_comes_out(files: dict[str, str]) -> None:
    found = recipe(files)

    for each in (*found.requirements, *found.constraints, *found.locked):
        assert "\n" not in each
        assert Requirement(each).url is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "{" * 20_000, "a = " + "[" * 5_000, "(" * 20_000, "x = 'a'\n" + "x = x + x\n" * 200, "a: " + "[" * 5_000, "-" * 100_000, "\\\n" * 50_000],
    ids=["lists", "tables", "nested", "calls", "doubling", "yaml", "dashes", "continued"],
)  # fmt: skip
@pytest.mark.parametrize(
    "name",
    ["pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "uv.lock", "requirements.txt", ".github/workflows/a.yml", "tests/test_a.py"],
)  # fmt: skip
def test_a_bomb_is_read_or_named(name: str, text: str) -> None:
    assert recipe({name: text}).requirements == ()


def test_of_two_environments_of_tox_the_one_that_runs_tests_counts() -> None:
    found = recipe(
        {
            "tox.ini": "[tox]\nenvlist = py{311,312}-{unit,docs}\n[testenv]\ndeps =\n    unit: pytest\n    unit-!docs: attrs\n"
            "    docs: sphinx\ncommands =\n    unit: pytest checks {posargs}\n    docs: sphinx-build docs out\n"
        }
    )

    assert set(found.requirements) == {"attrs", "pytest"}
    assert found.paths == ("checks",)


@pytest.mark.parametrize(
    ("folder", "command", "words", "paths"),
    [
        ("tests", "pytest -W error", ("pytest", "-W", "error"), ("tests",)),
        ("{toxinidir}/tests", "pytest unit -c {toxinidir}/ci/pytest.ini", ("pytest", "-c", "ci/pytest.ini"), ("tests/unit",)),
        ("tests", "pytest --ignore=old {toxinidir}/docs", ("pytest", "--ignore=tests/old"), ("docs",)),
        ("{envtmpdir}", "pytest --basetemp {envtmpdir}/b {toxinidir}/tests", (), ("tests",)),
        ("tests", "python -m unittest -v", ("python", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", "tests"), ()),
        ("tests", "python -Wa manage.py test shop", ("python", "-Wa", "tests/manage.py", "test", "shop"), ()),
    ],
    ids=["all", "below", "beside", "elsewhere", "unittest", "django"],
)  # fmt: skip
def test_what_runs_in_another_folder_is_named_from_the_root(
    folder: str, command: str, words: tuple[str, ...], paths: tuple[str, ...]
) -> None:
    ini = recipe({"tox.ini": f"[testenv]\nchangedir = {folder}\ncommands = {command}\n"})
    listed = ", ".join(f"'{word}'" for word in command.split())
    toml = recipe({"tox.toml": f"[env_run_base]\nchange_dir = '{folder}'\ncommands = [[{listed}]]\n"})

    assert (ini.command, ini.paths) == (words, paths)
    assert (toml.command, toml.paths) == (words, paths)


def test_a_step_of_a_workflow_in_another_folder_tests_there() -> None:
    steps = "jobs:\n  test:\n    steps:\n      - run: pip install -r needs.txt && pytest unit\n        working-directory: api\n"

    found = recipe({".github/workflows/a.yml": steps, "api/needs.txt": "attrs"})

    assert (found.requirements, found.paths) == (("attrs",), ("api/unit",))


def test_words_in_quotes_are_one_word_to_tox() -> None:
    found = recipe(
        {"tox.ini": "[testenv]\ncommands = pytest -m 'not slow' -k \"a or b\" --doctest-glob='*.md' it\\'s\n"}
    )

    assert found.command == ("pytest", "-m", "not slow", "-k", "a or b", "--doctest-glob=*.md")
    assert found.paths == ("it's",)


CASE = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ({"tests/tests.py": CASE, "tests/data.py": "", "setup.cfg": "[tool:pytest]\n"}, ("tests/tests.py",)),
        ({"shop/tests.py": f"import pytest\n{CASE}"}, ("shop/tests.py",)),
        ({"tests/cart.py": CASE, "tests/till/__init__.py": "", "tests/till/money.py": "def test_b(): pass\n"}, ("tests/cart.py", "tests/till/money.py")),
        ({"tests/tests.py": CASE, "tests/test_b.py": CASE}, ()),
        ({"tests/cart.py": CASE, "pytest.ini": "[pytest]\npython_files = *.py\n"}, ()),
    ],
    ids=["tests.py", "in-the-package", "by-content", "found", "configured"],
)  # fmt: skip
def test_files_of_tests_that_pytest_does_not_find_by_their_names_are_named(
    files: dict[str, str], paths: tuple[str, ...]
) -> None:
    found = recipe(files)

    assert (found.runner, found.command, found.paths) == ("pytest", (), paths)


PACKAGE_THAT_RUNS = "[testenv]\nsetenv = SHOP_MODE = test\ncommands = python -bb -m {} {{posargs:}}\n"


@pytest.mark.parametrize(
    ("module", "files", "paths"),
    [
        ("shop.test", {"shop/test/__main__.py": "", "shop/test/till_test.py": CASE}, ("shop/test",)),
        (
            "shop.tests",
            {"src/shop/tests/__main__.py": "", "src/shop/tests/test_a.py": ""},
            ("src/shop/tests",),
        ),
        ("tests", {"tests/__main__.py": "", "tests/unit/test_a.py": ""}, ("tests",)),
        ("shop.test", {"shop/test/__main__.py": "", "shop/test/till.py": CASE}, ()),
        ("shop.test", {"shop/test/__init__.py": "", "shop/test/till_test.py": CASE}, ()),
        ("doctest", {"doctest/__main__.py": "", "doctest/test_a.py": ""}, ()),
        ("shop", {"shop/__main__.py": "", "shop/test_a.py": ""}, ()),
    ],
    ids=["package", "below-src", "at-the-root", "no-files-of-pytest", "no-program", "of-python", "no-tests"],
)
def test_a_package_of_tests_that_is_run_as_a_program_is_the_suite(
    module: str, files: dict[str, str], paths: tuple[str, ...]
) -> None:
    elsewhere = {"scripts/test_release.py": "import nowhere\n"}

    found = recipe({"tox.ini": PACKAGE_THAT_RUNS.format(module), **files, **elsewhere})

    assert (found.runner, found.paths) == ("doctest" if module == "doctest" else "pytest", paths)
    assert ("SHOP_MODE" in found.variables) == bool(paths or found.runner == "doctest")


def test_of_several_commands_of_tox_the_one_that_takes_arguments_counts() -> None:
    lines = "python -m doctest README.rst\n    pytest docs\n    pytest --strict-markers {posargs:checks}\n    pytest slow"
    words = '["pytest", "docs"], ["pytest", "--strict-markers", {replace = "posargs", default = ["checks"], extend = true}]'

    ini = recipe({"tox.ini": f"[testenv]\ncommands =\n    {lines}\n"})
    toml = recipe({"tox.toml": f"[env_run_base]\ncommands = [{words}]\n"})

    assert (ini.command, ini.paths) == (("pytest", "--strict-markers"), ("checks",))
    assert (toml.command, toml.paths) == (ini.command, ini.paths)


@pytest.mark.parametrize(
    ("path", "found"), [("shop/__init__.py", "shop"), ("src/shop/__init__.py", "src/shop")]
)
def test_the_installed_package_that_tox_names_is_the_one_of_the_repository(path: str, found: str) -> None:
    tox = "[testenv]\nchangedir = .tox\ncommands = pytest --doctest-modules {env_site_packages_dir}/shop {tox_root}/tests\n"

    assert recipe({"tox.ini": tox, path: "", "tests/test_a.py": ""}).paths == (found, "tests")


OPTIONAL = "try:\n    import redis\nexcept ImportError:\n    redis = None\n"


@pytest.mark.parametrize(
    ("more", "extras"),
    [("", ("cache",)), ('test = ["pytest"]\n', ("test",))],
    ids=["nothing-says", "an-extra-says"],
)
def test_what_the_code_can_use_is_installed_where_nothing_says_what_tests_need(
    more: str, extras: tuple[str, ...]
) -> None:
    text = f'{PROJECT}{EXTRAS}cache = ["redis"]\ndocs = ["sphinx"]\n{more}'

    found = recipe(
        {"pyproject.toml": text, "shop/cache.py": OPTIONAL, "tests/test_a.py": "import shop.cache\n"}
    )

    assert found.extras == extras


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import trio\nexcept ImportError:\n    trio = None\n",
        "import pytest\npytest.importorskip('trio')\n",
    ],
)
def test_what_tests_are_skipped_without_is_wished_where_it_is_declared(text: str) -> None:
    files = {
        "pyproject.toml": f'{PROJECT}[dependency-groups]\ntest = ["b"]\ndev = ["trio>=0.20", "tox"]\n',
        "tests/test_a.py": text,
    }

    found = recipe(files)

    assert (found.requirements, found.wished) == (("attrs", "b", "trio>=0.20"), ("trio>=0.20",))
    assert found.groups == ("test",)


@pytest.mark.parametrize(
    ("wanted", "installed"),
    [
        ("^4.6.4", "pytest>=8"),
        ("<7", "pytest<7"),
        ("==6.2.5", "pytest==6.2.5"),
        (">=3.5", "pytest>=3.5"),
        ("*", "pytest"),
    ],
)
def test_a_pytest_that_does_not_run_any_more_is_replaced_with_a_note(wanted: str, installed: str) -> None:
    text = f'[tool.poetry]\nname = "shop"\n[tool.poetry.dev-dependencies]\npytest = "{wanted}"\n'

    found = recipe({"pyproject.toml": text})

    assert found.requirements == (installed,)
    assert any("installed instead" in each for each in found.left_out) == (installed == "pytest>=8")


def test_setuptools_counts_where_tests_ask_for_it() -> None:
    assert recipe(
        {"tox.ini": "[testenv]\ndeps =\n    setuptools\n    wheel\ncommands = pytest\n"}
    ).requirements == ("setuptools",)


def test_what_tests_import_where_it_is_there_and_nobody_declares_is_a_note() -> None:
    text = "try:\n    import hypothesmith\nexcept ImportError:\n    pass\ntry:\n    import shop.fast\nexcept ImportError:\n    from StringIO import StringIO\n"

    found = recipe({"pyproject.toml": PROJECT, "shop/__init__.py": "", "tests/test_a.py": text})

    [undeclared] = found.undeclared
    assert undeclared == Undeclared(module="hypothesmith", place="tests/test_a.py, line 2", is_optional=True)
    [note] = undeclared_in_words(found.undeclared)
    assert note == (
        "tests/test_a.py, line 2: 'hypothesmith' is imported where it is there, and nothing declares it for tests; where they "
        "fail or are skipped without it, name its package in `[environment] packages` of .cogworks/config.toml."
    )


def test_modules_in_folders_that_pytest_passes_over_are_of_the_repository() -> None:
    files = {
        "tests/conftest.py": "collect_ignore = ['roots']\n",
        "tests/test_a.py": "def test_a(make_app):\n    import till\n    import redis\n",
        "tests/roots/shop/till.py": "import nowhere\n",
    }

    found = read_recipe(files, paths=tuple(files))

    assert [each.module for each in found.undeclared] == ["redis"]


def test_many_packages_that_nobody_declares_are_one_note_of_a_kind() -> None:
    def many(count: int, *, is_optional: bool) -> list[Undeclared]:
        return [
            Undeclared(module=f"m{n}", place=f"a.py, line {n}", is_optional=is_optional) for n in range(count)
        ]

    others = [
        each.model_copy(update={"module": f"n{n}"}) for n, each in enumerate(many(2, is_optional=False))
    ]
    sure, optional = undeclared_in_words([*others, *many(9, is_optional=True)])

    assert sure == (
        "'n0' (a.py, line 0), 'n1' (a.py, line 1) are imported, nothing declares them, and they came with no other package; "
        "where tests need one, name its package in `[environment] packages` of .cogworks/config.toml."
    )
    assert "'m5' (a.py, line 5) and 3 more are imported where they are there" in optional
    assert undeclared_in_words([]) == ()
    assert undeclared_in_words(
        [*many(1, is_optional=False), *many(1, is_optional=True)]
    ) == undeclared_in_words(many(1, is_optional=True))


def test_a_package_that_nobody_declares_is_one_note_however_often_it_is_imported() -> None:
    text = "try:\n    import fastapi\n    import fastapi.testclient\nexcept ImportError:\n    pass\n"
    files = {"tests/test_a.py": text, "tests/test_b.py": text, "tests/test_c.py": "import fastapi\n"}
    found = recipe({"pyproject.toml": PROJECT, "shop/__init__.py": "", **files})

    assert [(each.module, each.place) for each in found.undeclared] == [
        ("fastapi", "tests/test_c.py, line 1"),
        ("fastapi", "tests/test_a.py, line 2"),
    ]


def test_modules_of_python_itself_are_asked_of_nobody_however_they_are_imported() -> None:
    text = (
        "from pytest import importorskip\nmp = importorskip('multiprocessing')\n"
        "mock = importorskip('unittest.mock')\n"
    )

    assert recipe({"pyproject.toml": PROJECT, "tests/test_a.py": text}).undeclared == ()


def test_a_plugin_is_not_added_beside_another_with_its_fixtures() -> None:
    files = {
        "requirements-test.txt": "pytest-codspeed\n",
        "tests/test_a.py": "def test_a(benchmark):\n    benchmark(len, [])\n",
    }

    assert recipe(files).requirements == ("pytest-codspeed",)
    assert recipe({**files, "requirements-test.txt": "pytest\n"}).requirements == (
        "pytest",
        "pytest-benchmark",
    )


PASSED_OVER = {
    "tests/test_a.py": "import pytest\n",
    "tests/plugins/asyncio_test.py": "import pytest, redis\n@pytest.mark.asyncio\nasync def test_a(mocker): ...\n",
}


@pytest.mark.parametrize(
    "settings",
    [
        {"pyproject.toml": f'{PROJECT}[tool.pytest]\nnorecursedirs = ["tests/plugins"]\n'},
        {"pytest.ini": "[pytest]\nnorecursedirs = build plug*\n"},
        {"pytest.ini": "[pytest]\naddopts = --ignore=tests/plugins\n"},
        {"pytest.ini": "[pytest]\naddopts = --ignore-glob='*/asyncio_*.py'\n"},
        {"tox.ini": "[testenv]\ncommands = pytest --ignore tests/plugins/ tests\n"},
        {"pytest.ini": "[pytest]\nnorecursedirs = tests\ntestpaths = tests\naddopts = --ignore=tests/plugins/asyncio_test.py\n"},
        {"conftest.py": "collect_ignore = ['setup.py', 'tests/plugins']\n"},
        {"tests/conftest.py": "HERE = 'plugins/'\ncollect_ignore = [HERE + 'asyncio_test.py']\n"},
        {"tests/conftest.py": "collect_ignore_glob = ['*/asyncio_*.py']\n"},
    ],
    ids=["path", "name", "ignored", "pattern", "command", "place", "conftest", "conftest-below", "conftest-pattern"],
)  # fmt: skip
def test_files_that_pytest_passes_over_ask_for_nothing(settings: dict[str, str]) -> None:
    found = recipe({**settings, **PASSED_OVER})

    assert (found.packages, found.undeclared) == ((), ())


@pytest.mark.parametrize(
    "settings",
    [
        {"pytest.ini": "[pytest]\nnorecursedirs = plugin lib/tests/plugins\n"},
        {"pytest.ini": "[pytest]\nnorecursedirs = plugins\ntestpaths = tests/plugins\n"},
        {"tox.ini": "[testenv]\ncommands = pytest tests/plugins/asyncio_test.py\n[pytest]\nnorecursedirs = tests\n"},
        {"conftest.py": "collect_ignore = ['plugins']\ncollect_ignore_glob = ['asyncio_*.py']\n"},
        {"conftest.py": "import sys\nif sys.version_info < (3, 13):\n    collect_ignore = ['tests/plugins']\n"},
        {"conftest.py": "collect_ignore = ['tests/plugins'\n"},
    ],
    ids=["another", "a-place", "named", "another-folder", "sometimes", "unreadable"],
)  # fmt: skip
def test_files_that_pytest_is_given_or_does_not_pass_over_ask_for_their_packages(
    settings: dict[str, str],
) -> None:
    found = recipe({**settings, **PASSED_OVER})

    assert found.packages == ("pytest-asyncio", "pytest-mock")
    assert [each.module for each in found.undeclared] == ["redis"]


INTEGRATION = "import pytest\n@pytest.mark.asyncio\nasync def test_a(mocker): ...\n"


@pytest.mark.parametrize(
    ("files", "packages"),
    [
        ({"tests/plugins/with_asyncio.py": INTEGRATION}, ()),
        ({"tests/plugins/with_asyncio.py": INTEGRATION, "tests/test_a.py": "from .plugins import with_asyncio\n"}, ("pytest-asyncio", "pytest-mock")),
        ({"tests/shared.py": INTEGRATION, "tests/conftest.py": "pytest_plugins = [\n    'tests.shared',\n]\n"}, ("pytest-asyncio", "pytest-mock")),
        ({"tests/plugins/with_asyncio.py": INTEGRATION, "pytest.ini": "[pytest]\npython_files = tests/*/with_*.py\n"}, ("pytest-asyncio", "pytest-mock")),
        ({"tests/test_it.py": INTEGRATION, "pytest.ini": "[pytest]\npython_files = check_*.py\n"}, ()),
        ({"tests/all.py": INTEGRATION, "tox.ini": "[testenv]\ncommands = pytest tests/all.py\n"}, ("pytest-asyncio", "pytest-mock")),
        ({"tests/conftest.py": INTEGRATION}, ("pytest-asyncio", "pytest-mock")),
    ],
    ids=["nobody's", "imported", "plugin", "pattern", "other-pattern", "named", "conftest"],
)  # fmt: skip
def test_marks_and_fixtures_count_in_files_that_pytest_loads(
    files: dict[str, str], packages: tuple[str, ...]
) -> None:
    assert recipe({"tests/test_b.py": "import pytest\n", **files}).packages == packages


def test_a_fixture_that_the_code_itself_defines_asks_for_no_plugin() -> None:
    own = "from pytest import fixture\n\n\n@fixture\ndef subtests(request): ...\n"
    test = "def test_a(subtests): ...\n"

    assert recipe({"src/shop/fixtures.py": own, "tests/test_a.py": test}).packages == ()
    assert recipe({"tests/test_a.py": test}).packages == ("pytest-subtests",)


UV = f'{PROJECT}[dependency-groups]\nchecks = ["b"]\nsuite = ["c"]\n'
LOCKED_TOX = "[testenv]\nrunner = uv-venv-lock-runner\ncommands = pytest\n"


@pytest.mark.parametrize(
    ("settings", "files", "groups"),
    [
        ("", {}, ()),
        ('[tool.uv]\ndefault-groups = ["checks"]\n', {}, ("checks",)),
        ('dev = ["d"]\n', {"tox.ini": LOCKED_TOX}, ("dev",)),
        ('[tool.uv]\ndefault-groups = "all"\n', {"tox.ini": LOCKED_TOX}, ("checks", "suite")),
        ('[tool.uv]\ndefault-groups = ["checks"]\n', {"tox.ini": f"{LOCKED_TOX}dependency_groups = suite\n"}, ("suite",)),
        ('[tool.uv]\ndefault-groups = ["checks"]\n', {".github/workflows/a.yml": WORKFLOW.format(install="uv sync --group suite", test="uv run pytest")}, ("checks", "suite")),
        ('[tool.uv]\ndefault-groups = ["checks"]\n', {".github/workflows/a.yml": WORKFLOW.format(install="uv sync --no-default-groups --group suite", test="pytest")}, ("suite",)),
    ],
    ids=["none", "no-tool", "tox", "all", "tox-named", "sync", "without"],
)  # fmt: skip
def test_the_groups_that_uv_installs_unasked_are_those_the_project_says(
    settings: str, files: dict[str, str], groups: tuple[str, ...]
) -> None:
    assert recipe({"pyproject.toml": f"{UV}{settings}", **files}).groups == groups


@pytest.mark.parametrize(
    ("default", "groups"),
    [('"all"', ("test",)), ('["checks"]', ("checks", "test"))],
    ids=["all", "some"],
)
def test_a_default_of_all_groups_adds_nothing_to_those_named_for_tests(
    default: str, groups: tuple[str, ...]
) -> None:
    pyproject = f'{UV}test = ["pytest"]\n[tool.uv]\ndefault-groups = {default}\n'

    assert recipe({"pyproject.toml": pyproject}).groups == groups


@pytest.mark.parametrize(
    ("requires", "groups"),
    [(">=3.13", ("suite",)), (">=3.12", ("checks", "suite")), ("new", ("checks", "suite"))],
    ids=["later", "this", "unreadable"],
)
def test_a_group_that_uv_installs_with_another_python_is_left_out_and_named(
    requires: str, groups: tuple[str, ...]
) -> None:
    settings = f'[tool.uv]\ndefault-groups = "all"\n[tool.uv.dependency-groups]\nchecks = {{ requires-python = "{requires}" }}\n'

    found = recipe({"pyproject.toml": f"{UV}{settings}", "tox.ini": LOCKED_TOX})

    assert found.groups == groups
    notes = ("pyproject.toml, dependency group 'checks' is for Python >=3.13, and tests run with 3.12",)
    assert found.left_out == (notes if "checks" not in groups else ())


SUITE = {"shop/tests/all_tests.py": "import unittest\n", "shop/tests/cart_test.py": CASE}
BESIDE = (
    "[tool.tox.env_run_base]\ncommands = [\n    ['python', '-m', 'shop.tests.all_tests'],\n"
    "    ['pytest', '{}'],\n]\n"
)


@pytest.mark.parametrize(
    ("place", "paths"),
    [("shop/plugin_test.py", ()), ("shop/tests", ("shop/tests",)), ("shop", ("shop",))],
    ids=["apart", "above", "far-above"],
)
def test_places_of_pytest_beside_another_program_of_tests_are_not_the_whole_suite(
    place: str, paths: tuple[str, ...]
) -> None:
    found = recipe({"pyproject.toml": BESIDE.format(place), "shop/plugin_test.py": "", **SUITE})

    assert (found.runner, found.paths) == ("pytest", paths)
    assert [each for each in found.left_out if "shop/tests/all_tests.py is run as well" in each] == (
        [] if paths else list(found.left_out)
    )


LOOP = "import pytest\n\n\n@pytest.fixture\ndef client(event_loop):\n    return event_loop\n\n\ndef test_a(client):\n    pass\n"
OWN_LOOP = LOOP.replace("def client", "def event_loop():\n    pass\n\n\n@pytest.fixture\ndef client")
LOCKED_LOOP = '[[package]]\nname = "pytest-asyncio"\nversion = "{}"\n'


MARKED_FIXTURE = "import pytest\n\n\n@pytest.mark.skipif(1 > 2, reason='no')\n@pytest.fixture(scope='module')\ndef a():\n    return 1\n"
FIXTURE_WITH_MARK = "import pytest\n\n\nclass TestA:\n    @pytest.fixture\n    @pytest.mark.slow\n    def a(self):\n        return 1\n"
LOCKED_PYTEST = '[[package]]\nname = "pytest"\nversion = "{}"\n'


@pytest.mark.parametrize(
    ("files", "wished"),
    [
        ({"tests/test_a.py": MARKED_FIXTURE}, ("pytest<9",)),
        ({"tests/conftest.py": FIXTURE_WITH_MARK}, ("pytest<9",)),
        ({"tests/conftest.py": FIXTURE_WITH_MARK.replace(".fixture", ".fixture(\n        params=[1],\n    )")}, ("pytest<9",)),
        ({"tests/test_a.py": MARKED_FIXTURE, "requirements-test.txt": "pytest>=7\n"}, ("pytest<9",)),
        ({"tests/test_a.py": MARKED_FIXTURE, "requirements-test.txt": "pytest>=9\n"}, ()),
        ({"tests/test_a.py": MARKED_FIXTURE, "poetry.lock": LOCKED_PYTEST.format("9.0.1")}, ()),
        ({"tests/test_a.py": "import pytest\n\n\n@pytest.fixture\ndef a():\n    pass\n\n\n@pytest.mark.slow\ndef test_a(a):\n    pass\n"}, ()),
    ],
    ids=["above", "below", "below-lines", "older-allowed", "newer-wanted", "newer-locked", "apart"],
)  # fmt: skip
def test_a_mark_of_a_fixture_asks_for_a_pytest_that_lets_it_pass(
    files: dict[str, str], wished: tuple[str, ...]
) -> None:
    assert recipe(files).wished == wished


@pytest.mark.parametrize(
    ("files", "wished"),
    [
        ({"tests/test_a.py": LOOP}, ("pytest-asyncio<1",)),
        ({"tests/test_a.py": "def test_a(event_loop):\n    pass\n"}, ("pytest-asyncio<1",)),
        ({"tests/test_a.py": "@pytest.mark.usefixtures('event_loop')\ndef test_a():\n    pass\n"}, ("pytest-asyncio<1",)),
        ({"tests/test_a.py": LOOP, "requirements-test.txt": "pytest-asyncio>=0.17\n"}, ("pytest-asyncio<1",)),
        ({"tests/test_a.py": LOOP, "poetry.lock": LOCKED_LOOP.format("0.21.1")}, ("pytest-asyncio<1",)),
        ({"tests/test_a.py": LOOP, "poetry.lock": LOCKED_LOOP.format("1.2.0")}, ()),
        ({"tests/test_a.py": LOOP, "requirements-test.txt": "pytest-asyncio>=1\n"}, ()),
        ({"tests/test_a.py": LOOP, "pyproject.toml": '[project]\nname = "pytest-asyncio"\n'}, ()),
        ({"tests/test_a.py": OWN_LOOP}, ()),
        ({"tests/test_a.py": "@pytest.mark.parametrize('event_loop', [1])\ndef test_a(event_loop):\n    pass\n"}, ()),
        ({"tests/test_a.py": "def shown(event_loop):\n    pass\n\n\ndef test_a():\n    pass\n"}, ()),
        ({"tests/test_a.py": "def test_a():\n    event_loop = 1\n"}, ()),
    ],
    ids=["fixture", "test", "mark", "older-allowed", "older-locked", "newer-locked", "newer-wanted", "itself", "defined", "parametrized", "helper", "a-name"],
)  # fmt: skip
def test_a_fixture_that_later_versions_lack_asks_for_an_earlier_one(
    files: dict[str, str], wished: tuple[str, ...]
) -> None:
    found = recipe(files)

    assert found.wished == wished
    assert ("pytest-asyncio<1" in found.requirements) is bool(wished)


@pytest.mark.parametrize(
    ("declared", "wished"), [("pytest-aiohttp", ("pytest-aiohttp<1",)), ("pytest-asyncio", ())]
)
def test_a_fixture_of_any_name_asks_for_an_earlier_plugin_only_where_that_is_named(
    declared: str, wished: tuple[str, ...]
) -> None:
    found = recipe({"tests/test_a.py": "def test_a(loop):\n    pass\n", "requirements-test.txt": declared})

    assert found.wished == wished


@pytest.mark.parametrize(
    ("test", "plugin"),
    [
        ("def test_a(httpserver): ...\n", "pytest-localserver"),
        ("def test_a(live_server): ...\n", "pytest-flask"),
        ("def test_a(snapshot): ...\n", "pytest-snapshot"),
        ("def test_a(benchmark): ...\n", "pytest-codspeed"),
        ("@pytest.mark.flaky\ndef test_a(): ...\n", "flaky"),
        ("@pytest.mark.vcr\ndef test_a(): ...\n", "pytest-vcr"),
        ("@pytest.mark.order(1)\ndef test_a(): ...\n", "pytest-ordering"),
    ],
)
def test_a_plugin_that_is_named_stands_for_others_with_such_fixtures_and_marks(
    test: str, plugin: str
) -> None:
    assert recipe({"tests/test_a.py": test, "requirements-test.txt": plugin}).requirements == (plugin,)


GETS_VERSION = "import pkg_resources\n\n__version__ = pkg_resources.get_distribution('shop').version\n"
RUNS_A_SETUP = "from setuptools import setup\n\nsetup(name='sample')\n"


@pytest.mark.parametrize(
    ("files", "wished"),
    [
        ({"shop/__init__.py": GETS_VERSION}, ("setuptools<80.9",)),
        ({"tests/samples/one/setup.py": RUNS_A_SETUP}, ("setuptools<80.9",)),
        ({"shop/__init__.py": GETS_VERSION, "requirements.txt": "setuptools\n"}, ("setuptools<80.9",)),
        ({"tests/samples/one/setup.py": RUNS_A_SETUP, "requirements.txt": "setuptools\n"}, ()),
        ({"shop/__init__.py": GETS_VERSION, "requirements.txt": "setuptools==65.5.1\n"}, ()),
        ({"shop/__init__.py": GETS_VERSION, "requirements.txt": "setuptools>=81\n"}, ()),
        ({"setup.py": RUNS_A_SETUP, "docs/source/conf.py": GETS_VERSION, "examples/a.py": RUNS_A_SETUP}, ()),
        ({"pkg_resources/__init__.py": "", "setup.cfg": "[metadata]\nname = setuptools\n", "a.py": GETS_VERSION}, ()),
    ],
    ids=["pkg_resources", "a-sample", "any-declared", "sample-and-declared", "pinned", "newer", "build", "itself"],
)  # fmt: skip
def test_what_every_environment_once_had_is_there(files: dict[str, str], wished: tuple[str, ...]) -> None:
    assert recipe(files).wished == wished


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("import typing\nif typing.TYPE_CHECKING:\n    from stubs import Self\n", []),
        (
            "if TYPE_CHECKING:\n    if VERSION > 3:\n        import stubs\nelse:\n    import stubs\n",
            ["stubs"],
        ),
        ("if not TYPE_CHECKING:\n    import stubs\n", ["stubs"]),
        ("try:\n    import stubs\nexcept ImportError:\n    pass\n", ["stubs"]),
    ],
    ids=["types", "else", "not", "try"],
)
def test_nothing_is_said_of_what_only_tools_for_types_import(text: str, modules: list[str]) -> None:
    assert [each.module for each in recipe({"tests/test_a.py": text}).undeclared] == modules


PLUGIN_JOBS = (
    "jobs:\n  tests:\n    steps:\n      - run: pip install b -e ../of-tests\n      - run: pytest\n"
    "  test-of-plugin:\n    steps:\n      - run: pip install -e plugin/\n      - run: pip install c ./plugin\n      - run: pytest plugin\n"
)


@pytest.mark.parametrize(
    ("file", "job"),
    [
        ("emscripten.yml", "tests"),
        ("ci.yml", "tests-windows"),
        ("a.yml", "pyodide_tests"),
        ("nightly-wheels.yml", "tests"),
    ],
)
def test_a_job_of_another_platform_says_nothing_of_tests_here(file: str, job: str) -> None:
    steps = "jobs:\n  {}:\n    steps:\n      - run: pip install {}\n      - run: pytest\n"
    files = {
        f".github/workflows/{file}": steps.format(job, "of-elsewhere"),
        ".github/workflows/runtests.yml": steps.format("tests-latest", "hypothesis"),
    }

    assert recipe(files).requirements == ("hypothesis",)
    assert recipe(dict([next(iter(files.items()))])).requirements == ("of-elsewhere",)


def test_the_job_with_the_plainest_name_runs_the_tests() -> None:
    found = recipe({".github/workflows/ci.yml": PLUGIN_JOBS})

    assert (found.requirements, found.paths) == (("b",), ())
    assert found.left_out == ("'../of-tests' is a path or an address, and is not installed",)


def test_what_a_source_says_that_nothing_is_taken_from_is_not_left_out() -> None:
    tox = "[testenv]\ndeps = d\ncommands = pytest\n"
    found = recipe({".github/workflows/ci.yml": PLUGIN_JOBS, "tox.ini": tox})

    assert (found.requirements, found.left_out) == (("d",), ())


def test_expressions_of_a_workflow_are_no_packages() -> None:
    step = "pip install -U pytest==${{ matrix.pytest-version }} attrs\n          pytest tests"
    job = f"jobs:\n  tests:\n    steps:\n      - run: |\n          {step}\n"

    found = recipe({".github/workflows/ci.yml": job, "tests/test_a.py": "def test_a(): pass\n"})

    assert (found.requirements, found.left_out) == (("attrs",), ())

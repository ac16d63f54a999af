"""What commands of other tools run in the end, read as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.services.python.recipe.translation import doctest_words, files_read, translated

MAKEFILE = (
    "PYTHON ?= python3\nOPTS = -q \\\n\t-x\nTESTS := tests\n\n"
    ".PHONY: all test lint\n\nall: test\n\n"
    "test: venv lint  ## run them\n\t@echo testing\n\tSHOP=1 $(PYTHON) -W error -m pytest $(OPTS) $(TESTS) $(ARGS)\n\n"
    "venv:\n\tpython -m venv venv && venv/bin/pip install -e .[test]\n\n"
    "lint:\n\t-ruff check .\n\n"
    "unit:\n\tpython -m unittest discover -s tests\n\n"
    "through:\n\t$(MAKE) unit\n\n"
    "both:\n\tpytest tests/a\n\tpytest tests/b\n\n"
    "database:\n\tdocker compose up -d\n\tpytest\n\n"
    "asked:\nifdef CI\n\tpytest -x\nelse\n\tpytest\nendif\n\n"
    "shell:\n\tpytest $(shell ls tests)\n\n"
    "script:\n\t./scripts/test.sh\n"
)
SCRIPT = (
    '#!/usr/bin/env bash\nset -euo pipefail\ncd "$(dirname "$0")"\n# quick\nexport SHOP=2\nmypy shop\n'
    'python -m pytest --strict-markers "$@"\n'
)
TEXTS = {"Makefile": MAKEFILE, "scripts/test.sh": SCRIPT}


def found(command: str, texts: dict[str, str] = TEXTS) -> tuple[str, tuple[str, ...], dict[str, str]] | None:
    result = translated(command.split(), texts)
    return None if result is None else (" ".join(result.command), result.paths, result.variables)


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("make", ("python -W error -m pytest", ("tests",), {"SHOP": "1"})),
        ("make test", ("python -W error -m pytest", ("tests",), {"SHOP": "1"})),
        ("make test TESTS=tests/unit", ("python -W error -m pytest", ("tests/unit",), {"SHOP": "1"})),
        ("make unit", ("python -m unittest discover -s tests", (), {})),
        ("make through", ("python -m unittest discover -s tests", (), {})),
        ("./scripts/test.sh", ("pytest --strict-markers", (), {"SHOP": "2"})),
        ("bash scripts/test.sh -k price", ("pytest --strict-markers -k price", (), {"SHOP": "2"})),
    ],
)
def test_what_can_be_told_is_translated(
    command: str, result: tuple[str, tuple[str, ...], dict[str, str]]
) -> None:
    assert found(command) == result


@pytest.mark.parametrize(
    "command",
    [
        "make both",
        "make database",
        "make asked",
        "make shell",
        "make nowhere",
        "make -C other test",
        "./run.py",
        "behave",
        "pytest",
        "make lint",
    ],
)
def test_what_does_more_than_can_be_told_is_left_as_it_is(command: str) -> None:
    assert found(command) is None


@pytest.mark.parametrize(
    "script",
    [
        "pytest | tee log",
        "if true; then pytest; fi",
        "./start-database\npytest",
        "pytest $OPTIONS",
        "pytest &\nwait",
        "cd other\npytest",
    ],
)
def test_a_script_with_more_than_plain_lines_is_left_as_it_is(script: str) -> None:
    assert found("sh run.sh", {"run.sh": script}) is None


def test_tools_that_make_environments_are_told_by_their_configuration() -> None:
    tox = "[tox]\nenvlist = lint, py312\n\n[testenv]\nsetenv =\n  SHOP = 3\ncommands = pytest -m quick {posargs:tests}\n\n[testenv:lint]\ncommands = ruff check\n"
    nox = "import nox\n\n@nox.session\ndef tests(session):\n    session.install('pytest')\n    session.run('python', '-m', 'unittest', 'tests.test_a')\n"
    hatch = "[tool.hatch.envs.test.scripts]\nrun = 'pytest -m quick'\n"

    assert found("tox -e py312", {"tox.ini": tox}) == ("pytest -m quick", ("tests",), {"SHOP": "3"})
    assert found("tox", {"tox.ini": tox}) == ("pytest -m quick", ("tests",), {"SHOP": "3"})
    assert found("tox -e lint", {"tox.ini": tox}) is None
    assert found("nox -s tests", {"noxfile.py": nox}) == ("python -m unittest tests.test_a", (), {})
    assert found("nox -s docs", {"noxfile.py": nox}) is None
    assert found("hatch run test:run", {"pyproject.toml": hatch}) == ("pytest -m quick", (), {})


def test_doctests_are_those_of_pytest_which_reports_each() -> None:
    words = ["python", "-X", "dev", "-m", "doctest", "-v", "-o", "ELLIPSIS", "shop.py", "docs/use.rst"]

    assert doctest_words(words) == (
        (
            "python",
            "-X",
            "dev",
            "-m",
            "pytest",
            "--doctest-modules",
            "--doctest-glob=use.rst",
            "-o",
            "doctest_optionflags=ELLIPSIS",
        ),
        ("shop.py", "docs/use.rst"),
    )
    assert doctest_words(["python", "-m", "pytest"]) is None


def test_only_files_of_the_repository_are_read() -> None:
    assert files_read(["./run_tests.sh"]) == ("run_tests.sh",)
    assert files_read(["sh", "-e", "scripts/test"]) == ("scripts/test",)
    for words in (["/bin/run"], ["../run.sh"], ["pytest"], ["python", "run.py"], []):
        assert files_read(words) == ()


@given(
    st.text(alphabet="abtes$(){}:=\t\n \\%@-#|&;'\"", max_size=300),
    st.sampled_from(["make", "make test", "sh run.sh a"]),
)
def test_any_text_is_survived(text: str, command: str) -> None:
    translated(command.split(), {"Makefile": text, "run.sh": text})

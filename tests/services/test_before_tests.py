"""What a repository's own tools run before its tests, and what is said of it where nearly nothing can be tested."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import TestReport
from cogworks.services.python.recipe.reading import read_recipe
from cogworks.services.python.recipe.result import Before
from cogworks.services.python.remedies import unprepared
from tests.services.asking import Copy, answered, laid_out

PROJECT = '[project]\nname = "shop"\n[project.optional-dependencies]\ntest = ["pytest"]\n'
TOX = "[testenv]\nextras = test\ncommands =\n    {}\n    pytest\n"
MAKE = "test: data\n\tpython -m pytest ${FLAGS}\ndata:\n\tpython scripts/fetch.py\nclean:\n\trm -f data.bin\n"
JOB = "jobs:\n  tests:\n    steps:\n      - run: {}\n      - run: pip install pytest\n      - run: pytest\n      - run: python tools/late.py\n"
NOX = '@nox.session\ndef tests(session):\n    session.install("pytest")\n    session.run("python", "tools/make.py")\n    session.run("pytest")\n'


@pytest.mark.parametrize("wrapper", ["uv run", "poetry run", "xvfb-run", "env", "python"])
def test_a_line_that_only_wraps_what_comes_after_it_is_no_program(wrapper: str) -> None:
    files = {"pyproject.toml": PROJECT, "tox.ini": TOX.format(wrapper)}

    assert read_recipe(files).before.commands == ()


@pytest.mark.parametrize("place", ["tox.ini", "workflow", "Makefile", "scripts/test.sh"])
@pytest.mark.parametrize(
    "line",
    ["uv run --", "make -C", "bash -c", "sh", "'", '"unclosed', "$(x)", "&& make", "env A=1", "sudo -u", "time", "/", "./", "-", "| tee", "> f", "cd x && make", "FOO=", "test\\"],
)  # fmt: skip
def test_an_odd_line_before_the_tests_is_read_without_an_error(line: str, place: str) -> None:
    run = {"Makefile": "make test", "scripts/test.sh": "bash scripts/test.sh"}.get(place, line)
    files = {
        "tox.ini": TOX.format(line) if place == "tox.ini" else "",
        ".github/workflows/a.yml": JOB.format(json.dumps(run)),
        "Makefile": f"test:\n\t{line}\n\tpytest\n",
        "scripts/test.sh": f"{line}\npytest\n",
    }

    recipe = read_recipe({"pyproject.toml": PROJECT, **{path: text for path, text in files.items() if text}})

    assert recipe.runner == "pytest"


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"tox.ini": TOX.format("python {toxinidir}/tools/make.py --all")}, ("python ./tools/make.py --all",)),
        ({"tox.ini": TOX.format("make clean data"), "Makefile": MAKE}, ("python scripts/fetch.py",)),
        ({"tox.ini": "[testenv]\nextras = test\ncommands = make test\n", "Makefile": MAKE}, ("python scripts/fetch.py",)),
        ({"tox.ini": TOX.format("make data"), "Makefile": MAKE.replace("scripts/fetch.py", "$(shell where)")}, ("make data",)),
        ({"tox.ini": "[testenv]\nextras = test\ncommands_pre = sh tools/make.sh\ncommands = pytest\n    python tools/late.py\n"}, ("sh tools/make.sh",)),
        ({"noxfile.py": NOX}, ("python tools/make.py",)),
        ({"tox.ini": TOX.format("python setup.py import_data")}, ("python setup.py import_data",)),
        ({"tox.ini": TOX.format("python setup.py build_ext --inplace")}, ()),
        ({"tox.ini": TOX.format("make data")}, ()),
        ({"tox.ini": TOX.format("coverage erase")}, ()),
        ({"tox.ini": TOX.format("pip install attrs")}, ()),
        ({"tox.ini": TOX.format("python /opt/make.py")}, ()),
        ({"tox.ini": TOX.format("python {envdir}/make.py")}, ()),
        ({"tox.ini": TOX.format("make test"), "Makefile": "test:\n\tpytest\n"}, ()),
    ],
    ids=[
        "tox", "of-a-target", "before-a-target", "unclear", "first", "nox", "own", "built", "no-file", "harmless", "installs", "elsewhere",
        "unknown", "tests",
    ],
)  # fmt: skip
def test_programs_that_run_before_the_tests_are_known(
    files: Mapping[str, str], commands: tuple[str, ...]
) -> None:
    assert read_recipe({"pyproject.toml": PROJECT, **files}).before.commands == commands


def test_a_workflow_counts_where_nothing_else_says_how_tests_run() -> None:
    before = read_recipe({".github/workflows/a.yml": JOB.format("./tools/make now")}).before

    assert before == Before(source=".github/workflows/a.yml, job 'tests'", commands=("./tools/make now",))


def test_the_remedy_is_a_line_to_paste_that_keeps_what_is_configured() -> None:
    before = Before(source="tox.ini [testenv]", commands=("npm ci", "python scripts/fetch.py"))

    [remedy] = unprepared(before, ("npm ci",))

    assert remedy.startswith(
        "tox.ini [testenv] runs `python scripts/fetch.py` before the tests, and no run here does."
    )
    assert remedy.endswith('`setup = ["npm ci", "python scripts/fetch.py"]`.')
    assert unprepared(before, before.commands) == unprepared(Before()) == ()


MAKES = "open('prices.txt', 'w').write('3')\n"
READS = "def price():\n    return int(open('prices.txt').read())\n"


@pytest.mark.parametrize(
    ("test", "is_told"),
    [
        ("from shop import price\n\nPRICE = price()\n\n\ndef test_a():\n    assert PRICE\n", True),
        ("import pytest\n\nfrom shop import price\n\n\n@pytest.mark.parametrize('n', range(12))\ndef test_a(n):\n    assert price()\n", True),
        ("from shop import price\n\n\ndef test_a():\n    assert price()\n", False),
    ],
    ids=["not-loaded", "most-fail", "one-fails"],
)  # fmt: skip
def test_where_nothing_can_be_tested_the_answer_tells_what_runs_before(
    tmp_path: Path, test: str, is_told: bool
) -> None:
    tox = "[testenv]\ndeps = pytest\ncommands =\n    python tools/make.py\n    pytest\n"
    files = {"shop.py": READS, "test_shop.py": test, "tools/make.py": MAKES, "tox.ini": tox}

    response = answered("simulate", Copy(laid_out(tmp_path, files)), SimulateParams())

    remedies = TestReport.model_validate(response.result).remedies
    assert any('`setup = ["python tools/make.py"]`' in each for each in remedies) == is_told

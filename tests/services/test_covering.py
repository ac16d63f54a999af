"""Which lines each test executes, as the Python service reports them."""

import os
from pathlib import Path

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.exploring import Coverage, CoverageParams
from cogworks.domain_services.messages import ErrorCode
from cogworks.domain_services.operations import COVERAGE
from cogworks.services.python.imports import is_test_file
from tests.services.asking import CART, Copy, refusal_of, repository, result_of
from tests.services.test_python_service import COMMAND

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": (CART + "def total(cart):\n    return sum(cart.prices)\n"),
    "tests/conftest.py": "import pytest\nfrom shop.cart import Cart\n@pytest.fixture\ndef cart():\n    return Cart()\n",
    "tests/test_cart.py": (
        "import subprocess, sys, threading\n"
        "import pytest\n"
        "from shop.cart import Cart, total\n"
        "def test_sum(cart):\n"
        "    cart.add(2)\n"
        "    assert total(cart) == 2\n"
        "def test_wrong(cart):\n"
        "    assert total(cart) == 1\n"
        "def test_refused(cart):\n"
        "    with pytest.raises(ValueError):\n"
        "        cart.add(-1)\n"
        "def test_thread(cart):\n"
        "    thread = threading.Thread(target=cart.add, args=[1])\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "def test_elsewhere():\n"
        "    subprocess.run([sys.executable, '-c', 'from shop.cart import *; total(Cart())'], check=True)\n"
        "@pytest.mark.skip\n"
        "def test_later(): pass\n"
    ),
}


def covered(copy: Copy, params: CoverageParams) -> dict[str, dict[str, tuple[tuple[int, int], ...]]]:
    result = Coverage.model_validate(result_of("coverage", copy, params))
    return {each.test.rsplit("::", 1)[-1]: each.lines for each in result.tests}


def test_each_test_that_ran_has_its_own_lines(tmp_path: Path) -> None:
    cart = "src/shop/cart.py"

    found = covered(repository(tmp_path, FILES), CoverageParams())

    assert found == {
        "test_sum": {cart: ((3, 3), (6, 6), (8, 8), (12, 12))},
        "test_wrong": {cart: ((3, 3), (12, 12))},
        "test_refused": {cart: ((3, 3), (6, 7))},
        "test_thread": {cart: ((3, 3), (6, 6), (8, 8))},
        # Processes that a test starts are not followed.
        "test_elsewhere": {},
    }


def test_measuring_reads_no_sources_to_say_who_measures(tmp_path: Path) -> None:
    text = "import sys\ndef test_a(): assert sys.modules['coverage.collector'].short_stack() == ''\n"

    report = Coverage.model_validate(
        result_of("coverage", repository(tmp_path, {"test_a.py": text}), CoverageParams())
    ).report

    assert [case.outcome for case in report.cases] == ["passed"]


@pytest.mark.slow
def test_over_the_wire_it_is_the_same_report_as_simulate_and_one_entry_for_each_test(tmp_path: Path) -> None:
    copy = repository(tmp_path, FILES)
    asked = CoverageParams(tests=("tests/test_cart.py::test_wrong", "tests/gone.py"))
    with ProcessService(COMMAND, name="python", environment=os.environ) as service:
        answer = service.call(COVERAGE, copy, asked)
        report = service.simulate(copy, asked.tests)

    assert isinstance(answer, Answer)
    assert answer.result.report == report
    assert [each.test for each in answer.result.tests] == ["tests/test_cart.py::test_wrong"]
    assert answer.verdict == "failure"
    assert "coverage" in answer.metadata.tool_versions


def test_tests_and_their_fixtures_are_reported_when_they_are_asked_for(tmp_path: Path) -> None:
    asked = CoverageParams(
        tests=("tests/test_cart.py::test_wrong",), artifacts=("tests/conftest.py", "tests/test_cart.py")
    )

    assert covered(repository(tmp_path, FILES), asked) == {
        "test_wrong": {"tests/conftest.py": ((5, 5),), "tests/test_cart.py": ((8, 8),)}
    }


@pytest.mark.slow
def test_what_takes_the_measuring_away_costs_one_test_its_lines_and_no_other(tmp_path: Path) -> None:
    files = {
        "a.py": "def one():\n    return 1\n",
        "pyproject.toml": "[tool.pytest.ini_options]\nfilterwarnings = ['error']\n",
        "test_a.py": (
            "import os, sys\n"
            "import a\n"
            "def test_before(): a.one()\n"
            "def test_takes_it():\n"
            "    sys.settrace(None)\n"
            "    a.one()\n"
            "def test_kills():\n"
            "    a.one()\n"
            "    os._exit(3)\n"
            "def test_writes():\n"
            "    open('b.py', 'w').write('x = 1\\n')\n"
            "    import b\n"
            "def test_after(): a.one()\n"
        ),
    }

    # Not as a setting of the repository, for which an environment with the plugin would be made.
    params = CoverageParams(environment={"PYTEST_ADDOPTS": "-p xdist -n 2"})

    found = covered(repository(tmp_path, files), params)

    assert found == {
        "test_before": {"a.py": ((2, 2),)},
        "test_takes_it": {},
        "test_kills": {},
        "test_writes": {},
        "test_after": {"a.py": ((2, 2),)},
    }


def test_an_environment_in_which_lines_cannot_be_measured_is_named(tmp_path: Path) -> None:
    files = {
        "conftest.py": "",
        "coverage.py": "version = 1\n",
        "test_a.py": "import coverage\ndef test_a(): pass\n",
    }
    files["pyproject.toml"] = "[tool.pytest.ini_options]\naddopts = '-p coverage'\n"

    code, message = refusal_of("coverage", repository(tmp_path, files), CoverageParams())

    assert code is ErrorCode.TOOL_NOT_FOUND
    assert message.startswith(
        "coverage: lines cannot be measured in this project's environment: AttributeError"
    )


@pytest.mark.parametrize(
    "params",
    [
        CoverageParams(artifacts=("../a.py",)),
        CoverageParams(tests=("-h",)),
        CoverageParams(environment={"PATH": "/"}),
    ],
    ids=["artifact", "test", "environment"],
)
def test_what_leads_elsewhere_is_refused(params: CoverageParams, tmp_path: Path) -> None:
    code, _ = refusal_of("coverage", repository(tmp_path, FILES), params)

    assert code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("test_a.py", True),
        ("a_test.py", True),
        ("pkg/conftest.py", True),
        ("tests/data/shop.py", True),
        ("pkg/testing/tools.py", True),
        ("latest.py", False),
        ("pkg/contest.py", False),
        ("attest/a.py", False),
    ],
)
def test_tests_are_told_by_name_and_folder(path: str, is_test: bool) -> None:
    assert is_test_file(path) is is_test

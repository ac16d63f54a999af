"""The suite runs as the repository's own tools start it, where that is pytest and nobody configured anything else."""

from pathlib import Path

import pytest

from cogworks.domain_services.checking import SimulateParams
from cogworks.domain_services.messages import TestReport
from tests.services.asking import Copy, answered, laid_out

FILES = {
    "shop.py": "def total(prices):\n    '''\n    >>> total([1, 2])\n    3\n    '''\n    return sum(prices)\n",
    "checks/test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "other/test_other.py": "def test_other():\n    pass\n",
}


def ran(folder: Path, files: dict[str, str], **params: object) -> TestReport:
    response = answered(
        "simulate", Copy(laid_out(folder, {**FILES, **files})), SimulateParams.model_validate(params)
    )
    assert response.error is None, response.error
    return TestReport.model_validate(response.result)


def ids(report: TestReport) -> list[str]:
    return sorted(case.id for case in report.cases)


TOX = {"tox.ini": "[testenv]\ndeps = pytest\ncommands = pytest --doctest-modules shop.py checks {posargs}\n"}


def test_the_options_and_places_of_tox_are_those_of_the_whole_suite(tmp_path: Path) -> None:
    report = ran(tmp_path, TOX)

    assert ids(report) == ["checks/test_shop.py::test_total", "shop.py::shop.total"]
    assert "--doctest-modules" in report.commands[0]


def test_tests_that_are_named_count_before_the_places_of_tox(tmp_path: Path) -> None:
    assert ids(ran(tmp_path, TOX, tests=("other/test_other.py",))) == ["other/test_other.py::test_other"]


def test_a_configured_command_counts_before_what_was_found(tmp_path: Path) -> None:
    assert ids(ran(tmp_path, TOX, command=("pytest", "-k", "other"))) == ["other/test_other.py::test_other"]


@pytest.mark.parametrize("options", ["--no-such-option", "-p no_such_plugin"])
def test_found_options_that_do_not_work_here_are_left_out_and_that_is_said(
    tmp_path: Path, options: str
) -> None:
    report = ran(tmp_path, {"tox.ini": f"[testenv]\ndeps = pytest\ncommands = pytest {options} checks\n"})

    assert ids(report) == ["checks/test_shop.py::test_total", "other/test_other.py::test_other"]
    assert "was left for plain pytest" in report.remedies[0]


@pytest.mark.parametrize("places", ["checks", "checks/", "./checks"])
def test_places_count_without_options_as_well(tmp_path: Path, places: str) -> None:
    tox = {"tox.ini": f"[testenv]\ncommands = pytest {places} {{posargs}}\n"}

    assert ids(ran(tmp_path, tox)) == ["checks/test_shop.py::test_total"]


def test_places_that_are_not_there_leave_the_whole_suite(tmp_path: Path) -> None:
    tox = {"tox.ini": "[testenv]\ncommands = pytest checks gone\n"}

    assert ids(ran(tmp_path, tox)) == ["checks/test_shop.py::test_total", "other/test_other.py::test_other"]


def test_a_filter_of_warnings_that_a_script_of_tests_sets_holds_as_it_does_in_the_script(
    tmp_path: Path,
) -> None:
    text = (
        "import unittest\nimport warnings\n\n"
        "with warnings.catch_warnings(record=True) as shown:\n    warnings.warn('mine', DeprecationWarning)\n\n"
        "warnings.filterwarnings('error', category=DeprecationWarning)\n\n\n"
        "class Old(unittest.TestCase):\n    def test_old(self):\n"
        "        self.assertRaises(DeprecationWarning, warnings.warn, 'old', DeprecationWarning)\n"
        "        self.assertEqual(len(shown), 1)\n\n\n"
        "if __name__ == '__main__':\n    unittest.TextTestRunner().run(unittest.makeSuite(Old))\n"
    )
    tox = "[testenv]\ncommands = python tests.py\n"

    report = ran(tmp_path, {"tox.ini": tox, "tests.py": text})

    assert [(case.id, case.outcome) for case in report.cases] == [("tests.py::Old::test_old", "passed")]

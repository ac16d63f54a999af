"""Where unittest or Django runs the tests, pytest and what comes with it are in no environment that did not ask for them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cogworks.domain_services.answers import fields_of
from cogworks.domain_services.checking import Prepared, PrepareParams, SimulateParams
from cogworks.domain_services.exploring import Beside, BesideParams, Lines, TraceParams
from cogworks.domain_services.messages import (
    Message,
    Repository,
    Request,
    Response,
    TestReport,
    frame,
)
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from tests.services.asking import HERE, laid_out
from tests.services.package_server import serving, wheel, with_pytest
from tests.services.test_isolation import NEEDS_WALLS

pytestmark = [NEEDS_WALLS, pytest.mark.slow]

TEST = "tests/test_shop.py"
FILES = {
    "setup.cfg": "[options]\ninstall_requires = shop_tools\n",
    "tox.ini": "[testenv]\ncommands = python -m unittest discover {posargs}\n",
    "tests/__init__.py": "",
    TEST: (
        "import unittest\nfrom importlib.util import find_spec\n\nimport shop_tools\n\n\n"
        "class Shop(unittest.TestCase):\n"
        "    def test_alone(self):\n        self.assertIsNone(find_spec('pytest'))\n"
        "        self.assertIsNone(find_spec('pygments'))\n"
    ),
}
BACKEND = """
import zipfile

def build_wheel(directory, settings=None, metadata=None):
    name, about = "shop-1.0-py3-none-any.whl", "shop-1.0.dist-info"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as made:
        made.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\\nName: shop\\nVersion: 1.0\\n")
        made.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        made.writestr(f"{about}/RECORD", "")
    return name
"""
ALONE = f"{TEST}::Shop::test_alone"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("wheels")
    wheel(folder, "shop_tools", "1.0", {"shop_tools.py": ""})
    with_pytest(folder)
    with serving(folder) as server:
        yield server.address


class Shop:
    """A repository, and the service whose environments are its own."""

    def __init__(self, folder: Path, index: str, files: dict[str, str]) -> None:
        self.folder = laid_out(folder / "shop", {**FILES, **files})
        settings = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index}
        self.made: list[str] = []
        environments = Environments(folder / "environments", settings=settings, say=self.made.append)
        self._service = PythonService(Machine(os.environ["PATH"], HERE, environments))

    def asked(self, method: str, params: Message) -> Response:
        request = Request(
            request_id="1",
            method=method,
            repository=Repository(path=str(self.folder)),
            params=fields_of(params),
        )
        response = self._service.answer(frame(request))
        assert response.error is None, response.error
        return response

    def report(self, **params: object) -> TestReport:
        asked = SimulateParams.model_validate({"timeout_s": 120, **params})
        return TestReport.model_validate(self.asked("simulate", asked).result)

    def prepared(self, *command: str) -> Prepared:
        return Prepared.model_validate(self.asked("prepare", PrepareParams(command=command)).result)

    @property
    def times_made(self) -> int:
        return sum(line.startswith("making") for line in self.made)


def test_a_suite_of_unittest_runs_without_pytest_in_the_environment_that_was_prepared_for_it(
    tmp_path: Path, index: str
) -> None:
    shop = Shop(tmp_path, index, {})

    prepared, report = shop.prepared(), shop.report()

    assert prepared.runner == "unittest"
    assert [(case.id, case.outcome, case.message) for case in report.cases] == [(ALONE, "passed", "")]
    assert shop.times_made == 1


def test_a_repository_that_needs_nothing_is_tested_in_an_environment_with_nothing(
    tmp_path: Path, index: str
) -> None:
    files = {
        "setup.cfg": "",
        "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'own'\nbackend-path = ['.']\n",
        "own.py": BACKEND,
        TEST: FILES[TEST].replace("import shop_tools\n", ""),
    }
    shop = Shop(tmp_path, index, files)

    assert [case.outcome for case in shop.report().cases] == ["passed"]


def test_a_configured_command_says_what_is_prepared(tmp_path: Path, index: str) -> None:
    shop = Shop(tmp_path, index, {"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"})
    command = ("python", "-m", "unittest")

    keys = [shop.prepared().key, shop.prepared(*command).key]
    report = shop.report(command=command)

    assert len(set(keys)) == 2
    assert [case.outcome for case in report.cases] == ["passed"]
    assert shop.times_made == 2


def test_pytest_is_there_where_a_test_file_imports_it(tmp_path: Path, index: str) -> None:
    text = (
        "import unittest\n\nimport pytest\n\n\nclass Shop(unittest.TestCase):\n"
        "    def test_alone(self):\n        with pytest.raises(KeyError):\n            {}[1]\n"
    )
    report = Shop(tmp_path, index, {TEST: text}).report()

    assert [(case.id, case.outcome) for case in report.cases] == [(ALONE, "passed")]
    assert "unittest" in report.commands[0]


def test_steps_are_followed_in_pytest_all_the_same(tmp_path: Path, index: str) -> None:
    shop = Shop(tmp_path, index, {TEST: FILES[TEST].replace("IsNone", "IsNotNone")})

    response = shop.asked("trace", TraceParams(test=ALONE, artifacts=(TEST,)))

    assert response.result["case"]["outcome"] == "passed"
    assert response.result["events"]


def test_inputs_beside_those_of_the_tests_are_tried_in_pytest_all_the_same(
    tmp_path: Path, index: str
) -> None:
    files = {
        "till.py": "def double(number):\n    return number * 2\n",
        TEST: (
            "import unittest\n\nfrom till import double\n\n\nclass Shop(unittest.TestCase):\n"
            "    def test_alone(self):\n        self.assertEqual(double(3), 6)\n"
        ),
    }
    lines: dict[str, tuple[Lines, ...]] = {"till.py": ((2, 2),)}
    params = BesideParams(tests=(ALONE,), lines=lines, mistakes_in=lines, timeout_s=60)

    found = Beside.model_validate(Shop(tmp_path, index, files).asked("beside", params).result)

    assert found.notes == ()
    assert "dict{'number': 4}" in {call.given for call in found.calls}
    assert [mutant.is_noticed for mutant in found.mutants] == [True] * len(found.mutants) != []


def test_a_command_of_django_that_does_not_begin_is_left_for_pytest_which_is_there_then(
    tmp_path: Path, index: str
) -> None:
    files = {
        "tox.ini": "[testenv]\ncommands = python manage.py test\n",
        "manage.py": "raise SystemExit(3)\n",
        TEST: FILES[TEST].replace("IsNone", "IsNotNone"),
    }

    report = Shop(tmp_path, index, files).report()

    assert [(case.id, case.outcome) for case in report.cases] == [(ALONE, "passed")]
    assert "was left for plain pytest" in report.remedies[0]

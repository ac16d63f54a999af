"""Tests that a program of the repository starts by Django's runner: how that is recognised, and each test's result."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import Repository, Request, frame
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from cogworks.services.python.recipe.reading import read_recipe
from cogworks.services.python.recipe.result import Recipe, configuration
from cogworks.services.python.runners import as_typed, in_words, runner_of
from tests.limits import LONG_RUN_ENDS_WITHIN_S
from tests.services.asking import HERE, laid_out

PROGRAM = """\
import os
import sys

import django
from django.conf import settings
from django.test.utils import get_runner

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "{settings}"
    django.setup()
    TestRunner = get_runner(settings)
    failures = TestRunner(parallel=2, failfast=True).run_tests(["{label}"])
    sys.exit(bool(failures))
"""
AT_ROOT = PROGRAM.format(settings="tests.settings", label="tests")
BESIDE = PROGRAM.format(settings="settings", label="shop_tests")
TOX = "[testenv]\ndeps = Django\nchangedir = {}\ncommands = {{envpython}} runtests.py {{posargs}}\n"


def recipe(files: Mapping[str, str]) -> Recipe:
    return read_recipe(files, python="3.12")


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"tox.ini": TOX.format("tests"), "tests/runtests.py": BESIDE}, "python tests/runtests.py"),
        ({"tox.ini": TOX.format("{toxinidir}"), "runtests.py": AT_ROOT}, "python runtests.py"),
        ({"runtests.py": AT_ROOT, "tests/test_a.py": "import django\n"}, "python runtests.py"),
        ({"tests/run_tests.py": BESIDE, "tests/a/tests.py": ""}, "python tests/run_tests.py"),
        ({"runtests.py": AT_ROOT, "tests/test_a.py": "import pytest\n"}, ""),
        ({"runtests.py": AT_ROOT, "tests/runtests.py": BESIDE, "tests/test_a.py": "import django\n"}, ""),
        ({"tox.ini": TOX.format("tests"), "tests/runtests.py": "print(1)\n", "tests/test_a.py": ""}, ""),
        ({"pkg/runtests.py": AT_ROOT, "tests/test_a.py": "import django\n"}, ""),
    ],
    ids=["tox-folder", "tox", "by-name", "beside-tests", "pytest", "two", "another", "deeper"],
)  # fmt: skip
def test_a_program_that_starts_the_tests_of_django_is_how_they_run(
    files: Mapping[str, str], command: str
) -> None:
    found = recipe(files)

    assert " ".join(as_typed(found.command)) == command
    assert found.runner == ("django" if command else "pytest")
    if command:
        assert (runner_of(found.command), in_words(found.command, ["a"])) == ("django", command.split())


def test_the_block_of_configuration_has_the_command_as_people_type_it() -> None:
    block = tomllib.loads(configuration(recipe({"runtests.py": AT_ROOT, "tests/test_a.py": ""})))

    assert block["tests"] == {"command": "python runtests.py"}


CASE = """\
from django.test import TestCase
from django.test.utils import get_runner
from django.conf import settings

from shop.models import Item


class ItemTest(TestCase):
    @classmethod
    def setUpTestData(cls):
        Item.objects.create(name="a")

    def test_there(self):
        self.assertEqual(Item.objects.count(), 1)

    def test_wrong(self):
        self.assertEqual(Item.objects.count(), 2)

    def test_runner(self):
        self.assertEqual(get_runner(settings).__module__, "django.test.runner")
"""
SETTINGS = (
    "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\nUSE_TZ = True\n"
    "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
)
SHOP = {
    "requirements.txt": "Django>=4.2\n",
    "shop/__init__.py": "",
    "shop/models.py": (
        "from django.db import models\n\n\nclass Item(models.Model):\n    name = models.CharField(max_length=9)\n"
    ),
}
OF_ROOT = {
    **SHOP,
    "runtests.py": AT_ROOT,
    "tests/__init__.py": "",
    "tests/settings.py": SETTINGS,
    "tests/test_item.py": CASE,
    "tests/test_unloaded.py": "import nowhere_to_be_found\n",
}
OF_FOLDER = {
    **SHOP,
    "tox.ini": TOX.format("tests"),
    "tests/runtests.py": BESIDE,
    "tests/settings.py": SETTINGS,
    "tests/shop_tests/__init__.py": "",
    "tests/shop_tests/tests.py": "",
    "tests/shop_tests/test_item.py": CASE,
    "tests/shop_tests/test_unloaded.py": "import nowhere_to_be_found\n",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(
        os.environ["PATH"], HERE, Environments(tmp_path_factory.mktemp("made"), settings=os.environ)
    )


def report(machine: Machine, folder: Path, *tests: str, **more: Any) -> dict[str, Any]:
    request = Request(
        request_id="1",
        method="simulate",
        repository=Repository(path=str(folder)),
        params={"tests": tests, "timeout_s": 600.0, **more},
    )
    response = PythonService(machine).answer(frame(request))
    assert response.error is None, response.error
    return response.result


def outcomes(result: dict[str, Any]) -> dict[str, str]:
    return {case["id"]: case["outcome"] for case in result["cases"]}


@pytest.mark.slow
@pytest.mark.timeout(LONG_RUN_ENDS_WITHIN_S)
@pytest.mark.parametrize(
    ("files", "place", "command"),
    [(OF_ROOT, "tests", "runtests.py"), (OF_FOLDER, "tests/shop_tests", "tests/runtests.py")],
    ids=["root", "folder"],
)
def test_each_test_that_a_program_starts_has_a_result_and_can_be_run_alone(
    machine: Machine, tmp_path: Path, files: dict[str, str], place: str, command: str
) -> None:
    folder = laid_out(tmp_path, files)
    test = f"{place}/test_item.py::ItemTest::"

    whole, one = report(machine, folder), report(machine, folder, f"{test}test_there")
    configured = report(machine, folder, f"{test}test_wrong", command=["python", command])

    assert outcomes(whole) == {
        f"{test}test_runner": "passed", f"{test}test_there": "passed", f"{test}test_wrong": "failed",
    }  # fmt: skip
    assert [each.split(":")[0] for each in whole["collection_errors"]] == [f"{place}/test_unloaded.py"]
    assert whole["commands"] == [f"python {command}"]
    assert set(whole["versions"]) == {"python", "django"}
    assert (outcomes(one), one["collection_errors"]) == ({f"{test}test_there": "passed"}, [])
    assert outcomes(configured) == {f"{test}test_wrong": "failed"}

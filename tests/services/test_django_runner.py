"""Tests of a Django project, run by `manage.py test` with a report of each: a real Django from the index, in isolation."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import Repository, Request, Response, TestReport, frame
from cogworks.domain_services.parts import in_parts
from cogworks.services.python.answering import PythonService
from cogworks.services.python.environments import Environments
from cogworks.services.python.machine import Machine
from tests.limits import LONG_RUN_ENDS_WITHIN_S
from tests.services.asking import HERE, laid_out

LIMIT_S = 600.0

FILES = {
    "requirements.txt": "Django>=4.2\n",
    "manage.py": (
        "import os\nimport sys\n\n"
        "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_of_shop.settings')\n"
        "from django.core.management import execute_from_command_line\n\n"
        "execute_from_command_line(sys.argv)\n"
    ),
    "site_of_shop/__init__.py": "",
    "site_of_shop/settings.py": (
        "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\nUSE_TZ = True\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'db.sqlite3'}}\n"
    ),
    "shop/__init__.py": "",
    "shop/models.py": (
        "from django.db import models\n\n\nclass Item(models.Model):\n    name = models.CharField(max_length=9)\n"
        "    class Meta:\n        app_label = 'shop'\n"
    ),
    "shop/tests.py": (
        "from django.test import TestCase\n\nfrom shop.models import Item\n\n\n"
        "class ItemTest(TestCase):\n"
        "    @classmethod\n    def setUpTestData(cls):\n        Item.objects.create(name='a')\n\n"
        "    def test_there(self):\n        self.assertEqual(Item.objects.count(), 1)\n\n"
        "    def test_wrong(self):\n        self.assertEqual(Item.objects.count(), 2)\n"
    ),
    "shop/test_more.py": (
        "from django.test import SimpleTestCase\n\n\nclass MoreTest(SimpleTestCase):\n"
        "    def test_more(self):\n        pass\n"
    ),
    "shop/test_unloaded.py": "import nowhere_to_be_found\n",
}
COMMAND = ("python", "manage.py", "test", "--failfast", "--parallel", "2")
ITEM, MORE = "shop/tests.py::ItemTest::", "shop/test_more.py::MoreTest::test_more"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(LONG_RUN_ENDS_WITHIN_S)]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(
        os.environ["PATH"], HERE, Environments(tmp_path_factory.mktemp("made"), settings=os.environ)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("shop"), FILES)


def asked(machine: Machine, folder: Path, method: str, *tests: str, **more: Any) -> Response:
    request = Request(
        request_id="1",
        method=method,
        repository=Repository(path=str(folder)),
        params={"command": COMMAND, "tests": tests, "timeout_s": LIMIT_S, **more},
    )
    response = PythonService(machine).answer(frame(request))
    assert response.error is None, response.error
    return response


def outcomes(report: dict[str, Any]) -> dict[str, str]:
    return {case["id"]: case["outcome"] for case in report["cases"]}


def test_each_test_has_a_result_and_a_database_of_its_own_inside(machine: Machine, folder: Path) -> None:
    report = asked(machine, folder, "simulate").result

    assert outcomes(report) == {f"{ITEM}test_there": "passed", f"{ITEM}test_wrong": "failed", MORE: "passed"}
    assert [each.split(":")[0] for each in report["collection_errors"]] == ["shop/test_unloaded.py"]
    assert set(report["versions"]) == {"python", "django"}


def test_one_test_is_run_alone_and_files_of_any_name(machine: Machine, folder: Path) -> None:
    one = asked(machine, folder, "simulate", f"{ITEM}test_there").result
    both = asked(machine, folder, "simulate", "shop/tests.py", MORE).result

    assert outcomes(one) == {f"{ITEM}test_there": "passed"}
    assert one["collection_errors"] == []
    assert one["commands"] == ["python manage.py test shop.tests.ItemTest.test_there"]
    assert outcomes(both) == {f"{ITEM}test_there": "passed", f"{ITEM}test_wrong": "failed", MORE: "passed"}
    wrong = next(case["message"] for case in both["cases"] if case["id"] == f"{ITEM}test_wrong")
    assert wrong.splitlines()[0] == "shop/tests.py:15: in test_wrong"


def test_lines_of_one_test_are_measured(machine: Machine, folder: Path) -> None:
    result = asked(machine, folder, "coverage", f"{ITEM}test_there").result

    assert [each["test"] for each in result["tests"]] == [f"{ITEM}test_there"]


def test_a_suite_that_takes_too_long_is_run_in_parts_by_class_where_those_of_files_are_mixed(
    machine: Machine, tmp_path: Path
) -> None:
    # Django runs every `TestCase` before all others, so that no file but the first would come to its end in one go.
    case = (
        "import time\n\nfrom django.test import SimpleTestCase, TestCase\n\n\n"
        "class First(TestCase):\n    def test_first(self):\n        time.sleep(4)\n\n\n"
        "class Second(SimpleTestCase):\n    def test_second(self):\n        time.sleep(4)\n"
    )
    kept = {path: text for path, text in FILES.items() if "test" not in path}
    folder = laid_out(tmp_path, {**kept, "shop/test_a.py": case, "shop/test_b.py": case})

    def part(tests: Sequence[str], parts: str) -> TestReport:
        limit_s = 15.0 if asked(machine, folder, "prepare").error is None else 0.0
        response = asked(machine, folder, "simulate", *tests, parts=parts, timeout_s=limit_s)
        return TestReport.model_validate(response.result)

    parts = list(in_parts(part))

    assert len(parts) > 1
    ids = [case.id for part in parts for case in part.cases]
    assert len(ids) == len(set(ids)) == 4

"""Tests of unittest, run by its own command with a report of each, in real processes."""

import itertools
from pathlib import Path

import pytest

from cogworks.domain_services.messages import Response
from tests.services.asking import ask, asked_for, laid_out

COMMAND = ["python", "-m", "unittest"]
FILES = {
    "shop.py": "def price():\n    return 2\n",
    "tests/__init__.py": "",
    "tests/test_shop.py": (
        "import os\nimport unittest\n\nimport shop\n\n\n"
        "class Base(unittest.TestCase):\n"
        "    def test_price(self):\n        self.assertEqual(shop.price(), 2)\n\n\n"
        "class ShopTest(Base):\n"
        "    def test_wrong(self):\n        self.assertEqual(shop.price(), 3, 'too cheap')\n\n"
        "    def test_error(self):\n        raise KeyError('x')\n\n"
        "    @unittest.skip('not now')\n    def test_skipped(self):\n        pass\n\n"
        "    @unittest.expectedFailure\n    def test_known(self):\n        self.fail()\n\n"
        "    @unittest.expectedFailure\n    def test_mended(self):\n        pass\n\n"
        "    def test_parts(self):\n"
        "        for number in range(3):\n"
        "            with self.subTest(number=number):\n"
        "                self.assertNotEqual(number, 1)\n\n"
        "    def test_whole_parts(self):\n"
        "        for number in range(3):\n"
        "            with self.subTest(number=number):\n"
        "                if number == 1:\n                    self.skipTest('odd')\n"
    ),
    "tests/test_fixtures.py": (
        "import unittest\n\n\n"
        "class Broken(unittest.TestCase):\n"
        "    @classmethod\n    def setUpClass(cls):\n        raise OSError('no database')\n\n"
        "    def test_a(self):\n        pass\n\n    def test_b(self):\n        pass\n\n\n"
        "class Untidy(unittest.TestCase):\n"
        "    @classmethod\n    def tearDownClass(cls):\n        raise OSError('left behind')\n\n"
        "    def test_a(self):\n        pass\n\n    def test_b(self):\n        pass\n\n\n"
        "class Passed(unittest.TestCase):\n"
        "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest('no display')\n\n"
        "    def test_a(self):\n        pass\n"
    ),
    "tests/test_module.py": (
        "import unittest\n\n\ndef setUpModule():\n    raise ValueError('not here')\n\n\n"
        "class Never(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    ),
    "tests/test_unloaded.py": "import nowhere_to_be_found\n",
    "tests/test_syntax.py": "def (:\n",
    "tests/test_ending.py": "raise SystemExit(3)\n",
    "tests/test_passed_over.py": "import unittest\n\nraise unittest.SkipTest('another machine')\n",
    "tests/deep/__init__.py": "",
    "tests/deep/test_deep.py": (
        "import unittest\n\nfrom tests.test_shop import Base\n\n\n"
        "class Outer:\n    class InnerTest(unittest.IsolatedAsyncioTestCase):\n"
        "        async def test_waiting(self):\n            pass\n\n\n"
        "InnerTest = Outer.InnerTest\n"
    ),
    "tests/checks.py": "import unittest\n\n\nclass Late(unittest.TestCase):\n    def test_late(self):\n        pass\n",
}
SHOP = "tests/test_shop.py::ShopTest::"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("shop"), FILES)


@pytest.fixture(scope="module")
def whole(folder: Path) -> Response:
    return simulated(folder, COMMAND)


def simulated(folder: Path, command: list[str], *tests: str, **params: object) -> Response:
    response = asked_for(
        "simulate", folder, {"command": command, "tests": list(tests), "timeout_s": 60, **params}
    )
    assert response.error is None, response.error
    return response


def outcomes(response: Response) -> dict[str, str]:
    return {case["id"]: case["outcome"] for case in response.result["cases"]}


def messages(response: Response) -> dict[str, str]:
    return {case["id"]: case.get("message", "") for case in response.result["cases"]}


def test_methods_that_are_named_after_files_of_the_repository_have_the_same_ids_in_every_run(
    tmp_path: Path,
) -> None:
    text = (
        "import os\nimport unittest\n\nDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'data')\n\n\n"
        "class Files(unittest.TestCase):\n    pass\n\n\n"
        "for name in ('a.txt', 'b.txt'):\n    path = os.path.join(DATA, name)\n"
        "    setattr(Files, f'test_{path}', lambda self, path=path: open(path).close())\n"
    )
    place = laid_out(tmp_path, {"test_files.py": text, "data/a.txt": ""})
    known = "test_files.py::Files::test_data/a.txt"

    assert outcomes(simulated(place, COMMAND)) == {known: "passed", known.replace("a.txt", "b.txt"): "failed"}
    assert outcomes(simulated(place, COMMAND, known)) == {known: "passed"}


def test_each_test_is_reported_under_the_id_that_pytest_gives_it(whole: Response) -> None:
    assert outcomes(whole) == {
        "tests/deep/test_deep.py::Base::test_price": "passed",
        "tests/deep/test_deep.py::Outer::InnerTest::test_waiting": "passed",
        "tests/test_fixtures.py::Broken::test_a": "error",
        "tests/test_fixtures.py::Broken::test_b": "error",
        "tests/test_fixtures.py::Untidy::test_a": "passed",
        "tests/test_fixtures.py::Untidy::test_b": "error",
        "tests/test_fixtures.py::Passed::test_a": "skipped",
        "tests/test_module.py::Never::test_a": "error",
        "tests/test_passed_over.py": "skipped",
        "tests/test_shop.py::Base::test_price": "passed",
        f"{SHOP}test_error": "failed",
        f"{SHOP}test_known": "skipped",
        f"{SHOP}test_mended": "failed",
        f"{SHOP}test_parts": "failed",
        f"{SHOP}test_price": "passed",
        f"{SHOP}test_skipped": "skipped",
        f"{SHOP}test_whole_parts": "passed",
        f"{SHOP}test_wrong": "failed",
    }


def test_a_failure_says_where_and_what_without_places_of_the_machine(whole: Response) -> None:
    said = messages(whole)

    assert said[f"{SHOP}test_wrong"] == (
        "tests/test_shop.py:14: in test_wrong\n    self.assertEqual(shop.price(), 3, 'too cheap')\n"
        "E   AssertionError: 2 != 3 : too cheap"
    )
    assert said[f"{SHOP}test_parts"].startswith("(number=1)\ntests/test_shop.py:34: in test_parts\n")
    assert said["tests/test_fixtures.py::Broken::test_b"].endswith("E   OSError: no database")
    assert said["tests/test_fixtures.py::Untidy::test_b"].endswith("E   OSError: left behind")
    assert said["tests/test_module.py::Never::test_a"].endswith("E   ValueError: not here")
    assert said[f"{SHOP}test_skipped"] == "Skipped: not now"
    assert "Unexpected success" in said[f"{SHOP}test_mended"]


def test_what_cannot_be_loaded_is_named_with_its_file_and_reason(whole: Response) -> None:
    found = {each.split(":", 1)[0]: each.splitlines()[-1] for each in whole.result["collection_errors"]}

    assert found == {
        "tests/test_unloaded.py": "E   ModuleNotFoundError: No module named 'nowhere_to_be_found'",
        "tests/test_syntax.py": "E   SyntaxError: invalid syntax",
        "tests/test_ending.py": "E   SystemExit: 3",
    }


@pytest.mark.parametrize(
    ("command", "tests", "found"),
    [
        (COMMAND, [f"{SHOP}test_price"], {f"{SHOP}test_price": "passed"}),
        (
            [*COMMAND, "discover", "-s", "tests", "-t", ".", "-f"],
            [f"{SHOP}test_wrong", f"{SHOP}test_price", "tests/deep"],
            {
                f"{SHOP}test_wrong": "failed",
                f"{SHOP}test_price": "passed",
                "tests/deep/test_deep.py::Base::test_price": "passed",
                "tests/deep/test_deep.py::Outer::InnerTest::test_waiting": "passed",
            },
        ),
        (
            [*COMMAND, "tests.test_shop", "-v"],
            ["tests/checks.py"],
            {"tests/checks.py::Late::test_late": "passed"},
        ),
        (COMMAND, ["tests/checks.py"], {"tests/checks.py::Late::test_late": "passed"}),
        (
            ["python", "-X", "dev", "-m", "unittest", "-k", "price"],
            ["tests/test_shop.py"],
            {"tests/test_shop.py::Base::test_price": "passed", f"{SHOP}test_price": "passed"},
        ),
    ],
    ids=["one", "discovery with options", "names", "a name that discovery passes over", "a pattern"],
)
def test_exactly_what_is_asked_for_runs(
    folder: Path, command: list[str], tests: list[str], found: dict[str, str]
) -> None:
    response = simulated(folder, command, *tests)

    assert outcomes(response) == found
    assert response.result["collection_errors"] == []


def test_names_of_a_command_are_what_runs_when_nothing_is_asked_for(folder: Path) -> None:
    found = simulated(
        folder, [*COMMAND, "tests.deep.test_deep", "tests/test_passed_over.py", "tests.nothing.Here"]
    )

    assert set(outcomes(found)) == {
        "tests/deep/test_deep.py::Base::test_price",
        "tests/deep/test_deep.py::Outer::InnerTest::test_waiting",
        "tests/test_passed_over.py",
    }
    assert [each.split(":")[0] for each in found.result["collection_errors"]] == ["tests.nothing.Here"]


def test_a_test_that_is_not_there_is_said_and_the_others_run(folder: Path) -> None:
    response = simulated(folder, COMMAND, f"{SHOP}test_price", f"{SHOP}test_no_more")

    assert outcomes(response) == {f"{SHOP}test_price": "passed"}
    assert f"ERROR: not found: {SHOP}test_no_more" in "\n".join(response.result["collection_errors"])


def test_the_command_is_told_as_somebody_would_type_it(folder: Path) -> None:
    response = simulated(folder, COMMAND, f"{SHOP}test_price")

    assert response.result["commands"] == ["python -m unittest tests.test_shop.ShopTest.test_price"]
    assert set(response.result["versions"]) == {"python"}


def test_a_test_or_a_file_that_takes_its_process_with_it_costs_no_other(tmp_path: Path) -> None:
    one = "    def test_{}(self):\n        {}\n\n"
    folder = laid_out(
        tmp_path,
        {
            "test_a.py": "import os, unittest\n\n\nclass A(unittest.TestCase):\n"
            + one.format("a", "pass")
            + one.format("b", "os._exit(3)")
            + one.format("c", "pass"),
            "test_b.py": "import os\n\nos.kill(os.getpid(), 11)\n",
            "test_c.py": "import unittest\n\n\nclass C(unittest.TestCase):\n" + one.format("a", "pass"),
        },
    )

    response = simulated(folder, COMMAND)

    assert outcomes(response) == {
        "test_a.py::A::test_a": "passed",
        "test_a.py::A::test_b": "error",
        "test_a.py::A::test_c": "passed",
        "test_c.py::C::test_a": "passed",
    }
    assert [each.split(" (")[0] for each in response.result["collection_errors"]] == [
        "test_b.py: the test process ended while this was loaded"
    ]


@pytest.mark.slow
def test_a_test_that_hangs_is_ended_at_its_limit(tmp_path: Path) -> None:
    text = (
        "import time, unittest\n\n\nclass A(unittest.TestCase):\n"
        "    def test_hangs(self):\n        while True:\n            try:\n                time.sleep(60)\n"
        "            except Exception:\n                pass\n\n"
        "    def test_other(self):\n        pass\n"
    )
    response = simulated(laid_out(tmp_path, {"test_a.py": text}), COMMAND, test_timeout_s=1)

    assert outcomes(response) == {"test_a.py::A::test_hangs": "failed", "test_a.py::A::test_other": "passed"}
    assert messages(response)["test_a.py::A::test_hangs"].endswith(
        "over the time limit of one test, 1 seconds"
    )


def test_doctests_and_tests_that_a_module_loads_itself_have_ids_of_files(tmp_path: Path) -> None:
    folder = laid_out(
        tmp_path,
        {
            "shop.py": 'def price():\n    """\n    >>> price()\n    3\n    """\n    return 2\n',
            "test_docs.py": (
                "import doctest\nimport unittest\n\nimport shop\n\n\ndef check():\n    pass\n\n\n"
                "def load_tests(loader, tests, pattern):\n"
                "    tests.addTests(doctest.DocTestSuite(shop))\n"
                "    tests.addTest(unittest.FunctionTestCase(check))\n"
                "    return tests\n"
            ),
            "test_failing.py": "def load_tests(loader, tests, pattern):\n    raise ValueError('none')\n",
        },
    )

    response = simulated(folder, COMMAND)

    assert outcomes(response) == {"shop.py::shop.price": "failed", "test_docs.py::check": "passed"}
    assert [each.split(":")[0] for each in response.result["collection_errors"]] == ["test_failing.py"]


@pytest.mark.slow
def test_another_order_and_groups_are_kept_with_classes_together(tmp_path: Path) -> None:
    text = "import unittest\n\n\n" + "".join(
        f"class {name}(unittest.TestCase):\n"
        + "".join(
            f"    def test_{each}(self):\n        {'self.fail()' if name + str(each) == 'B1' else 'pass'}\n\n"
            for each in range(6)
        )
        for name in ("A", "B", "C")
    )
    folder = laid_out(tmp_path, {"test_a.py": text})

    plain, shuffled, again = (list(outcomes(simulated(folder, COMMAND, seed=seed))) for seed in (None, 7, 7))
    groups = [["test_a.py::C"], ["test_a.py::B"], ["test_a.py::A"]]
    grouped = simulated(folder, COMMAND, *(each for group in groups for each in group), groups=groups)

    assert plain != shuffled == again
    assert sorted(plain) == sorted(shuffled)
    classes = [each.split("::")[1] for each in shuffled]
    assert len([1 for one, two in itertools.pairwise(classes) if one != two]) == 2
    assert [each.split("::")[1] for each in outcomes(grouped)] == ["C"] * 6 + ["B"] * 6


def test_lines_are_measured_under_the_same_ids(folder: Path) -> None:
    response = ask("coverage", folder, command=COMMAND, tests=[f"{SHOP}test_price"], timeout_s=60)

    assert response.error is None, response.error
    assert [(each["test"], each["lines"]) for each in response.result["tests"]] == [
        (f"{SHOP}test_price", {"shop.py": [[2, 2]]})
    ]


def test_what_the_tests_try_beyond_their_walls_is_told(tmp_path: Path) -> None:
    text = (
        "import socket, unittest\n\n\nclass A(unittest.TestCase):\n    def test_calls(self):\n"
        "        with self.assertRaises(OSError):\n            socket.create_connection(('192.0.2.1', 80), timeout=1)\n"
    )
    response = simulated(laid_out(tmp_path, {"test_a.py": text}), COMMAND)

    assert "test_a.py::A::test_calls: tried to connect to 192.0.2.1:80" in response.result["blocked"]


def test_a_command_that_unittest_refuses_is_told_in_its_own_words(folder: Path) -> None:
    response = simulated(folder, [*COMMAND, "--no-such-option"])

    assert outcomes(response) == {}
    [error] = response.result["collection_errors"]
    assert error.startswith("unittest ended early (exit code 2)")
    assert "unrecognized arguments: --no-such-option" in error

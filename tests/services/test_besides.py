"""Calls with inputs beside those of tests, and mistakes that tests should notice, as the Python service tells them."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cogworks.domain_services.exploring import Against, Beside, BesideParams, Lines
from cogworks.services.sandbox.isolation import NO_ISOLATION
from tests.services.asking import ask, laid_out, repository, result_of

TESTS = (
    "from shop import Till, double, name_of\n"
    "def test_double(): assert double(3) == 6\n"
    "def test_name(): assert name_of('Ada 7') == 'ada 7'\n"
    "def test_till():\n"
    "    till = Till()\n"
    "    till.add(5)\n"
    "    assert till.sum == 5\n"
)
SHOP = (
    "def double(number):\n"  # 1
    "    result = number * 2\n"
    "    return result\n"
    "\n"
    "def name_of(text):\n"  # 5
    "    return text.lower()\n"
    "\n"
    "class Till:\n"
    "    def __init__(self):\n"
    "        self.sum = 0\n"  # 10
    "    def add(self, amount):\n"
    "        self.sum += amount\n"
    "        unused = amount\n"
)


def tried(
    folder: Path,
    lines: Sequence[Lines],
    *,
    files: Mapping[str, str] | None = None,
    mutants: int = 0,
    seconds: float = 60,
    tests: Sequence[str] = ("test_shop.py",),
    calls_of: Sequence[str] = (),
) -> Beside:
    copy = repository(folder, {"shop.py": SHOP, "test_shop.py": TESTS, **(files or {})})
    where = {"shop.py": tuple(lines)}
    mistakes = where if mutants else {}
    params = BesideParams(
        tests=tuple(tests),
        lines=where if lines else {},
        calls_of=tuple(calls_of),
        mistakes_in=mistakes,
        max_mutants=mutants or 1,
        timeout_s=seconds,
    )
    return Beside.model_validate(result_of("beside", copy, params))


def outcomes(found: Beside, test: str) -> dict[str, str]:
    return {call.given: call.outcome for call in found.calls if call.test == f"test_shop.py::{test}"}


def test_a_function_is_called_with_what_lies_beside_the_inputs_of_a_test(tmp_path: Path) -> None:
    found = tried(tmp_path, [(2, 2)])

    own, *beside = found.calls
    assert (own.test, own.symbol, own.own == own.given) == ("test_shop.py::test_double", "double", True)
    assert own.outcome == "6 after which dict{'number': 3}"
    assert {"dict{'number': 4}", "dict{'number': 6}", "dict{'number': -3}"} < {each.given for each in beside}
    assert outcomes(found, "test_double")["dict{'number': 4}"] == "8 after which dict{'number': 4}"
    assert outcomes(found, "test_name") == outcomes(found, "test_till") == {}
    assert all(each.is_value and each.own == own.given for each in found.calls)


def test_the_calls_of_some_tests_alone_are_made_again_and_all_are_told_how_they_came_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "none").mkdir()
    where = [(2, 2), (6, 6), (12, 12)]

    one = tried(tmp_path / "one", where, calls_of=["test_shop.py::test_name"])
    none = tried(tmp_path / "none", [])

    assert {call.test for call in one.calls} == {"test_shop.py::test_name"}
    assert none.calls == ()
    for found in (one, none):
        assert {case.id.partition("::")[2]: case.outcome for case in found.report.cases} == dict.fromkeys(
            ("test_double", "test_name", "test_till"), "passed"
        )


def test_texts_keep_their_shape_and_objects_are_varied_inside(tmp_path: Path) -> None:
    found = tried(tmp_path, [(6, 6), (12, 12)])

    assert outcomes(found, "test_name")["dict{'text': 'Beb 8'}"].startswith("'beb 8' ")
    changed = "dict{'self': Till(dict{'sum': 1}), 'amount': 6}"
    assert (
        outcomes(found, "test_till")[changed]
        == "None after which dict{'self': Till(dict{'sum': 7}), 'amount': 6}"
    )


def test_lines_outside_of_functions_stand_for_all_functions_of_their_file(tmp_path: Path) -> None:
    assert {call.symbol for call in tried(tmp_path, [(8, 8)]).calls} == {
        "double", "name_of", "Till.__init__", "Till.add",
    }  # fmt: skip


def test_the_same_files_give_the_same_answer(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    assert tried(tmp_path / "a", [(2, 2), (12, 12)], mutants=8) == tried(
        tmp_path / "b", [(2, 2), (12, 12)], mutants=8
    )


def test_a_mistake_that_no_test_notices_is_told_and_of_a_line_that_is_guarded_one_alone(
    tmp_path: Path,
) -> None:
    found = tried(tmp_path, [(2, 2), (12, 13)], mutants=8)

    assert {(each.line, each.change, each.is_noticed) for each in found.mutants} == {
        (2, "without `result = number * 2`", True),
        (12, "without `self.sum += amount`", True),
        (13, "without `unused = amount`", False),
    }
    assert found.again


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("test_shop.py", f"{TESTS}def test_no(): assert False\n", "the tests fail, or do not end in time"),
        ("test_more.py", "import no_such_thing\n", "some of the tests cannot be loaded"),
    ],
)
def test_no_mistake_is_tried_where_the_tests_fail_without_one_and_that_is_said(
    tmp_path: Path, file: str, text: str, why: str
) -> None:
    found = tried(tmp_path, [(2, 2)], files={file: text}, mutants=8, tests=("test_shop.py", file))

    assert found.mutants == ()
    assert not found.again
    [note] = found.notes
    assert note.startswith(f"no mistake was tried on the tests: {why}")


MADE = (
    "def times(count):\n"
    "    def multiplied(number):\n"
    "        result = number * count\n"
    "        return result\n"
    "    return multiplied\n"
    "double = times(2)\n"
)


def test_a_mistake_in_a_function_that_another_one_made_before_the_tests_is_put_into_it(
    tmp_path: Path,
) -> None:
    tests = "from shop import double\ndef test_double(): assert double(3) == 6\n"

    found = tried(tmp_path, [(3, 3)], files={"shop.py": MADE, "test_shop.py": tests}, mutants=8)

    assert {(each.line, each.is_noticed) for each in found.mutants} == {(3, True)}


def test_where_a_mistake_is_tried_nothing_is_called_but_by_the_tests(tmp_path: Path) -> None:
    code = "CALLS = []\ndef double(number):\n    CALLS.append(number)\n    return number * 2\n"
    tests = "import shop\ndef test_double(): assert shop.double(3) == 6\ndef test_once(): assert shop.CALLS == [3]\n"

    found = tried(tmp_path, [(4, 4)], files={"shop.py": code, "test_shop.py": tests}, mutants=8)

    assert found.calls
    assert found.mutants


ENDLESS = "def double(number):\n    while number != 3: pass\n    return 6\n"


@pytest.mark.slow
def test_what_does_not_end_is_an_outcome_and_a_mistake_that_is_noticed(tmp_path: Path) -> None:
    found = tried(
        tmp_path,
        [(2, 2)],
        files={
            "shop.py": ENDLESS,
            "test_shop.py": "from shop import double\ndef test_double(): assert double(3) == 6\n",
        },
        mutants=8,
    )

    assert outcomes(found, "test_double")["dict{'number': 4}"] == "no end"
    assert all(each.is_noticed for each in found.mutants)
    assert found.mutants


@pytest.mark.parametrize(
    "code",
    [
        "async def double(number): return number\n",
        pytest.param("def double(*numbers): return 6\n", marks=pytest.mark.slow),
        "def double(number):\n    import threading; threading.Lock().acquire(); return 6\n",
        pytest.param("double = 6 .__mul__\n", marks=pytest.mark.slow),
    ],
    ids=["coroutine", "any number of inputs", "a lock", "no function"],
)
def test_whatever_a_function_is_the_tests_run_and_nothing_breaks(tmp_path: Path, code: str) -> None:
    tests = "from shop import double\ndef test_double(): double(1)\n"

    found = tried(tmp_path, [(1, 1)], files={"shop.py": code, "test_shop.py": tests}, mutants=4)

    assert all(call.test == "test_shop.py::test_double" for call in found.calls)


def test_without_complete_isolation_no_code_runs_and_it_is_said(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    tests = f"from shop import double\ndef test_double():\n    open({str(mark)!r}, 'w')\n    double(3)\n"
    folder = laid_out(tmp_path / "shop", {"shop.py": SHOP, "test_shop.py": tests})
    where = {"shop.py": ((2, 2),)}

    response = ask(
        "beside", folder, isolation=NO_ISOLATION, tests=("test_shop.py",), lines=where, mistakes_in=where
    )
    found = Beside.model_validate(response.result)

    assert response.error is None
    assert (found.calls, found.mutants, mark.exists()) == ((), (), False)
    [note] = found.notes
    assert "complete isolation" in note


@pytest.mark.parametrize(
    ("tests", "why"),
    [("import no_such_thing\n", "No module named 'no_such_thing'"), ("double = 2\n", "")],
    ids=["cannot be loaded", "no test"],
)
def test_where_no_test_ran_it_is_said(tmp_path: Path, tests: str, why: str) -> None:
    [note] = tried(tmp_path, [(2, 2)], files={"test_shop.py": tests}).notes

    assert note.startswith("nothing could be tried, for none of the tests ran")
    assert why in note


def test_tests_that_ran_are_no_reason_to_say_anything(tmp_path: Path) -> None:
    failing = TESTS.replace("== 6", "== 7")

    assert tried(tmp_path, [(2, 2)], files={"test_shop.py": failing}).notes == ()


GONE = "def double(number):\n    return number * 2\nkept = double\ndel double, kept\n"
BOUND = "class Till(list):\n    def __init__(self):\n        super().__init__()\nTILL = Till()\n"


@pytest.mark.parametrize(
    ("code", "line"), [(GONE, 2), (BOUND, 3)], ids=["nothing to put it into", "one that does not fit"]
)
def test_a_mistake_that_cannot_be_put_in_is_none_that_no_test_notices(
    tmp_path: Path, code: str, line: int
) -> None:
    test = "import shop\ndef test_nothing(): assert shop.__name__ == 'shop'\n"

    found = tried(tmp_path, [(line, line)], files={"shop.py": code, "test_shop.py": test}, mutants=8)

    assert found.mutants == ()


def test_examples_that_unittest_runs_keep_no_other_test_from_being_tried(tmp_path: Path) -> None:
    """They go by names that pytest does not know, which would run nothing at all."""
    files = {
        "tox.ini": "[testenv]\ncommands = python -m unittest -v\n",
        "test_shop.py": "import doctest\nimport unittest\n\nimport shop\n\n\nclass Doubles(unittest.TestCase):\n"
        "    def test_double(self): self.assertEqual(shop.double(3), 6)\n\n\n"
        "def load_tests(loader, tests, pattern):\n    tests.addTests(doctest.DocTestSuite(shop))\n    return tests\n",
    }

    found = tried(
        tmp_path,
        [(2, 2)],
        files=files,
        mutants=4,
        tests=("test_shop.py::Doubles::test_double", "shop.py::shop.double"),
    )

    assert found.notes == ()
    assert [each.is_noticed for each in found.mutants]


def against(folder: Path, files: Mapping[str, bytes | None], own: Mapping[str, str]) -> Beside:
    """What comes of `double` in a repository, and in the same with other files."""
    copy = repository(folder, {"shop.py": SHOP, "test_shop.py": TESTS, **own})
    params = BesideParams(
        tests=("test_shop.py",),
        lines={"shop.py": ((2, 2),)},
        against=Against(
            files={path: data and b64encode(data) for path, data in files.items()},
            tests=("test_shop.py::test_double",),
            lines={"shop.py": ((2, 2),)},
        ),
    )
    return Beside.model_validate(result_of("beside", copy, params))


THREE_TIMES = SHOP.replace("* 2", "* 3 or 'caf\xe9'").encode("latin-1")


def test_the_same_calls_are_made_in_the_code_to_compare_with(tmp_path: Path) -> None:
    files = {"shop.py": b"# coding: latin-1\n" + THREE_TIMES}

    found = against(tmp_path, files, {})

    for calls, outcome in ((found.calls, "8 after "), (found.against or (), "12 after")):
        assert {call.given: call.outcome[:8] for call in calls}["dict{'number': 4}"] == outcome
    assert [case.outcome for case in found.report.cases] == ["passed"] * 3
    assert found.notes == ()
    [shop] = tmp_path.rglob("shop.py")
    assert shop.read_text(encoding="utf-8") == SHOP


def test_what_cannot_be_run_in_the_code_to_compare_with_is_told(tmp_path: Path) -> None:
    tests = f"import more\n{TESTS}"

    found = against(tmp_path, {"more.py": None}, {"test_shop.py": tests, "more.py": ""})

    assert (len(found.calls) > 5, found.against) == (True, ())
    [note] = found.notes
    assert note.startswith("in the code to compare with, nothing could be tried, for none of the tests ran")


@pytest.mark.parametrize("path", ["../shop.py", "/etc/passwd", ".git/config"])
def test_no_file_to_compare_with_lies_elsewhere(tmp_path: Path, path: str) -> None:
    copy = repository(tmp_path, {"shop.py": SHOP, "test_shop.py": TESTS})
    other = Against(files={path: b64encode(b"x")}, tests=("test_shop.py",), lines={})
    params = BesideParams(tests=("test_shop.py",), lines={}, against=other)

    response = ask("beside", copy.path, **params.model_dump(mode="json"))

    assert response.error is not None
    assert path in response.error.message

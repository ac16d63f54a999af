"""Tests run by the user's own command, with real processes: options kept, exact ids, and nothing believed without them."""

import sys
from pathlib import Path
from typing import Any

import pytest

from cogworks.domain_services.messages import ErrorCode, Response
from cogworks.services.python.runners import started, without_the_runners_end
from cogworks.services.sandbox.running import Ended
from tests.services.asking import ask, laid_out

OWN = ("-p", "ours")
RAN_ELSEWHERE = "raise SystemExit('not to be run')\n"
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["quick"]\n',
    "shop.py": "",
    "tests/test_a.py": (
        "import sys\n\nimport pytest\nimport shop\n\n\n"
        '@pytest.mark.parametrize("count", [1, 2], ids=["a-b", "c d"])\n'
        "def test_count(count):\n    assert count == 1\n\n\n"
        "def test_development_mode():\n    assert sys.flags.dev_mode\n\n\n"
        "@pytest.mark.quick\ndef test_quick():\n    pass\n"
    ),
    "tests/other/test_a.py": f"def test_count():\n    {RAN_ELSEWHERE}",
    "Makefile": "test:\n\tpython -m pytest -x $(shell echo) $(ARGS)\n",
    "quiet-runner": '#!/bin/sh\nexec env -u PYTEST_ADDOPTS pytest "$@"\n',
    "all-of-them": "#!/bin/sh\nif true; then exec pytest tests/test_a.py; fi\n",
    "scrubbing.py": (
        "import os, subprocess, sys\n"
        "kept = {name: os.environ[name] for name in ('PATH', 'PYTEST_ADDOPTS', 'PYTHONPATH')}\n"
        "code = subprocess.call([sys.executable, '-m', 'pytest', '--maxfail=1', *sys.argv[1:]], env=kept)\n"
        "sys.exit(70 + code)\n"
    ),
    "crashing.py": (
        "import subprocess, sys\nsubprocess.call([sys.executable, '-m', 'pytest', *sys.argv[1:]])\nsys.exit(1)\n"
    ),
    "tests/test_crash.py": "import os\n\n\ndef test_crash():\n    os._exit(3)\n\n\ndef test_after():\n    pass\n",
}
A_B, C_D = "tests/test_a.py::test_count[a-b]", "tests/test_a.py::test_count[c d]"
DEV, QUICK = "tests/test_a.py::test_development_mode", "tests/test_a.py::test_quick"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = laid_out(tmp_path_factory.mktemp("shop"), FILES)
    for name in ("quiet-runner", "all-of-them"):
        (found / name).chmod(0o755)
    return found


def simulated(folder: Path, command: list[str], *tests: str) -> Response:
    return ask("simulate", folder, command=command, tests=list(tests), timeout_s=60)


@pytest.mark.slow
def test_a_file_that_is_skipped_as_a_whole_is_no_stranger(tmp_path: Path) -> None:
    skipped = "import pytest\n\npytest.importorskip('not_there')\n\n\ndef test_a(): pass\n"
    folder = laid_out(tmp_path, {"tests/test_s.py": skipped})

    response = simulated(folder, ["python", "-m", "pytest"], "tests/test_s.py::test_a")

    assert response.error is None, response.error
    assert [(case["id"], case["outcome"]) for case in response.result["cases"]] == [
        ("tests/test_s.py", "skipped")
    ]


def outcomes(response: Response) -> dict[str, str]:
    assert response.error is None, response.error
    assert response.result.get("collection_errors", []) == []
    return {case["id"]: case["outcome"] for case in response.result["cases"]}


@pytest.mark.parametrize(
    "command",
    [
        ["python", "-X", "dev", "-m", "pytest", "-q", "-p", "no:randomly", "--strict-markers", "-x"],
        ["pytest", "--maxfail=1", "{tests}"],
        pytest.param(["make", "test", "ARGS={tests}"], marks=pytest.mark.slow),
        pytest.param(["python", "scrubbing.py"], marks=pytest.mark.slow),
        ["env", "SHOP=1", "pytest", "--exitfirst"],
    ],
    ids=["Python and pytest with options", "pytest", "make", "a script that scrubs its environment", "env"],
)
def test_exactly_the_tests_that_are_asked_for_run_by_the_users_command(
    folder: Path, command: list[str]
) -> None:
    assert outcomes(simulated(folder, command, C_D, A_B)) == {A_B: "passed", C_D: "failed"}


@pytest.mark.slow
def test_options_of_python_and_of_pytest_are_kept(folder: Path) -> None:
    own = outcomes(ask("simulate", folder, tests=[DEV], timeout_s=60))
    asked = outcomes(simulated(folder, ["python", "-X", "dev", "-m", "pytest"], DEV))
    chosen = outcomes(simulated(folder, ["pytest", "-m", "quick"], "tests/test_a.py"))

    assert (own, asked) == ({DEV: "failed"}, {DEV: "passed"})
    assert chosen == {QUICK: "passed"}


@pytest.mark.slow
def test_a_selection_that_the_users_options_leave_empty_is_a_failure(folder: Path) -> None:
    response = simulated(folder, ["pytest", "-m", "quick"], A_B)

    assert (response.status, response.result["cases"]) == ("failure", [])
    assert [each.message for each in response.diagnostics] == ["no test ran"]


@pytest.mark.slow
def test_one_failure_more_or_less_hides_no_other_whatever_the_command_says(folder: Path) -> None:
    found = outcomes(simulated(folder, ["make", "test", "ARGS={tests}"], "tests/test_a.py"))

    assert found == {A_B: "passed", C_D: "failed", DEV: "failed", QUICK: "passed"}


@pytest.mark.slow
def test_a_test_that_takes_its_process_with_it_costs_no_other(folder: Path) -> None:
    found = outcomes(simulated(folder, ["python", "crashing.py"], "tests/test_crash.py"))

    assert found == {"tests/test_crash.py::test_crash": "error", "tests/test_crash.py::test_after": "passed"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["./quiet-runner"], "has to run pytest with the variables PYTEST_ADDOPTS and PYTHONPATH"),
        (["make", "unknown"], "No rule to make target"),
        (["make", "test"], "Say with `{tests}` where they belong, e.g. `make test ARGS={tests}`"),
        (["./all-of-them"], f"ran tests that were not asked for ({C_D}, {DEV}, {QUICK}): it does not hand on"),
        (["no-such-program"], "`no-such-program` cannot be started in isolation"),
        (["pytest", "--no-such-option"], "unrecognized arguments: --no-such-option"),
        (["python", "-I", "-m", "pytest"], "reported no test; correct the command"),
        (["pytest", "--version"], "reported no test; correct the command"),
    ],
    ids=[
        "without our variables", "fails at once", "takes no ids", "ignores ids", "is not there",
        "wrong option", "isolated Python", "runs nothing",
    ],
)  # fmt: skip
def test_what_takes_no_ids_or_reports_none_is_refused_with_what_to_do(
    folder: Path, command: list[str], problem: str
) -> None:
    response = simulated(folder, command, A_B)

    assert response.error is not None
    assert (response.error.code, response.error.recoverable) == (ErrorCode.INVALID_REQUEST, False)
    assert problem in response.error.message


@pytest.mark.slow
def test_coverage_keeps_the_options_and_does_without_another_runner(folder: Path) -> None:
    for command, found in ((["python", "-X", "dev", "-m", "pytest"], "passed"), (["make", "test"], "failed")):
        response = ask("coverage", folder, command=command, tests=[DEV], timeout_s=60)

        assert response.error is None
        assert [case["outcome"] for case in response.result["report"]["cases"]] == [found]


@pytest.mark.slow
def test_variables_of_the_request_join_those_that_report(folder: Path) -> None:
    command = ["make", "test", "ARGS={tests}"]
    response = ask(
        "simulate",
        folder,
        command=command,
        tests=["tests/test_a.py"],
        environment={"PYTEST_ADDOPTS": "-m quick"},
        timeout_s=60,
    )

    assert outcomes(response) == {QUICK: "passed"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), ["-m", "pytest", *OWN, "t"]),
        (("pytest", "-x"), ["-m", "pytest", "-x", *OWN, "t"]),
        (("python", "-X", "dev", "-m", "pytest", "{tests}", "--", "-q"), ["-X", "dev", "-m", "pytest", "-q", *OWN, "t"]),
    ],
)  # fmt: skip
def test_our_options_come_after_the_users(words: tuple[str, ...], line: list[str]) -> None:
    assert started(Path(sys.executable), words, OWN, ["t"]) == [sys.executable, *line]


@pytest.mark.parametrize(
    ("codes", "end", "code"),
    [([], 3, 3), ([1], 2, 0), ([1, 0], 71, 0), ([0, 4], 1, 4), ([0], None, None)],
)
def test_what_pytest_ended_with_counts_and_not_its_runner(
    codes: list[int], end: int | None, code: int | None
) -> None:
    records: list[dict[str, Any]] = [{"kind": "end", "code": each} for each in codes]

    assert without_the_runners_end(Ended(end, ""), records).code == code


WHOLE = {
    "Makefile": "check:\n\tpython3 checks.py\n\ntest: data\n\tpytest -m 'not slow' tests $(ARGS)\n\ndata:\n\t@echo there\n",
    "checks.py": "import sys\n\nfrom shop import price\n\nassert price() == 2, 'too cheap'\nprint('all is well')\n",
    "shop.py": 'def price():\n    """\n    >>> price()\n    2\n    """\n    return 2\n',
    "tests/test_shop.py": "from shop import price\n\n\ndef test_price():\n    assert price() == 2\n\n\ndef test_other():\n    pass\n",
    "tests/more/test_more.py": "def test_more():\n    pass\n",
}
ONE = "tests/test_shop.py::test_price"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return laid_out(tmp_path_factory.mktemp("whole"), WHOLE)


@pytest.mark.parametrize(
    ("command", "name"),
    [(["python", "checks.py"], "checks.py::python checks.py"), (["make", "check"], "Makefile::make check")],
)
def test_what_reports_no_test_has_one_result_for_the_whole_command(
    whole: Path, tmp_path: Path, command: list[str], name: str
) -> None:
    broken = laid_out(tmp_path, {**WHOLE, "shop.py": "def price():\n    return 1\n"})

    good, bad, selected = (
        simulated(whole, command),
        simulated(broken, command),
        simulated(whole, command, ONE),
    )

    assert outcomes(good) == outcomes(selected) == {name: "passed"}
    assert outcomes(bad) == {name: "failed"}
    assert "AssertionError: too cheap" in bad.result["cases"][0]["message"]
    assert "run as a whole: one result for all of its tests" in good.result["commands"][0]


def test_a_whole_command_can_be_asked_for_by_its_own_id(whole: Path) -> None:
    found = simulated(whole, ["make", "check"], "Makefile::make check")

    assert outcomes(found) == {"Makefile::make check": "passed"}


@pytest.mark.slow
def test_a_target_that_runs_pytest_is_run_without_make_and_takes_ids(whole: Path) -> None:
    everything, one = simulated(whole, ["make", "test"]), simulated(whole, ["make", "test"], ONE)

    assert set(outcomes(everything)) == {
        ONE,
        "tests/test_shop.py::test_other",
        "tests/more/test_more.py::test_more",
    }
    assert outcomes(one) == {ONE: "passed"}
    assert one.result["commands"] == [f"pytest -m 'not slow' {ONE} (what `make test`, by Makefile runs)"]


@pytest.mark.slow
def test_files_that_the_command_names_give_way_to_a_selection(whole: Path) -> None:
    command = ["pytest", "-q", "tests/more", "--ignore", "tests/none"]

    assert set(outcomes(simulated(whole, command))) == {"tests/more/test_more.py::test_more"}
    assert outcomes(simulated(whole, command, ONE)) == {ONE: "passed"}


@pytest.mark.slow
def test_doctests_are_reported_and_run_one_by_one(whole: Path) -> None:
    command = ["python", "-m", "doctest", "shop.py"]

    assert outcomes(simulated(whole, command)) == {"shop.py::shop.price": "passed"}
    assert outcomes(simulated(whole, command, "shop.py::shop.price")) == {"shop.py::shop.price": "passed"}

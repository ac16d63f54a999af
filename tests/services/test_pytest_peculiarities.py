"""What foreign repositories do with pytest: each in a real run in isolation."""

import getpass
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cogworks.domain_services.messages import Response
from cogworks.services.python import testrun
from cogworks.services.python.pythons import Interpreter, bare
from cogworks.services.python.testrun import Observed, observe_tests, run_tests
from cogworks.services.python.wanted import Wanted
from tests.limits import LONG_RUN_ENDS_WITHIN_S
from tests.services.asking import HERE, WITHOUT_ENVIRONMENTS, ask, laid_out
from tests.services.pythons import WITH_UV

PASSING = "def test_a():\n    pass\n"
ODD = [
    "a/b",
    "a::b",
    "[x]",
    "a[b",
    "-k",
    "ä ö",
    "日本",
    "a\\nb",
    'it\'s "said"',
    "$HOME `id`",
    "x" * 10_000,
    "{tests}",
]


def simulated(folder: Path, *tests: str) -> Response:
    response = ask("simulate", folder, tests=list(tests), timeout_s=120)
    assert response.error is None, response.error
    return response


def outcomes(response: Response) -> dict[str, str]:
    assert response.result["collection_errors"] == []
    return {case["id"]: case["outcome"] for case in response.result["cases"]}


@pytest.mark.slow
def test_ids_of_any_characters_select_what_they_name(tmp_path: Path) -> None:
    text = (
        "import pytest\n\n\n"
        f"@pytest.mark.parametrize('value', range({len(ODD)}), ids={ODD!r})\ndef test_odd(value):\n    pass\n"
    )
    folder = laid_out(tmp_path, {"test_a.py": text})
    every = list(outcomes(simulated(folder)))

    assert len(every) == len(ODD)
    for name in every:
        assert outcomes(simulated(folder, name)) == {name: "passed"}, name


def test_ids_that_name_files_of_the_repository_are_the_same_in_every_run(tmp_path: Path) -> None:
    text = (
        "import os\n\nimport pytest\n\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
        "FILES = [os.path.join(HERE, 'data', name) for name in ('a.txt', 'b.txt')]\n\n\n"
        "@pytest.mark.parametrize('path', [*FILES, HERE, 'x'])\ndef test_path(path):\n    assert path.endswith('.txt')\n\n\n"
        "class TestIn:\n"
        "    @pytest.mark.parametrize('path', FILES, ids=FILES)\n    def test_named(self, path):\n        pass\n\n"
        "    @pytest.mark.parametrize('path', [FILES[0], 'data/a.txt'])\n    def test_twice(self, path):\n        pass\n"
    )
    folder = laid_out(tmp_path, {"test_a.py": text, "data/a.txt": "", "data/b.txt": ""})
    every = outcomes(simulated(folder))

    alike = {f"test_a.py::test_path[{path}]": "passed" for path in ("data/a.txt", "data/b.txt")}
    named = {f"test_a.py::TestIn::test_named[{path}]": "passed" for path in ("data/a.txt", "data/b.txt")}
    assert {test: outcome for test, outcome in every.items() if "/tmp/" not in test} == {
        **alike,
        "test_a.py::test_path[.]": "failed",
        "test_a.py::test_path[x]": "failed",
        **named,
        "test_a.py::TestIn::test_twice[data/a.txt]": "passed",
    }
    assert outcomes(simulated(folder, *alike, *named)) == {**alike, **named}


@pytest.mark.parametrize(
    "settings",
    [
        "addopts = -W error --strict-markers --strict-config",
        pytest.param("filterwarnings = error", marks=pytest.mark.slow),
        "addopts = --lf --ff --cache-clear",
        pytest.param("addopts = -p no:cacheprovider --strict-config -W error", marks=pytest.mark.slow),
        pytest.param("addopts = --import-mode=importlib", marks=pytest.mark.slow),
        "addopts = --maxfail=1 -x",
        pytest.param("testpaths = not_there", marks=pytest.mark.slow),
        pytest.param("minversion = 6.0", marks=pytest.mark.slow),
        "addopts = --doctest-modules --doctest-glob=*.md",
        pytest.param("addopts = --tb=no --no-header -qqq --color=yes -rA", marks=pytest.mark.slow),
        "addopts = --junitxml=out.xml -o junit_family=xunit1",
        pytest.param("addopts = --basetemp=here --capture=no", marks=pytest.mark.slow),
        pytest.param("norecursedirs = .*\nconsole_output_style = count", marks=pytest.mark.slow),
    ],
)
def test_settings_of_a_repository_keep_no_result_from_us(tmp_path: Path, settings: str) -> None:
    folder = laid_out(tmp_path, {"pytest.ini": f"[pytest]\n{settings}\n", "tests/test_a.py": PASSING})

    assert outcomes(simulated(folder)) == {"tests/test_a.py::test_a": "passed"}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("addopts = --cov=shop", "unrecognized arguments: --cov=shop"),
        ("minversion = 999", "requires pytest-999"),
        ("required_plugins = pytest-not-there", "Missing required plugins: pytest-not-there"),
    ],
)
def test_what_pytest_itself_refuses_is_told_with_what_to_do(tmp_path: Path, settings: str, said: str) -> None:
    folder = laid_out(tmp_path, {"pytest.ini": f"[pytest]\n{settings}\n", "tests/test_a.py": PASSING})

    result = ask("simulate", folder, machine=WITHOUT_ENVIRONMENTS, tests=[], timeout_s=120).result

    assert said in "\n".join(result["collection_errors"])
    if "cov" in said:
        assert 'packages = ["pytest-cov"]' in "\n".join(result["remedies"])


def test_tests_that_forbid_what_the_report_looks_with_are_not_hindered(tmp_path: Path) -> None:
    text = (
        "import os\n\nimport pytest\n\n\ndef refuse(*_):\n    raise RuntimeError('this blocks')\n\n\n"
        "@pytest.mark.parametrize('name', ['abspath', 'realpath'])\n"
        "def test_reads(monkeypatch, name):\n    monkeypatch.setattr(os.path, name, refuse)\n"
        "    with open(__file__) as file:\n        assert file.read()\n"
    )

    found = outcomes(simulated(laid_out(tmp_path, {"test_a.py": text})))

    assert set(found.values()) == {"passed"}


@pytest.mark.slow
def test_python_by_name_is_the_one_that_runs_the_tests_whatever_a_version_file_says(tmp_path: Path) -> None:
    text = (
        "import subprocess\nimport sys\n\nimport pytest\n\n\n"
        "@pytest.mark.parametrize('name', ['python', 'python3'])\n"
        "def test_program(name):\n"
        "    command = [name, '-c', 'import sys; print(sys.executable)']\n"
        "    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == sys.executable\n"
    )

    found = outcomes(simulated(laid_out(tmp_path, {"test_a.py": text, ".python-version": "3.1.99\n"})))

    assert set(found.values()) == {"passed"}


@pytest.mark.slow
def test_tests_that_spoil_their_process_cost_no_other_its_result(tmp_path: Path) -> None:
    text = (
        "import os\nimport sys\n\n\n"
        "def test_loud():\n    for _ in range(30):\n        os.write(2, b'x' * 1_000_000)\n\n\n"
        "def test_elsewhere(tmp_path):\n    os.chdir(tmp_path)\n\n\n"
        "def test_streams():\n    sys.stdout = sys.stderr = None\n\n\n"
        "def test_closed():\n    os.close(1)\n    os.close(2)\n    os.open('/dev/null', os.O_WRONLY)\n    os.open('/dev/null', os.O_WRONLY)\n\n\n"
        "def test_forks():\n    child = os.fork()\n    if child:\n        assert os.waitpid(child, 0)[1] == 0\n    else:\n        os._exit(0)\n\n\n"
        "def test_last():\n    pass\n"
    )
    found = outcomes(simulated(laid_out(tmp_path, {"test_a.py": text})))

    assert set(found.values()) == {"passed"}
    assert list(found)[-1] == "test_a.py::test_last"


@pytest.mark.slow
def test_a_test_on_which_pytest_itself_breaks_costs_no_other_its_result(tmp_path: Path) -> None:
    conftest = (
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_makereport(item):\n"
        "    if item.name == 'test_bad':\n        raise RuntimeError('no report of this')\n"
    )
    tests = "def test_before():\n    pass\n\n\ndef test_bad():\n    pass\n\n\ndef test_after():\n    pass\n"

    found = simulated(laid_out(tmp_path, {"conftest.py": conftest, "test_a.py": tests})).result

    assert [case["outcome"] for case in found["cases"]] == ["passed", "error", "passed"]
    assert "pytest failed itself during this test:" in found["cases"][1]["message"]
    assert "no report of this" in found["cases"][1]["message"]
    assert found["collection_errors"] == []


@pytest.mark.slow
def test_plugins_named_below_the_root_are_told_as_pytest_tells_it(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "sub/conftest.py": "pytest_plugins = ['json']\n",
        "sub/test_a.py": PASSING,
        "test_b.py": PASSING,
    }

    result = simulated(laid_out(tmp_path, files)).result

    assert "Defining 'pytest_plugins' in a non-top-level conftest" in "\n".join(result["collection_errors"])


BUILD_SERVER = (
    "import os\n\n\ndef test_environment():\n    assert not {'CI', 'COLUMNS', 'LINES', 'BUILD_NUMBER'} & os.environ.keys()\n\n\n"
    "def test_long():\n    assert [*range(60)] == [*range(30), *range(31, 60)]\n"
)
EXAMPLES = (
    "from hypothesis import given, settings\nfrom hypothesis import strategies as st\n\nseen = []\n\n\n"
    "@settings(max_examples=20)\n@given(st.integers())\ndef test_a(number):\n    seen.append(number)\n\n\n"
    "def test_b():\n    assert not seen, seen\n"
)


@pytest.mark.slow
def test_tests_are_not_told_that_they_run_on_a_build_server_and_comparisons_are_whole(tmp_path: Path) -> None:
    response = simulated(laid_out(tmp_path, {"test_a.py": BUILD_SERVER}))

    assert outcomes(response) == {"test_a.py::test_environment": "passed", "test_a.py::test_long": "failed"}
    [message] = [case["message"] for case in response.result["cases"] if case["message"]]
    assert "59" in message
    assert "truncated" not in message


NESTED = """
def test_inside(pytester):
    pytester.makepyfile("def test_long():\\n    assert list(range(20)) == list(range(1, 21))\\n")
    result = pytester.runpytest_inprocess("-vv" if {whole} else "-v")
    result.stdout.{answer}("*truncated, use*")
"""


@pytest.mark.slow
def test_what_tests_start_of_pytest_in_their_process_shortens_comparisons_as_ever(tmp_path: Path) -> None:
    files = {
        "test_short.py": NESTED.format(whole=False, answer="fnmatch_lines"),
        "test_whole.py": NESTED.format(whole=True, answer="no_fnmatch_line"),
        "conftest.py": "pytest_plugins = ['pytester']\n",
    }

    found = outcomes(simulated(laid_out(tmp_path, files)))

    assert found == {"test_short.py::test_inside": "passed", "test_whole.py::test_inside": "passed"}


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["", "import hypothesis\n"], ids=["imported by tests", "by a conftest"])
def test_hypothesis_tries_the_same_examples_in_every_run(tmp_path: Path, settings: str) -> None:
    folder = laid_out(tmp_path, {"test_a.py": EXAMPLES, "conftest.py": settings})

    first, second = (
        [
            case.message
            for case in run_tests(folder, Wanted(), isolation=HERE, search_path=os.environ["PATH"]).cases
        ]
        for _ in range(2)
    )

    assert first == second
    assert "assert not [" in first[1]


def made(folder: Path, *packages: str, python: str = "3.11") -> Interpreter:
    """A Python with these packages from the index."""
    prefix = folder / "venv"
    found = prefix / "bin" / "python"
    printed(["uv", "venv", "-q", "--no-python-downloads", "-p", interpreter_of(python), str(prefix)])
    printed(["uv", "pip", "install", "-q", "-p", str(found), *packages])
    outside = Path(printed([str(found), "-c", "import sys; print(sys.base_prefix)"]))
    return bare()._replace(
        python=found, prefix=prefix, loads_plugins=True, programs=(prefix / "bin", outside)
    )


def interpreter_of(version: str) -> str:
    """One of this machine; the stand-ins of a version manager start none."""
    manager = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = [str(each / "bin") for each in sorted(manager.glob(f"{version}.*"))]
    others = [each for each in WITH_UV.split(os.pathsep) if not each.endswith("shims")]
    found = shutil.which(f"python{version}", path=os.pathsep.join([*kept, *others]))
    if found is None:
        pytest.skip(f"this machine has no Python {version}")
    return found


def printed(command: list[str]) -> str:
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": WITH_UV},
        timeout=LONG_RUN_ENDS_WITHIN_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


OLD = (
    "import unittest\n\nimport pytest\n\n\n"
    "@pytest.mark.parametrize('number', [1, 2])\ndef test_number(number):\n    assert number == 1\n\n\n"
    "class TestCase(unittest.TestCase):\n    def test_parts(self):\n        with self.subTest(part=1):\n            self.fail('part')\n\n\n"
    "@pytest.mark.skip(reason='no')\ndef test_skipped():\n    pass\n"
)


@pytest.mark.slow
@pytest.mark.timeout(LONG_RUN_ENDS_WITHIN_S)
@pytest.mark.parametrize(
    ("python", "packages"),
    [
        ("3.9", ["pytest==6.2.5"]),
        ("3.9", ["pytest==7.0.1"]),
        ("3.10", ["pytest==7.4.4"]),
        ("3.11", ["pytest==8.0.2"]),
        ("3.13", ["pytest"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_results_come_from_every_pytest_from_6_2_on(tmp_path: Path, python: str, packages: list[str]) -> None:
    interpreter = made(tmp_path / "made", *packages, python=python)
    folder = laid_out(
        tmp_path / "repository",
        {"test_a.py": OLD, "test_b.py": "import nowhere_at_all\n", "test_c.py": "raise SystemExit(2)\n"},
    )

    report = run_tests(folder, Wanted(interpreter=interpreter, seed=3), isolation=HERE, search_path=WITH_UV)

    assert {case.id: case.outcome for case in report.cases} == {
        "test_a.py::test_number[1]": "passed",
        "test_a.py::test_number[2]": "failed",
        "test_a.py::TestCase::test_parts": "failed",
        "test_a.py::test_skipped": "skipped",
    }
    assert sorted(each.split(":")[0] for each in report.collection_errors) == ["test_b.py", "test_c.py"]


@pytest.mark.slow
@pytest.mark.timeout(LONG_RUN_ENDS_WITHIN_S)
def test_workers_of_xdist_report_each_test_once(tmp_path: Path) -> None:
    interpreter = made(tmp_path / "made", "pytest", "pytest-xdist")
    text = "import os\n\nimport pytest\n\n\n@pytest.mark.parametrize('number', range(8))\ndef test_a(number):\n    assert number != 5\n"
    files = {
        "pytest.ini": "[pytest]\naddopts = -n 2\n",
        "test_a.py": text,
        "test_b.py": "import nowhere_at_all\n",
    }

    report = run_tests(
        laid_out(tmp_path / "repository", files),
        Wanted(interpreter=interpreter),
        isolation=HERE,
        search_path=WITH_UV,
    )

    assert not any("[gw" in case.message for case in report.cases)
    assert sorted((case.id, case.outcome) for case in report.cases) == [
        (f"test_a.py::test_a[{number}]", "failed" if number == 5 else "passed") for number in range(8)
    ]
    assert [each.split(":")[0] for each in report.collection_errors] == ["test_b.py"]


def test_folders_of_tests_have_paths_as_short_as_those_of_pytest_for_sockets_have_106_bytes(
    tmp_path: Path,
) -> None:
    usual = f"{tempfile.gettempdir()}/pytest-of-{getpass.getuser()}/pytest-0"
    text = f"def test_a(tmp_path_factory):\n    assert len(str(tmp_path_factory.getbasetemp())) <= {len(usual)}\n"

    assert outcomes(simulated(laid_out(tmp_path, {"test_a.py": text}))) == {"test_a.py::test_a": "passed"}


def test_what_pytest_loads_is_no_garbage_and_what_tests_leave_behind_is(tmp_path: Path) -> None:
    text = (
        "import gc\nimport weakref\n\n\nclass Left:\n    def __init__(self):\n        self.own = self\n\n\n"
        "left = Left()\nwhere = weakref.ref(left)\n\n\n"
        "def test_frozen():\n    assert gc.get_freeze_count() > 1000\n\n\n"
        "def test_left():\n    global left\n    del left\n    gc.collect()\n    assert where() is None\n"
    )

    found = outcomes(simulated(laid_out(tmp_path, {"test_a.py": text})))

    assert found == {"test_a.py::test_frozen": "passed", "test_a.py::test_left": "passed"}


def test_our_plugins_are_loaded_as_they_are_compiled_and_no_project_hears_of_it(tmp_path: Path) -> None:
    text = (
        "import sys\n\n\ndef test_a():\n"
        "    ours = [each for name, each in sys.modules.items() if name.startswith('cogworks_') and name != 'cogworks_early']\n"
        "    assert len(ours) > 5\n"
        "    assert {type(each.__loader__).__name__ for each in ours} == {'SourceFileLoader'}\n"
    )
    files = {"pytest.ini": "[pytest]\nfilterwarnings = error\n", "test_a.py": text}

    assert outcomes(simulated(laid_out(tmp_path, files))) == {"test_a.py::test_a": "passed"}


def observed(folder: Path) -> Observed:
    wanted = Wanted(timeout_s=LONG_RUN_ENDS_WITHIN_S)
    return observe_tests(folder, wanted, isolation=HERE, search_path=os.environ["PATH"])


def test_of_a_test_that_passes_nothing_is_kept_but_its_result_and_its_time(tmp_path: Path) -> None:
    records = observed(laid_out(tmp_path, {"test_a.py": PASSING})).records

    about = [each["kind"] for each in records if each.get("id") == "test_a.py::test_a"]
    assert about == ["start", "phase", "finish"]


def test_tests_with_more_to_report_than_is_read_do_not_count_as_a_suite_that_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testrun, "_MAX_REPORT_BYTES", 20_000)
    many = "import pytest\n\n\n@pytest.mark.parametrize('number', range(200))\ndef test_many(number):\n    pass\n"
    report = observed(laid_out(tmp_path, {"test_a.py": many})).report

    assert 0 < len(report.cases) < 200
    assert {case.outcome for case in report.cases} == {"passed"}
    assert [*report.collection_errors] == [
        "the tests have more to report than is read of one run: name fewer of them as `command` under `[tests]`"
    ]

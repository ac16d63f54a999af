"""The Python service as cogworks meets it: another process, on real repositories with real pytest runs."""

import json
import os
import platform
import py_compile
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import pytest

from cogworks.domain_services.answers import Answer
from cogworks.domain_services.checking import (
    Artifacts,
    NormalisedFile,
    ReviewRulesParams,
    ValidateDepsParams,
)
from cogworks.domain_services.client import ProcessService
from cogworks.domain_services.limits import Limits
from cogworks.domain_services.messages import Diagnostic, ErrorCode, TestCase, TestReport
from cogworks.domain_services.operations import NORMALISE, OPERATIONS, REVIEW_RULES, VALIDATE_DEPS
from cogworks.domain_services.transport import ServiceFailed
from cogworks.services.python.answering import PythonService
from cogworks.services.python.machine import Machine
from cogworks.services.python.testrun import run_tests
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.isolation import NO_ISOLATION, Isolation
from cogworks.services.sandbox.probing import strongest
from cogworks.vocabulary import Severity
from tests.limits import ENDS_WITHIN_S, Started
from tests.services.asking import NO_ENVIRONMENTS
from tests.services.processes import running

COMMAND = [
    *(sys.executable, "-m", "cogworks.services.python", "--until-stdin-closes"),
    *("--environments", str(NO_ENVIRONMENTS)),
]
HERE = strongest(os.environ["PATH"])
WHOLE = "python -m pytest --maxfail=0 --continue-on-collection-errors -q"
MANY = "import pytest\n\n@pytest.mark.parametrize('n', range(22))\ndef test_many(n): pass\n"


class Copy:
    def __init__(self, path: Path) -> None:
        self.path = path


def repository(folder: Path, files: Mapping[str, str]) -> Copy:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Copy(folder)


@pytest.fixture(scope="module")
def service() -> Iterator[ProcessService]:
    environment = {"PATH": os.environ["PATH"], "GITHUB_TOKEN": "ghs_secret"}
    with ProcessService(
        COMMAND, name="python", environment=environment, limits=Limits(simulate_s=60)
    ) as opened:
        yield opened


SAMPLE = {
    "src/shop/__init__.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_total.py": (
        "import pytest\n"
        "from shop import total\n"
        "\n"
        "def test_sums():\n"
        "    assert total([1, 2]) == 3\n"
        "\n"
        "def test_wrong():\n"
        "    assert total([1, 2]) == 4\n"
        "\n"
        "@pytest.mark.skip(reason='later')\n"
        "def test_later():\n"
        "    pass\n"
        "\n"
        "class TestMany:\n"
        "    @pytest.mark.parametrize('prices', [[], [1]], ids=['none', 'one'])\n"
        "    def test_many(self, prices):\n"
        "        assert total(prices) == len(prices)\n"
    ),
}


def test_the_handshake_says_what_it_can_do_and_how_well_tests_are_walled_in(service: ProcessService) -> None:
    handshake = service.handshake()

    assert (handshake.name, handshake.domain) == ("python", "python")
    assert set(handshake.capabilities) == set(OPERATIONS) - {"handshake"}
    assert handshake.isolation == HERE.layers


def test_validate_reports_each_problem_and_runs_nothing(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(tmp_path, {"good.py": "raise SystemExit\n", "bad.py": "x = (\n", "notes.txt": "x = ("})

    found = service.validate(copy, ["good.py", "bad.py", "notes.txt", "gone.py"])

    assert found == (
        Diagnostic(
            artifact="bad.py",
            line=1,
            severity=Severity.BLOCKING,
            category="syntax_error",
            message="'(' was never closed, column 5: x = (",
        ),
        Diagnostic(
            artifact="gone.py",
            severity=Severity.BLOCKING,
            category="completeness",
            message="there is no such file in the working copy",
        ),
    )


def test_formatting_rules_and_dependencies_are_asked_over_the_wire(
    service: ProcessService, tmp_path: Path
) -> None:
    copy = repository(tmp_path, {"ruff.toml": "[format]\n", "a.py": "import yaml\nx = eval( '1' )\n"})
    artifacts = ("a.py",)

    tidied = service.call(NORMALISE, copy, Artifacts(artifacts=artifacts))
    reviewed = service.call(REVIEW_RULES, copy, ReviewRulesParams(artifacts=artifacts))
    depending = service.call(VALIDATE_DEPS, copy, ValidateDepsParams(artifacts=artifacts))

    assert isinstance(tidied, Answer)
    assert tidied.result.files == (
        NormalisedFile(artifact="a.py", changed=True, content='import yaml\n\nx = eval("1")\n'),
    )
    assert isinstance(reviewed, Answer)
    assert [(each.line, each.message.split(":")[0]) for each in reviewed.diagnostics] == [(2, "S307")]
    assert isinstance(depending, Answer)
    assert [(each.name, each.status) for each in depending.result.dependencies] == [("pyyaml", "not_checked")]


def test_every_test_is_reported_by_its_own_id(service: ProcessService, tmp_path: Path) -> None:
    report = service.simulate(repository(tmp_path, SAMPLE))

    assert report.model_copy(update={"versions": {}}) == TestReport(
        commands=(WHOLE,),
        cases=(
            TestCase(id="tests/test_total.py::test_sums", outcome="passed"),
            TestCase(
                id="tests/test_total.py::test_wrong",
                outcome="failed",
                message=(
                    "tests/test_total.py:8: in test_wrong\n"
                    "    assert total([1, 2]) == 4\n"
                    "E   assert 3 == 4\n"
                    "E    +  where 3 = total([1, 2])"
                ),
            ),
            TestCase(id="tests/test_total.py::test_later", outcome="skipped", message="Skipped: later"),
            TestCase(id="tests/test_total.py::TestMany::test_many[none]", outcome="passed"),
            TestCase(id="tests/test_total.py::TestMany::test_many[one]", outcome="passed"),
        ),
    )


@pytest.mark.slow
def test_a_report_says_how_the_tests_were_run_and_with_what(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(tmp_path, {"test_many.py": MANY})

    whole = service.simulate(copy)
    few = service.simulate(copy, ["test_many.py::test_many[3]"])
    many = service.simulate(copy, [f"test_many.py::test_many[{number}]" for number in range(22)])

    versions = {"python": platform.python_version(), "pytest": version("pytest")}
    assert [each.versions for each in (whole, few, many)] == [versions] * 3
    assert whole.commands == (WHOLE,)
    assert few.commands == (f"{WHOLE} 'test_many.py::test_many[3]'",)
    (told,) = many.commands
    assert told.endswith("'test_many.py::test_many[19]' … and 2 more")


def test_only_the_given_tests_run_and_a_missing_file_is_named(
    service: ProcessService, tmp_path: Path
) -> None:
    copy = repository(tmp_path, SAMPLE)

    report = service.simulate(copy, ["tests/test_total.py::TestMany::test_many[one]", "tests/test_gone.py"])

    assert report.model_copy(update={"versions": {}}) == TestReport(
        commands=(f"{WHOLE} 'tests/test_total.py::TestMany::test_many[one]'",),
        cases=(TestCase(id="tests/test_total.py::TestMany::test_many[one]", outcome="passed"),),
        collection_errors=("tests/test_gone.py: there is no such test file in the working copy",),
    )
    assert service.simulate(copy, ["tests/test_gone.py"]).cases == ()


def test_a_module_that_cannot_be_imported_does_not_hide_the_other_tests(
    service: ProcessService, tmp_path: Path
) -> None:
    copy = repository(tmp_path, {"test_a.py": "def test_a(): pass\n", "test_b.py": "import not_there\n"})

    report = service.simulate(copy)

    assert report.cases == (TestCase(id="test_a.py::test_a", outcome="passed"),)
    (error,) = report.collection_errors
    assert error.startswith("test_b.py: ImportError")
    assert error.endswith("E   ModuleNotFoundError: No module named 'not_there'")


def test_a_file_that_is_skipped_as_a_whole_is_reported_as_skipped(
    service: ProcessService, tmp_path: Path
) -> None:
    files = {
        "test_a.py": "import pytest\ny = pytest.importorskip('not_there')\n\ndef test_a(): pass\n",
        "test_b.py": "import pytest\npytest.skip('not today', allow_module_level=True)\n",
        "test_c.py": "def test_c(): pass\n",
    }

    report = service.simulate(repository(tmp_path, files))

    assert {case.id: case.outcome for case in report.cases} == {
        "test_a.py": "skipped", "test_b.py": "skipped", "test_c.py::test_c": "passed",
    }  # fmt: skip
    messages = [case.message for case in report.cases if case.outcome == "skipped"]
    assert messages == [
        "Skipped: could not import 'not_there': No module named 'not_there'",
        "Skipped: not today",
    ]
    assert report.collection_errors == ()


def test_what_cannot_be_loaded_comes_with_what_can_be_done_about_it(
    service: ProcessService, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": "[dependency-groups]\ndev = ['pytest']\n",
        "src/shop/__init__.py": "from shop._version import version\n",
        "test_a.py": "import not_there\n",
        "test_b.py": "import shop\n",
        "test_c.py": "1 / 0\n",
    }

    report = service.simulate(repository(tmp_path, files))

    declare, commit = report.remedies
    assert declare.startswith(
        "Name the package that brings `not_there` in `.cogworks/config.toml` of the default branch: under `[environment]`: "
        '`packages = ["not-there"]`.'
    )
    assert commit.startswith(
        "`shop._version` belongs to this repository and is not in it: where building the project generates it, "
    )


def test_a_broken_conftest_is_a_collection_error(service: ProcessService, tmp_path: Path) -> None:
    report = service.simulate(
        repository(tmp_path, {"conftest.py": "1 / 0\n", "test_a.py": "def test_a(): pass\n"})
    )

    assert not report.passed
    (error,) = report.collection_errors
    assert error.startswith(
        ".: no test could be loaded:\nImportError while loading conftest 'conftest.py'.\n"
    )
    assert error.endswith("E   ZeroDivisionError: division by zero")


NESTED = {
    "tests/test_a.py": "def test_a(): pass\n",
    "tests/sub/conftest.py": "import not_there\n",
    "tests/sub/test_b.py": "def test_b(): pass\n",
    "tests/sub/test_c.py": "def test_c(): pass\n",
}
IN_A, IN_B, IN_C = "tests/test_a.py::test_a", "tests/sub/test_b.py::test_b", "tests/sub/test_c.py"


@pytest.mark.parametrize(
    ("asked", "passed", "place"),
    [
        ((), [IN_A], "tests/sub"),
        pytest.param((IN_B, IN_A), [IN_A], "tests/sub", marks=pytest.mark.slow),
        ((IN_A, IN_C, IN_B), [IN_A], "tests/sub"),
        ((IN_B, IN_C), [], "tests/sub"),
    ],
    ids=["the whole suite", "one within and one beyond", "two within and one beyond", "all within"],
)
def test_a_conftest_that_cannot_be_loaded_hides_the_tests_of_its_folder_alone(
    service: ProcessService, tmp_path: Path, asked: tuple[str, ...], passed: list[str], place: str
) -> None:
    report = service.simulate(repository(tmp_path, NESTED), asked)

    assert [(case.id, case.outcome) for case in report.cases] == [(test, "passed") for test in passed]
    (error,) = report.collection_errors
    assert error.startswith(f"{place}: ")
    assert error.endswith("E   ModuleNotFoundError: No module named 'not_there'")
    assert set(report.versions) == ({"python", "pytest"} if passed else set())


@pytest.mark.slow
def test_a_suite_that_does_not_begin_runs_beyond_the_folder_that_keeps_it_from_that(
    service: ProcessService, tmp_path: Path
) -> None:
    files = {
        "tests/conftest.py": "import not_there\n",
        "tests/data.py": "NUMBER = 1\n",
        "tests/test_a.py": "def test_a(): pass\n",
        "tests/sub/test_b.py": "def test_b(): pass\n",
        "other/test_c.py": "from tests.data import NUMBER\n\ndef test_c(): assert NUMBER == 1\n",
    }

    report = service.simulate(repository(tmp_path, files))

    assert [(case.id, case.outcome) for case in report.cases] == [("other/test_c.py::test_c", "passed")]
    (error,) = report.collection_errors
    assert error.startswith("tests: no test could be loaded:\n")
    assert not report.passed


def test_a_folder_that_leads_out_of_the_repository_keeps_its_conftest(
    service: ProcessService, tmp_path: Path
) -> None:
    outside = tmp_path / "outside" / "conftest.py"
    outside.parent.mkdir()
    outside.write_text("somebody's\n")
    lie = (
        "import os, sys\n\n"
        "print(\"ImportError while loading conftest '\" + os.path.join(os.getcwd(), 'link', 'conftest.py') + \"'\")\n"
        "sys.stdout.flush()\nos._exit(4)\n"
    )
    # Nothing that is printed is kept from us.
    files = {"pytest.ini": "[pytest]\naddopts = -s\n", "tests/conftest.py": lie, "tests/test_a.py": ""}
    copy = repository(tmp_path / "repository", files)
    (copy.path / "link").symlink_to(outside.parent)

    report = service.simulate(copy)

    assert report.cases == ()
    (error,) = report.collection_errors
    assert error.startswith(".: no test could be loaded:\n")
    assert outside.read_text() == "somebody's\n"


def test_a_repository_without_tests_does_not_pass(service: ProcessService, tmp_path: Path) -> None:
    report = service.simulate(repository(tmp_path, {"a.py": ""}))

    assert not report.passed
    assert report.model_copy(update={"versions": {}}) == TestReport(cases=(), commands=(WHOLE,))


def test_the_project_s_own_options_do_not_hide_failures(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(
        tmp_path,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-x --strict-markers'\n",
            "test_a.py": "def test_a(): assert 0\ndef test_b(): assert 0\n",
        },
    )

    assert [case.outcome for case in service.simulate(copy).cases] == ["failed", "failed"]


def test_both_sides_of_a_comparison_are_shown_as_long_as_they_have_a_screenful(
    service: ProcessService, tmp_path: Path
) -> None:
    wanted = "\\n".join(f"<li>{number}</li>" for number in range(12))
    test = f"def test_a(): assert '{wanted}'.replace('7', 'x') == '{wanted}'\n"

    (case,) = service.simulate(repository(tmp_path / "short", {"test_a.py": test})).cases

    assert case.outcome == "failed"
    assert [f"<li>{number}</li>" in case.message for number in (0, 6, 8, 11)] == [True] * 4
    assert "truncated" not in case.message
    long = test.replace("\\n", "\\n" * 9).replace("'7'", "'i'")
    (case,) = service.simulate(repository(tmp_path / "long", {"test_a.py": long})).cases
    assert "truncated" in case.message
    assert case.message.count("\n") < 50


def test_what_was_compiled_of_an_earlier_text_is_not_run(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(tmp_path, {"test_one.py": "import one\n\ndef test_one(): assert one.NUMBER == 2\n"})
    source = tmp_path / "one.py"
    for number in (1, 2):
        source.write_text(f"NUMBER = {number}\n")
        os.utime(source, (1_000, 1_000))
        if number == 1:
            py_compile.compile(str(source))

    assert service.simulate(copy).passed


@pytest.mark.slow
def test_two_runs_report_the_same_words(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(
        tmp_path,
        {
            "test_a.py": (
                "import os, time\n"
                "def test_a(tmp_path): assert str(tmp_path) == object()\n"
                "def test_b(): assert {'b', 'a', 'c', str(len(os.getcwd()) * 0)} == set()\n"
                "def test_c(): raise ValueError(f'took {time.time()}s in {__file__}')\n"
            )
        },
    )

    assert service.simulate(copy) == service.simulate(copy)


def test_the_working_copy_is_not_touched(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(
        tmp_path,
        {
            "a.py": "x = 1\n",
            "test_a.py": "import a\ndef test_a(): open('a.py', 'w').write('spoilt'); open('new', 'w')\n",
        },
    )

    assert service.simulate(copy).passed
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.py", "test_a.py"]
    assert (tmp_path / "a.py").read_text() == "x = 1\n"


def test_tests_see_no_secret_and_no_home(service: ProcessService, tmp_path: Path) -> None:
    copy = repository(
        tmp_path, {"test_a.py": "import os\ndef test_a(): raise ValueError(sorted(os.environ))\n"}
    )

    (case,) = service.simulate(copy).cases

    assert "GITHUB_TOKEN" not in case.message
    assert "COGWORKS" not in case.message
    assert "'HOME'" in case.message


@pytest.mark.slow
def test_a_test_that_kills_its_process_is_named_and_the_others_run(
    service: ProcessService, tmp_path: Path
) -> None:
    copy = repository(
        tmp_path,
        {
            "test_a.py": "import os\ndef test_a(): pass\ndef test_b(): os.kill(os.getpid(), 9)\ndef test_c(): pass\n"
        },
    )

    report = service.simulate(copy)

    assert [(case.id, case.outcome) for case in report.cases] == [
        ("test_a.py::test_a", "passed"),
        ("test_a.py::test_b", "error"),
        ("test_a.py::test_c", "passed"),
    ]
    assert "signal 9" in report.cases[1].message
    assert not report.passed


def test_what_is_no_text_in_a_message_does_not_keep_it_from_arriving(
    service: ProcessService, tmp_path: Path
) -> None:
    text = "def test_a(): raise ValueError('a\\ud800b')\n"

    (case,) = service.simulate(repository(tmp_path, {"test_a.py": text})).cases

    assert case.message.endswith("E   ValueError: a?b")


@pytest.mark.slow
@pytest.mark.parametrize(
    "isolation", [HERE, pytest.param(NO_ISOLATION, marks=pytest.mark.slow)], ids=["strongest", "plain"]
)
def test_a_suite_over_its_time_limit_is_ended_with_what_it_started(
    isolation: Isolation, tmp_path: Path
) -> None:
    folder = tmp_path / "repository"
    marker = f"marker-{tmp_path.name}"
    repository(
        folder,
        {
            "test_a.py": (
                "import subprocess, sys, time\n"
                "def test_a(): pass\n"
                "def test_b():\n"
                f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'])\n"
                "    time.sleep(600)\n"
            )
        },
    )

    report = run_tests(folder, Wanted(timeout_s=8), isolation=isolation, search_path=os.environ["PATH"])

    assert report.timed_out
    assert report.cases[0] == TestCase(id="test_a.py::test_a", outcome="passed")
    assert report.cases[1].message == "still running at the time limit of the whole run"
    assert not running(marker)


@pytest.mark.skipif(not HERE.is_complete, reason="this machine gives no network namespaces")
def test_tests_reach_themselves_but_no_network(service: ProcessService, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ours:
        copy = repository(
            tmp_path,
            {
                "test_a.py": (
                    "import socket\n"
                    "def test_self():\n"
                    "    with socket.create_server(('127.0.0.1', 0)) as server:\n"
                    "        socket.create_connection(server.getsockname()).close()\n"
                    "def test_ours():\n"
                    f"    socket.create_connection({ours.getsockname()!r}).close()\n"
                )
            },
        )

        report = service.simulate(copy)

    assert [case.outcome for case in report.cases] == ["passed", "failed"]


@pytest.mark.parametrize("tests", [["-h"], ["../test_x.py"], ["/etc/passwd"], [".git/test_a.py"]])
def test_a_test_id_that_leads_elsewhere_is_refused(
    tests: list[str], service: ProcessService, tmp_path: Path
) -> None:
    with pytest.raises(ServiceFailed) as caught:
        service.simulate(repository(tmp_path, SAMPLE), tests)

    assert caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("request_line", "code"),
    [
        (b"hello\n", "invalid_request"),
        (b'{"request_id": "1", "method": "fly", "api_version": "1.0"}\n', "unsupported_method"),
        (b'{"request_id": "1", "method": "validate", "api_version": "2.0"}\n', "api_version_mismatch"),
        (
            b'{"request_id": "1", "method": "validate", "repository": {"path": "/none"}}\n',
            "artifact_not_found",
        ),
        (b'{"request_id": "1", "method": "validate", "repository": {"path": "/"}}\n', "invalid_request"),
    ],
)
def test_a_request_it_cannot_serve_is_answered_with_a_code(request_line: bytes, code: str) -> None:
    response = PythonService(Machine(os.defpath, NO_ISOLATION)).answer(request_line)

    assert response.status == "error"
    assert response.error is not None
    assert response.error.code.value == code


def _gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return state.rsplit(")", 1)[1].split()[0] in "ZX"


def _eventually(holds: object) -> None:
    assert callable(holds)
    for _ in range(500):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("did not come true")


@pytest.mark.parametrize("how", ["killed", "stdin closed"])
def test_a_service_that_dies_takes_its_test_run_along(how: str, tmp_path: Path) -> None:
    marker = f"6{os.getpid()}.{len(how)}"
    text = f"import subprocess\ndef test_a(): subprocess.run(['sleep', '{marker}'])\n"
    copy = repository(tmp_path / "repository", {"test_a.py": text})
    path = tmp_path / "s"
    process = Started([*COMMAND, "--socket", str(path)], stdin=subprocess.PIPE, start_new_session=True)
    with process, socket.socket(socket.AF_UNIX) as connection:
        _eventually(path.exists)
        _eventually(lambda: connection.connect_ex(str(path)) == 0)
        request = {"request_id": "1", "method": "simulate", "repository": {"path": str(copy.path)}}
        connection.sendall(json.dumps(request).encode() + b"\n")
        _eventually(lambda: running(marker))
        children = _descendants(process.pid)
        assert children
        if how == "killed":
            process.send_signal(signal.SIGKILL)
        else:
            assert process.stdin is not None
            process.stdin.close()
        process.wait(timeout=ENDS_WITHIN_S)

        _eventually(lambda: all(_gone(pid) for pid in children))


def _descendants(pid: int) -> list[int]:
    children = [
        int(each)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for each in (task / "children").read_text().split()
    ]
    return children + [deeper for child in children for deeper in _descendants(child)]


def test_the_command_line_starts_the_service(tmp_path: Path) -> None:
    starter = "import sys; from cogworks.cli.service import service; service(sys.argv[1:])"
    command = [sys.executable, "-c", starter, "python", "--until-stdin-closes"]
    with ProcessService(command, name="python", environment=os.environ) as opened:
        assert opened.handshake().name == "python"

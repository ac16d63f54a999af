"""The steps of a failing test, told with the coverage of the suite that it is part of."""

from pathlib import Path

import pytest

from cogworks.domain_services.answers import fields_of
from cogworks.domain_services.exploring import Coverage, CoverageParams, Steps, Trace, TraceParams
from cogworks.domain_services.messages import Repository, Request, frame
from cogworks.services.python.answering import PythonService
from tests.services.asking import MACHINE, repository, result_of

WORK = "def half(number):\n    found = number // 2\n    return found\n"
FAILS = "from work import half\n\n\ndef test_a():\n    assert half(3) == 1.5\n"
PASSES = "\n\ndef test_b():\n    assert half(4) == 2\n"


def covered(folder: Path, tests: str, *, steps_of: str = "test_work.py::test_a") -> Coverage:
    copy = repository(folder, {"work.py": WORK, "test_work.py": tests})
    return Coverage.model_validate(result_of("coverage", copy, CoverageParams(steps_of=steps_of)))


def test_the_steps_are_those_of_a_trace_and_the_report_is_that_of_a_run_without_them(tmp_path: Path) -> None:
    told = covered(tmp_path / "with", FAILS + PASSES)
    plain = covered(tmp_path / "without", FAILS + PASSES, steps_of="")
    copy = repository(tmp_path / "alone", {"work.py": WORK, "test_work.py": FAILS + PASSES})
    trace = Trace.model_validate(result_of("trace", copy, TraceParams(test="test_work.py::test_a")))

    assert told.steps == Steps(test="test_work.py::test_a", events=trace.events)
    assert len(trace.events) > 5
    assert plain.steps is None
    assert told.model_copy(update={"steps": None}) == plain


PASSES_ALONE = "import work\n\n\ndef test_first():\n    work.half = round\n\n\ndef test_a():\n    assert work.half(3) == 1\n"
FIXTURE_FAILS = "import pytest\n\n\n@pytest.fixture\ndef broken():\n    raise OSError\n\n\ndef test_a(broken):\n    pass\n"
LEAVES_A_FILE = f"{FAILS}\n\ndef test_b():\n    open('left', 'w').close()\n"
BEGINS_A_THREAD = (
    f"import threading\n\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n{FAILS}"
)
FAILS_OTHERWISE = "import os\n\n\ndef test_a():\n    assert os.getpid() == 0\n"


@pytest.mark.parametrize(
    "compared",
    [
        "[half(3)] == [1.5]",
        *(
            pytest.param(text, marks=pytest.mark.slow)
            for text in ("'a\\nb' == str(half(3))", "{'a': half(3)} == {'a': 1.5}", "half(3) is None")
        ),
    ],
)
def test_steps_are_told_whatever_is_said_of_a_comparison(tmp_path: Path, compared: str) -> None:
    told = covered(tmp_path, FAILS.replace("half(3) == 1.5", compared))

    assert [case.outcome for case in told.report.cases] == ["failed"]
    assert told.steps is not None


@pytest.mark.parametrize(
    "tests",
    [
        pytest.param(FAILS.replace("1.5", "1"), id="it passes", marks=pytest.mark.slow),
        pytest.param(PASSES_ALONE, id="it passes alone"),
        pytest.param(FIXTURE_FAILS, id="its fixture fails", marks=pytest.mark.slow),
        pytest.param(LEAVES_A_FILE, id="another test leaves a file behind"),
        pytest.param(BEGINS_A_THREAD, id="its module begins a thread", marks=pytest.mark.slow),
        pytest.param(FAILS_OTHERWISE, id="it fails in another way each time"),
    ],
)
def test_only_steps_of_a_test_that_fails_alike_by_itself_are_told(tmp_path: Path, tests: str) -> None:
    assert covered(tmp_path, tests).steps is None


def test_tests_that_wait_for_all_of_their_children_meet_no_other(tmp_path: Path) -> None:
    waits = "import os\n\nimport pytest\n\n\ndef test_first():\n    with pytest.raises(ChildProcessError):\n        os.wait()\n\n\n"

    told = covered(tmp_path, waits + FAILS)

    assert {case.id: case.outcome for case in told.report.cases} == {
        "test_work.py::test_first": "passed",
        "test_work.py::test_a": "failed",
    }
    assert told.steps is not None
    assert told.report.blocked == ()


@pytest.mark.slow
def test_a_test_that_does_not_end_while_its_steps_are_noted_costs_the_suite_nothing(tmp_path: Path) -> None:
    hangs = (
        "import sys\nimport time\n\n\ndef test_a():\n    if type(sys.gettrace()).__name__ == 'method':\n"
        "        time.sleep(600)\n    assert 0\n"
    )

    told = covered(tmp_path, hangs)

    assert [case.outcome for case in told.report.cases] == ["failed"]
    assert told.steps is None


def test_the_steps_of_a_folder_of_the_repository_have_the_paths_of_the_repository(tmp_path: Path) -> None:
    copy = repository(tmp_path, {"part/work.py": WORK, "part/test_work.py": FAILS})
    params = CoverageParams(steps_of="part/test_work.py::test_a")

    request = Request(
        request_id="1",
        method="coverage",
        repository=Repository(path=str(copy.path), root="part"),
        params=fields_of(params),
    )

    told = Coverage.model_validate(PythonService(MACHINE).answer(frame(request)).result).steps

    assert told is not None
    assert told.test == "part/test_work.py::test_a"
    assert {each.artifact for each in told.events} == {"part/work.py", "part/test_work.py"}

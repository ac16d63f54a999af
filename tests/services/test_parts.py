"""A suite that takes longer than one run may is run in parts: whole files, each once."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogworks.domain_services.messages import TestReport
from cogworks.domain_services.parts import in_parts, joined
from cogworks.services.python import testrun
from cogworks.services.python.laying_out import Places
from cogworks.services.python.laying_out import laid_out as laid_out_for_run
from cogworks.services.python.wanted import Wanted
from cogworks.services.sandbox.running import Confined, Ended, run
from tests.services.asking import HERE, ask, laid_out

LIMIT_S = 9.0
SLEEPS_S = 2.5
"""Four of them are more than the limit; one is less, however long the start takes on a busy machine."""
FILES = [f"tests/test_{n}.py" for n in range(4)]
CASE = "import time\nimport unittest\n\n\nclass Case{n}(unittest.TestCase):\n    def test_it(self):\n        time.sleep({s})\n"
CONFTEST = "import pytest\n\n\n@pytest.fixture(scope='session', autouse=True)\ndef shared():\n    yield\n"
HANGS = "import time\n\n\ndef test_quick():\n    pass\n\n\ndef test_hangs():\n    time.sleep(60)\n"


def sleeping() -> dict[str, str]:
    return {path: CASE.format(n=n, s=SLEEPS_S) for n, path in enumerate(FILES)}


def parts_of(
    folder: Path, tests: Sequence[str] = (), *, command: Sequence[str] = (), limit_s: float = LIMIT_S
) -> Iterator[TestReport]:
    def part(wanted: Sequence[str], parts: str) -> TestReport:
        response = ask(
            "simulate", folder, tests=wanted, parts=parts, timings=True, timeout_s=limit_s, command=command
        )
        assert response.error is None, response.error
        return TestReport.model_validate(response.result)

    return in_parts(part, tests)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "files"),
    [
        ((), {"tests/conftest.py": CONFTEST}),
        (("python", "-m", "unittest"), {"tests/__init__.py": ""}),
    ],
    ids=["pytest", "unittest"],
)
def test_what_one_run_has_no_time_for_is_left_for_the_next_and_no_file_runs_twice(
    command: Sequence[str], files: Mapping[str, str], tmp_path: Path
) -> None:
    folder = laid_out(tmp_path, {**sleeping(), **files})

    parts = list(parts_of(folder, command=command))

    assert len(parts) > 1
    ids = [case.id for part in parts for case in part.cases]
    assert ids == [f"{path}::Case{n}::test_it" for n, path in enumerate(FILES)]
    for part, later in pairwise(parts):
        assert [*part.left] == FILES[-len(part.left) :]
        assert not {case.id.split("::")[0] for case in part.cases} & {*part.left}
        assert {case.id.split("::")[0] for case in later.cases} <= {*part.left}
    whole = joined(parts)
    assert whole.passed
    assert whole.seconds.keys() == {*FILES}
    assert all(took_s >= SLEEPS_S for took_s in whole.seconds.values())


@pytest.mark.slow
def test_a_file_that_hangs_is_named_with_the_remedy_and_what_was_before_it_is_known(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, {"tests/test_a.py": "def test_a():\n    pass\n", "tests/test_b.py": HANGS})

    first, second = parts_of(folder, limit_s=6.0)

    assert [case.id for case in first.cases] == ["tests/test_a.py::test_a"]
    assert (first.left, first.timed_out) == (("tests/test_b.py",), False)
    assert second.timed_out
    [remedy] = second.remedies
    assert "`tests/test_b.py` did not come to its end within 6 s" in remedy
    assert "raise `timeout_s` under `[tests]`" in remedy


@pytest.mark.slow
def test_ids_that_were_asked_for_are_what_is_left_of_their_file(tmp_path: Path) -> None:
    wanted = [f"{path}::Case{n}::test_it" for n, path in enumerate(FILES)]

    parts = list(parts_of(laid_out(tmp_path, sleeping()), wanted))

    assert [*parts[0].left] == wanted[-len(parts[0].left) :]
    assert [case.id for part in parts for case in part.cases] == wanted


@pytest.mark.slow
def test_a_command_that_cannot_be_told_what_to_run_says_so_when_it_takes_too_long(tmp_path: Path) -> None:
    script = "import time\ntime.sleep(60)\n"
    folder = laid_out(tmp_path, {"check.py": script, "tests/test_a.py": "def test_a(): pass\n"})

    [report] = parts_of(folder, command=("python", "check.py"), limit_s=3.0)

    assert report.timed_out
    [remedy] = report.remedies
    assert "`python check.py` cannot be told which tests to run, so that it is not run in parts" in remedy


@pytest.mark.slow
def test_whoever_does_not_ask_for_parts_gets_none(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, {"tests/test_a.py": HANGS, "tests/test_b.py": "def test_b():\n    pass\n"})

    response = ask("simulate", folder, timeout_s=3)

    assert response.result["timed_out"]
    assert response.result["left"] == []


sys.path.append(str(Path(__file__).parents[2] / "cogworks/services/python/inside"))
from cogworks_clock import Clock, units  # noqa: E402  # a module of the folder above


@given(st.lists(st.sampled_from("abcd")))
def test_what_is_mixed_belongs_together_and_a_name_to_one_unit_alone(names: list[str]) -> None:
    found = units(names)

    assert found == sorted(found)
    for name in names:
        assert len({unit for each, unit in zip(names, found, strict=True) if each == name}) == 1


def test_the_first_always_begins_and_none_after_one_that_may_not() -> None:
    clock = Clock(["a", "a", "b", "c"], until_s=0.0)

    assert [clock.may_begin(number) for number in range(4)] == [True, True, False, False]
    assert all(Clock(["a", "b"], until_s=None).may_begin(number) for number in range(2))


def test_what_copying_the_repository_takes_is_taken_from_the_time_of_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def slowly_laid_out(*args: Any, **more: Any) -> Places:
        time.sleep(0.5)
        return laid_out_for_run(*args, **more)

    def noted(confined: Confined, *args: Any, **more: Any) -> Ended:
        limits.append(confined.timeout_s)
        return run(confined, *args, **more)

    monkeypatch.setattr(testrun, "laid_out", slowly_laid_out)
    monkeypatch.setattr(testrun, "run", noted)
    folder = laid_out(tmp_path, {"test_a.py": "def test_a(): pass\n"})

    report = testrun.run_tests(folder, Wanted(timeout_s=60.0), isolation=HERE, search_path=os.environ["PATH"])

    assert report.passed
    assert [limit_s <= 59.5 for limit_s in limits] == [True]

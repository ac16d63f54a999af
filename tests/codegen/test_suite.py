"""What a node says of the isolation around a test run, and what it remembers of the whole suite."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cogworks.codegen.suite import SuiteRuns, run_suite, unrun
from cogworks.domain_services.messages import TestCase, TestReport


@dataclass
class StepPorts:
    report: TestReport
    said: list[str] = field(default_factory=list)

    @property
    def service(self) -> Any:
        return self

    def simulate(self, workspace: object, tests: tuple[str, ...] = ()) -> TestReport:
        return self.report

    def now(self) -> float:
        return 0.0

    def say(self, line: str) -> None:
        self.said.append(line)

    def say_once(self, line: str) -> None:
        if line not in self.said:
            self.say(line)


def said_of(**report: object) -> list[str]:
    ports = StepPorts(TestReport(cases=(TestCase(id="a", outcome="passed"),)).model_copy(update=report))
    workspace: Any = Path()
    as_shell: Any = ports

    assert run_suite(as_shell, workspace, who="A") == ports.report
    return ports.said


def runs_of(ports: StepPorts) -> SuiteRuns:
    workspace: Any = Path()
    as_shell: Any = ports
    return SuiteRuns(as_shell, workspace, who="A")


def ran(outcome: str = "passed", **more: object) -> TestReport:
    case = TestCase.model_validate({"id": "tests/a.py::a", "outcome": outcome})
    return TestReport(cases=(case,)).model_copy(update=more)


@pytest.mark.parametrize(
    ("path", "ids", "is_unrun"),
    [
        ("tests/js/search.spec.js", ("tests/test_a.py::a",), True),
        ("tests/js/helpers.js", ("tests/test_a.py::a",), False),
        ("tests/test_new.py", ("tests/test_a.py::a",), False),
        ("test/cart.test.ts", ("dist/test/cart.test.js::adds",), False),
        ("test/test_cart.c", (".::test_cart", "tests/test_a.py::a"), False),
        ("tests/js/search.spec.js", (), False),
    ],
    ids=["another-language", "no-tests", "same-language", "built", "no-places", "nothing-ran"],
)
def test_a_file_of_tests_that_no_runner_knows_is_named_where_that_is_certain(
    path: str, ids: tuple[str, ...], *, is_unrun: bool
) -> None:
    report = TestReport(cases=tuple(TestCase(id=each, outcome="passed") for each in ids))

    assert unrun(["src/a.js", path], report) == ((path,) if is_unrun else ())


def test_the_suite_runs_once_on_the_same_files() -> None:
    ports = StepPorts(ran("failed"))
    runs = runs_of(ports)

    first = runs.run("tree 1")
    ports.report = ran()
    second = runs.run("tree 2")

    assert (runs.run("tree 1"), runs.latest, runs.baseline) == (first, first, first)
    assert (second, runs.run("tree 2"), runs.latest) == (ports.report, second, second)
    assert ports.said == ["A: running the test suite as it is", "A: running the test suite"]


def test_what_somebody_else_ran_is_not_run_again_unless_it_was_cut_short() -> None:
    ports = StepPorts(ran())
    runs = runs_of(ports)
    runs.remember(ran("failed"), "tree 1")
    runs.remember(ran("failed", timed_out=True), "tree 2")

    assert [runs.run(tree) for tree in ("tree 1", "tree 2")] == [ran("failed"), ran()]


def test_what_could_not_be_loaded_at_first_is_known_as_an_error() -> None:
    runs = runs_of(StepPorts(TestReport(cases=(), collection_errors=("tests/a.py: ImportError: no b",))))
    runs.run("tree 1")

    known = runs.baseline_with_tests_of(ran("failed"))

    assert [(case.id, case.outcome) for case in known.cases] == [("tests/a.py::a", "error")]
    assert runs.baseline is not None
    assert runs.baseline.cases == ()


def test_a_quiet_run_says_nothing() -> None:
    assert said_of() == []


def test_what_was_blocked_is_said_line_by_line() -> None:
    assert said_of(blocked=("test_a: tried to read /root/.ssh/id_rsa", "ended: printed more than 1 MiB")) == [
        "A: the isolation around the tests met this: test_a: tried to read /root/.ssh/id_rsa",
        "A: the isolation around the tests met this: ended: printed more than 1 MiB",
    ]


def test_what_several_tests_met_is_said_once_whatever_the_port() -> None:
    met = [f"a.py::test_{n}: tried to connect to 127.0.0.1:{n}0123, where nobody listens" for n in (1, 2, 3)]

    assert said_of(blocked=(*met, "a.py::test_x: tried to connect to example.org:443")) == [
        "A: the isolation around the tests met this: a.py::test_1 and 2 more: tried to connect to 127.0.0.1, where nobody listens",
        "A: the isolation around the tests met this: a.py::test_x: tried to connect to example.org:443",
    ]


def test_what_the_walls_met_is_said_once_in_a_visit_however_often_the_tests_run() -> None:
    ports = StepPorts(ran(blocked=("test_a: tried to reach 1.2.3.4",), unprotected=("reach the network",)))
    workspace: Any = Path()
    as_shell: Any = ports

    for _ in range(3):
        run_suite(as_shell, workspace, who="A")

    (met, warning) = [line.partition(" ")[2] for line in ports.said]
    assert met.startswith("the isolation around the tests met this")
    assert warning.startswith("WARNING: isolation is incomplete here")


def test_missing_walls_are_a_warning() -> None:
    assert said_of(unprotected=("reach the network", "read the files of this user")) == [
        (
            "A: WARNING: isolation is incomplete here, so the tests can: reach the network; read the files of this user. "
            "`cogworks doctor` says what to install."
        )
    ]

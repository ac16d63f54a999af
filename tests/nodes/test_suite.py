"""What a node says of the walls around a test run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cogworks.domain_services.messages import TestCase, TestReport
from cogworks.nodes.suite import run_suite


@dataclass
class Shell:
    report: TestReport
    said: list[str] = field(default_factory=list)

    @property
    def service(self) -> Any:
        return self

    def simulate(self, workspace: object, tests: tuple[str, ...] = ()) -> TestReport:
        return self.report

    def say(self, line: str) -> None:
        self.said.append(line)


def said_of(**report: object) -> list[str]:
    shell = Shell(TestReport(cases=(TestCase(id="a", outcome="passed"),)).model_copy(update=report))
    workspace: Any = Path()
    as_shell: Any = shell

    assert run_suite(as_shell, workspace, who="A") == shell.report
    return shell.said


def test_a_quiet_run_says_nothing() -> None:
    assert said_of() == []


def test_what_was_blocked_is_said_line_by_line() -> None:
    assert said_of(blocked=("test_a: tried to read /root/.ssh/id_rsa", "ended: printed more than 1 MiB")) == [
        "A: the walls around the tests met this: test_a: tried to read /root/.ssh/id_rsa",
        "A: the walls around the tests met this: ended: printed more than 1 MiB",
    ]


def test_missing_walls_are_a_warning() -> None:
    assert said_of(unprotected=("reach the network", "read the files of this user")) == [
        (
            "A: WARNING: nothing keeps the tests from this here: reach the network; read the files of this user. "
            "`cogworks doctor` says what to install."
        )
    ]

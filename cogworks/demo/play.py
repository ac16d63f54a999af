"""The demonstration itself: one new process per step, and the person's part at the gates."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cogworks.errors import CogworksError

MAX_STEPS = 60


class PersonOnStage(Protocol):
    """The person of the demonstration."""

    def write_issue(self) -> str: ...
    def set_trigger(self) -> bool: ...
    def merge(self, number: int) -> str: ...


class Audience(Protocol):
    """Whoever is told what happens."""

    def line(self, text: str) -> None:
        """One line of progress from a step."""

    def person(self, text: str) -> None:
        """Something the person did."""

    def step(self, report: Mapping[str, Any]) -> None:
        """A finished step: the JSON object that `process --json` printed, and `exit_code`."""


@dataclass(frozen=True)
class Cue:
    """How the steps are called."""

    environment: Mapping[str, str]
    take_over: bool = False
    """The first step assumes that a runner of an earlier, killed demonstration is dead."""


def play(person: PersonOnStage, audience: Audience, cue: Cue) -> tuple[str, Mapping[str, Any]]:
    """Work on the sample issue until it is done; its URL and the last report.

    Raises:
        CogworksError: a step failed, or waits for something that this person does not do.
    """
    issue_url = person.write_issue()
    audience.person(f"the issue is {issue_url}")
    if person.set_trigger():
        audience.person("sets the label cogworks:run")
    take_over = cue.take_over
    for _ in range(MAX_STEPS):
        report = process(issue_url, cue.environment, audience.line, take_over=take_over)
        take_over = False
        audience.step(report)
        match report["outcome"]:
            case "done":
                return issue_url, report
            case "succeeded":
                continue
            case "waiting":
                _act(person, audience, report)
            case "backed_off":
                _sit_out(report, audience.line)
            case outcome:
                raise CogworksError(
                    f"the step ended with {outcome!r}: {report['message']}\nRun the demonstration again with the same --dir."
                )
    raise CogworksError(f"the sample issue was not done after {MAX_STEPS} steps.")


def process(
    issue_url: str, environment: Mapping[str, str], on_line: Callable[[str], None], *, take_over: bool
) -> dict[str, Any]:
    """`cogworks process <issue-url> --json` in a new process; its object with `exit_code` added."""
    command = [sys.executable, "-m", "cogworks", "process", issue_url, "--json"]
    with subprocess.Popen(
        [*command, "--take-over"] if take_over else command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(environment),
    ) as running:
        if running.stdout is None or running.stderr is None:
            raise CogworksError("the step's output cannot be read.")
        for line in running.stderr:
            on_line(line.rstrip())
        printed = running.stdout.read()
    try:
        report: dict[str, Any] = json.loads(printed)
    except json.JSONDecodeError:
        raise CogworksError(
            f"`cogworks process` ended with code {running.returncode} and printed no object."
        ) from None
    return {**report, "exit_code": running.returncode}


def _act(person: PersonOnStage, audience: Audience, report: Mapping[str, Any]) -> None:
    merges = [wait for wait in report["waiting_for"] if wait["kind"] == "merge"]
    if not merges:
        raise CogworksError(f"the step waits for something nobody does here: {report['message']}")
    for wait in merges:
        title = person.merge(int(wait["number"]))
        audience.person(f"merges pull request #{wait['number']}: {title}")


def _sit_out(report: Mapping[str, Any], on_line: Callable[[str], None]) -> None:
    """Another runner holds the lease, perhaps one that was killed: wait until it may be taken over."""
    found = report["message"]
    on_line(f"{found}; waiting (`cogworks demo --take-over` skips this)")
    time.sleep(min(15.0, max(1.0, float(report.get("retry_in_s") or 15.0))))

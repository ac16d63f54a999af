"""The demonstration itself: one new process per step, and the person's part at the gates."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cogworks.demo.facts import TRIGGER
from cogworks.demo.scenarios import Act, Scenario
from cogworks.errors import CogworksError

MAX_STEPS = 60
PAUSE_S = 15.0
FAREWELL_S = 30.0


class PersonOnStage(Protocol):
    """The person of the demonstration."""

    def write_issue(self, name: str) -> str: ...
    def write_beside(self, name: str) -> str | None: ...
    def set_trigger(self, *further: str) -> bool: ...
    def merge(self, number: int) -> str: ...
    def approve(self, number: int) -> str: ...
    def move_base(self, folder: str) -> bool: ...
    def sees_conflict(self) -> bool: ...
    def waiting_parts(self) -> Sequence[str]: ...
    def say(self, text: str) -> None: ...
    def said(self) -> Sequence[str]: ...


class Checks(Protocol):
    """What looks at the heads of pull requests."""

    def __call__(self) -> Sequence[str]:
        """Look at those heads that were not looked at; the results, in one line each."""


class Audience(Protocol):
    """Those who are told what happens."""

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
    inherited: tuple[int, ...] = ()
    """File descriptors that every step holds open as long as it lives."""


TakesStep = Callable[[Sequence[str]], Mapping[str, Any]]
"""Takes one step with these arguments of `cogworks process`; returns its object."""


def play(
    person: PersonOnStage, audience: Audience, scenario: Scenario, step: TakesStep, checks: Checks
) -> tuple[str, Mapping[str, Any]]:
    """Work on the scenario's issue until it ends as the scenario says; its URL and the last report.

    No other runner may be at work on it: the lease of one that was killed is taken over without waiting.

    Raises:
        CogworksError: a step failed that should not, or waits for something that this person does not do.
    """
    issue_url = _begin(person, audience, scenario)
    ahead = _not_done(scenario.acts, person)
    options = ["--take-over"]
    for _ in range(MAX_STEPS):
        report = step([issue_url, *options])
        options = []
        audience.step(report)
        if ahead and ahead[0].after in (report["node"], report["outcome"]):
            act = ahead.pop(0)
            person.say(act.says)
            audience.person(f"comments: {act.says}")
            continue
        if report["outcome"] == scenario.ends:
            if not _goes_on(person, audience, scenario, checks):
                for part_url in person.waiting_parts() if scenario.looks_at_parts else ():
                    audience.line(f"{part_url}: {step([part_url])['message']}")
                return issue_url, report
            continue
        match report["outcome"]:
            case "succeeded":
                continue
            case "waiting":
                _act(person, audience, report)
            case "backed_off":
                audience.line(f"{report['message']}; trying again in {PAUSE_S:.0f} s")
                time.sleep(PAUSE_S)
            case outcome:
                raise CogworksError(f"the step ended with {outcome!r}: {report['message']}")
    raise CogworksError(f"the issue did not end after {MAX_STEPS} steps.")


def _goes_on(person: PersonOnStage, audience: Audience, scenario: Scenario, checks: Checks) -> bool:
    """Whether something happens to the work that has ended."""
    results = checks() if scenario.has_checks else ()
    for line in results:
        audience.person(f"check {line}")
    if scenario.base_becomes and person.move_base(scenario.base_becomes):
        audience.person("pushes to the default branch what conflicts with the pull request")
    # GitHub finds out in the background whether it can merge, so a step may have come too early.
    return bool(results) or (bool(scenario.base_becomes) and person.sees_conflict())


def _begin(person: PersonOnStage, audience: Audience, scenario: Scenario) -> str:
    """What the person does before the first step; the URL of the issue."""
    issue_url = person.write_issue(scenario.issue)
    audience.person(f"the issue is {issue_url}")
    if scenario.beside and (other := person.write_beside(scenario.beside)):
        audience.person(f"another issue is {other}")
    if person.set_trigger(*scenario.labels):
        audience.person(f"sets the label {' and '.join([*scenario.labels, TRIGGER])}")
    return issue_url


def process(arguments: Sequence[str], cue: Cue, on_line: Callable[[str], None]) -> dict[str, Any]:
    """`cogworks process … --json` in a new process; its object with `exit_code` added.

    Interrupted, it interrupts the step and waits for its end, so that the step gives its lease back.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "cogworks", "process", *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(cue.environment),
        pass_fds=cue.inherited,
        start_new_session=True,
    ) as running:
        try:
            printed = _followed(running, on_line)
        except BaseException:
            _end(running)
            raise
    try:
        report: dict[str, Any] = json.loads(printed)
    except json.JSONDecodeError:
        raise CogworksError(
            f"`cogworks process` ended with code {running.returncode} and printed no object."
        ) from None
    return {**report, "exit_code": running.returncode}


def _followed(running: subprocess.Popen[str], on_line: Callable[[str], None]) -> str:
    if running.stdout is None or running.stderr is None:
        raise CogworksError("the step's output cannot be read.")
    for line in running.stderr:
        on_line(line.rstrip())
    return running.stdout.read()


def _end(running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGINT)
    try:
        running.communicate(timeout=FAREWELL_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.communicate()


def _not_done(acts: Sequence[Act], person: PersonOnStage) -> list[Act]:
    """The acts that are still ahead: an earlier demonstration on the same stage did the others."""
    if not acts:
        return []
    done = list(person.said())
    ahead = []
    for act in acts:
        if act.says in done:
            done.remove(act.says)
        else:
            ahead.append(act)
    return ahead


def _act(person: PersonOnStage, audience: Audience, report: Mapping[str, Any]) -> None:
    for wait in report["waiting_for"]:
        match wait["kind"]:
            case "merge":
                title = person.merge(int(wait["number"]))
                audience.person(f"merges pull request #{wait['number']}: {title}")
            case "review":
                title = person.approve(int(wait["number"]))
                audience.person(f"approves pull request #{wait['number']}: {title}")
            case "approval":
                person.say(wait["paste"])
                audience.person(f"comments: {wait['paste']}")
            case _:
                raise CogworksError(f"the step waits for something nobody does here: {report['message']}")

"""The demonstration's item, step by step, with the hub's snapshot before and its portrait after each step."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cogworks.demo import stage
from cogworks.demo.person import Person
from cogworks.settings import child_environment
from tests.chaos.portrait import Portrait, portrait
from tests.hub.administrator import Administrator
from tests.hub.running import running_hub

MAX_STEPS = 60
LEASE_IS_OLD_S = 300
"""Longer than a lease's life and margin."""


@dataclass(frozen=True)
class Step:
    """One undisturbed `cogworks process`."""

    number: int
    outcome: str
    node: str
    requests: tuple[Mapping[str, Any], ...]
    after: Portrait

    @property
    def snapshot(self) -> str:
        """The hub as it was before, the person's part done."""
        return f"step-{self.number}"

    @property
    def name(self) -> str:
        return f"{self.number} {self.node or self.outcome}"


@dataclass
class Theatre:
    """A hub, a person, and a way to call steps."""

    stage: stage.Stage
    person: Person
    admin: Administrator
    environment: dict[str, str]
    issue_url: str = ""
    steps: list[Step] = field(default_factory=list)

    @property
    def hub(self) -> Path:
        return self.stage.directory / "hub"

    def portrait(self) -> Portrait:
        return portrait(self.hub)

    def begin(self) -> None:
        """The issue is written and triggered."""
        self.issue_url = self.person.write_issue()
        self.person.set_trigger()

    def play(self, *, last: str = "") -> None:
        """Take every step of the undisturbed run, up to the first of a node if one is named."""
        self.begin()
        while len(self.steps) < MAX_STEPS:
            number = len(self.steps)
            self.admin.take(f"step-{number}")
            self.admin.forget()
            report = self.process()
            self.steps.append(
                Step(
                    number=number,
                    outcome=report["outcome"],
                    node=report["node"] or "",
                    requests=tuple(self.admin.requests()),
                    after=self.portrait(),
                )
            )
            if report["outcome"] == "done" or (last and (report["node"] or "").startswith(last)):
                return
            assert report["outcome"] in ("succeeded", "waiting"), report
            self.act(report)
        raise AssertionError(f"the item was not done after {MAX_STEPS} steps")

    def act(self, report: Mapping[str, Any]) -> None:
        """What the person does at gates."""
        for wait in report["waiting_for"] if report["outcome"] == "waiting" else ():
            assert wait["kind"] == "merge", report
            self.person.merge(int(wait["number"]))

    def back_to(self, step: Step) -> None:
        """The hub as it was before a step; nothing is left on this machine."""
        self.admin.restore(step.snapshot)
        self.admin.forget()
        self.wipe()

    def wipe(self) -> None:
        """Lose every local file of the runner."""
        shutil.rmtree(self.environment["COGWORKS_WORK_DIR"], ignore_errors=True)

    def process(self, *options: str, machine: str = "work") -> dict[str, Any]:
        """One step in a new process; its report with `exit_code`."""
        return self.finish(self.start(*options, machine=machine))

    def start(self, *options: str, machine: str = "work") -> "subprocess.Popen[str]":
        """A step in a new process that leads a process group of its own.

        Args:
            machine: another name stands for another machine, with files of its own.
        """
        script = Path(sys.executable).with_name("cogworks")
        return subprocess.Popen(
            [str(script), "process", self.issue_url, "--json", "--quiet", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.environment, "COGWORKS_WORK_DIR": str(self.stage.directory / machine)},
            start_new_session=True,
        )

    def finish(self, running: "subprocess.Popen[str]") -> dict[str, Any]:
        printed, complaints = running.communicate(timeout=100)
        assert printed, complaints
        report: dict[str, Any] = json.loads(printed)
        return {**report, "exit_code": running.returncode, "complaints": complaints}

    def crash(self, running: "subprocess.Popen[str]") -> None:
        """SIGKILL to the step and everything it started in its group."""
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate(timeout=30)

    def crash_at(self, fault: Mapping[str, object]) -> bool:
        """Take a step and kill it while the hub holds one of its requests; False when it was over before."""
        with self.admin.playing(fault):
            running = self.start()
            while not self.admin.held(wait_s=0.5):
                if running.poll() is not None:
                    running.communicate()
                    return False
            self.crash(running)
            return True


@contextmanager
def theatre(directory: Path) -> Iterator[Theatre]:
    """The stage of the demonstration, fresh in a directory, until the block ends."""
    hub = directory / "hub"
    hub.mkdir(parents=True)
    tokens = stage._tokens(directory)
    stage._fill(hub, tokens)
    with running_hub(hub) as running:
        opened = stage.Stage(
            url=running.url,
            directory=directory,
            person_token=tokens["person"],
            runner_token=tokens["runner"],
            process_id=running.process.pid,
        )
        with closing(Person(opened)) as person, Administrator(running.url, hub) as admin:
            yield Theatre(stage=opened, person=person, admin=admin, environment=_environment(opened))


def _environment(opened: stage.Stage) -> dict[str, str]:
    return child_environment(
        {
            "COGWORKS_GITHUB_TOKEN": opened.runner_token,
            "COGWORKS_LLM_PROVIDER": "cassette",
            "COGWORKS_WORK_DIR": str(opened.directory / "work"),
            "GITHUB_SERVER_URL": opened.url,
            "GITHUB_API_URL": opened.api_url,
            "GITHUB_GRAPHQL_URL": f"{opened.url}/api/graphql",
        }
    )

"""The demonstration's item, step by step, with the hub's snapshot before and its portrait after each step."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from github.ContentFile import ContentFile

from cogworks.demo import stage
from cogworks.demo.facts import ISSUE, ISSUE_NUMBER
from cogworks.demo.person import Person
from cogworks.settings.config import CONFIG_FILE, child_environment
from tests.chaos.forked import Forked
from tests.chaos.portrait import Portrait, portrait
from tests.chaos.remembering import Memory, remembering_service
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

    def at(self, request: int) -> dict[str, Any]:
        """What in a rule of a fault plan strikes the k-th request, counted from 1, among those that look like it.

        A fresh clone takes more requests than an old one, so the number alone would not do.
        """
        alike = [_pattern(each) for each in self.requests[:request]]
        return {**alike[-1], "nth": alike.count(alike[-1])}


def _pattern(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: request[name] for name in ("method", "path", "operation") if request[name]}


@dataclass
class Theatre:
    """A hub, a person, and a way to call steps."""

    stage: stage.Stage
    person: Person
    admin: Administrator
    environment: dict[str, str]
    memory: Memory = field(default_factory=dict)
    """Of the Python service; always empty where it has none."""
    issue_url: str = ""
    issue: str = ISSUE
    """The file of the sample with the issue that is written."""
    decide: Callable[["Theatre", str], None] | None = None
    """What the person does where something waits for an approval, with the line that gives it; None: nothing does."""
    lane: str = ""
    """The label of the lane that the item takes; empty: none is asked for."""
    prepare: Callable[["Theatre"], None] = lambda _: None
    """What else a person does before the item is triggered."""
    steps: list[Step] = field(default_factory=list)
    _started: int = 0

    @property
    def hub(self) -> Path:
        return self.stage.directory / "hub"

    def portrait(self) -> Portrait:
        return portrait(self.hub)

    def begin(self) -> None:
        """The issue is written and triggered."""
        self.issue_url = self.person.write_issue(self.issue)
        if self.lane:
            self._take_lane()
        self.prepare(self)
        self.person.set_trigger()

    def _take_lane(self) -> None:
        """Ask for the lane, with money for more deaths than its budget has."""
        repository = self.person.repository
        there = repository.get_contents(CONFIG_FILE)
        assert isinstance(there, ContentFile)
        text = there.decoded_content.decode().replace("[budgets]", "[budgets]\nsmall_max_cost_dollars = 5.00")
        repository.update_file(CONFIG_FILE, "Let small items cost more", text, there.sha)
        repository.get_issue(ISSUE_NUMBER).add_to_labels(self.lane)

    def play(self, *, last: str = "") -> None:
        """Take every step of the undisturbed run, up to the first of a node if one is named."""
        self.begin()
        self.play_on(last=last)

    def play_on(self, *, last: str = "") -> None:
        """Take every step from here on, as `play`."""
        while len(self.steps) < MAX_STEPS:
            number = len(self.steps)
            self.admin.take(f"step-{number}")
            report = self._settled(f"step-{number}")
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

    def _settled(self, snapshot: str) -> dict[str, Any]:
        """The report of a step that finds everything remembered: how long tests take decides how often it renews its lease."""
        self.admin.forget()
        known = len(self.memory)
        report = self.process()
        if len(self.memory) == known:
            return report
        self.admin.restore(snapshot)
        self.admin.forget()
        self.wipe()
        return self.process()

    def act(self, report: Mapping[str, Any]) -> None:
        """What the person does at gates."""
        for wait in report["waiting_for"] if report["outcome"] == "waiting" else ():
            if self.decide is not None:
                self.decide(self, wait["paste"])
                continue
            if wait["kind"] == "review":
                self.person.approve(int(wait["number"]))
                continue
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

    def start(self, *options: str, machine: str = "work", is_quiet: bool = True) -> Forked:
        """A step in a new process that leads a process group of its own.

        Args:
            is_quiet: whether it keeps its progress to itself.
            machine: another name stands for another machine, with files of its own.
        """
        work = self.stage.directory / machine
        self._started += 1
        return Forked(
            ["process", self.issue_url, "--json", *(["--quiet"] if is_quiet else []), *options],
            environment={**self.environment, "COGWORKS_WORK_DIR": str(work)},
            said=self.stage.directory / f"said-{self._started}",
        )

    def finish(self, running: Forked) -> dict[str, Any]:
        code = running.wait(100)
        printed, complaints = running.printed(), running.complaints()
        assert printed, complaints
        report: dict[str, Any] = json.loads(printed)
        return {**report, "exit_code": code, "complaints": complaints}

    def crash_at(self, fault: Mapping[str, object]) -> bool:
        """Take a step and kill it while the hub holds one of its requests; False when it was over before."""
        with self.admin.playing(fault):
            running = self.start()
            while not self.admin.held(wait_s=0.5):
                if running.poll() is not None:
                    return False
            self._cut_off(running)
        # Whoever still held a request now would be taken for the next victim.
        while self.admin.held(wait_s=0):
            Event().wait(0.01)
        return True

    def crash_at_line(self, number: int) -> bool:
        """Take a step and kill it as it prints so many lines of progress; False when it was over before."""
        running = self.start(is_quiet=False)
        while running.complaints().count("\n") < number:
            if running.poll() is not None:
                return False
            Event().wait(0.002)
        self._cut_off(running)
        return True

    def _cut_off(self, running: Forked) -> None:
        running.cut_off()
        running.wait(30)


@contextmanager
def theatre(directory: Path, *, has_memory: bool = True) -> Iterator[Theatre]:
    """The stage of the demonstration, fresh in a directory, until the block ends.

    Args:
        has_memory: one Python service that remembers for all runners; else each starts one of its own, as usual.
    """
    hub = directory / "hub"
    hub.mkdir(parents=True)
    tokens = stage._tokens(directory)
    stage._fill(hub, tokens)
    with ExitStack() as stack:
        running = stack.enter_context(running_hub(hub))
        opened = stage.Stage(
            url=running.url,
            directory=directory,
            person_token=tokens["person"],
            runner_token=tokens["runner"],
            process_id=running.process.pid,
        )
        environment = _environment(opened)
        memory: Memory = {}
        if has_memory:
            services = stack.enter_context(remembering_service(directory / "environments", memory))
            environment["COGWORKS_DOMAIN_SERVICES_CONFIG"] = str(services)
        person = stack.enter_context(closing(Person(opened)))
        admin = stack.enter_context(Administrator(running.url, hub))
        yield Theatre(stage=opened, person=person, admin=admin, environment=environment, memory=memory)


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

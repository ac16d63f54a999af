"""A coding visit whose runner is killed in the middle of one of its actions, and what the next runner makes of it."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

from cogworks.cycle.eventlog import read_events, segment_names, text_of
from cogworks.cycle.events import ExecutionComplete, ExecutionStart
from cogworks.cycle.results import Action, Outcome
from cogworks.demo.facts import OWNER, REPOSITORY
from tests.chaos.forked import Forked
from tests.chaos.portrait import Portrait, differences
from tests.chaos.timeline import LEASE_IS_OLD_S, Step, Theatre
from tests.chaos.witness import Pause, watch
from tests.limits import LONG_RUN_ENDS_WITHIN_S

LEDGER = "cogworks/ledger/1"
LONG_MS = 200.0
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Moment:
    """In the middle of an action: half-way where it takes its time, else at its beginning; or at its very end."""

    action: str
    pause: Pause
    after_s: float = 0.0
    """How long after the action's beginning; 0 = time stands still there."""

    def __str__(self) -> str:
        where = f"after {self.after_s:.2f} s" if self.after_s else f"at its {self.pause.place}"
        return f"cycle {self.pause.cycle} {self.action}, {where}"


@dataclass(frozen=True)
class Visited:
    """What a finished coding visit left behind."""

    portrait: Portrait
    output: Mapping[str, Any]
    folders: list[str]
    """Working copies and git's own directories of the runner's machine."""
    answered: list[str]
    """Purposes of the model's answers, in their order."""


def moments(log: str) -> list[Moment]:
    """The middle of every action that a log tells of, and then the ends of those that paid for something or kept it."""
    started: dict[int, str] = {}
    found, ends = [], []
    for event in read_events(log):
        if isinstance(event.body, ExecutionStart):
            started[event.cycle] = event.body.action
        elif isinstance(event.body, ExecutionComplete):
            took_ms = float(event.wall["duration_ms"])
            half_s = took_ms / 2000 if took_ms > LONG_MS else 0.0
            action = started[event.cycle]
            found.append(Moment(action, Pause(event.cycle, "begin"), half_s))
            is_kept = event.body.result.outcome in (Outcome.PROPOSED, Outcome.COMMITTED)
            if is_kept or action is Action.WRITE_TESTS:
                ends.append(Moment(action, Pause(event.cycle, "end")))
    return [*found, *ends]


class SandboxPool:
    """Plays one coding visit again and again, each time from the same hub and on an empty machine."""

    def __init__(self, theatre: Theatre, step: Step, directory: Path) -> None:
        self._theatre = theatre
        self._step = step
        self._journal = directory / "journal"
        self._mark = directory / "mark"
        self._mark.mkdir()

    def log(self) -> str:
        """The log of the newest visit's folder in the ledger."""
        names = self._git("ls-tree", "-r", "--name-only", LEDGER).splitlines()
        folder = max(name.rpartition("/")[0] for name in segment_names(names))
        own = segment_names(name for name in names if name.startswith(f"{folder}/"))
        return text_of(self._git("show", f"{LEDGER}:{name}") for name in own)

    def undisturbed(self) -> Visited:
        self._begin()
        with self._runner() as running:
            assert running.wait(PATIENCE_S * 2) == 0, running.complaints()
        return self._visited()

    def killed(self, moment: Moment) -> tuple[list[str], list[str], Visited | None]:
        """Kill the runner at the moment and let the next one take over.

        Returns what the dead runner's model answered, the processes it left alive, and what the heir left behind; None
        when the visit was over before that moment.
        """
        self._begin()
        with self._runner(str(moment.pause) if not moment.after_s else "") as running:
            if not self._reaches(moment, running):
                return [], [], None
            running.kill()
        answered = self._answered()
        left = self._left_alive()
        self._journal.unlink()
        self._theatre.admin.advance(LEASE_IS_OLD_S)
        with self._runner() as heir:
            assert heir.wait(PATIENCE_S * 2) == 0, heir.complaints()
        return answered, left, self._visited()

    def stopped(self, label: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Set a label while the visit's first checkpoint is on its way.

        Returns the step's report, the state it left, and the report of the step after it.
        """
        self._begin()
        theatre = self._theatre
        with theatre.admin.playing({"kind": "hold_before", "operation": "Append", "nth": 2}):
            running = theatre.start()
            while not theatre.admin.held(wait_s=1):
                assert running.poll() is None, theatre.finish(running)
            theatre.person.repository.get_issue(1).add_to_labels(label)
        theatre.admin.release()
        report = theatre.finish(running)
        return report, self.state(), theatre.process()

    def state(self) -> dict[str, Any]:
        """The run's state as the ledger has it."""
        found: dict[str, Any] = json.loads(self._git("show", f"{LEDGER}:state.json"))
        return found

    def status(self) -> str:
        """The item's status comment."""
        (comment,) = self._theatre.person.repository.get_issue(1).get_comments()
        return comment.body

    def _begin(self) -> None:
        self._theatre.back_to(self._step)
        self._journal.unlink(missing_ok=True)

    @contextmanager
    def _runner(self, pause: str = "") -> Iterator[Forked]:
        environment = {
            **self._theatre.environment,
            # A path that nothing is found in marks every process that descends from this runner.
            "PATH": f"{self._theatre.environment['PATH']}:{self._mark}",
        }
        running = Forked(
            ["process", self._theatre.issue_url, "--quiet"],
            environment=environment,
            said=self._journal.with_suffix(".out"),
            first=partial(watch, self._journal, pause),
        )
        try:
            yield running
        finally:
            running.kill()
            running.wait(PATIENCE_S)

    def _reaches(self, moment: Moment, running: Forked) -> bool:
        while str(moment.pause) not in self._notes():
            if running.poll() is not None:
                return False
            Event().wait(0.01)
        Event().wait(moment.after_s)
        return running.poll() is None

    def _notes(self) -> list[str]:
        return self._journal.read_text().splitlines() if self._journal.exists() else []

    def _answered(self) -> list[str]:
        said = "answered "
        return [note.removeprefix(said) for note in self._notes() if note.startswith(said)]

    def _left_alive(self) -> list[str]:
        """Command lines of what still lives although its runner is dead; they get a moment to notice."""
        deadline = time.monotonic() + 10
        while (found := list(self._marked())) and time.monotonic() < deadline:
            Event().wait(0.05)
        return found

    def _marked(self) -> Iterator[str]:
        mark = str(self._mark).encode()
        for place in Path("/proc").iterdir():
            with suppress(OSError):
                if place.name.isdigit() and mark in (place / "environ").read_bytes():
                    yield (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()

    def _visited(self) -> Visited:
        names = self._git("ls-tree", "-r", "--name-only", LEDGER).splitlines()
        newest = max(name for name in names if name.endswith("/output.json"))
        return Visited(
            portrait=self._theatre.portrait(),
            output=json.loads(self._git("show", f"{LEDGER}:{newest}")),
            folders=self._folders(),
            answered=self._answered(),
        )

    def _folders(self) -> list[str]:
        work = Path(self._theatre.environment["COGWORKS_WORK_DIR"])
        listed = subprocess.run(
            ["git", "worktree", "list", "--porcelain"],
            cwd=next(work.rglob("HEAD")).parent,
            env={"PATH": os.environ["PATH"]},
            check=True,
            capture_output=True,
            text=True,
            timeout=LONG_RUN_ENDS_WITHIN_S,
        ).stdout
        copies = [line for line in listed.splitlines() if line.startswith("worktree ")]
        return [Path(line).name for line in sorted(copies)]

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=self._theatre.hub / "repos" / OWNER / f"{REPOSITORY}.git",
            env={"PATH": os.environ["PATH"]},
            check=True,
            capture_output=True,
            text=True,
            timeout=LONG_RUN_ENDS_WITHIN_S,
        ).stdout


def wrong_with(found: Visited, wanted: Visited, answered: list[str], left: list[str]) -> list[str]:
    """Everything by which somebody could tell that a runner died."""
    again = sorted(set(answered) & set(found.answered))
    problems = [f"still alive: {line}" for line in left]
    problems += [f"paid twice: {purpose}" for purpose in again]
    if sorted([*answered, *found.answered]) != sorted(wanted.answered) and not again:
        problems.append(f"the model answered {answered} and {found.answered}, not {wanted.answered}")
    if found.folders != wanted.folders:
        problems.append(f"working copies {found.folders}, not {wanted.folders}")
    if found.output != wanted.output:
        problems.append(f"the output is {found.output}, not {wanted.output}")
    return problems + differences(wanted.portrait, found.portrait)

"""A scenario on its stage: the real hub, and every step a process of its own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cogworks.cli.demo import step_environment
from cogworks.demo.checks import look_at_heads
from cogworks.demo.person import Person
from cogworks.demo.play import TakesStep, play
from cogworks.demo.scenarios import Scenario, recorded_replies
from cogworks.demo.stage import Stage
from cogworks.llm.provider import Provider
from cogworks.llm.providers.cassette import Cassette, Misses
from tests import forking
from tests.demo.staging import staged
from tests.end_to_end.scene import HOST_ENVIRONMENT, Ended


class Played:
    """A scenario that is being played, or was; the audience of its play."""

    def __init__(self, stage: Stage, person: Person, replies: str) -> None:
        self.stage = stage
        self.on_stage = person
        self.visited: list[str] = []
        """The node of every step that had one."""
        self.acts: list[str] = []
        """What the person did."""
        self.last: Mapping[str, Any] = {}
        self._environment = {**HOST_ENVIRONMENT, **step_environment(stage, "cassette", replies)}

    def line(self, text: str) -> None:
        """What a step says on its way is of no interest here."""

    def person(self, text: str) -> None:
        self.acts.append(text)

    def step(self, report: Mapping[str, Any]) -> None:
        self.visited += [report["node"]] if report["node"] else []
        self.last = report

    def process(self, arguments: Sequence[str]) -> dict[str, Any]:
        """One step."""
        return self.cogworks("process", *arguments, "--json").told

    def cogworks(self, command: str, *arguments: str) -> Ended:
        done = forking.cogworks(command, *arguments, env=self._environment, timeout=200)
        return Ended(done.returncode, done.stdout, done.stderr)

    def look(self) -> tuple[str, ...]:
        """What the repository's checks find."""
        return look_at_heads(self.stage, self.on_stage)

    def comments(self) -> list[str]:
        """Those on the issue, oldest first."""
        return [comment.body for comment in self.on_stage.repository.get_issue(1).get_comments()]


@contextmanager
def playing(
    scenario: Scenario, folder: Path, replies: str = "", steps: Callable[[Played], TakesStep] | None = None
) -> Iterator[Played]:
    """The scenario played to its end, on a hub that is there until the block ends."""
    with staged(folder) as (stage, person), recorded_replies(scenario) as shipped:
        played = Played(stage, person, replies or shipped)
        play(person, played, scenario, steps(played) if steps else played.process, played.look)
        yield played


def recording(written: Provider, folder: Path, tell: Callable[[str], None]) -> Callable[[Played], TakesStep]:
    """Steps that put what is asked in vain into a folder, with what the provider says to it, and go on."""
    cassette, misses = Cassette(folder), Misses(folder / "misses")
    folder.mkdir(parents=True, exist_ok=True)

    def steps(played: Played) -> TakesStep:
        def step(arguments: Sequence[str]) -> dict[str, Any]:
            while True:
                report = played.process(arguments)
                asked = misses.requests()
                for request in asked:
                    cassette.keep(request, written.complete(request))
                    misses.drop(request.purpose)
                    tell(request.purpose)
                if not asked:
                    return report
                arguments = [*dict.fromkeys([*arguments, "--take-over"])]

        return step

    return steps

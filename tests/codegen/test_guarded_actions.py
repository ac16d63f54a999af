"""An action of a coding visit past its time is ended with everything it started, and the run ends with that reason."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, ExecutionComplete
from cogworks.domain_services.announcing import Waiting
from cogworks.domain_services.messages import Caller, TestReport
from cogworks.domain_services.transport import ServiceFailed
from cogworks.engine.visit_limits import Patience
from cogworks.errors import BudgetReached
from cogworks.nodes.code_generation import LIMITS, within
from cogworks.nodes.contract import Failed, Workspace
from cogworks.settings.config import read_environment
from cogworks.wiring.services import open_panel
from tests.fakes import FakePorts
from tests.limits import ENDS_WITHIN_S
from tests.nodes.examples import change, ports, task
from tests.services.processes import running

HASTY = LIMITS.model_copy(update={"test_timeout_s": 20.0})
"""Long enough for a service and its tests to begin on a busy machine."""
SLEEPER = "import subprocess, sys\n\ndef test_sleeps(): subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])\n"


class Place:
    """A working copy of which a service only has to know the path."""

    def __init__(self, path: Path) -> None:
        self.path = path


def told(world: FakePorts) -> list[tuple[str, str]]:
    """What was carried out, and the error it ended with."""
    log = read_events(world.kept["events-1.ndjson"])
    actions = [event.body.action.value for event in log if isinstance(event.body, Committed)]
    codes = [event.body.error_code for event in log if isinstance(event.body, ExecutionComplete)]
    return list(zip(actions, codes, strict=True))


def began(mark: str, found: Event) -> None:
    """Wait until a process with the mark runs, as long as the action may take."""
    for _ in range(int(HASTY.test_timeout_s * 20)):
        if running(mark):
            found.set()
            return
        time.sleep(0.05)


def stays(mark: str) -> list[int]:
    """Processes with the mark that are still there when the kernel has had its moment."""
    for _ in range(100):
        if not running(mark):
            return []
        time.sleep(0.05)
    return running(mark)


@pytest.mark.slow
def test_tests_past_their_deadline_are_ended_with_their_children(tmp_path: Path) -> None:
    mark = f"mark-of-{tmp_path.name}"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_slow.py").write_text(SLEEPER.format(mark=mark))
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, timeout=ENDS_WITHIN_S)
    patience = Patience(lambda: None, monotonic=time.monotonic)
    has_begun = Event()
    world = ports(change())
    world.seconds, world.limit = time.monotonic, patience.within

    with open_panel(
        {}, read_environment({}), caller=Caller(), warn=lambda _: None, waiting=Waiting(patience.left_s)
    ) as panel:

        def simulate(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
            watching = Thread(target=began, args=(mark, has_begun))
            watching.start()
            try:
                return panel.simulate(Place(tmp_path), tests)
            finally:
                watching.join(timeout=ENDS_WITHIN_S)

        world.service.simulating = simulate
        outcome = within(HASTY)(task("code_generation", sub_item="A"), world)

    assert told(world) == [("RUN_TESTS", "timeout"), ("RUN_TESTS", "timeout"), ("ABORT", "")]
    assert isinstance(outcome, Failed)
    assert "tool_error: RUN_TESTS broke twice: RUN_TESTS took more than 20 s" in outcome.reason
    assert has_begun.is_set()
    assert stays(mark) == []


def test_what_breaks_when_its_time_is_over_is_a_timeout() -> None:
    world = ports(change())
    clock = [0.0]

    def ended(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        clock[0] += HASTY.test_timeout_s
        raise ServiceFailed("no answer", service="s", method="simulate")

    world.seconds, world.service.simulating = lambda: clock[0], ended

    assert isinstance(within(HASTY)(task("code_generation", sub_item="A"), world), Failed)
    assert told(world) == [("RUN_TESTS", "timeout"), ("RUN_TESTS", "timeout"), ("ABORT", "")]


@pytest.mark.parametrize(
    ("error", "took_s"),
    [(ServiceFailed("broken", service="s", method="simulate"), 1.0), (BudgetReached("none is left"), 100.0)],
    ids=["in-time", "not-for-want-of-time"],
)
def test_what_breaks_for_another_reason_is_passed_on(error: Exception, took_s: float) -> None:
    world = ports(change())
    clock = [0.0]

    def broken(workspace: Workspace, tests: Sequence[str] = ()) -> TestReport:
        clock[0] += took_s
        raise error

    world.seconds, world.service.simulating = lambda: clock[0], broken

    with pytest.raises(type(error)):
        within(HASTY)(task("code_generation", sub_item="A"), world)

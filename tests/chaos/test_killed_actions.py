"""The runner of a coding visit, killed in the middle of every action of it: the next one brings the visit to the same end."""

import sys
from collections.abc import Iterator

import pytest

from cogworks.cycle.eventlog import read_events
from cogworks.cycle.events import Committed, ForcedInjection
from cogworks.cycle.replay import verify
from cogworks.cycle.results import Action
from tests.chaos.killed_actions import SandboxPool, Visited, moments, wrong_with
from tests.chaos.timeline import theatre
from tests.exhaustive import SEED, of_today

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def sandbox_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxPool]:
    """The demonstration right before its first visit of Code Generation."""
    with theatre(tmp_path_factory.mktemp("coding"), has_memory=False) as opened:
        opened.play(last="code_generation")
        yield SandboxPool(opened, opened.steps[-1], tmp_path_factory.mktemp("laboratory"))


@pytest.fixture(scope="module")
def undisturbed(sandbox_pool: SandboxPool) -> Visited:
    return sandbox_pool.undisturbed()


def test_a_hold_in_mid_visit_ends_it_within_one_cycle_and_its_reason_is_everywhere(
    sandbox_pool: SandboxPool,
) -> None:
    reason = "the label 'cogworks:hold' was set while the node ran; nothing was published"

    report, state, after = sandbox_pool.stopped("cogworks:hold")

    log = read_events(sandbox_pool.log())
    commits = [event.body for event in log if isinstance(event.body, Committed)]
    (left,) = state["given_back"]
    assert (report["outcome"], report["message"], report["exit_code"]) == ("backed_off", reason, 0)
    assert [(each.action, each.forced) for each in commits[-2:]] == [
        (Action.WRITE_TESTS, False),
        (Action.ABORT, True),
    ]
    assert [event.body.reason for event in log if isinstance(event.body, ForcedInjection)] == [reason]
    assert verify(log).divergence is None
    assert (left["node"], left["stopped_because"], state["leases"]) == ("code_generation", reason, [])
    assert after["outcome"] == "waiting"
    assert f"was interrupted: {reason}" in sandbox_pool.status()


def test_a_cancel_in_mid_visit_ends_it_and_the_next_step_the_item(sandbox_pool: SandboxPool) -> None:
    report, state, _ = sandbox_pool.stopped("cogworks:cancel")

    reason = "the label 'cogworks:cancel' was set while the node ran; nothing was published"
    assert (report["outcome"], report["message"]) == ("backed_off", reason)
    assert [left["stopped_because"] for left in state["given_back"]] == [reason]
    assert sandbox_pool.state()["status"] == "cancelled"


def test_a_runner_killed_in_the_middle_of_any_action_leaves_no_trace(
    sandbox_pool: SandboxPool, undisturbed: Visited, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: list[str] = []

    def told(line: str) -> None:
        with capsys.disabled():
            sys.stderr.write(f"{line}\n")

    told(f"\n{'killed in':<46}{'replies':>7} {'later':>6} {'alive':>6}  end")
    for moment in of_today(moments(sandbox_pool.log()), days=3):
        answered, left, found = sandbox_pool.killed(moment)
        assert found is not None, f"{moment}: the visit was over before"
        problems = wrong_with(found, undisturbed, answered, left)
        wrong += [f"{moment}: {problem}" for problem in problems]
        counts = f"{len(answered):>7} {len(found.answered):>6} {len(left):>6}"
        told(f"{moment!s:<46}{counts}  {'; '.join(problems) or 'the same'}")

    assert wrong == [], f"seed {SEED}"

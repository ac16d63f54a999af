"""Runners that meet on one item, and runners that stop and wake up too late."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from tests.chaos.forked import Forked
from tests.chaos.portrait import differences
from tests.chaos.timeline import LEASE_IS_OLD_S, Step, Theatre

pytestmark = pytest.mark.slow

RUNNERS = 8


def step_of(theatre: Theatre, node: str) -> Step:
    return next(step for step in theatre.steps if step.node == node)


@pytest.mark.parametrize(
    ("node", "claim", "checkpoint"), [("intake", "FirstClaim", 1), ("architecture", "Append", RUNNERS + 1)]
)
def test_of_eight_runners_on_a_ready_item_one_works_and_the_others_effect_nothing(
    begun: Theatre, node: str, claim: str, checkpoint: int
) -> None:
    step = step_of(begun, node)
    begun.back_to(step)
    all_claim_at_once = {"kind": "hold_before", "operation": claim, "nth": 1, "times": RUNNERS}
    the_winner_is_slow = {"kind": "hold_before", "operation": "Append", "nth": checkpoint}
    with begun.admin.playing(all_claim_at_once, the_winner_is_slow):
        runners = [begun.start() for _ in range(RUNNERS)]
        while len(begun.admin.held(wait_s=30)) < RUNNERS:
            assert all(runner.poll() is None for runner in runners)
        begun.admin.release()
        while sum(runner.poll() is None for runner in runners) > 1:
            Event().wait(0.05)
        begun.admin.release()
        reports = [begun.finish(runner) for runner in runners]

    ends = sorted((report["outcome"], report["node"], report["exit_code"]) for report in reports)
    assert ends == [*[("backed_off", None, 0)] * (RUNNERS - 1), ("succeeded", node, 0)]
    assert differences(step.after, begun.portrait()) == []


@contextmanager
def stopped(theatre: Theatre, operation: str, nth: int) -> Iterator[Forked]:
    """A runner that stops while the answer of a request is on its way, sleeps longer than its lease, and wakes up."""
    with theatre.admin.playing({"kind": "hold_after", "operation": operation, "nth": nth}):
        runner = theatre.start()
        assert theatre.admin.held(wait_s=60), runner.poll()
        os.killpg(runner.pid, signal.SIGSTOP)
    theatre.admin.release()
    theatre.admin.advance(LEASE_IS_OLD_S)
    try:
        yield runner
    finally:
        os.killpg(runner.pid, signal.SIGCONT)


def check_late_waking(theatre: Theatre, node: str, nth: int, *, machine: str = "another") -> None:
    """A runner stops at its n-th answer from the ledger, another takes its visit over, and it wakes up."""
    step = step_of(theatre, node)
    theatre.back_to(step)
    with stopped(theatre, "Append", nth) as sleeper:
        taken_over = theatre.process(machine=machine)
        assert taken_over["outcome"] == "succeeded"
        assert differences(step.after, theatre.portrait()) == []

    woken = theatre.finish(sleeper)

    assert (woken["outcome"], woken["exit_code"]) == ("backed_off", 0)
    assert differences(step.after, theatre.portrait()) == []


@pytest.mark.parametrize("nth", [1, 2], ids=["as its claim is answered", "just before it publishes"])
def test_a_runner_that_wakes_up_after_a_takeover_effects_nothing(begun: Theatre, nth: int) -> None:
    check_late_waking(begun, "architecture", nth)


@pytest.mark.timeout(600)
def test_a_planner_that_wakes_up_after_a_takeover_makes_no_sub_issue(done: Theatre) -> None:
    # The sleeper's own clock does not see the hub's jump ahead, so only the ledger stops it here. A pause right before
    # its sub-issues is told by that clock; tests/engine/test_step.py has it.
    check_late_waking(done, "planning", 1)


@pytest.mark.timeout(600)
def test_a_stopped_runner_keeps_nobody_on_its_machine_from_taking_over(done: Theatre) -> None:
    # It holds its working copy all the while.
    check_late_waking(done, "code_generation@A", 2, machine="work")

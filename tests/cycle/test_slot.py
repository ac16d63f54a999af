"""One decision a cycle; the second is refused and changes nothing."""

import subprocess
import threading

import pytest

from cogworks.cycle.results import Action, Payload
from cogworks.cycle.slot import NOTHING, Decision, SerialityViolation, Slot
from cogworks.pipeline.arbiter import Proposal, choose
from tests.limits import ENDS_WITHIN_S


def decision(cycle: int, name: str = "a") -> Decision:
    payload = Payload(action=Action.RUN_TESTS, goal=name)
    return Decision(cycle=cycle, slot_id=name, payload=payload, payload_hash=name * 64)


def test_a_second_commit_in_one_cycle_is_refused_and_the_first_stays() -> None:
    slot = Slot()
    slot.commit(decision(1))

    with pytest.raises(
        SerialityViolation, match=r"cycle 1 has a decision already \(next is 2\); 'b' was not committed"
    ):
        slot.commit(decision(1, "b"))
    assert slot.held == decision(1)


@pytest.mark.parametrize("cycle", [0, 1, 3])
def test_a_cycle_out_of_its_turn_is_refused(cycle: int) -> None:
    slot = Slot()
    slot.commit(decision(1))

    with pytest.raises(SerialityViolation):
        slot.commit(decision(cycle, "b"))
    assert slot.held == decision(1)


def test_the_hash_of_the_decision_before_is_known() -> None:
    slot = Slot()
    before = slot.payload_hash
    slot.commit(decision(1))

    assert (before, slot.payload_hash) == (NOTHING, "a" * 64)


def test_of_two_threads_that_decide_for_one_cycle_one_gets_through() -> None:
    slot = Slot()
    ready = threading.Barrier(2)
    came: list[str] = []

    def decide(name: str) -> None:
        choice = choose([], [Proposal(name, "planner", "RUN_TESTS", 0.5)])
        assert choice is not None
        ready.wait(timeout=ENDS_WITHIN_S)
        try:
            slot.commit(decision(1, choice.winner.slot_id))
            came.append("committed")
        except SerialityViolation:
            came.append("refused")

    threads = [threading.Thread(target=decide, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=ENDS_WITHIN_S)

    assert sorted(came) == ["committed", "refused"]


def test_only_the_cycle_reaches_the_slot() -> None:
    found = subprocess.run(
        ["grep", "-rlE", r"^from cogworks\.cycle\.slot import|^import cogworks\.cycle\.slot", "cogworks"],
        capture_output=True, text=True, check=True, timeout=ENDS_WITHIN_S
    )  # fmt: skip

    assert found.stdout.split() == ["cogworks/cycle/loop.py"]

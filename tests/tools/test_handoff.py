"""Work that is handed on: looked at again where it arrives, not passed round for ever, done under the receiver's profile."""

import hashlib
from collections.abc import Mapping

import pytest

from cogworks.tools.handoff import MAX_HOPS, Artifact, Handoff, Hop, received
from cogworks.tools.plans import Goal, Preferences
from cogworks.tools.policy import Denial
from cogworks.tools.registry import ToolRegistry
from tests.tools.tooling import Handler, World, allowing, reading

TEST = b"def test_adds(): ...\n"
FILES = {"tests/test_a.py": TEST}
WORK = Handoff(
    from_role="test-writer",
    to_role="coder",
    goal="make the test pass",
    artifacts=(Artifact(name="test", path="tests/test_a.py", sha256=hashlib.sha256(TEST).hexdigest()),),
    constraints=("do not edit the test",),
    budget_left=3.0,
)


def world() -> tuple[World, dict[str, Handler]]:
    registry, handlers = ToolRegistry(), {"test-writer": Handler(), "coder": Handler()}
    for role, handler in handlers.items():
        reading(registry, "work", handler, profile=role)
    return World(registry, [allowing("work", profile=role) for role in handlers]), handlers


def code(found: Denial | Handoff | None) -> str:
    assert isinstance(found, Denial)
    return found.code


def test_a_receiver_looks_again_and_works_under_its_own_profile() -> None:
    around, handlers = world()

    result = around.controller.accept(WORK, read=FILES.get, goal=Goal(text="work"), metadata={"a": 1})

    assert result.success
    assert handlers["test-writer"].calls == []
    assert [call.profile for call in handlers["coder"].calls] == ["coder"]


@pytest.mark.parametrize(
    ("left", "preferred", "success"),
    [(None, None, True), (1.0, None, True), (0.5, None, False), (None, 0.5, False), (0.5, 5.0, False)],
)
def test_a_receiver_spends_no_more_than_is_left(
    left: float | None, preferred: float | None, success: bool
) -> None:
    around, _ = world()
    work = WORK.model_copy(update={"budget_left": left})

    result = around.controller.accept(
        work, read=FILES.get, goal=Goal(text="work"), preferences=Preferences(max_cost=preferred)
    )

    assert (result.success, result.code) == (success, "" if success else "budget_exceeded")


@pytest.mark.parametrize(
    ("files", "reason"),
    [({}, "artifact_missing"), ({"tests/test_a.py": TEST + b"#"}, "artifact_changed")],
    ids=["missing", "tampered"],
)
def test_work_whose_files_are_not_what_was_handed_over_is_refused(
    files: Mapping[str, bytes], reason: str
) -> None:
    around, handlers = world()

    result = around.controller.accept(WORK, read=files.get, goal=Goal(text="work"))

    assert (result.success, result.code) == (False, reason)
    assert handlers["coder"].calls == []
    assert around.events("controller_run")[0].policy_decision == "denied"


def onward(work: Handoff, to_role: str, goal: str) -> Handoff:
    """The work as the role that received it passes it on."""
    had = [*work.hops] or [hop(work.from_role, work.goal)]
    passed = {"from_role": work.to_role, "to_role": to_role, "goal": goal, "artifacts": ()}
    return work.model_copy(update={**passed, "hops": (*had, hop(work.to_role, work.goal))})


def hop(role: str, goal: str) -> Hop:
    return Hop(role=role, goal_digest=hashlib.sha256(goal.encode()).hexdigest())


def test_work_goes_five_hops_and_not_a_sixth() -> None:
    work = WORK
    for number in range(MAX_HOPS - 1):
        work = onward(work, f"role-{number}", f"goal {number}")

    assert len(work.hops) == MAX_HOPS
    assert received(work, FILES.get) is None
    assert code(received(onward(work, "one-more", "x"), FILES.get)) == "too_many_hops"


def test_work_does_not_come_back_to_who_had_that_goal() -> None:
    work = onward(WORK, "reviewer", "look at it")

    assert code(received(onward(work, "coder", WORK.goal), FILES.get)) == "handoff_cycle"
    assert code(received(onward(work, "test-writer", WORK.goal), FILES.get)) == "handoff_cycle"
    assert received(onward(work, "coder", "mend what the reviewer found"), FILES.get) is None


def test_work_is_written_as_json_and_read_again() -> None:
    work = onward(WORK, "reviewer", "look at it")

    assert Handoff.model_validate_json(work.model_dump_json()) == work


@pytest.mark.parametrize("digest", ["", "abc", "G" * 64])
def test_an_artifact_without_a_digest_is_none(digest: str) -> None:
    with pytest.raises(ValueError, match="String should match pattern"):
        Artifact(name="test", path="a.py", sha256=digest)

"""What a selection of faults leaves out is met by another case of it."""

from collections.abc import Mapping
from typing import Any

from tests.chaos.faults import covering, fault_points
from tests.chaos.timeline import Step


def request(operation: str, *, is_write: bool = False) -> Mapping[str, Any]:
    return {"operation": operation, "path": "/graphql", "kind": "graphql", "is_write": is_write}


def push(name: str, *, is_write: bool = False) -> Mapping[str, Any]:
    return {"operation": "", "path": f"/octo-org/hourglass.git/{name}", "kind": "git", "is_write": is_write}


WORK = (
    request("WorkItem"),
    request("Append", is_write=True),
    push("git-upload-pack"),
    request("Append", is_write=True),
    push("git-receive-pack", is_write=True),
    request("Append", is_write=True),
    request("Write", is_write=True),
)
NODES = ("code_generation@A", "review@A", "code_generation@B", "")
STEPS = [
    Step(number, "succeeded" if node else "waiting", node, WORK if node else WORK[:1], {})
    for number, node in enumerate(NODES)
]
EVERY = list(fault_points(STEPS))
CHOSEN = covering(EVERY)


def test_every_request_of_every_step_is_left_undone_or_its_outcome_unknown_once() -> None:
    met = {
        (point.step.number, point.request)
        for point in CHOSEN
        if point.fault["kind"] in ("refuse", "cut_after")
    }

    assert met == {(step.number, number) for step in STEPS for number, _ in enumerate(step.requests, start=1)}


def test_every_kind_of_step_meets_every_kind_of_fault() -> None:
    met, wanted = (
        {(point.step.node.partition("@")[0], str(point.fault)) for point in points}
        for points in (CHOSEN, EVERY)
    )

    assert met == wanted


def test_a_claim_a_checkpoint_and_a_record_each_meet_every_kind_of_fault() -> None:
    for requests in ({2}, {4}, {6}):
        met, wanted = (
            {str(point.fault) for point in points if point.request in requests} for points in (CHOSEN, EVERY)
        )
        assert met == wanted


def test_it_is_always_the_same_and_much_smaller_than_the_whole() -> None:
    assert covering(EVERY) == CHOSEN
    assert len(CHOSEN) * 2 < len(EVERY)

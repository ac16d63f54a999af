"""What a run rests on, in one line that a sweep can read without the state."""

from cogworks.pipeline.decision import Facts, locate, waiting_for
from cogworks.pipeline.frontier import InstanceStatus
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.state import RunState


def rest_line(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """The trailer `Cogworks-Waits-For` of a record: `<kind>` or `<kind> <number>@<oid>`.

    `merge`, `approval` and `reopen` ask for a person, `retry` follows a failure, `done` is the end. Empty while a node
    may start, a runner is at work or several people are asked: then only the state tells.
    """
    if state.status == "done":
        return "done"
    position = locate(state, facts, pipeline)
    if position.frontier.ready or state.leases:
        return ""
    waits = waiting_for(state, facts, pipeline)
    if len(waits) > 1:
        return ""
    for wait in waits:
        if wait.number is None:
            return wait.kind
        return f"{wait.kind} {wait.number}@{facts.pulls[wait.number].head_oid}"
    if len(position.rejected) == 1:
        number = next(iter(position.rejected.values()))
        return f"reopen {number}@{facts.pulls[number].head_oid}"
    failed = InstanceStatus.FAILED in position.statuses.values()
    return "retry" if failed and not position.rejected else ""

"""What a run rests on, in one line that a sweep can read without the state."""

from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.limits import has_own_budgets, limits_mark, shortages
from cogworks.pipeline.position import Facts, changed_request, failures, locate, stopped_by, waiting_for
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import IssueNumber


def rest_line(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """The trailer `Cogworks-Waits-For` of a record: `<kind>` or `<kind> <number>@<oid>`, several parted by `; `.

    `merge`, `approval`, `label`, `resume` and `reopen` ask for a person, `retry` follows a failure, `budget @<limits>` stands
    until its limits change, `done` and `cancelled` are the end. Empty while a node may start or a runner is at work: then
    only the state tells.
    """
    if state.status == "cancelled":
        return "cancelled"
    if state.status == "done":
        return _at_the_end(state, facts, pipeline)
    if state.leases:
        return ""
    if stopped := stopped_by(state, facts):
        # Nothing starts then, whatever is ready or asked beside.
        return stopped.kind
    position = locate(state, facts, pipeline)
    ready = position.ready
    is_short = bool(shortages(state, facts, pipeline, ready))
    if ready and not is_short and not changed_request(state, facts, pipeline, position):
        return ""
    if is_short and has_own_budgets(pipeline):
        # A sweep knows the limits of `config.toml` alone.
        return ""
    # A sweep does not see that somebody edits a text again, so a doubt stands in no line.
    waits = waiting_for(state, facts, pipeline)
    asked = [(wait.kind, wait.number) for wait in waits if wait.kind != "run"]
    asked += [("reopen", number) for number in dict.fromkeys(position.rejected.values())]
    parts = [kind if number is None else _of_pull(kind, number, facts) for kind, number in asked]
    if is_short:
        parts.insert(0, f"budget @{limits_mark(facts.max_cost_usd, facts.max_tokens)}")
    if parts:
        return "; ".join(parts) if all(parts) else ""
    return "retry" if failures(state, position) else ""


def _at_the_end(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """A finished run rests on the pull requests that somebody rejected, where there are any."""
    if state.graph_hash != pipeline.graph_hash:
        return "done"
    rejected = dict.fromkeys(locate(state, facts, pipeline).rejected.values())
    return "; ".join(_of_pull("reopen", number, facts) for number in rejected) or "done"


def _of_pull(kind: str, number: IssueNumber, facts: Facts) -> str:
    known = facts.pulls.get(number)
    return f"{kind} {number}@{known.head_oid}" if known else ""

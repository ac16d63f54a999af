"""What a run rests on, in one line that a sweep can read without the state."""

from cogworks.pipeline.affording import limits_mark, shortages
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.limits import has_own_budgets
from cogworks.pipeline.position import Facts, failures, locate, waiting_for
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import IssueNumber


def rest_line(state: RunState, facts: Facts, pipeline: Pipeline) -> str:
    """The trailer `Cogworks-Waits-For` of a record: `<kind>`, `<kind> <number>@<oid>` or `budget @<limits>`.

    `merge`, `approval`, `label`, `resume` and `reopen` ask for a person, `retry` follows a failure, `budget` stands
    until its limits change, `done` and `cancelled` are the end. Empty while a node may start, a runner is at work or several people are asked: then only the state tells.
    """
    if state.status in ("done", "cancelled"):
        return state.status
    position = locate(state, facts, pipeline)
    waits = waiting_for(state, facts, pipeline)
    rejected = set(position.rejected.values())
    ready = position.ready
    is_short = bool(shortages(state, facts, pipeline, ready))
    if (ready and not is_short) or state.leases or len(waits) + len(rejected) + is_short > 1:
        return ""
    if is_short and has_own_budgets(pipeline):
        # A sweep knows the limits of `config.toml` alone.
        return ""
    if is_short:
        return f"budget @{limits_mark(facts.max_cost_usd, facts.max_tokens)}"
    for wait in waits:
        return wait.kind if wait.number is None else _of_pull(wait.kind, wait.number, facts)
    for number in rejected:
        return _of_pull("reopen", number, facts)
    return "retry" if failures(state, position) else ""


def _of_pull(kind: str, number: IssueNumber, facts: Facts) -> str:
    known = facts.pulls.get(number)
    return f"{kind} {number}@{known.head_oid}" if known else ""

"""What a run rests on, in one line that a sweep can read without the state."""

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.limits import has_own_budgets, limits_mark, shortages
from cogworks.pipeline.people import PART
from cogworks.pipeline.position import Standing, changed_request, failures, stopped_by, waiting_for
from cogworks.vocabulary import IssueNumber


def rest_line(standing: Standing) -> str:
    """The trailer `Cogworks-Waits-For` of a record: `<kind>` or `<kind> <number>@<oid>`, several parted by `; `.

    `merge`, `approval`, `label`, `resume` and `reopen` ask for a person, `retry` follows a failure and what the specification does not allow, `budget @<limits>` stands
    until its limits change, `part` until none of these issues is open any more, `done` and
    `cancelled` are the end. Empty while a node may start or a runner is at work: then
    only the state tells.
    """
    if standing.state.status == "cancelled":
        return "cancelled"
    if standing.state.status == "done":
        return _at_the_end(standing)
    if standing.state.leases:
        return ""
    if stopped := stopped_by(standing.state, standing.facts):
        # Nothing starts then, whatever is ready or asked beside.
        return stopped.kind
    position = standing.position
    ready = position.ready
    is_short = bool(shortages(standing.state, standing.facts, standing.pipeline, ready))
    if (
        ready
        and not is_short
        and not changed_request(standing.state, standing.facts, standing.pipeline, position)
    ):
        return ""
    if is_short and has_own_budgets(standing.pipeline):
        # A sweep knows the limits of `config.toml` alone.
        return ""
    # A sweep does not see that somebody edits a text again, so a doubt stands in no line.
    waits = waiting_for(standing)
    asked = [(wait.kind, wait.number) for wait in waits if wait.kind != "run"]
    asked += [("reopen", number) for number in dict.fromkeys(position.rejected.values())]
    parts = [kind if number is None else _of_pull(kind, number, standing.facts) for kind, number in asked]
    if is_short:
        facts = standing.facts
        mark = limits_mark(facts.max_cost_usd, facts.small_max_cost_usd, facts.max_tokens)
        parts.insert(0, f"budget @{mark}")
    if parts:
        return "; ".join(parts) if all(parts) else ""
    return "retry" if failures(standing.state, position) else ""


def _at_the_end(standing: Standing) -> str:
    """A finished run rests on the pull requests that somebody rejected, or on the issues that it made, where there are any."""
    if standing.state.graph_hash != standing.pipeline.graph_hash:
        return "done"
    rejected = dict.fromkeys(standing.position.rejected.values())
    parts = [f"{PART} {number}@" for number in standing.facts.open_parts]
    return "; ".join([_of_pull("reopen", number, standing.facts) for number in rejected] or parts) or "done"


def _of_pull(kind: str, number: IssueNumber, facts: Facts) -> str:
    known = facts.pulls.get(number)
    return f"{kind} {number}@{known.head_oid}" if known else ""

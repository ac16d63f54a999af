"""What the newest look at an item saw and what a run rests on, in lines that a sweep reads without the state."""

import re
from collections.abc import Mapping, Sequence

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.limits import has_own_budgets, limits_mark, shortages
from cogworks.pipeline.people import PART, FailedHead, InputLabel, Inputs, SeenPull
from cogworks.pipeline.position import Standing, changed_request, failures, stopped_by, waiting_for
from cogworks.pipeline.state import RunState
from cogworks.vocabulary import CommitOid, IssueNumber

# Enough to see that a head moved; whole ones would fill the message.
OID_DIGITS = 12
_FIELD = re.compile(r"(comment|event|labels|pulls|reviews|checks|conflicts)=(\S+)")
_NUMBER = re.compile(r"[0-9]{1,19}")
"""Python reads no number of thousands of digits."""
_PULL = re.compile(
    r"(?P<number>\d{1,10}):(?P<state>open|closed|merged)(?P<approved>\+?):(?P<oid>[0-9a-f]{0,40})"
)
_HEAD = re.compile(r"(?P<number>\d{1,10}):(?P<became>repair|person|left):(?P<oid>[0-9a-f]{1,40})")
_LABELS: Mapping[str, InputLabel] = {
    "hold": "hold",
    "cancel": "cancel",
    "restart": "restart",
    "safety_critical": "safety_critical",
}


def noticed(state: RunState, facts: Facts) -> RunState:
    """The state that remembers how the run's pull requests and input labels looked now; the same where nothing changed."""
    before = {pull.number: pull for pull in state.inputs.pulls}
    seen: dict[IssueNumber, SeenPull] = {}
    for known in state.pull_requests:
        now = facts.pulls.get(known.number)
        if now is not None:
            seen[known.number] = SeenPull(
                number=now.number,
                state=now.state,
                head_oid=now.head_oid,
                # An approval of what is merged or closed already changes nothing, and must not wake the item.
                is_approved=now.state == "open" and bool(now.approved_by),
                is_base_gone=now.state == "closed" and now.is_base_gone,
            )
        # One that this answer does not hold looks as it did.
        elif known.number in before:
            seen[known.number] = before[known.number]
    pulls = tuple(seen[number] for number in sorted(seen))
    # The very same state: a step that saw nothing new commits nothing.
    if (pulls, facts.input_labels) == (state.inputs.pulls, state.inputs.labels):
        return state
    inputs = state.inputs.model_copy(update={"pulls": pulls, "labels": facts.input_labels})
    return state.model_copy(update={"inputs": inputs})


def seen_line(inputs: Inputs) -> str:
    """The trailer `Cogworks-Seen` of a ledger commit: how far comments and label events are dealt with, which input
    labels are there, `<number>:<state>[+]:<head>` of every pull request (`+`: approved), and the reviews that asked for changes."""
    pulls = (
        f"{p.number}:{p.state}{'+' if p.is_approved else ''}:{p.head_oid[:OID_DIGITS]}" for p in inputs.pulls
    )
    parts = {
        "comment": str(inputs.last_comment_id or ""),
        "event": inputs.last_label_event_id,
        "labels": ",".join(inputs.labels),
        "pulls": ",".join(pulls),
        "reviews": ",".join(map(str, inputs.reviews or ())),
        "checks": _heads(inputs.failed_heads),
        "conflicts": _heads(inputs.conflicts),
    }
    return " ".join(f"{name}={text}" for name, text in parts.items() if text)


def read_seen(line: str) -> Inputs:
    """What the trailer says; what it does not say, or says in other words, counts as never seen."""
    fields = dict(_FIELD.findall(line))
    comment = fields.get("comment", "")
    pulls = [match for text in fields.get("pulls", "").split(",") if (match := _PULL.fullmatch(text))]
    return Inputs(
        last_comment_id=int(comment) if _NUMBER.fullmatch(comment) else 0,
        last_label_event_id=fields.get("event", ""),
        reviews=tuple(int(text) for text in fields.get("reviews", "").split(",") if _NUMBER.fullmatch(text)),
        failed_heads=_read_heads(fields.get("checks", "")),
        conflicts=_read_heads(fields.get("conflicts", "")),
        labels=tuple(_LABELS[name] for name in fields.get("labels", "").split(",") if name in _LABELS),
        pulls=tuple(
            SeenPull.model_validate(
                {
                    "number": int(match["number"]),
                    "state": match["state"],
                    "head_oid": CommitOid(match["oid"]),
                    "is_approved": bool(match["approved"]),
                }
            )
            for match in pulls
        ),
    )


def _heads(heads: Sequence[FailedHead]) -> str:
    return ",".join(f"{head.number}:{head.became}:{head.oid[:OID_DIGITS]}" for head in heads)


def _read_heads(text: str) -> tuple[FailedHead, ...]:
    return tuple(
        FailedHead.model_validate(match.groupdict() | {"number": int(match["number"])})
        for part in text.split(",")
        if (match := _HEAD.fullmatch(part))
    )


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
    waiting = [(wait.kind, wait.number) for wait in waits if wait.kind != "run"]
    waiting += [("reopen", number) for number in dict.fromkeys(position.rejected.values())]
    parts = [kind if number is None else _of_pull(kind, number, standing.facts) for kind, number in waiting]
    if is_short:
        facts = standing.facts
        mark = limits_mark(facts.max_cost_usd, facts.small_max_cost_usd, facts.max_tokens)
        parts.insert(0, f"budget @{mark}")
    if parts:
        # What this look did not see, a sweep cannot compare: without a line the next step looks.
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

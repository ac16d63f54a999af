"""What the newest look at an item saw, in one line that a sweep compares with GitHub without reading the state."""

import re
from collections.abc import Mapping, Sequence

from cogworks.pipeline.facts import Facts
from cogworks.pipeline.people import FailedHead, InputLabel, Inputs, SeenPull
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
    pulls = [found for text in fields.get("pulls", "").split(",") if (found := _PULL.fullmatch(text))]
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
                    "number": int(found["number"]),
                    "state": found["state"],
                    "head_oid": CommitOid(found["oid"]),
                    "is_approved": bool(found["approved"]),
                }
            )
            for found in pulls
        ),
    )


def _heads(heads: Sequence[FailedHead]) -> str:
    return ",".join(f"{head.number}:{head.became}:{head.oid[:OID_DIGITS]}" for head in heads)


def _read_heads(text: str) -> tuple[FailedHead, ...]:
    return tuple(
        FailedHead.model_validate(found.groupdict() | {"number": int(found["number"])})
        for part in text.split(",")
        if (found := _HEAD.fullmatch(part))
    )

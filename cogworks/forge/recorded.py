"""How far back a read has to go: what the ledger says was seen or made already."""

import json
from typing import Any

from cogworks.vocabulary import Value


class Recorded(Value):
    """The ends of the lists that a read pages back to."""

    last_comment_id: int = 0
    """Newer comments have not been considered yet, or one of them is an approval that a gate may hang on; 0: none has."""
    label_event_ids: frozenset[str] = frozenset()
    """Label events that were obeyed; older ones do not matter any more."""
    pull_request_ids: frozenset[str] = frozenset()
    status_comment_id: str = ""
    """Node id; empty before there is one."""
    is_all_merged: bool = False
    """The run was done, and every pull request of it merged."""


def recorded_in(state_text: str | None) -> Recorded:
    """What `state.json` says; nothing where it is missing or something else, which others judge."""
    try:
        state = json.loads(state_text or "")
    except (ValueError, RecursionError):
        return Recorded()
    inputs, comment = _object(state, "inputs"), _object(state, "status_comment")
    last = inputs.get("last_comment_id")
    pulls = state.get("pull_requests") if isinstance(state, dict) else None
    return Recorded(
        last_comment_id=min([last, *_approvals(state)]) if isinstance(last, int) else 0,
        label_event_ids=_texts([inputs.get("trigger_event_id"), inputs.get("last_label_event_id")]),
        pull_request_ids=_texts(
            [pull.get("node_id") for pull in pulls if isinstance(pull, dict)]
            if isinstance(pulls, list)
            else []
        ),
        is_all_merged=_is_all_merged(state, inputs.get("pulls")),
        status_comment_id=next(iter(_texts([comment.get("node_id")])), ""),
    )


def _approvals(state: Any) -> list[int]:
    """Ids of the comments that say what the ledger keeps as approvals of a run that is not done."""
    kept = state.get("approvals") if isinstance(state, dict) and state.get("status") != "done" else None
    comment_ids = (
        [each.get("comment_id") for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []
    )
    # 0 would mean that nothing was read yet.
    return [max(each, 1) for each in comment_ids if isinstance(each, int)]


def _is_all_merged(state: Any, seen: Any) -> bool:
    pulls = [pull for pull in seen if isinstance(pull, dict)] if isinstance(seen, list) else []
    is_done = isinstance(state, dict) and state.get("status") == "done"
    known = state.get("pull_requests") if isinstance(state, dict) else None
    own = [pull for pull in known if isinstance(pull, dict)] if isinstance(known, list) else []
    shown_only = [pull.get("number") for pull in own if pull.get("is_shown_only")]
    states = [pull.get("state") for pull in pulls if pull.get("number") not in shown_only]
    return is_done and bool(states) and all(each == "merged" for each in states)


def _object(record: Any, key: str) -> dict[str, Any]:
    inside = record.get(key) if isinstance(record, dict) else None
    return inside if isinstance(inside, dict) else {}


def _texts(values: list[Any]) -> frozenset[str]:
    return frozenset(text for text in values if isinstance(text, str) and text)

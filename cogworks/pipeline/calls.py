"""Calls of tools that wait for a person: which visits ask about one, and what the answer makes of the run.

How long what somebody approved is good for, by GitHub's clocks alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from cogworks.pipeline.graph import Instance
from cogworks.pipeline.people import ApprovedCall, AskedCall
from cogworks.pipeline.state import RunState
from cogworks.pipeline.visits import Lease


def lapsed(written: datetime | None, *, now: datetime | None, valid_hours: int) -> str:
    """Since when an approval no longer counts, in words for people; empty while it does.

    Args:
        written: when GitHub says that the approval was written; None: nobody knows.
        now: what GitHub's clock says; None: nobody knows.
        valid_hours: 0 = for ever.
    """
    # Without a date on either side nothing is taken from people.
    if not valid_hours or written is None or now is None:
        return ""
    if now - written <= timedelta(hours=valid_hours):
        return ""
    return (
        f"it was written at {written:%Y-%m-%d %H:%M} UTC and expired after {valid_hours} hour(s) "
        "(`approvals.valid_hours`)"
    )


KEEP_TEST = "keep_disputed_test"
"""The call by which a person has a test stay that somebody holds to be wrong."""
MAX_APPROVED = 64
"""Of one visit. Each took a comment of a person; the oldest is forgotten first and asked about again."""


def asking_visits(state: RunState) -> tuple[Lease, ...]:
    """The visits that were given back until somebody says whether they may make a call."""
    # Once rejected it asks nobody any more; it is to be recorded as failed.
    return tuple(left for left in state.given_back if left.asks and not left.asks.rejected_because)


def rejected_visits(state: RunState) -> tuple[Lease, ...]:
    """The visits whose call somebody rejected, and that are not recorded as failed yet."""
    return tuple(left for left in state.given_back if left.asks and left.asks.rejected_because)


def asking_visit(state: RunState, at: Instance) -> Lease | None:
    """The visit of this node and sub-item that asks people about a call, if any."""
    return next((left for left in asking_visits(state) if left.instance == at), None)


def question(state: RunState, at: Instance, name: str) -> tuple[str, str] | None:
    """What to do about the call that a visit asks about, in one sentence for people, and the comment that approves it.

    Args:
        name: of the node, as people write it.
    """
    asking = asking_visit(state, at)
    if asking is None or asking.asks is None:
        return None
    call, folder = asking.asks, state.folder(asking.index, at)
    again = f". It was approved {call.lapsed}" if call.lapsed else ""
    if call.tool == KEEP_TEST:
        return _about_test(call, folder, name, again), approval_line(name, call.hash)
    sentence = (
        f"{name} wants to call {call.tool} (call {call.hash}) with `{call.shown}`. Its replies in "
        f"`{folder}` of the ledger hold the whole input. Approve this call, or comment `/cogworks reject "
        f"{name} <why>`{again}"
    )
    return sentence, approval_line(name, call.hash)


def _about_test(call: AskedCall, folder: str, name: str, again: str) -> str:
    return (
        f"{name} asks whether a disputed test stays (call {call.hash}): `{call.shown}`. Its replies in "
        f"`{folder}` of the ledger hold the whole dispute. If the test is right, approve this call. If it "
        "is wrong, make the sub-issue or the specification more precise and comment `/cogworks reject "
        f"{name} <why>`. Once this issue says that it failed, remove the trigger label and set it again: "
        f"the tests are written anew{again}"
    )


def approval_line(name: str, artifact: str) -> str:
    """The comment that approves this artifact or call of a node; empty where its hash is not known."""
    return f"/cogworks approve {name} {artifact[:12]}" if artifact else ""


def with_approved_call(
    state: RunState, asking: Lease, *, by: str, comment_id: int, written: datetime | None = None
) -> RunState:
    """The visit may be claimed again, and makes the call that it asked about without asking.

    Args:
        written: when the approval was, by GitHub's clock.
    """
    asks = asking.asks
    new = (ApprovedCall(hash=asks.hash, by=by, written=written, comment_id=comment_id),) if asks else ()
    # Approved once more, a call counts from now on.
    others = [each for each in asking.approved_calls if each.hash not in {call.hash for call in new}]
    approved = (*others, *new)[-MAX_APPROVED:]
    return _changed(state, asking, {"asks": None, "approved_calls": approved})


def with_rejected_call(state: RunState, asking: Lease, reason: str) -> RunState:
    """The visit is to be recorded as failed, for this reason."""
    rejected = asking.asks and asking.asks.model_copy(update={"rejected_because": reason})
    return _changed(state, asking, {"asks": rejected})


def lapsed_calls(
    approved: Sequence[ApprovedCall],
    shown: Mapping[str, datetime],
    *,
    now: datetime | None,
    valid_hours: int,
) -> dict[str, str]:
    """The approved calls whose approval does not count, or no longer: hash -> by whom and why, in words for people.

    Args:
        shown: hash -> when the comment was written that approves it; what the ledger says of that is nobody's word.
    """
    judged = {
        call: lapsed(shown[call.hash], now=now, valid_hours=valid_hours) if call.hash in shown else _UNSAID
        for call in approved
    }
    return {call.hash: f"by {call.by}, but {reason}" for call, reason in judged.items() if reason}


_UNSAID = "no unedited comment of somebody with write permission says so"


def _changed(state: RunState, left: Lease, update: Mapping[str, object]) -> RunState:
    changed = left.model_copy(update=update)
    given_back = tuple(changed if each is left else each for each in state.given_back)
    return state.model_copy(update={"given_back": given_back})

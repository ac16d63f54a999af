"""What the messages of a ledger's commits say: who did what for which visit, and what the item waited for."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from cogworks.pipeline.spend import Spend
from cogworks.pipeline.state import RunState, visit_key
from cogworks.vocabulary import CommitOid, NodeId, RunId, SubItemKey, Value, VisitKey

ENDINGS = frozenset({"succeeded", "failed", "released"})
"""Verbs after which a visit's lease is gone."""
_HEADLINE = re.compile(r"cogworks: (?P<node>[^\s@]+)(?:@(?P<sub_item>.+))? (?P<verb>[a-z_-]+) \[skip ci\]")
_LINE = re.compile(r"(?P<name>Visit|Run|Holder|Attempt|Sequence|Edges|Cogworks-Waits-For): (?P<value>.*)")
_VISIT_KEY = re.compile(r"[0-9a-f]{64}")


class Message(Value):
    """One ledger commit in its own words."""

    node: NodeId
    sub_item: SubItemKey | None
    verb: str
    """`claim`, `checkpoint`, `succeeded`, `failed`, `released`, `done`, …"""
    visit_key: VisitKey
    run_id: RunId
    holder: str
    attempt: int
    sequence: int
    """Grows with every commit of one holder for one visit."""
    edges: str = ""
    """`<edge>=true` or `<edge>=false` for each edge that was looked at, with `(model)` or `(fallback)` where no
    expression decided."""
    waits_for: str = ""
    """`<kind> <number>@<oid>`, or only the kind; empty where the item does not wait."""


class Entry(Value):
    """One commit of a ledger."""

    oid: CommitOid
    committed_date: datetime
    """GitHub's clock."""
    message: Message | None
    """None: not written by cogworks, or the root."""
    subject: str


class LoggedEntry(Value):
    """One commit as `cogworks log` shows it."""

    entry: Entry
    visit: int | None
    """The visit's index; None where the state no longer knows the visit."""
    spent: Spend | None
    """What the visit has cost by its end; None before that."""


def parse_message(text: str) -> Message | None:
    """The message of a commit that cogworks wrote; None for any other text. Never raises."""
    subject, _, body = text.strip().partition("\n")
    headline = _HEADLINE.fullmatch(subject.rstrip())
    if headline is None:
        return None
    fields = _fields(body)
    attempt, sequence = _number(fields.get("Attempt")), _number(fields.get("Sequence"))
    key, run_id, holder = (fields.get(name, "") for name in ("Visit", "Run", "Holder"))
    if attempt is None or sequence is None or not run_id or _VISIT_KEY.fullmatch(key) is None:
        return None
    sub_item = headline["sub_item"]
    return Message(
        node=NodeId(headline["node"]),
        sub_item=SubItemKey(sub_item) if sub_item else None,
        verb=headline["verb"],
        visit_key=VisitKey(key),
        run_id=RunId(run_id),
        holder=holder,
        attempt=attempt,
        sequence=sequence,
        edges=fields.get("Edges", ""),
        waits_for=fields.get("Cogworks-Waits-For", ""),
    )


def entry(oid: CommitOid, committed_date: datetime, text: str) -> Entry:
    """A commit with its message understood, as far as it is ours."""
    return Entry(
        oid=oid,
        committed_date=committed_date,
        message=parse_message(text),
        subject=text.strip().partition("\n")[0],
    )


def logged_entries(entries: Iterable[Entry], state: RunState | None) -> tuple[LoggedEntry, ...]:
    """The entries with the visit each belongs to, and the cost of a visit at its end.

    Args:
        state: of the newest entry; visits of runs before the last restart are not in it.
    """
    indices: dict[VisitKey, int] = {}
    spent: dict[VisitKey, Spend] = {}
    if state is not None:
        for lease in (*state.leases, *state.given_back):
            indices[lease.visit_key], spent[lease.visit_key] = lease.index, lease.spent
        for index, at in state.finished():
            indices[visit_key(state, at, index)] = index
        for visit in state.visits:
            indices[visit.visit_key], spent[visit.visit_key] = visit.index, visit.spend
    return tuple(_logged_entry(each, indices, spent) for each in entries)


def _logged_entry(
    each: Entry, indices: Mapping[VisitKey, int], spent: Mapping[VisitKey, Spend]
) -> LoggedEntry:
    message = each.message
    if message is None:
        return LoggedEntry(entry=each, visit=None, spent=None)
    ended = message.verb in ENDINGS
    return LoggedEntry(
        entry=each,
        visit=indices.get(message.visit_key),
        spent=spent.get(message.visit_key) if ended else None,
    )


def _fields(body: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in body.splitlines():
        match = _LINE.fullmatch(line.rstrip())
        # The first of each counts: what follows may be somebody's addition.
        if match is not None:
            fields.setdefault(match["name"], match["value"])
    return fields


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None

"""A run played again from its ledger alone: every claim is what the state before it decides."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from cogworks.engine.tasks import slot_values
from cogworks.ledger.history import parse_message
from cogworks.ledger.lease import lease_ages_s
from cogworks.pipeline.decision import Decision, Finish, GiveUpOn, Run, decide
from cogworks.pipeline.facts import PullFacts
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.position import Standing
from cogworks.pipeline.state import RunState
from cogworks.pipeline.transitions import settle
from cogworks.pipeline.visits import VisitRecord
from cogworks.vocabulary import IssueNumber
from tests.pipeline.runs import facts


class Committed(NamedTuple):
    """One commit of a ledger."""

    message: str
    date: datetime
    state: RunState


Pulls = Mapping[IssueNumber, PullFacts]
ReadFile = Callable[[str], str]
"""Text of a file in the ledger's newest tree."""


def replayed(commits: Sequence[Committed], pipeline: Pipeline, *, pulls: Pulls, read: ReadFile) -> list[str]:
    """Where the replay differs from what happened, one line each.

    Args:
        commits: oldest first, without the root.
        pulls: as they stood when anything was claimed.
    """
    differences = []
    before: RunState | None = None
    for at, commit in enumerate(commits):
        said = parse_message(commit.message)
        assert said is not None, commit.message
        since = before or commit.state.model_copy(update={"leases": (), "identities": (), "visits": ()})
        history = [(each.message, each.date) for each in reversed(commits[:at])]
        decision = _decided(since, pipeline, history, commit.date, pulls)
        if said.verb == "claim" and said.node != "inputs":
            if not isinstance(decision, Run) or decision.visit_key != said.visit_key:
                differences.append(f"{at}: {said.node} was claimed, and the replay says {decision}")
        elif said.verb == "done" and not isinstance(decision, Finish):
            differences.append(f"{at}: the run was finished, and the replay says {decision}")
        elif said.verb in ("succeeded", "failed") and len(commit.state.visits) == len(since.visits) + 1:
            record = commit.state.visits[-1]
            given_up = isinstance(decision, GiveUpOn) and decision.lease.visit_key == record.visit_key
            if not given_up and (wrong := _settled(since, record, commit.state, pipeline, read)):
                differences.append(f"{at}: {wrong}")
        before = commit.state
    return differences


def _decided(
    state: RunState, pipeline: Pipeline, history: Sequence[tuple[str, datetime]], date: datetime, pulls: Pulls
) -> Decision:
    ages = lease_ages_s(state.leases, history[:50], server_date=date)
    known = facts(pulls=pulls, lease_ages_s=ages, max_cost_usd=1_000.0, max_tokens=10**9)
    return decide(Standing(state, known, pipeline))


def _settled(
    before: RunState, record: VisitRecord, after: RunState, pipeline: Pipeline, read: ReadFile
) -> str:
    """What deciding the edges again from the recorded output gives otherwise."""
    if not record.has_output:
        return ""
    node = pipeline.node(record.node)
    view: dict[str, Any] = {"retry_count": record.ordinal - 1}
    for visit in before.visits:
        if visit.has_output and visit.sub_item in (None, record.sub_item) and not visit.is_discarded:
            view |= slot_values(pipeline.node(visit.node), _output(before, visit, read))
    view |= slot_values(node, _output(after, record, read))
    settled = settle(
        before.model_copy(update={"sub_items": after.sub_items}), pipeline, _as_it_ended(record), view
    )
    for what in ("marks", "traversals"):
        again, recorded = getattr(settled, what), getattr(after, what)
        if again != recorded:
            return f"{record.node} led to the {what} {recorded}, and the replay to {again}"
    statuses = [(each.visit_key, each.status, each.is_discarded) for each in settled.visits]
    if statuses != [(each.visit_key, each.status, each.is_discarded) for each in after.visits]:
        return f"{record.node}: the visits differ: {statuses}"
    return ""


def _as_it_ended(record: VisitRecord) -> VisitRecord:
    """The record as the node left it: a success that a used-up loop made a failure, or a loop discarded, was one."""
    return record.model_copy(update={"status": "succeeded", "is_discarded": False})


def _output(state: RunState, visit: VisitRecord, read: ReadFile) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read(f"{state.folder(visit.index, visit.instance)}/output.json"))
    return found

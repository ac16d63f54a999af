"""What a coding visit remembers of earlier ones: read once, and from then on what the log of the visit says it was.

And which replies a visit has paid for, as the ledger keeps them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pydantic import ValidationError

from cogworks.cycle.eventlog import LogDamaged, read_events
from cogworks.cycle.events import Header
from cogworks.cycle.experience import observations_in, youngest
from cogworks.cycle.observations import Observation
from cogworks.engine.record import Claimed
from cogworks.errors import CogworksError
from cogworks.github.earlier_logs import FIRST_SEGMENT, EarlierLog
from cogworks.ledger.record import LedgerUnreadable
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import BROKEN_OFF, ModelReply
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.elements import is_routing
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.vocabulary import NodeId

CODE = "code"


class ReadsLogs(Protocol):
    """GitHub as memory uses it."""

    def earlier_logs(self, node: NodeId, *, besides: str) -> Sequence[EarlierLog]:
        """The event logs of earlier visits to the node in this repository, but for the named one; three requests."""


def remembers(pipeline: Pipeline, at: Instance) -> bool:
    """Whether visits to this place keep logs of decisions: the built-in node that puts out `code` does."""
    if is_routing(at) or at.sub_item is None:
        return False
    node = pipeline.node(at.node)
    return node.type == "llm" and CODE in node.outputs and not node.prompt


def told_before(folder: str, files: Mapping[str, str]) -> tuple[Observation, ...] | None:
    """What an earlier attempt of the visit remembered; None where its log does not say.

    Args:
        files: what the ledger holds of the visit.
    """
    text = files.get(f"{folder}/{FIRST_SEGMENT}", "")
    try:
        (event,) = read_events(text.split("\n", 1)[0] + "\n")
    except LogDamaged:
        return None
    return event.body.experience if isinstance(event.body, Header) else None


def experience_in(logs: Sequence[EarlierLog], *, now: datetime) -> tuple[Observation, ...]:
    """What the logs tell; the same for everybody who reads them on the same day.

    Args:
        now: what GitHub's clock said when the step began.
    """
    found: list[Observation] = []
    for log in logs:
        try:
            events = read_events(log.text)
        except LogDamaged:
            # Whoever wants to know what is wrong with it asks `cogworks fsck`.
            continue
        age_days = max(0, (now.date() - log.written.date()).days)
        found += observations_in(events, source=log.source, age_days=age_days)
    return youngest(found)


def remembering(tracker: ReadsLogs, claimed: Claimed, say: Callable[[str], None]) -> NodeTask:
    """The task of a claimed visit with what it may remember; unchanged unless the repository asks for memory."""
    task, at = claimed.task, claimed.move.instance
    if not claimed.config.coding.memory or not remembers(claimed.pipeline, at):
        return task.model_copy(update={"experience": None})
    if task.experience is not None:
        return task
    state = claimed.visit_lease.state
    own = f"{state.issue}/{state.folder(claimed.move.index, at)}"
    try:
        logs = tracker.earlier_logs(at.node, besides=own)
    except CogworksError as error:
        # An extra is no reason to stop: the visit does without.
        say(f"{at.node}: WARNING: continuing without what earlier visits learnt: {error}")
        logs = ()
    experience = experience_in(logs, now=claimed.snapshot.server_date)
    return task.model_copy(update={"experience": experience})


def replies_in(folder: str, files: Mapping[str, str]) -> dict[str, ModelReply]:
    """The paid replies that a visit's folder holds, by request key.

    Raises:
        LedgerUnreadable: one of them is not a reply.
    """
    # What came of a reply that broke off is paid for and answers nothing.
    return {
        record.request_key: record.reply
        for record in records_in(folder, files)
        if record.reply.stop_reason != BROKEN_OFF
    }


def records_in(folder: str, files: Mapping[str, str]) -> tuple[ReplyRecord, ...]:
    """What a visit's folder holds of paid replies, in the order they came.

    Raises:
        LedgerUnreadable: one of them is not a reply.
    """
    paths = [path for path in files if path.startswith(f"{folder}/reply-")]
    # The second comes before the tenth.
    return tuple(_record_in(path, files[path]) for path in sorted(paths, key=lambda path: (len(path), path)))


def _record_in(path: str, text: str) -> ReplyRecord:
    try:
        return ReplyRecord.model_validate_json(text)
    except ValidationError as error:
        raise LedgerUnreadable(
            f"`{path}` of the item's ledger is not a recorded reply ({error.error_count()} problem(s)). "
            "Restore it with `git revert` on that branch; nothing was published."
        ) from None

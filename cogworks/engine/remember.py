"""What a visit knows of work beside it: what earlier coding visits came to, and what other issues ask for."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from cogworks.canonical import canonical
from cogworks.cycle.eventlog import LogDamaged, read_events
from cogworks.cycle.events import Header, Observation
from cogworks.cycle.experience import observations_in, youngest
from cogworks.engine.record import Claimed
from cogworks.errors import CogworksError
from cogworks.forge.bodies import work_prefix
from cogworks.forge.snapshot import Neighbour
from cogworks.github.earlier_logs import FIRST_SEGMENT, EarlierLog
from cogworks.ledger.record import LedgerUnreadable, kept
from cogworks.llm.gateway import ReplyRecord
from cogworks.llm.provider import BROKEN_OFF, ModelReply
from cogworks.nodes import intake
from cogworks.nodes.task import NodeTask, WorkItem
from cogworks.pipeline.elements import is_routing
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.sight.words import terms_of
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


def earlier_experience(folder: str, files: Mapping[str, str]) -> tuple[Observation, ...] | None:
    """What an earlier attempt of the visit remembered; None where its log does not say.

    Args:
        files: what the ledger holds of the visit.
    """
    text = files.get(f"{folder}/{FIRST_SEGMENT}")
    if text is None:
        return None
    try:
        (event,) = read_events(text.split("\n", 1)[0] + "\n")
    except LogDamaged:
        return None
    return event.body.experience if isinstance(event.body, Header) else None


def experience_in(logs: Sequence[EarlierLog], *, now: datetime) -> tuple[Observation, ...]:
    """What the logs record; the same for everybody who reads them on the same day.

    Args:
        now: what GitHub's clock said when the step began.
    """
    observations: list[Observation] = []
    for log in logs:
        try:
            events = read_events(log.text)
        except LogDamaged:
            # `cogworks fsck` says what is wrong with it.
            continue
        age_days = max(0, (now.date() - log.written.date()).days)
        observations += observations_in(events, source=log.source, age_days=age_days)
    return youngest(observations)


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


NEIGHBOURS_FILE = "neighbours.json"
_LIST = TypeAdapter(tuple[Neighbour, ...])


class ListsNeighbours(Protocol):
    """GitHub as Intake uses it."""

    def neighbours(self) -> Sequence[Neighbour]:
        """Other issues and merged pull requests of the repository, those touched last; one request."""


def with_neighbours(tracker: ListsNeighbours, claimed: Claimed, say: Callable[[str], None]) -> NodeTask:
    """The task of a claimed visit with the items that its issue may say again; unchanged but for the first visit of Intake.

    Who asks for the item once more, by `/cogworks retry` or a restart, knows them: nothing is listed for them.
    """
    task, state = claimed.task, claimed.visit_lease.state
    if not _is_first_intake(claimed) or intake.too_thin(task.item):
        return task
    if (known := _kept(claimed.kept.get(NEIGHBOURS_FILE))) is not None:
        return task.model_copy(update={"neighbours": known})
    try:
        listed = tracker.neighbours()
    except CogworksError as error:
        # An extra is no reason to stop: the visit does without.
        say(f"{task.visit.node}: WARNING: continuing without a comparison with other issues: {error}")
        listed = ()
    # An issue says what its parts say, and is no duplicate of them.
    listed = [each for each in listed if each.number != claimed.snapshot.issue.parent]
    matches = alike(task.item, listed, sub_item_label=task.conventions.sub_item_label)
    # A runner that takes the visit over has to ask the very same question, or it is paid for twice.
    text = kept(canonical(_LIST.dump_python(matches, mode="json")))
    path = f"{state.folder(claimed.move.index, claimed.move.instance)}/{NEIGHBOURS_FILE}"
    claimed.visit_lease.keep({path: text})
    return task.model_copy(update={"neighbours": _LIST.validate_json(text)})


def _is_first_intake(claimed: Claimed) -> bool:
    at = claimed.move.instance
    if is_routing(at) or at.node != NodeId("intake") or claimed.move.ordinal > 1:
        return False
    node = claimed.pipeline.node(at.node)
    return node.type == "llm" and not node.prompt and claimed.visit_lease.state.run_number == 1


def _kept(text: str | None) -> tuple[Neighbour, ...] | None:
    try:
        return _LIST.validate_json(text or "")
    except ValidationError:
        return None


MOST = 5
"""That a model is shown."""
NEAR_ENOUGH = 0.2
"""Of 1; what is said of the same place in other words has a third and more, what only shares a subject less than a sixth."""
MAX_CHARS = 4_000
"""Of a body that take part."""
_TITLE = 3.0
"""How much a word of a title counts beside one of a body."""


def alike(item: WorkItem, neighbours: Sequence[Neighbour], *, sub_item_label: str) -> tuple[Neighbour, ...]:
    """The items that are likest to an issue, the likest first; nothing of the issue's own work is among them.

    Args:
        sub_item_label: what parts of other items wear, which nobody asked for by themselves.
    """
    own = work_prefix(item.number)
    others = [
        each
        for each in neighbours
        if each.number != item.number and not each.head.startswith(own) and sub_item_label not in each.labels
    ]
    sought = _weights(item.title, item.body)
    weights_of_others = [_weights(each.title, each.body) for each in others]
    spread = Counter(term for weights in (sought, *weights_of_others) for term in weights)
    rarity = {term: math.log(1 + (len(others) + 1) / count) for term, count in spread.items()}
    scored = [
        (_cosine(sought, weights, rarity), each)
        for each, weights in zip(others, weights_of_others, strict=True)
    ]
    near = [(score, each) for score, each in scored if score >= NEAR_ENOUGH]
    near.sort(key=lambda pair: (-pair[0], pair[1].number))
    return tuple(each for _, each in near[:MOST])


def _weights(title: str, body: str) -> Mapping[str, float]:
    weights = {term: 1.0 + math.log(count) for term, count in Counter(terms_of(body[:MAX_CHARS])).items()}
    for term in terms_of(title):
        weights[term] = max(weights.get(term, 0.0), _TITLE)
    return weights


def _cosine(one: Mapping[str, float], other: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    size = math.hypot(*(weight * rarity[term] for term, weight in one.items())) * math.hypot(
        *(weight * rarity[term] for term, weight in other.items())
    )
    shared = sum(weight * other[term] * rarity[term] ** 2 for term, weight in one.items() if term in other)
    return min(1.0, shared / size) if size else 0.0

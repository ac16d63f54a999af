"""What Intake is shown of other issues: listed once, when a run begins, and from then on what the ledger kept of it.

Which of them may say what the issue says is told by their words, rare ones first; no model is asked.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from cogworks.canonical import canonical
from cogworks.engine.record import Claimed
from cogworks.errors import CogworksError
from cogworks.forge.markers import work_prefix
from cogworks.forge.neighbours import Neighbour
from cogworks.nodes import intake
from cogworks.nodes.task import NodeTask, WorkItem
from cogworks.pipeline.elements import is_routing
from cogworks.sight.words import terms_of
from cogworks.vocabulary import NodeId

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
    found = alike(task.item, listed, sub_item_label=task.conventions.sub_item_label)
    # Whoever takes the visit over has to ask the very same question, or it is paid for twice.
    path = f"{state.folder(claimed.move.index, claimed.move.instance)}/{NEIGHBOURS_FILE}"
    claimed.visit_lease.keep({path: canonical(_LIST.dump_python(found, mode="json"))})
    return task.model_copy(update={"neighbours": found})


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
    wanted = _weights(item.title, item.body)
    found = [_weights(each.title, each.body) for each in others]
    spread = Counter(term for weights in (wanted, *found) for term in weights)
    rarity = {term: math.log(1 + (len(others) + 1) / count) for term, count in spread.items()}
    scored = [(_cosine(wanted, weights, rarity), each) for each, weights in zip(others, found, strict=True)]
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

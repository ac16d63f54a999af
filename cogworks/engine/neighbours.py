"""What Intake is shown of other issues: listed once, when a run begins, and from then on what the ledger kept of it."""

from collections.abc import Callable, Sequence
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from cogworks.canonical import canonical
from cogworks.engine.record import Claimed
from cogworks.errors import CogworksError
from cogworks.forge.neighbours import Neighbour
from cogworks.nodes import intake
from cogworks.nodes.alike import alike
from cogworks.nodes.task import NodeTask
from cogworks.pipeline.places import is_routing
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
        say(f"{task.visit.node}: WARNING: other issues are not looked at: {error}")
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

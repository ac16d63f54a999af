"""How what a generator drafts becomes proposals with slots of their own; no clock and no chance in their names."""

from collections.abc import Sequence

from cogworks.canonical import canonical, digest
from cogworks.coding.actions import Action, priority
from cogworks.coding.events import MAX_PAYLOAD_CHARS, Proposed
from cogworks.coding.flow import Draft
from cogworks.coding.generators import PLANNER
from cogworks.coding.results import Payload
from cogworks.pipeline.arbiter import Proposal


class PayloadTooLarge(ValueError):
    """A proposal that would make the log too long."""


def slotted(drafts: Sequence[Draft], *, cycle: int, source: str, goal: str) -> list[tuple[Proposal, Payload]]:
    """The drafts of one source as proposals, each with its payload.

    Raises:
        ValueError: a score is not a number from 0 to 1, or a parameter is no JSON.
    """
    ordinals: dict[Action, int] = {}
    found = []
    for draft in drafts:
        ordinals[draft.action] = ordinals.get(draft.action, 0) + 1
        payload = Payload(
            action=draft.action, goal=goal, reason=draft.reason, parameters=dict(draft.parameters)
        )
        proposal = Proposal(
            slot_id=f"{cycle:04d}/{source}/{draft.action}/{ordinals[draft.action]}",
            source=source,
            action=draft.action,
            saliency=draft.saliency,
            urgency=draft.urgency,
            surprise=draft.surprise,
            payload_hash=digest(payload),
            priority=priority(draft.action),
        )
        found.append((proposal, payload))
    return found


def told(proposal: Proposal, payload: Payload) -> Proposed:
    """The event of a proposal.

    Raises:
        PayloadTooLarge: the payload has to stand in the log, and is too long for it.
    """
    is_long = len(canonical(payload.model_dump(mode="json"))) > MAX_PAYLOAD_CHARS
    if is_long and proposal.source != PLANNER:
        raise PayloadTooLarge(f"{proposal.slot_id}: more than {MAX_PAYLOAD_CHARS} characters")
    return Proposed(
        slot_id=proposal.slot_id,
        source=proposal.source,
        action=payload.action,
        payload_hash=proposal.payload_hash,
        payload=None if is_long else payload,
        saliency=proposal.saliency,
        urgency=proposal.urgency,
        surprise=proposal.surprise,
        score=proposal.score,
    )

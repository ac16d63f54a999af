"""A new run of an item that was worked on before."""

from cogworks.pipeline.people import (
    CommentRef,
)
from cogworks.pipeline.state import (
    EarlierRuns,
    RunState,
    first_visit_key,
)


def restarted(state: RunState, fresh: RunState) -> RunState:
    """A new run of the same item: nothing of the old one is adopted, what it cost and its comment stay."""
    if not state.visits and not state.leases:
        return state
    gone = state.spent
    for lease in state.leases:
        gone = gone + lease.reserved
    return fresh.model_copy(
        update={
            "run_number": state.run_number + 1,
            "status_comment": _marked_comment(state),
            "inputs": state.inputs,
            "owed": state.owed,
            "identities": state.identities,
            # The branches of the old run stay, and are not somebody else's.
            "pushed": state.pushed,
            "asked_by": state.asked_by,
            "base": state.base,
            "earlier": EarlierRuns(
                last_index=state.next_index() - 1,
                revision=state.earlier.revision + state.ended + 1,
                spend=state.earlier.spend + gone,
            ),
        }
    )


def _marked_comment(state: RunState) -> CommentRef | None:
    """The status comment, with the visit key of its marker: the visits that tell it go with the old run."""
    comment = state.status_comment
    return comment and comment.model_copy(update={"visit_key": first_visit_key(state)})

"""Approvals that a ledger tells of, held against what GitHub shows: whoever may write the ledger passes no gate by it."""

from cogworks.forge.commands import Command, parse_command
from cogworks.forge.facts import Account, Comment
from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.graph import Pipeline
from cogworks.pipeline.inputs import named_instance
from cogworks.pipeline.people import Approval
from cogworks.pipeline.state import RunState
from cogworks.settings.config import Config


def approvers_to_ask_about(snapshot: Snapshot, state: RunState | None) -> tuple[Account, ...]:
    """Whose permission has to be known before an approval counts that is kept in the ledger; nobody once the run is done."""
    if state is None or state.status == "done":
        return ()
    found = (_comment(each, snapshot) for each in state.approvals)
    return tuple(each.author for each in found if each is not None and each.author is not None)


def doubted_approvals(
    state: RunState, snapshot: Snapshot, pipeline: Pipeline, config: Config
) -> tuple[Approval, ...]:
    """Those that no comment of this issue says, as it was posted, of somebody who may.

    Of a run that is done nothing begins any more, so nobody is asked about.
    """
    if state.status == "done":
        return ()
    return tuple(each for each in state.approvals if not _is_shown(each, state, snapshot, pipeline, config))


def _is_shown(
    approval: Approval, state: RunState, snapshot: Snapshot, pipeline: Pipeline, config: Config
) -> bool:
    comment = _comment(approval, snapshot)
    said = None if comment is None or comment.edited else parse_command(comment.body)
    if comment is None or comment.author is None or not isinstance(said, Command) or said.verb != "approve":
        return False
    at = named_instance(said.node, state, pipeline)
    return (
        (comment.author.login, said.artifact) == (approval.by, approval.artifact)
        and at == (approval.node, approval.sub_item)
        and not objection(comment.author, snapshot, config)
    )


def _comment(approval: Approval, snapshot: Snapshot) -> Comment | None:
    return next((each for each in snapshot.issue.comments if each.database_id == approval.comment_id), None)

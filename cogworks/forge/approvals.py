"""Approvals that a ledger tells of, held against what GitHub shows: whoever may write the ledger passes no gate by it."""

from collections.abc import Iterator

from cogworks.forge.commands import Command, parse_command
from cogworks.forge.facts import Account, Comment
from cogworks.forge.inbox import objection
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.inputs import named_instance
from cogworks.pipeline.people import SOMEBODY, Approval, ApprovedCall, ShownCall
from cogworks.pipeline.state import RunState
from cogworks.settings.config import Config


def approvers_to_ask_about(snapshot: Snapshot, state: RunState | None) -> tuple[Account, ...]:
    """Whose permission has to be known before an approval counts that is kept in the ledger; nobody once the run is done."""
    if state is None or state.status == "done":
        return ()
    found = [_comment(each, snapshot) for each in state.approvals]
    found += [comment for _, call in _calls(state) for comment in _comments_of(call, snapshot)]
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


def shown_calls(
    state: RunState, snapshot: Snapshot, pipeline: Pipeline, config: Config
) -> tuple[ShownCall, ...]:
    """The approved calls of tools that a comment of this issue approves, as it was posted, of somebody who may."""
    found: list[ShownCall] = []
    for at, call in _calls(state):
        for comment in _comments_of(call, snapshot):
            said = parse_command(comment.body)
            is_meant = isinstance(said, Command) and named_instance(said.node, state, pipeline) == at
            if is_meant and not objection(comment.author, snapshot, config):
                place = {"node": at.node, "sub_item": at.sub_item, "hash": call.hash}
                found.append(ShownCall.model_validate({**place, "written": comment.created_at}))
    return tuple(found)


def _calls(state: RunState) -> Iterator[tuple[Instance, ApprovedCall]]:
    for left in (*state.given_back, *state.leases):
        yield from ((left.instance, call) for call in left.approved_calls)


def _comments_of(call: ApprovedCall, snapshot: Snapshot) -> list[Comment]:
    """The comments that may be meant: in an older ledger any that approves this call, in the name that is there."""
    found: list[Comment] = []
    for each in snapshot.issue.comments:
        said = None if each.edited else parse_command(each.body)
        if not isinstance(said, Command) or each.author is None:
            continue
        is_approval = said.verb == "approve" and call.hash.startswith(said.artifact)
        is_by = call.by in (each.author.login, SOMEBODY)
        if is_approval and is_by and call.comment_id in (each.database_id, 0):
            found.append(each)
    return found


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

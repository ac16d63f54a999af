"""The texts that prompts are made from, as GitHub has them now: the issue's and those of its sub-issues."""

from collections.abc import Iterator, Mapping

from cogworks.forge.bodies import parse_marker, text_below_marker
from cogworks.forge.facts import Account, Comment, Edit, SubIssue
from cogworks.forge.inbox import Command, objection, parse_command
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import called, in_title
from cogworks.pipeline.graph import Instance, Pipeline
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.people import SOMEBODY, Approval, ApprovedCall, ShownCall
from cogworks.pipeline.position import named_instance
from cogworks.pipeline.state import RunState, SubItem, issue_digest
from cogworks.pipeline.wording import BODY, TITLE, Request, SeenEdit, SeenText, unjudged
from cogworks.settings.config import Config
from cogworks.vocabulary import Login, SubItemKey, Value


class EditedText(Value):
    """A sub-issue as people rewrote it."""

    title: str
    body: str
    """Without our marker."""


def seen_texts(snapshot: Snapshot, state: RunState | None, config: Config) -> tuple[SeenText, ...]:
    """The issue, then the sub-issues of the plan that are there."""
    issue = snapshot.issue
    texts = [
        SeenText(
            number=issue.number,
            digest=issue_digest(issue.title, issue.body),
            body_edit=_seen(issue.body_edit, snapshot, config),
            title_edit=_seen(issue.title_edit, snapshot, config),
        )
    ]
    for planned, shown in _sub_issues(snapshot, state):
        texts.append(
            SeenText(
                sub_item=planned.key,
                number=shown.number,
                digest=issue_digest(shown.title, shown.body),
                is_ours=_is_ours(planned, shown),
                body_edit=_seen(shown.body_edit, snapshot, config),
                title_edit=_seen(shown.title_edit, snapshot, config),
            )
        )
    return tuple(texts)


def editors_to_ask_about(snapshot: Snapshot, state: RunState | None, config: Config) -> tuple[Account, ...]:
    """Who changed a text that nobody judged yet; those whose account is gone are left out."""
    if state is None:
        edits = [snapshot.issue.body_edit, snapshot.issue.title_edit]
        return tuple(edit.by for edit in edits if edit is not None and edit.by is not None)
    logins = {
        edit.by for text in seen_texts(snapshot, state, config) for edit in unjudged(text, state.inputs)
    }
    edits = [snapshot.issue.body_edit, snapshot.issue.title_edit]
    for _, shown in _sub_issues(snapshot, state):
        edits += [shown.body_edit, shown.title_edit]
    known = (edit.by for edit in edits if edit is not None and edit.by is not None)
    return tuple(by for by in known if by.login in logins)


def requests_in(heard: Heard) -> tuple[Request, ...]:
    """Who newly asked for work, oldest first."""
    return tuple(
        Request(by=asked.by, at=asked.written)
        for asked in heard.said
        if isinstance(asked, Asked) and asked.verb in ("run", "restart") and asked.written is not None
    )


def edited_texts(snapshot: Snapshot, state: RunState) -> Mapping[SubItemKey, EditedText]:
    """The sub-issues that people rewrote who may; what waits for a person is not among them."""
    return {
        planned.key: EditedText(title=shown.title, body=text_below_marker(shown.body))
        for planned, shown in _sub_issues(snapshot, state)
        if (known := state.inputs.sub_requests.get(planned.key)) is not None
        and known.digest == issue_digest(shown.title, shown.body)
    }


def texts_of_people(
    snapshot: Snapshot, state: RunState, edited: Mapping[SubItemKey, EditedText]
) -> Iterator[tuple[str, str]]:
    """What people wrote that prompts are made from: what each text is, and the text."""
    yield TITLE, snapshot.issue.title
    yield BODY, snapshot.issue.body
    for planned in state.sub_items or ():
        if text := edited.get(planned.key):
            yield f"sub-issue #{planned.number}", f"{text.title}\n\n{text.body}"
    for visit in state.visits:
        for change in visit.changes:
            # What a check says is output of the repository.
            if not change.check:
                yield f"what {called(change.by)} asked for", change.text


def _sub_issues(snapshot: Snapshot, state: RunState | None) -> Iterator[tuple[SubItem, SubIssue]]:
    shown = {each.node_id: each for each in snapshot.issue.sub_issues}
    for planned in (state.sub_items if state else None) or ():
        if planned.node_id in shown:
            yield planned, shown[planned.node_id]


def _is_ours(planned: SubItem, shown: SubIssue) -> bool:
    if shown.body_edit is None and shown.title_edit is None:
        return True
    # An edit may leave or bring back what we wrote: the marker has the digest of that.
    marker = parse_marker(shown.body)
    is_same = marker is not None and marker.matches(text_below_marker(shown.body))
    return is_same and shown.title.split() in (planned.title.split(), in_title(planned.title).split())


def _seen(edit: Edit | None, snapshot: Snapshot, config: Config) -> SeenEdit | None:
    if edit is None:
        return None
    # An account that is gone counts as one without permission (docs/failures.md).
    login = edit.by.login if edit.by else Login("")
    return SeenEdit(by=login, at=edit.at, is_allowed=not objection(edit.by, snapshot, config))


def approvers_to_ask_about(snapshot: Snapshot, state: RunState | None) -> tuple[Account, ...]:
    """Whose permission has to be known before an approval counts that is kept in the ledger; nobody once the run is done."""
    if state is None or state.status == "done":
        return ()
    comments = [_comment(each, snapshot) for each in state.approvals]
    comments += [comment for _, call in _calls(state) for comment in _comments_of(call, snapshot)]
    return tuple(each.author for each in comments if each is not None and each.author is not None)


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
    shown: list[ShownCall] = []
    for at, call in _calls(state):
        for comment in _comments_of(call, snapshot):
            command = parse_command(comment.body)
            is_meant = isinstance(command, Command) and named_instance(command.node, state, pipeline) == at
            if is_meant and not objection(comment.author, snapshot, config):
                place = {"node": at.node, "sub_item": at.sub_item, "hash": call.hash}
                shown.append(ShownCall.model_validate({**place, "written": comment.created_at}))
    return tuple(shown)


def _calls(state: RunState) -> Iterator[tuple[Instance, ApprovedCall]]:
    for left in (*state.given_back, *state.leases):
        yield from ((left.instance, call) for call in left.approved_calls)


def _comments_of(call: ApprovedCall, snapshot: Snapshot) -> list[Comment]:
    """The comments that may be meant: in an older ledger any that approves this call, in the name that is there."""
    matching: list[Comment] = []
    for each in snapshot.issue.comments:
        # As it was posted: an edit may put words there that its author never wrote.
        command = None if each.edited else parse_command(each.body)
        if not isinstance(command, Command) or each.author is None:
            continue
        is_approval = command.verb == "approve" and call.hash.startswith(command.artifact)
        is_by = call.by in (each.author.login, SOMEBODY)
        if is_approval and is_by and call.comment_id in (each.database_id, 0):
            matching.append(each)
    return matching


def _is_shown(
    approval: Approval, state: RunState, snapshot: Snapshot, pipeline: Pipeline, config: Config
) -> bool:
    # Anybody who may push can write an approval into a ledger, so the comment itself has to say it
    # (docs/threat-model.md).
    comment = _comment(approval, snapshot)
    command = None if comment is None or comment.edited else parse_command(comment.body)
    if (
        comment is None
        or comment.author is None
        or not isinstance(command, Command)
        or command.verb != "approve"
    ):
        return False
    at = named_instance(command.node, state, pipeline)
    return (
        (comment.author.login, command.artifact) == (approval.by, approval.artifact)
        and at == (approval.node, approval.sub_item)
        and not objection(comment.author, snapshot, config)
    )


def _comment(approval: Approval, snapshot: Snapshot) -> Comment | None:
    return next((each for each in snapshot.issue.comments if each.database_id == approval.comment_id), None)

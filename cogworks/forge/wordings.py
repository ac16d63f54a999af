"""The texts that prompts are made from, as GitHub has them now: the issue's and those of its sub-issues."""

from collections.abc import Iterator, Mapping

from cogworks.forge.facts import Account, Edit, SubIssue
from cogworks.forge.inbox import objection
from cogworks.forge.markers import parse_marker, text_below_marker
from cogworks.forge.snapshot import Snapshot
from cogworks.leaving import called, in_title
from cogworks.pipeline.inputs import Asked, Heard
from cogworks.pipeline.state import RunState, SubItem, issue_digest
from cogworks.pipeline.wording import Request, SeenEdit, SeenText, unjudged
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
    found = [
        SeenText(
            number=issue.number,
            digest=issue_digest(issue.title, issue.body),
            body_edit=_seen(issue.body_edit, snapshot, config),
            title_edit=_seen(issue.title_edit, snapshot, config),
        )
    ]
    for planned, shown in _sub_issues(snapshot, state):
        found.append(
            SeenText(
                sub_item=planned.key,
                number=shown.number,
                digest=issue_digest(shown.title, shown.body),
                is_ours=_is_ours(planned, shown),
                body_edit=_seen(shown.body_edit, snapshot, config),
                title_edit=_seen(shown.title_edit, snapshot, config),
            )
        )
    return tuple(found)


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
        Request(by=said.by, at=said.written)
        for said in heard.said
        if isinstance(said, Asked) and said.verb in ("run", "restart") and said.written is not None
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
    yield "the title of the issue", snapshot.issue.title
    yield "the body of the issue", snapshot.issue.body
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
    marker = parse_marker(shown.body)
    is_same = marker is not None and marker.matches(text_below_marker(shown.body))
    return is_same and shown.title.split() in (planned.title.split(), in_title(planned.title).split())


def _seen(edit: Edit | None, snapshot: Snapshot, config: Config) -> SeenEdit | None:
    if edit is None:
        return None
    login = edit.by.login if edit.by else Login("")
    return SeenEdit(by=login, at=edit.at, is_allowed=not objection(edit.by, snapshot, config))

"""Who said what since the run last listened, and whether they may: comments and labels as inputs of the run."""

from collections.abc import Sequence
from datetime import datetime

from cogworks.forge.commands import Command, Edited, Misspelt, Said, may_command, new_commands
from cogworks.forge.facts import Account, Comment, LabelEvent
from cogworks.forge.labels import LANE_LABEL, newest_event
from cogworks.forge.markers import parse_marker
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.inputs import Asked, Heard, Refused, Verb
from cogworks.pipeline.people import IgnoredLabel, Inputs
from cogworks.settings.config import Config
from cogworks.vocabulary import Login

MANY_COMMENTS = 10
"""So many that nobody dealt with are marked as read, although they ask for nothing: a sweep looks at the newest 20."""
_EDITED = "it was edited after it was posted; write a new comment"


def people_to_ask_about(
    snapshot: Snapshot, inputs: Inputs, config: Config, *, editors: Sequence[Account] = ()
) -> tuple[Login, ...]:
    """Whose permission has to be known before anything they said is obeyed; the viewer's is in the snapshot.

    Args:
        editors: who changed a text that nobody judged yet.
    """
    speakers = [
        comment.author for comment, _ in new_commands(snapshot.issue.comments, after=inputs.last_comment_id)
    ]
    speakers += [event.actor for event in _new_labels(snapshot, inputs, config)]
    speakers += editors
    unknown = (
        account.login
        for account in speakers
        # Apps are allowed by name, and every answer holds our own permission.
        if account is not None and not account.is_bot and not _own_permission(account, snapshot)
    )
    return tuple(dict.fromkeys(unknown))


def hear(snapshot: Snapshot, inputs: Inputs, config: Config) -> Heard:
    """The inputs that nobody has dealt with yet, oldest first.

    Only the newest event of an input label counts, and only while the label is there: who takes it off again at once
    has asked for nothing.
    """
    spoken: list[tuple[datetime, Asked | Refused]] = []
    commands = new_commands(snapshot.issue.comments, after=inputs.last_comment_id)
    for comment, said in commands:
        spoken.append((comment.created_at, _judged(comment, said, snapshot, config)))
    events = _new_labels(snapshot, inputs, config)
    ignored = [
        label
        for label in inputs.ignored_labels
        if (event := newest_event(snapshot, label.label)) is not None and event.id == label.event_id
    ]
    verbs: dict[str, Verb] = {
        config.labels.trigger: "run",
        config.labels.cancel: "cancel",
        config.labels.restart: "restart",
    }
    for event in events:
        login = event.actor.login if event.actor else "somebody whose account is gone"
        if label_objection(event, snapshot, config):
            ignored.append(IgnoredLabel(event_id=event.id, label=event.label, by=login))
        elif event.label in verbs:
            asked = Asked(verb=verbs[event.label], by=login, written=event.created_at)
            spoken.append((event.created_at, asked))
    # Times have a grain of one second, so what is in order already has to stay so.
    spoken.sort(key=lambda entry: entry[0])
    return Heard(
        said=tuple(said for _, said in spoken),
        ignored_labels=tuple(ignored),
        last_comment_id=_read_to(snapshot, inputs, commands[-1][0].database_id if commands else 0),
        last_label_event_id=events[-1].id if events else "",
    )


def _read_to(snapshot: Snapshot, inputs: Inputs, newest_command: int) -> int:
    unread = [c.database_id for c in snapshot.issue.comments if c.database_id > inputs.last_comment_id]
    return max(unread) if len(unread) >= MANY_COMMENTS else newest_command


def _new_labels(snapshot: Snapshot, inputs: Inputs, config: Config) -> tuple[LabelEvent, ...]:
    labels = config.labels
    names = {labels.trigger, labels.hold, labels.cancel, labels.restart, labels.safety_critical}
    names |= {name for name in snapshot.issue.labels if name.startswith(LANE_LABEL)}
    current = {event.id for name in names if (event := newest_event(snapshot, name)) is not None}
    events = snapshot.issue.label_events
    # A cursor that is no longer among them is older than all of them.
    seen = next((n for n, event in enumerate(events, 1) if event.id == inputs.last_label_event_id), 0)
    return tuple(event for event in events[seen:] if event.id in current)


def _judged(comment: Comment, said: Said, snapshot: Snapshot, config: Config) -> Asked | Refused:
    author = comment.author.login if comment.author else ""
    place = {
        "by": author,
        "comment_id": comment.database_id,
        "subject_id": comment.node_id,
        "written": comment.created_at,
    }
    reason = objection(comment.author, snapshot, config)
    refused = {**place, "is_outsider": bool(reason)}
    match said:
        case Misspelt(problem=problem):
            return Refused.model_validate({**refused, "reason": problem, "is_misspelt": True})
        case Edited():
            return Refused.model_validate({**refused, "reason": _EDITED})
        case Command() if reason:
            return Refused.model_validate({**refused, "reason": reason})
        case Command():
            return Asked.model_validate({**place, **said.model_dump()})


def objection(account: Account | None, snapshot: Snapshot, config: Config) -> str:
    """Why somebody is not obeyed; empty when they are."""
    if account is None:
        return "its author's account is gone"
    if account.is_bot:
        # As an author an App has no `[bot]`, as a viewer it has; people write it either way.
        name = account.login.removesuffix("[bot]")
        allowed = {app.removesuffix("[bot]") for app in config.commands.allowed_apps}
        return "" if name in allowed else f"{name} is an App that `[commands] allowed_apps` does not name"
    permission = _own_permission(account, snapshot) or snapshot.permissions.get(account.login, "none")
    if may_command(permission):
        return ""
    return f"{account.login} has {permission.lower()} permission here, and commands need write"


def label_objection(event: LabelEvent, snapshot: Snapshot, config: Config) -> str:
    """Why a label does not count because of who set it; empty when it does.

    An issue that came of a division was made below another one by the account that also starts it: a person has approved both.
    """
    issue, own = snapshot.issue, snapshot.viewer.id
    is_part = issue.parent is not None and parse_marker(issue.body) is not None
    ids = [account.id if account else None for account in (event.actor, issue.author)]
    return (
        "" if is_part and own is not None and ids == [own, own] else objection(event.actor, snapshot, config)
    )


def _own_permission(account: Account, snapshot: Snapshot) -> str:
    is_viewer = account.id is not None and account.id == snapshot.viewer.id
    return (snapshot.repository.viewer_permission or "") if is_viewer else ""

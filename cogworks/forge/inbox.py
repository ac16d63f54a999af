"""Who said what since the run last listened, and whether they may: commands and labels as inputs of the run."""

import difflib
import re
from collections.abc import Sequence
from datetime import datetime

from cogworks.forge.bodies import parse_marker
from cogworks.forge.facts import Account, Comment, LabelEvent
from cogworks.forge.labels import LANE_LABEL
from cogworks.forge.snapshot import Snapshot
from cogworks.pipeline.inputs import HOW_TO_WRITE, Asked, Heard, Refused, Verb
from cogworks.pipeline.people import IgnoredLabel, Inputs
from cogworks.settings.config import Config
from cogworks.vocabulary import IssueNumber, Login, Value

MAX_WHY_CHARS = 500
_LINE = re.compile(r"/cogworks(?P<rest>(\s.*)?)")
_NODE = re.compile(r"[a-z][a-z0-9_]{0,39}(@[A-Za-z0-9_-]{1,40})?")
_NUMBER = re.compile(r"#?[1-9][0-9]{0,9}")
_HASH = re.compile(r"[0-9a-f]{7,64}")
_SHOWN = re.compile(r"[A-Za-z0-9_@./-]{1,30}")


class Command(Value):
    """A comment that asks for something cogworks can do."""

    verb: Verb
    node: str = ""
    """`<node>` or `<node>@<sub-item>`, for `approve` and `reject`."""
    pull_request: IssueNumber | None = None
    """For `update`; None: all that can be."""
    artifact: str = ""
    """7 to 64 hex digits of what is approved."""
    why: str = ""


class Misspelt(Value):
    """A comment that speaks to cogworks and says nothing it understands."""

    problem: str


class Edited(Value):
    """A command that was changed after it was posted, so that nobody knows who asked for what."""


Said = Command | Misspelt | Edited


def parse_command(body: str) -> Command | Misspelt | None:
    """What a comment asks for; None when its first line does not speak to cogworks."""
    lines = body.strip().splitlines()
    # The first line alone: below it people quote and explain what others could write.
    line = _LINE.fullmatch(lines[0].rstrip()) if lines else None
    if line is None:
        return None
    words = line["rest"].split()
    if not words:
        return Misspelt(problem="it names no verb")
    verb, rest = words[0].lower(), words[1:]
    match verb:
        case "approve":
            return _approve(rest)
        case "reject":
            return _reject(rest)
        case "update":
            return _update(rest)
        case "resume" if not rest:
            return Misspelt(problem="`resume` needs a reason why the item may go on")
        case "hold" | "resume":
            return Command(verb=verb, why=_why(rest))
        case "run" | "retry" | "cancel" | "restart" | "status" if not rest:
            return Command(verb=verb)
        case "run" | "retry" | "cancel" | "restart" | "status":
            return Misspelt(problem=f"`{verb}` takes nothing after it")
        case _:
            return _unknown(verb)


def new_commands(comments: tuple[Comment, ...], *, after: int) -> tuple[tuple[Comment, Said], ...]:
    """The comments with an id above `after` that are commands to cogworks, oldest first; our own never are."""
    commands: list[tuple[Comment, Said]] = []
    for comment in sorted(comments, key=lambda each: each.database_id):
        # Ours show lines to paste, and are written by an account that may command.
        if comment.database_id <= after or parse_marker(comment.body) is not None:
            continue
        command = parse_command(comment.body)
        if command is not None:
            # Who edits after posting may put words into the mouth of somebody with more rights.
            commands.append((comment, Edited() if comment.edited else command))
    return tuple(commands)


def _approve(words: list[str]) -> Command | Misspelt:
    if not words or not _NODE.fullmatch(words[0]):
        return Misspelt(problem="`approve` needs the node and the hash of what is approved")
    if len(words) != 2 or not _HASH.fullmatch(words[1].lower()):
        return Misspelt(
            problem=f"the approval of {words[0]} names no hash of 7 to 64 hex digits, so it is not clear what is approved"
        )
    return Command(verb="approve", node=words[0], artifact=words[1].lower())


def _reject(words: list[str]) -> Command | Misspelt:
    if not words or not _NODE.fullmatch(words[0]):
        return Misspelt(problem="`reject` needs the node and a reason")
    if len(words) < 2:
        return Misspelt(problem=f"the rejection of {words[0]} gives no reason")
    return Command(verb="reject", node=words[0], why=_why(words[1:]))


def _update(words: list[str]) -> Command | Misspelt:
    if not words:
        return Command(verb="update")
    if len(words) > 1 or not _NUMBER.fullmatch(words[0]):
        return Misspelt(problem="`update` takes the number of one pull request, or nothing")
    return Command(verb="update", pull_request=IssueNumber(int(words[0].removeprefix("#"))))


def _unknown(verb: str) -> Misspelt:
    # Cut, for comparing takes time and anybody may write here.
    close = difflib.get_close_matches(verb[:30], HOW_TO_WRITE, n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    # Whatever else stands there is not repeated: the answer is posted under our name.
    shown = f"`{verb}`" if _SHOWN.fullmatch(verb) else "the first word"
    return Misspelt(problem=f"{shown} is not a verb I know{hint}")


def _why(words: list[str]) -> str:
    return " ".join(words)[:MAX_WHY_CHARS]


_COMMANDING = frozenset({"admin", "maintain", "write"})


def may_command(permission: str) -> bool:
    """Whether somebody with this permission is obeyed: write or better."""
    return permission.lower() in _COMMANDING


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
    for comment, command in commands:
        spoken.append((comment.created_at, _judged(comment, command, snapshot, config)))
    events = _new_labels(snapshot, inputs, config)
    ignored = [
        label
        for label in inputs.ignored_labels
        if (event := newest_event(snapshot, label.label)) is not None and event.id == label.event_id
    ]
    # The other input labels are read off the issue as they stand; here only who set them is judged.
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
        said=tuple(command for _, command in spoken),
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


def newest_event(snapshot: Snapshot, label: str) -> LabelEvent | None:
    """Who put a label on the issue that is there now; None when it is not there or too long ago to be seen."""
    if label not in snapshot.issue.labels:
        return None
    events = [event for event in snapshot.issue.label_events if event.label == label]
    # What was taken off since was set by nobody who still counts.
    return events[-1] if events and events[-1].added else None


def _judged(comment: Comment, command: Said, snapshot: Snapshot, config: Config) -> Asked | Refused:
    author = comment.author.login if comment.author else ""
    place = {
        "by": author,
        "comment_id": comment.database_id,
        "subject_id": comment.node_id,
        "written": comment.created_at,
    }
    reason = objection(comment.author, snapshot, config)
    refused = {**place, "is_outsider": bool(reason)}
    match command:
        case Misspelt(problem=problem):
            return Refused.model_validate({**refused, "reason": problem, "is_misspelt": True})
        case Edited():
            return Refused.model_validate({**refused, "reason": _EDITED})
        case Command() if reason:
            return Refused.model_validate({**refused, "reason": reason})
        case Command():
            return Asked.model_validate({**place, **command.model_dump()})


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

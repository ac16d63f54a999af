"""The timeline of an issue or pull request: its events, which issues a text speaks of, and all of it in order."""

import re
from datetime import datetime, timedelta

from cogworks.hub.gitobjects import Commit
from cogworks.hub.records import COMMENT_ID_BASE, Comment, Event, Issue, Repository, Review
from cogworks.hub.world import World

_FENCED = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`|<!--.*?-->", re.MULTILINE | re.DOTALL)
_MENTION = re.compile(r"(?<![\w/&#])(?:(?P<owner>[\w.-]+)/(?P<name>[\w.-]+))?#(?P<number>[1-9]\d*)\b")
_URL = re.compile(
    r"https?://[^\s/]+/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/(?:issues|pull)/(?P<number>[1-9]\d*)\b"
)
_CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#(?P<number>[1-9]\d*)\b",
    re.IGNORECASE,
)


def mentioned_numbers(text: str | None, full_name: str) -> tuple[int, ...]:
    """Numbers of this repository's issues that a Markdown text links to, each once, in order of appearance.

    `#12`, `owner/name#12` and issue URLs count; code and HTML comments do not.
    """
    prose = _FENCED.sub(" ", text or "")
    matches = sorted((*_MENTION.finditer(prose), *_URL.finditer(prose)), key=lambda match: match.start())
    numbers = [
        int(match["number"])
        for match in matches
        if match["owner"] is None or f"{match['owner']}/{match['name']}".lower() == full_name.lower()
    ]
    return tuple(dict.fromkeys(numbers))


def closing_numbers(text: str | None) -> tuple[int, ...]:
    """Numbers of the issues that merging a pull request with this text closes ("Fixes #12")."""
    prose = _FENCED.sub(" ", text or "")
    return tuple(dict.fromkeys(int(match["number"]) for match in _CLOSING.finditer(prose)))


TimelineItem = Event | Comment | Review | Commit


def record_event(
    world: World, issue: Issue, actor_id: int, kind: str, **details: str | int | bool | None
) -> Event:
    """Write one event, now."""
    return world.store.put(
        Event(
            id=world.store.next_id(),
            repository_id=issue.repository_id,
            issue_id=issue.id,
            actor_id=actor_id,
            kind=kind,
            created_at=world.clock.now(),
            details=details,
        )
    )


def cross_reference(
    world: World, repository: Repository, source: Issue, actor_id: int, text: str | None
) -> None:
    """Tell every issue that `text` mentions that `source` speaks of it, once per pair."""
    for number in mentioned_numbers(text, repository.full_name):
        target = world.store.find(Issue, f"{repository.id}/{number}")
        if target is None or target.id == source.id:
            continue
        references = world.store.children(Event, target.id, tag="cross_referenced")
        if any(event.details.get("source_id") == source.id for event in references):
            continue
        record_event(world, target, actor_id, "cross_referenced", source_id=source.id)


def events(world: World, issue: Issue, kinds: frozenset[str] | None = None) -> list[Event]:
    """The events of an issue, oldest first, of all kinds or some; a cross-reference may show late."""
    visible = [event for event in world.store.children(Event, issue.id) if is_visible(world, event)]
    return visible if kinds is None else [event for event in visible if event.kind in kinds]


def is_visible(world: World, event: Event) -> bool:
    """Whether timelines show the event yet."""
    delay = timedelta(seconds=world.cross_reference_delay_s)
    return event.kind != "cross_referenced" or event.created_at + delay <= world.clock.now()


def moment(item: TimelineItem) -> datetime:
    """When a timeline item happened."""
    if isinstance(item, Commit):
        return item.committer.date
    return item.submitted_at or item.created_at if isinstance(item, Review) else item.created_at


def timeline(world: World, issue: Issue, commits: tuple[Commit, ...] = ()) -> list[TimelineItem]:
    """Events, comments, submitted reviews and the given commits in the order they happened."""
    reviews = [review for review in world.store.children(Review, issue.id) if review.state != "PENDING"]
    items: list[TimelineItem] = [
        *commits,
        *events(world, issue),
        *world.store.children(Comment, issue.id),
        *reviews,
    ]
    return sorted(items, key=lambda item: (moment(item), _sequence(item)))


def _sequence(item: TimelineItem) -> int:
    """Orders what happened within one second; commits come before what they caused."""
    if isinstance(item, Commit):
        return 0
    return item.id - COMMENT_ID_BASE if item.id > COMMENT_ID_BASE else item.id
